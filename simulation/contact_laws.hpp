#pragma once

#include <mujoco/mujoco.h>

#include <Eigen/Core>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Whether MuJoCo adds two geoms' margins (before 3.5 it took the larger).
inline constexpr bool margins_add = mjVERSION_HEADER >= 3005000;

/// What the model says of contacts between two of its geoms, as it was loaded.
class ContactLaws {
 public:
  explicit ContactLaws(const mjModel& model);

  /// How far apart two geoms may be and still have a contact that takes a force [m].
  double margin(int first, int second) const { return margins(first, second).margin; }
  /// How far apart two geoms may be and still stick [m].
  double reach(int first, int second) const;
  double largest_reach() const { return largest_reach_; }
  /// Whether some contact can be pulled at.
  bool adheres() const { return adheres_; }
  double largest_friction() const { return largest_friction_; }

  /// Friction and restitution of `contact` from those that MuJoCo found.
  void describe(const mjContact& found, ContactPoint& contact) const;
  /// The largest force that a contact can be pulled apart with [N].
  double adhesion(const mjContact& found) const;
  bool moving_surfaces() const { return moving_surfaces_; }
  /// Velocity of the second geom's surface less the first's, seen from their bodies, along t1, t2 and about n [m/s,
  /// rad/s]: MuJoCo's geom/surfacevel.
  Eigen::Vector3d surface_velocity(const mjData& data, const ContactPoint& contact) const;

 private:
  struct Margins {
    double margin = 0.0, gap = 0.0;  ///< [m]
  };
  Margins margins(int first, int second) const;
  double restitution(int geom) const;

  const mjModel* model_;
  std::optional<Margins> override_;  ///< of all, where the model overrides them
  std::vector<Margins> of_geoms_;
  std::map<std::pair<int, int>, Margins> of_pairs_;
  double largest_reach_ = 0.0, largest_friction_ = 0.0;
  bool moving_surfaces_ = false, adheres_ = false;
};

}  // namespace conebench::simulation
