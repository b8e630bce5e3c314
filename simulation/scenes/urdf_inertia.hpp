#pragma once

#include <vector>

#include "simulation/scenes/urdf.hpp"
#include "simulation/scenes/urdf_tree.hpp"

namespace conebench {

/// The least mass of a moving body [kg].
inline constexpr double min_urdf_mass = 1e-6;
/// The least principal moment of a body with one that is not positive [kg m²]: this, or 2 m r² of its mass m with the
/// radius r = min_urdf_spread [m].
inline constexpr double min_urdf_moment = 1e-9;
inline constexpr double min_urdf_spread = 1e-3;

/// Sums the inertia of a moving body's links up in its first link, and makes it valid there. Errors (bad_input): a
/// number of an <inertial> or of a fixed joint's <origin> is none.
///
/// A mass distribution has second moments s_k = (A + B + C)/2 − I_k ≥ 0 (Traversaro, Brossette, Escande, Nori,
/// "Identification of fully physical consistent inertial parameters using optimization on manifolds", IROS 2016). Where
/// A + B < C, the negative one becomes 0: A and B grow by (C − A − B)/2 each and C stays.
Result<std::vector<InertiaRepair>> repair_urdf_inertia(const UrdfTree& tree);

/// Names of moving bodies with shapes and without any <inertial>.
std::vector<std::string> bodies_without_inertia(const UrdfTree& tree);

}  // namespace conebench
