#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <utility>
#include <vector>

namespace conebench::simulation {

/// Finds pairs of near points by a grid whose cells are as wide as the distance asked for.
class NearPairs {
 public:
  /// Those no farther apart than `reach` [m] > 0, each once with first < second, in order. Valid until the next call.
  const std::vector<std::pair<int, int>>& find(const std::vector<Eigen::Vector3d>& points, double reach);

 private:
  using Cell = std::pair<std::int64_t, int>;
  std::vector<Cell> cells_;
  std::vector<std::pair<int, int>> pairs_;
};

/// The points of two segments, c_k ± h_k along the unit vectors a_k, that are nearest to each other; of parallel ones
/// those in the middle of where they lie side by side.
struct SegmentPair {
  Eigen::Vector3d first, second;
};
SegmentPair nearest_points(const Eigen::Vector3d& c1, const Eigen::Vector3d& a1, double h1, const Eigen::Vector3d& c2,
                           const Eigen::Vector3d& a2, double h2);

}  // namespace conebench::simulation
