#include "simulation/model_sizes.hpp"

#include <Eigen/QR>
#include <algorithm>

namespace conebench::simulation {

namespace {

constexpr Index rows_of_body = 6;
constexpr Index max_rows = 500;          ///< whose rank is found in some 50 ms
constexpr double rank_tolerance = 1e-9;  ///< of the largest pivot

Index rank(const Mechanics& mechanics) {
  const Index rows = mechanics.joint_residuals.size();
  if (rows == 0) return 0;
  Eigen::ColPivHouseholderQR<Matrix> factored;
  factored.setThreshold(rank_tolerance);
  return factored.compute(Matrix(mechanics.jacobian).topRows(rows).transpose()).rank();
}

}  // namespace

std::map<std::string, double> model_sizes(Simulation& simulation) {
  const Dimensions& size = simulation.engine().dimensions();
  const Mechanics& mechanics = simulation.mechanics();
  const Index bilateral = mechanics.joint_residuals.size();
  const Index coordinates = size.velocities - bilateral + rows_of_body * size.loops;
  std::map<std::string, double> sizes = {
      {"bodies", double(size.bodies)},
      {"joints", double(size.tree_joints + size.loops)},
      {"loops", double(size.loops)},
      {"coordinates", double(coordinates)},
      {"joint_drives", double(size.joint_drives)},
  };
  // An elastic body has more coordinates than a rigid one.
  const Index joint_rows = rows_of_body * (size.bodies + size.loops) - coordinates;
  if (joint_rows >= 0) sizes["joint_rows"] = double(joint_rows);
  const auto masses = simulation.engine().body_masses();
  const auto [lightest, heaviest] = std::minmax_element(masses.begin(), masses.end());
  if (!masses.empty() && *lightest > 0.0) sizes["mass_ratio"] = *heaviest / *lightest;
  if (bilateral <= max_rows) sizes["mobility"] = double(size.velocities - rank(mechanics));
  return sizes;
}

}  // namespace conebench::simulation
