#pragma once

#include <utility>

#include "problems/cone_product.hpp"
#include "problems/cones/bilateral.hpp"
#include "problems/cones/coulomb_plane.hpp"
#include "problems/cones/coulomb_space.hpp"
#include "problems/cones/friction_cone.hpp"
#include "problems/cones/interval.hpp"
#include "problems/cones/unilateral.hpp"

/// Dispatch from a ConeType to the set's class, for code that is a template over the class.
namespace conebench {

/// Returns visit.operator()<Cone>() for the class of a cone type.
template <class Visit>
decltype(auto) with_cone(ConeType type, Visit&& visit) {
  switch (type) {
    case ConeType::bilateral: return std::forward<Visit>(visit).template operator()<Bilateral>();
    case ConeType::unilateral: return std::forward<Visit>(visit).template operator()<Unilateral>();
    case ConeType::interval: return std::forward<Visit>(visit).template operator()<Interval>();
    case ConeType::coulomb_plane: return std::forward<Visit>(visit).template operator()<CoulombPlane>();
    case ConeType::coulomb_space: return std::forward<Visit>(visit).template operator()<CoulombSpace>();
    case ConeType::rolling:
    case ConeType::friction: break;
  }
  return std::forward<Visit>(visit).template operator()<FrictionCone>();
}

/// Returns visit.operator()<Cone>() with one class for all contacts of a product: Coulomb's in the plane or in space
/// where every contact is of that type, FrictionCone where another or several are.
template <class Visit>
decltype(auto) with_contact_cone(const ConeProduct& cones, Visit&& visit) {
  switch (cones.contact_type()) {
    case ConeType::coulomb_plane: return std::forward<Visit>(visit).template operator()<CoulombPlane>();
    case ConeType::coulomb_space: return std::forward<Visit>(visit).template operator()<CoulombSpace>();
    default: return std::forward<Visit>(visit).template operator()<FrictionCone>();
  }
}

/// The cone of contact i as a `Cone`: its own class, or FrictionCone.
template <class Cone>
Cone contact_cone(const ConeProduct& cones, Index i) {
  return Cone{{cones.friction()[static_cast<std::size_t>(i)]}};
}
template <>
inline FrictionCone contact_cone<FrictionCone>(const ConeProduct& cones, Index i) {
  return cones.friction_cone(i);
}

/// Calls visit.operator()<Cone>(contact, first row, cone) for every contact, each by the class of its own type.
template <class Visit>
void for_each_contact(const ConeProduct& cones, Visit&& visit) {
  for (const ConeRun& run : cones.contact_runs()) {
    with_cone(run.type, [&]<class Cone>() {
      if constexpr (Cone::rows != 1) {
        Index row = run.first_row;
        for (Index i = run.first; i < run.first + run.count; ++i) {
          const Cone cone = contact_cone<Cone>(cones, i);
          visit.template operator()<Cone>(i, row, cone);
          row += cone.size();
        }
      }
    });
  }
}

/// The i-th set of a run.
template <class Cone>
Cone cone_of_run(const ConeProduct& cones, const ConeRun& run, Index i) {
  return contact_cone<Cone>(cones, run.first + i);
}
template <>
inline Bilateral cone_of_run(const ConeProduct&, const ConeRun&, Index) {
  return {};
}
template <>
inline Unilateral cone_of_run(const ConeProduct&, const ConeRun&, Index) {
  return {};
}
template <>
inline Interval cone_of_run(const ConeProduct& cones, const ConeRun& run, Index i) {
  return cones.intervals()[static_cast<std::size_t>(run.first + i)];
}

}  // namespace conebench
