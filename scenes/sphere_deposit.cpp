#include "scenes/sphere_deposit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <unordered_map>

namespace conebench {

namespace {

/// Spheres by cells as wide as the largest.
class SphereGrid {
 public:
  explicit SphereGrid(double cell) : cell_(cell) {}

  void add(const Eigen::Vector3d& centre, int sphere) { cells_[key(place(centre))].push_back(sphere); }
  /// Calls visit(sphere) for all that may be nearer than a cell to `point`.
  template <class Visit>
  void near(const Eigen::Vector3d& point, Visit visit) const {
    const Place at = place(point);
    for (int k = -1; k <= 1; ++k) {
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          const auto found = cells_.find(key({at[0] + i, at[1] + j, at[2] + k}));
          if (found == cells_.end()) continue;
          for (const int sphere : found->second) visit(sphere);
        }
      }
    }
  }

 private:
  using Place = std::array<std::int64_t, 3>;
  Place place(const Eigen::Vector3d& p) const {
    return {std::int64_t(std::floor(p[0] / cell_)), std::int64_t(std::floor(p[1] / cell_)),
            std::int64_t(std::floor(p[2] / cell_))};
  }
  /// 21 bits an axis: a million cells to either side.
  static std::uint64_t key(const Place& at) {
    const auto bits = [](std::int64_t v) { return std::uint64_t(v + (1 << 20)) & 0x1fffff; };
    return bits(at[0]) | bits(at[1]) << 21 | bits(at[2]) << 42;
  }

  double cell_;
  std::unordered_map<std::uint64_t, std::vector<int>> cells_;
};

class Deposition {
 public:
  Deposition(const DepositPlan& plan, RandomSource& random)
      : plan_(plan),
        random_(random),
        largest_(*std::max_element(plan.radii.begin(), plan.radii.end())),
        tolerance_(1e-5 * *std::min_element(plan.radii.begin(), plan.radii.end())),
        grid_(2.0 * largest_) {}

  SphereDeposit run() {
    for (const double radius : plan_.radii) {
      const Eigen::Vector3d centre = rolled(dropped(radius), radius);
      grid_.add(centre, static_cast<int>(deposit_.centres.size()));
      deposit_.centres.push_back(centre);
      deposit_.radii.push_back(radius);
      top_ = std::max(top_, centre[2]);
    }
    return std::move(deposit_);
  }

 private:
  /// Where a sphere that falls at a random place touches first.
  Eigen::Vector3d dropped(double radius) {
    Eigen::Vector3d p;
    if (plan_.width > 0.0) {
      for (int c = 0; c < 2; ++c) p[c] = random_.uniform(radius, plan_.width - radius);
    } else {
      const double distance = plan_.spread * std::sqrt(random_.uniform());
      const double angle = random_.uniform(0.0, 2.0 * std::numbers::pi);
      p[0] = distance * std::cos(angle);
      p[1] = distance * std::sin(angle);
    }
    // Down the column of cells, a cell at a time. What lies lower than the cells seen so far supports below p[2].
    const double cell = 2.0 * largest_;
    double low = radius;
    for (p[2] = top_ + cell; p[2] > 0.0 && low < p[2] + cell; p[2] -= cell) {
      grid_.near(p, [&](int other) {
        const Eigen::Vector3d& q = deposit_.centres[std::size_t(other)];
        const double reach = radius + deposit_.radii[std::size_t(other)];
        const double beside = (p - q).head<2>().squaredNorm();
        if (beside < reach * reach) low = std::max(low, q[2] + std::sqrt(reach * reach - beside));
      });
    }
    p[2] = low;
    return p;
  }

  /// Moves p out of the plane, walls and spheres that it overlaps. Returns whether it could.
  bool pushed_out(Eigen::Vector3d& p, double radius) {
    constexpr int rounds = 40;  // wedges between spheres and walls need some ten
    for (int round = 0; round < rounds; ++round) {
      double overlap = std::max(0.0, radius - p[2]);
      p[2] = std::max(p[2], radius);
      for (int c = 0; c < 2 && plan_.width > 0.0; ++c) {
        const double inside = std::clamp(p[c], radius, plan_.width - radius);
        overlap = std::max(overlap, std::abs(inside - p[c]));
        p[c] = inside;
      }
      grid_.near(p, [&](int other) {
        const Eigen::Vector3d away = p - deposit_.centres[std::size_t(other)];
        const double reach = radius + deposit_.radii[std::size_t(other)];
        const double distance = away.norm();
        if (distance >= reach || distance == 0.0) return;
        overlap = std::max(overlap, reach - distance);
        p += (reach / distance - 1.0) * away;
      });
      if (overlap <= tolerance_) return true;
    }
    return false;
  }

  Eigen::Vector3d rolled(Eigen::Vector3d p, double radius) {
    const double flat = std::max(plan_.rest_slope, 1e-3);
    for (double step = 0.1 * radius; step > tolerance_;) {
      Eigen::Vector3d next = p - Eigen::Vector3d(0.0, 0.0, step);
      const bool free = pushed_out(next, radius);
      // A step `down` on a slope of angle a leads down by step · sin² a.
      if (free && p[2] - next[2] > flat * flat * step) {
        p = next;
      } else {
        step /= 4;
      }
    }
    return p;
  }

  const DepositPlan& plan_;
  RandomSource& random_;
  double largest_, tolerance_;
  SphereGrid grid_;
  SphereDeposit deposit_;
  double top_ = 0.0;
};

}  // namespace

SphereDeposit deposit_spheres(const DepositPlan& plan, RandomSource& random) { return Deposition(plan, random).run(); }

std::vector<DepositContact> contacts_of(const SphereDeposit& deposit, double width, double margin) {
  std::vector<DepositContact> contacts;
  const double largest = deposit.radii.empty() ? 1.0 : *std::max_element(deposit.radii.begin(), deposit.radii.end());
  SphereGrid grid(2.0 * largest + margin);
  const auto add_wall = [&](int sphere, const Eigen::Vector3d& normal, double distance) {
    const double radius = deposit.radii[std::size_t(sphere)];
    if (distance - radius > margin) return;
    contacts.push_back(
        {sphere, -1, deposit.centres[std::size_t(sphere)] - distance * normal, normal, distance - radius});
  };
  for (std::size_t i = 0; i < deposit.radii.size(); ++i) {
    const Eigen::Vector3d& p = deposit.centres[i];
    const int sphere = static_cast<int>(i);
    add_wall(sphere, Eigen::Vector3d::UnitZ(), p[2]);
    for (int c = 0; c < 2 && width > 0.0; ++c) {
      add_wall(sphere, Eigen::Vector3d::Unit(c), p[c]);
      add_wall(sphere, -Eigen::Vector3d::Unit(c), width - p[c]);
    }
    grid.near(p, [&](int other) {
      const Eigen::Vector3d& q = deposit.centres[std::size_t(other)];
      const double distance = (p - q).norm();
      const double gap = distance - deposit.radii[i] - deposit.radii[std::size_t(other)];
      if (gap > margin || distance == 0.0) return;
      const Eigen::Vector3d normal = (p - q) / distance;
      contacts.push_back({sphere, other, q + (deposit.radii[std::size_t(other)] + gap / 2) * normal, normal, gap});
    });
    grid.add(p, sphere);
  }
  return contacts;
}

}  // namespace conebench
