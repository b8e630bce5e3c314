#include "solvers/gauss_seidel/friction_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scenes/random_source.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench::gauss_seidel {
namespace {

using Block = FrictionCone::Block;
using Square = FrictionCone::Square;

struct Law {
  std::string name;
  ConeShape shape;
  std::vector<int> groups;
};

const std::vector<Law>& laws() {
  static const std::vector<Law> all{{"rolling", ConeShape::discs, {2, 2}},
                                    {"condim 4", ConeShape::discs, {3}},
                                    {"condim 6", ConeShape::discs, {5}},
                                    {"product torsion", ConeShape::discs, {2, 1}},
                                    {"three groups", ConeShape::discs, {2, 1, 2}},
                                    {"pyramid in space", ConeShape::pyramid, {2}},
                                    {"pyramid with torsion", ConeShape::pyramid, {3}},
                                    {"pyramid of condim 6", ConeShape::pyramid, {5}}};
  return all;
}

/// A contact whose impulse was chosen first.
struct Known {
  Square block;
  FrictionCone cone;
  Block free, impulse;

  Block velocity(const Block& x) const { return block * x + free; }
};

/// Open (mode 0), or closed with the groups that slip in the bits of mode / 2.
Known made(const Law& law, int mode, std::uint64_t seed, double skew, int missing_rank = 0) {
  RandomSource random(seed);
  int rows = 1;
  for (const int size : law.groups) rows += size;
  std::vector<double> mu;
  for (const int size : law.groups) mu.insert(mu.end(), static_cast<std::size_t>(size), random.uniform(0.05, 0.9));
  Known known{Square::Zero(rows, rows), FrictionCone(law.shape, law.groups, mu), Block::Zero(rows), Block::Zero(rows)};
  Square factor = Square::Zero(rows, rows);
  Square other(rows, rows);
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < rows; ++i) {
      if (j < rows - missing_rank) factor(i, j) = random.normal();
      other(i, j) = random.normal();
    }
  }
  known.block = factor * factor.transpose();
  const double size = known.block.norm();
  known.block += skew * size * (other - other.transpose());
  Block velocity = Block::Zero(rows);
  if (mode == 0) {
    for (double& entry : velocity) entry = random.normal();
    velocity[known.cone.normal] = random.uniform(0.1, 1.0);
  } else {
    const double n = random.uniform(0.5, 2.0);
    known.impulse[known.cone.normal] = n;
    for (std::size_t g = 0; g < law.groups.size(); ++g) {
      const auto& [first, count, coefficient] = known.cone.groups()[g];
      const bool slips = ((mode / 2) >> g & 1) != 0;
      Block direction(count);
      for (double& entry : direction) entry = random.normal();
      if (law.shape == ConeShape::discs) {
        direction.normalize();
        if (slips) velocity.segment(first, count) = -random.uniform(0.1, 2.0) * direction;
      } else {
        // On a face of the pyramid all rows slip at one speed.
        direction /= direction.lpNorm<1>();
        const double speed = random.uniform(0.1, 2.0);
        if (slips) velocity.segment(first, count) = -speed * direction.cwiseSign();
      }
      known.impulse.segment(first, count) = (slips ? 1.0 : random.uniform(0.0, 0.9)) * coefficient * n * direction;
    }
  }
  known.free = velocity - known.block * known.impulse;
  return known;
}

int modes(const Law& law) { return 2 << law.groups.size(); }

/// The law from its definition: how far r and σ are from open, stick and slip, as velocities.
double law_error(const Known& known, const Block& impulse) {
  const Block velocity = known.velocity(impulse);
  const double unit = known.block.norm();
  const int n = known.cone.normal;
  double error = std::abs(std::min(unit * impulse[n], velocity[n]));
  for (const auto& [first, size, mu] : known.cone.groups()) {
    const auto force = impulse.segment(first, size);
    const auto slip = velocity.segment(first, size);
    const bool pyramid = known.cone.shape() == ConeShape::pyramid;
    const double length = pyramid ? force.lpNorm<1>() : force.norm();
    const double speed = pyramid ? slip.lpNorm<Eigen::Infinity>() : slip.norm();
    const double radius = mu * impulse[n];
    error = std::max(error, unit * (length - radius));
    // The power of friction is the least there is.
    if (radius > 0.0) error = std::max(error, (force.dot(slip) + radius * speed) / radius);
  }
  return error;
}

TEST(FrictionBlock, SolvesContactsOfEveryLawAndModeToRounding) {
  for (const Law& law : laws()) {
    for (int mode = 0; mode < modes(law); ++mode) {
      for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const Known known = made(law, mode, seed, seed % 2 == 0 ? 0.02 : 0.0);
        const Block zero = Block::Zero(known.cone.size());
        const Block impulse = solve_friction_contact(known.block, known.cone, known.free, zero, true);
        EXPECT_LE(friction_error(known.block, known.cone, known.free, impulse), 1e-14 * known.free.norm())
            << law.name << ", mode " << mode << ", seed " << seed;
        EXPECT_LE(law_error(known, impulse), 1e-11 * known.free.norm()) << law.name << ", mode " << mode;
      }
    }
  }
}

TEST(FrictionBlock, SolvesContactsWithSingularBlocks) {
  for (const Law& law : laws()) {
    int exact = 0;
    int all = 0;
    for (int mode = 1; mode < modes(law); ++mode) {
      for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const Known known = made(law, mode, seed, 0.0, 1);
        const Block zero = Block::Zero(known.cone.size());
        const Block impulse = solve_friction_contact(known.block, known.cone, known.free, zero, false);
        EXPECT_TRUE(impulse.allFinite());
        exact += friction_error(known.block, known.cone, known.free, impulse) <= 1e-12 * known.free.norm() ? 1 : 0;
        ++all;
      }
    }
    EXPECT_GE(exact, all * 97 / 100) << law.name;
  }
}

TEST(FrictionBlock, KeepsASolution) {
  for (const Law& law : laws()) {
    for (int mode = 1; mode < modes(law); ++mode) {
      const Known known = made(law, mode, 7, 0.0);
      const Block impulse = solve_friction_contact(known.block, known.cone, known.free, known.impulse, true);
      EXPECT_LE((impulse - known.impulse).norm(), 1e-11 * known.impulse.norm()) << law.name << ", mode " << mode;
    }
  }
}

TEST(FrictionBlock, FindsTheFaceOfAPyramidThatTryingAllOfThemFinds) {
  // In space a pyramid has four faces; on each, and on each edge, the law is linear.
  const Law law{"pyramid in space", ConeShape::pyramid, {2}};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Known known = made(law, 3, seed, 0.0);
    RandomSource random(seed + 1000);
    known.free << random.normal(), random.normal(), -random.uniform(0.1, 2.0);
    const double mu = known.cone.groups()[0].coefficient;
    double least = known.cone.in_polar(-known.free) ? 0.0 : 1e300;
    const auto try_point = [&](const Block& x) {
      if (x.allFinite()) least = std::min(least, law_error(known, x));
    };
    try_point(-known.block.partialPivLu().solve(known.free));
    for (const double a : {-1.0, 1.0}) {
      for (const double b : {-1.0, 1.0}) {
        // Face r = n (mu a s, mu b (1 − s), 1): a σ_1 = b σ_2 and σ_n = 0, two linear equations in (n s, n).
        Eigen::Matrix<double, 3, 2> point;
        point << mu * a, 0.0, -mu * b, mu * b, 0.0, 1.0;
        const Eigen::Matrix<double, 3, 2> moved = known.block * point;
        Eigen::Matrix2d equations;
        equations << a * moved.row(0) - b * moved.row(1), moved.row(2);
        const Eigen::Vector2d right(b * known.free[1] - a * known.free[0], -known.free[2]);
        try_point(point * equations.partialPivLu().solve(right));
      }
      for (const int k : {0, 1}) {
        Block edge = Block::Zero(3);
        edge[k] = mu * a;
        edge[2] = 1.0;
        try_point(edge * (-known.free[2] / known.block.row(2).dot(edge)));
      }
    }
    ASSERT_LE(least, 1e-9 * known.free.norm()) << seed;
    const Block zero = Block::Zero(3);
    const Block impulse = solve_friction_contact(known.block, known.cone, known.free, zero, true);
    EXPECT_LE(law_error(known, impulse), 1e-11 * known.free.norm()) << seed;
  }
}

TEST(FrictionBlock, IsCoulombsWhereTheLawIs) {
  for (const int tangents : {1, 2}) {
    const Law law{"Coulomb", ConeShape::discs, {tangents}};
    for (int mode = 0; mode < modes(law); ++mode) {
      for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const Known known = made(law, mode, seed, 0.01);
        const Block zero = Block::Zero(known.cone.size());
        const CoulombBlock local;
        const auto prepared = local.prepare(known.block, known.cone);
        const Eigen::Map<const Square> block(known.block.data(), known.cone.size(), known.cone.size());
        const Block fast = local.solve(prepared, block, known.cone, known.free, zero);
        const Block general = solve_friction_contact(known.block, known.cone, known.free, zero, true);
        EXPECT_LE((fast - general).norm(), 1e-10 * general.norm()) << tangents << " tangents, mode " << mode;
      }
    }
  }
}

TEST(FrictionBlock, TakesNoMemory) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const Law& law : laws()) {
    for (const int missing : {0, 1}) {
      const Known known = made(law, modes(law) - 1, 3, 0.01, missing);
      const Block zero = Block::Zero(known.cone.size());
      const long before = testing::allocation_count();
      const Block impulse = solve_friction_contact(known.block, known.cone, known.free, zero, missing == 0);
      EXPECT_EQ(testing::allocation_count(), before) << law.name;
      EXPECT_TRUE(impulse.allFinite());
    }
  }
}

}  // namespace
}  // namespace conebench::gauss_seidel
