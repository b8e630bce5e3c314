#pragma once

#include "solvers/newton/block_functions.hpp"
#include "solvers/newton/fischer_burmeister.hpp"

namespace conebench::newton {

enum class ContactFunction { alart_curnier, natural_map, fischer_burmeister };

/// One of the three of any row that is no contact's.
inline BlockFunction<1> row_function(ContactFunction function, double impulse, double velocity, const Interval& bounds,
                                     double r) {
  return function == ContactFunction::fischer_burmeister ? interval_fischer_burmeister(impulse, velocity, bounds, r)
                                                         : interval_function(impulse, velocity, bounds, r);
}

template <int Dim>
BlockFunction<Dim> contact_function(ContactFunction function, const ContactVector<Dim>& impulse,
                                    const ContactVector<Dim>& velocity, const CoulombCone<Dim>& cone, const Steps& r) {
  switch (function) {
    case ContactFunction::alart_curnier: return alart_curnier_function(impulse, velocity, cone, r);
    case ContactFunction::fischer_burmeister:
      return fischer_burmeister_function(impulse, velocity, cone, cone.friction, r.normal);
    case ContactFunction::natural_map: break;
  }
  return natural_map_function(impulse, velocity, cone, r.normal);
}

/// A pyramid takes the natural map in any case, a cone of several groups in place of Fischer and Burmeister's function.
inline BlockFunction<FrictionCone::rows> contact_function(ContactFunction function, const FrictionCone::Block& impulse,
                                                          const FrictionCone::Block& velocity, const FrictionCone& cone,
                                                          const Steps& r) {
  if (cone.shape() == ConeShape::discs) {
    if (function == ContactFunction::alart_curnier) return alart_curnier_function(impulse, velocity, cone, r);
    if (function == ContactFunction::fischer_burmeister && cone.groups().size() == 1) {
      return fischer_burmeister_function(impulse, velocity, cone, cone.groups()[0].coefficient, r.normal);
    }
  }
  return natural_map_function(impulse, velocity, cone, r.normal);
}

}  // namespace conebench::newton
