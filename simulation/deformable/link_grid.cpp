#include "simulation/deformable/link_grid.hpp"

#include <algorithm>
#include <cmath>

namespace conebench::simulation {

namespace {

constexpr std::int64_t span = std::int64_t{1} << 20;  ///< cells along half an axis; what is farther out is in the last

std::int64_t along(double x, double width) {
  return static_cast<std::int64_t>(std::clamp(std::floor(x / width), -double(span) + 2, double(span) - 2)) + span;
}

std::int64_t number_of(std::int64_t x, std::int64_t y, std::int64_t z) { return (x * 2 * span + y) * 2 * span + z; }

}  // namespace

const std::vector<std::pair<int, int>>& NearPairs::find(const std::vector<Eigen::Vector3d>& points, double reach) {
  pairs_.clear();
  cells_.clear();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Eigen::Vector3d& p = points[k];
    cells_.emplace_back(number_of(along(p[0], reach), along(p[1], reach), along(p[2], reach)), static_cast<int>(k));
  }
  std::sort(cells_.begin(), cells_.end());
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    const Eigen::Vector3d& p = points[std::size_t(k)];
    const std::int64_t x = along(p[0], reach), y = along(p[1], reach), z = along(p[2], reach);
    const auto begin = std::ptrdiff_t(pairs_.size());
    for (std::int64_t i = x - 1; i <= x + 1; ++i) {
      for (std::int64_t j = y - 1; j <= y + 1; ++j) {
        // Three cells in a row have numbers in a row.
        const std::int64_t last = number_of(i, j, z + 1);
        auto cell = std::lower_bound(cells_.begin(), cells_.end(), Cell(number_of(i, j, z - 1), 0));
        for (; cell != cells_.end() && cell->first <= last; ++cell) {
          if (cell->second <= k || (points[std::size_t(cell->second)] - p).squaredNorm() > reach * reach) continue;
          pairs_.emplace_back(k, cell->second);
        }
      }
    }
    std::sort(pairs_.begin() + begin, pairs_.end());
  }
  return pairs_;
}

SegmentPair nearest_points(const Eigen::Vector3d& c1, const Eigen::Vector3d& a1, double h1, const Eigen::Vector3d& c2,
                           const Eigen::Vector3d& a2, double h2) {
  // Minimum of |c1 + s a1 − c2 − t a2| over |s| <= h1, |t| <= h2.
  const Eigen::Vector3d d = c2 - c1;
  const double b = a1.dot(a2), e = a1.dot(d), f = a2.dot(d);
  const double sine = 1.0 - b * b;
  double s = 0.0, t = 0.0;
  if (sine > 1e-12) {
    s = std::clamp((e - b * f) / sine, -h1, h1);
    t = std::clamp(b * s - f, -h2, h2);
    s = std::clamp(b * t + e, -h1, h1);
  } else {
    // Along a1 the second one reaches from e − h2 to e + h2.
    const double low = std::max(-h1, e - h2), high = std::min(h1, e + h2);
    s = std::clamp(0.5 * (low + high), -h1, h1);
    t = std::clamp(b * s - f, -h2, h2);
  }
  return {c1 + s * a1, c2 + t * a2};
}

}  // namespace conebench::simulation
