#pragma once

#include <type_traits>
#include <utility>

#include "problems/cone_product.hpp"
#include "problems/cones/coulomb_plane.hpp"
#include "problems/cones/coulomb_space.hpp"
#include "problems/cones/joint.hpp"
#include "problems/cones/limit.hpp"
#include "problems/cones/rolling.hpp"

/// Dispatch from a ConeType to the cone's class, for code that is a template over the class.
namespace conebench {

/// Returns visit.operator()<Cone>() for the class of a cone type.
template <class Visit>
decltype(auto) with_cone(ConeType type, Visit&& visit) {
  switch (type) {
    case ConeType::joint: return std::forward<Visit>(visit).template operator()<JointCone>();
    case ConeType::limit: return std::forward<Visit>(visit).template operator()<LimitCone>();
    case ConeType::coulomb_plane: return std::forward<Visit>(visit).template operator()<CoulombPlane>();
    case ConeType::coulomb_space: return std::forward<Visit>(visit).template operator()<CoulombSpace>();
    case ConeType::rolling: break;
  }
  return std::forward<Visit>(visit).template operator()<RollingCone>();
}

/// The same for the contacts of a product alone.
template <class Visit>
decltype(auto) with_contact_cone(const ConeProduct& cones, Visit&& visit) {
  switch (cones.contact_type()) {
    case ConeType::coulomb_plane: return std::forward<Visit>(visit).template operator()<CoulombPlane>();
    case ConeType::rolling: return std::forward<Visit>(visit).template operator()<RollingCone>();
    default: return std::forward<Visit>(visit).template operator()<CoulombSpace>();
  }
}

/// The cone of contact i, which is a `Cone`.
template <class Cone>
Cone contact_cone(const ConeProduct& cones, Index i) {
  const auto at = static_cast<std::size_t>(i);
  if constexpr (Cone::rows == RollingCone::rows) {
    return {cones.friction()[at], cones.rolling_friction()[at]};
  } else {
    return {cones.friction()[at]};
  }
}

/// Friction data of a contact with this number of rows: mu, or, with rolling friction, the cone.
template <int Rows>
using FrictionOf = std::conditional_t<Rows == RollingCone::rows, RollingCone, double>;

template <int Rows>
FrictionOf<Rows> friction_of(const ConeProduct& cones, Index i) {
  if constexpr (Rows == RollingCone::rows) {
    return contact_cone<RollingCone>(cones, i);
  } else {
    return cones.friction()[static_cast<std::size_t>(i)];
  }
}

/// The index of the normal among a contact's rows.
template <int Rows>
inline constexpr int normal_index = Rows == RollingCone::rows ? RollingCone::normal : Rows - 1;

/// P_K(x), for code that is a template over rows.
template <int Rows>
ContactVector<Rows> project_contact(const ContactVector<Rows>& x, const FrictionOf<Rows>& friction) {
  if constexpr (Rows == RollingCone::rows) {
    return friction.project(x);
  } else {
    return project_friction_cone<Rows>(x, friction);
  }
}
template <int Rows>
double de_saxce_term(const ContactVector<Rows>& velocity, const FrictionOf<Rows>& friction) {
  if constexpr (Rows == RollingCone::rows) {
    return friction.de_saxce(velocity);
  } else {
    return friction * tangential_norm<Rows>(velocity);
  }
}

/// The i-th cone of a run.
template <class Cone>
Cone cone_of_run(const ConeProduct& cones, Index i) {
  if constexpr (Cone::rows == 1) {
    return {};
  } else {
    return contact_cone<Cone>(cones, i);
  }
}

}  // namespace conebench
