#include "solvers/gauss_seidel/rolling_block.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "scenes/random_source.hpp"

namespace conebench::gauss_seidel {
namespace {

/// A contact whose impulse was chosen first. mode: 0 open, 1 stick, 2 slide, 3 roll, 4 both.
struct Known {
  RollingMatrix block;
  RollingCone cone;
  RollingVector free, impulse;
};

Known made(int mode, std::uint64_t seed, double skew, int rank) {
  RandomSource random(seed);
  Known known;
  Eigen::Matrix<double, 5, 5> factor = Eigen::Matrix<double, 5, 5>::Zero();
  for (int j = 0; j < rank; ++j) {
    for (int i = 0; i < 5; ++i) factor(i, j) = random.normal();
  }
  known.block = factor * factor.transpose();
  RollingMatrix other;
  for (double& value : other.reshaped()) value = random.normal();
  known.block += skew * known.block.norm() * (other - other.transpose());
  known.cone = {random.uniform(0.1, 0.9), random.uniform(0.02, 0.5)};
  RollingVector velocity = RollingVector::Zero();
  known.impulse.setZero();
  const auto direction = [&] {
    const double angle = random.uniform(-3.14, 3.14);
    return Eigen::Vector2d(std::cos(angle), std::sin(angle));
  };
  const Eigen::Vector2d t = direction();
  const Eigen::Vector2d m = direction();
  if (mode == 0) {
    velocity << t, random.uniform(0.1, 1.0), m;
  } else {
    const double n = random.uniform(0.5, 2.0);
    const bool slides = mode == 2 || mode == 4;
    const bool rolls = mode >= 3;
    known.impulse << (slides ? 1.0 : random.uniform(0.0, 0.9)) * known.cone.friction * n * t, n,
        (rolls ? 1.0 : random.uniform(0.0, 0.9)) * known.cone.rolling * n * m;
    if (slides) velocity.head<2>() = -random.uniform(0.1, 2.0) * t;
    if (rolls) velocity.tail<2>() = -random.uniform(0.1, 2.0) * m;
  }
  known.free = velocity - known.block * known.impulse;
  return known;
}

/// ‖r − P_K(r − ρ v̂)‖ / ρ with ρ = 5 / trace(D): the error in velocity.
double velocity_error(const Known& known, const RollingVector& impulse) {
  const double step = 5.0 / known.block.trace();
  RollingVector velocity = known.block * impulse + known.free;
  velocity[RollingCone::normal] += known.cone.de_saxce(velocity);
  return known.cone.natural_map(impulse, step * velocity).norm() / step;
}

TEST(RollingBlock, SolvesContactsOfEveryModeToRounding) {
  for (int mode = 0; mode < 5; ++mode) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      const Known known = made(mode, seed, seed % 2 == 0 ? 0.02 : 0.0, 5);
      const RollingVector impulse =
          solve_rolling_contact(known.block, known.cone, known.free, RollingVector::Zero(), true);
      EXPECT_LE(velocity_error(known, impulse), 1e-14 * known.free.norm()) << "mode " << mode << ", seed " << seed;
    }
  }
}

TEST(RollingBlock, SolvesContactsWithSingularBlocks) {
  int exact = 0;
  for (int mode = 1; mode < 5; ++mode) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Known known = made(mode, seed, 0.0, 4);
      const RollingVector impulse =
          solve_rolling_contact(known.block, known.cone, known.free, RollingVector::Zero(), false);
      EXPECT_TRUE(impulse.allFinite());
      exact += velocity_error(known, impulse) <= 1e-12 * known.free.norm() ? 1 : 0;
    }
  }
  EXPECT_GE(exact, 196);
}

TEST(RollingBlock, KeepsASolution) {
  for (int mode = 1; mode < 5; ++mode) {
    const Known known = made(mode, 7, 0.0, 5);
    const RollingVector impulse = solve_rolling_contact(known.block, known.cone, known.free, known.impulse, true);
    EXPECT_LE((impulse - known.impulse).norm(), 1e-12 * known.impulse.norm()) << mode;
  }
}

}  // namespace
}  // namespace conebench::gauss_seidel
