#include "solvers/gauss_seidel/coulomb_block.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>

#include "tests/support/allocation_counter.hpp"

namespace conebench::gauss_seidel {
namespace {

using Block3 = Eigen::Matrix3d;
using Block2 = Eigen::Matrix2d;

/// The NCP of one contact, checked from its definition: how far it is from open, stick or slip, as a velocity over ‖b‖.
/// Written apart from coulomb_residual, which the solver uses.
template <int Dim>
double coulomb_error(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                     const ContactVector<Dim>& impulse) {
  constexpr int n = Dim - 1;
  const ContactVector<Dim> velocity = block * impulse + free;
  const double in_velocity = block.norm();
  const double radius = friction * impulse[n];
  const auto tangent = impulse.template head<n>();
  const auto slip = velocity.template head<n>();
  // Signorini: r_n ≥ 0, σ_n ≥ 0, one of them zero.
  double error = std::abs(std::min(in_velocity * impulse[n], velocity[n]));
  // Coulomb: in the disk; where it is not at its rim no slip, at the rim slip against friction.
  error = std::max(error, in_velocity * (tangent.norm() - radius));
  const double to_rim = in_velocity * std::max(0.0, radius - tangent.norm());
  const double against =
      slip.norm() > 0.0 && tangent.norm() > 0.0 ? (slip / slip.norm() + tangent / tangent.norm()).norm() : 0.0;
  error =
      std::max(error, std::min(slip.norm(), std::max(to_rim, against * std::min(slip.norm(), in_velocity * radius))));
  return error / free.norm();
}

template <int Dim>
Eigen::Matrix<double, Dim, Dim> random_matrix(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Eigen::Matrix<double, Dim, Dim> matrix;
  for (double& entry : matrix.reshaped()) entry = normal(random);
  return matrix;
}

template <int Dim>
using Cone = std::conditional_t<Dim == CoulombSpace::rows, CoulombSpace, CoulombPlane>;

template <int Dim>
ContactVector<Dim> solve(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                         const ContactVector<Dim>& old = ContactVector<Dim>::Zero()) {
  const CoulombBlock local;
  const Cone<Dim> cone{{friction}};
  return local.solve(local.prepare(block, cone), Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>(block.data()), cone,
                     free, old);
}

double residual(const Block3& block, double friction, const ContactVector<3>& free, const ContactVector<3>& impulse) {
  return coulomb_residual(block, CoulombSpace{{friction}}, free, impulse);
}

ContactVector<3> solve_carefully(const Block3& block, double friction, const ContactVector<3>& free,
                                 const ContactVector<3>& old) {
  return solve_coulomb_carefully(block, CoulombSpace{{friction}}, free, old);
}

template <int Dim>
struct Contact {
  Eigen::Matrix<double, Dim, Dim> block;
  double friction;
  ContactVector<Dim> free;
  ContactVector<Dim> old;
};

/// A positive definite block of condition up to 10^(2 spread), with |G_NT| up to G_NN, scaled by 10^±6.
template <int Dim>
Contact<Dim> random_contact(std::mt19937_64& random, double spread) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Contact<Dim> contact;
  Eigen::Matrix<double, Dim, Dim> factor = random_matrix<Dim>(random);
  for (int c = 0; c < Dim; ++c) factor.col(c) *= std::pow(10.0, spread * unit(random));
  contact.block =
      (factor * factor.transpose() + 1e-3 * Eigen::Matrix<double, Dim, Dim>::Identity() * factor.squaredNorm()) *
      std::pow(10.0, 6.0 * unit(random));
  contact.friction = std::pow(10.0, 1.0 * unit(random) - 0.5);
  contact.free = random_matrix<Dim>(random).col(0) * std::pow(10.0, 3.0 * unit(random));
  contact.old = random_matrix<Dim>(random).col(0);
  return contact;
}

template <int Dim>
void expect_exact(const Contact<Dim>& c, double tolerance, const char* what) {
  const ContactVector<Dim> impulse = solve<Dim>(c.block, c.friction, c.free, c.old);
  ASSERT_TRUE(impulse.allFinite());
  ASSERT_LE((coulomb_error<Dim>(c.block, c.friction, c.free, impulse)), tolerance)
      << what << "\nD =\n"
      << c.block << "\nmu = " << c.friction << "\nb = " << c.free.transpose() << "\nr = " << impulse.transpose();
}

TEST(CoulombBlock, SolvesThousandsOfRandomContacts) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 20000; ++k) expect_exact<3>(random_contact<3>(random, 0.5), 1e-11, "3D");
}

TEST(CoulombBlock, SolvesIllConditionedContacts) {
  std::mt19937_64 random(2);
  for (int k = 0; k < 20000; ++k) expect_exact<3>(random_contact<3>(random, 2.0), 1e-9, "3D, ill-conditioned");
}

TEST(CoulombBlock, SolvesRandomPlanarContacts) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 20000; ++k) expect_exact<2>(random_contact<2>(random, 1.0), 1e-11, "2D");
}

TEST(CoulombBlock, SolvesUnsymmetricContacts) {
  std::mt19937_64 random(4);
  for (int k = 0; k < 20000; ++k) {
    Contact<3> contact = random_contact<3>(random, 0.3);
    contact.block += 0.2 * contact.block.norm() / 3.0 * random_matrix<3>(random);
    const Block3 symmetric = 0.5 * (contact.block + contact.block.transpose());
    if (Eigen::LLT<Block3>(symmetric).info() != Eigen::Success) continue;
    expect_exact<3>(contact, 1e-10, "3D, unsymmetric");
  }
}

/// All solutions of one contact, by trying open and stick and scanning the slip angle, with no use of the solver:
/// how many there are.
struct Solutions {
  bool open = false;
  bool stick = false;
  int slips = 0;
  int count() const { return int(open) + int(stick) + slips; }
};

Solutions brute_force(const Contact<3>& c) {
  Solutions found;
  found.open = c.free[2] >= 0.0;
  const ContactVector<3> stick = -c.block.fullPivLu().solve(c.free);
  found.stick = stick.head<2>().norm() <= c.friction * stick[2];
  // Along the circle of directions: σ_T across e changes its sign where e is a slip direction.
  constexpr int angles = 2000;
  double across_before = 0.0;
  bool valid_before = false;
  for (int k = 0; k <= angles; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / angles;
    const Eigen::Vector3d direction(c.friction * std::cos(angle), c.friction * std::sin(angle), 1.0);
    const double resistance = c.block.row(2).dot(direction);
    const ContactVector<3> impulse = -c.free[2] / resistance * direction;
    const ContactVector<3> velocity = c.block * impulse + c.free;
    const double across = direction[0] * velocity[1] - direction[1] * velocity[0];
    const bool valid = impulse[2] > 0.0 && direction.head<2>().dot(velocity.head<2>()) < 0.0;
    if (valid && valid_before && (across < 0.0) != (across_before < 0.0)) ++found.slips;
    across_before = across;
    valid_before = valid;
  }
  return found;
}

TEST(CoulombBlock, FindsASolutionWhereverTheAngleScanDoes) {
  // Any block at all: indefinite, unsymmetric, D_nn of either sign. Where there is a solution it is found, and where
  // the scan has none either, the answer is finite and no worse than the old impulse.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int solvable = 0;
  int several = 0;
  int none = 0;
  for (int k = 0; k < 3000; ++k) {
    Contact<3> c{random_matrix<3>(random), std::pow(10.0, unit(random)), random_matrix<3>(random).col(0),
                 random_matrix<3>(random).col(0)};
    const Solutions solutions = brute_force(c);
    const ContactVector<3> impulse = solve<3>(c.block, c.friction, c.free, c.old);
    ASSERT_TRUE(impulse.allFinite());
    if (solutions.count() > 0) {
      ++solvable;
      several += int(solutions.count() > 1);
      ASSERT_LE((coulomb_error<3>(c.block, c.friction, c.free, impulse)), 1e-9)
          << "D =\n"
          << c.block << "\nmu = " << c.friction << "\nb = " << c.free.transpose();
    } else {
      ++none;
      ASSERT_LE((residual(c.block, c.friction, c.free, impulse)),
                (residual(c.block, c.friction, c.free, c.old)) * (1.0 + 1e-12));
    }
  }
  EXPECT_GT(solvable, 1000);
  EXPECT_GT(several, 100) << "the test is to meet contacts with several solutions";
  EXPECT_GT(none, 100) << "and contacts with none";
}

TEST(CoulombBlock, PrefersOpenToStickToSlip) {
  std::mt19937_64 random(6);
  int open_of_several = 0;
  int stick_of_several = 0;
  for (int k = 0; k < 3000; ++k) {
    Contact<3> c = random_contact<3>(random, 0.5);
    c.friction = 3.0;
    const Solutions solutions = brute_force(c);
    const ContactVector<3> impulse = solve<3>(c.block, c.friction, c.free, c.old);
    if (solutions.open) {
      ASSERT_TRUE(impulse.isZero(0.0));
      open_of_several += int(solutions.count() > 1);
    } else if (solutions.stick) {
      ASSERT_LE((c.block * impulse + c.free).norm(), 1e-10 * c.free.norm());
      stick_of_several += int(solutions.count() > 1);
    }
  }
  EXPECT_GT(open_of_several, 10);
  EXPECT_GT(stick_of_several, 0);
}

TEST(CoulombBlock, DoesNotDependOnTheOldImpulseWhereTheSolutionIsUnique) {
  std::mt19937_64 random(7);
  for (int k = 0; k < 2000; ++k) {
    const Contact<3> c = random_contact<3>(random, 0.5);
    if (brute_force(c).count() != 1) continue;
    const ContactVector<3> cold = solve<3>(c.block, c.friction, c.free);
    const ContactVector<3> warm = solve<3>(c.block, c.friction, c.free, c.old);
    ASSERT_LE((cold - warm).norm(), 1e-9 * cold.norm());
  }
}

TEST(CoulombBlock, CarefulAndFastPathAgree) {
  std::mt19937_64 random(8);
  for (int k = 0; k < 2000; ++k) {
    const Contact<3> c = random_contact<3>(random, 0.5);
    if (brute_force(c).count() != 1) continue;
    const ContactVector<3> fast = solve<3>(c.block, c.friction, c.free, c.old);
    const ContactVector<3> careful = solve_carefully(c.block, c.friction, c.free, c.old);
    ASSERT_LE((fast - careful).norm(), 1e-8 * fast.norm());
  }
}

TEST(CoulombBlock, WithoutFrictionOnlyPushesNormally) {
  std::mt19937_64 random(9);
  for (int k = 0; k < 1000; ++k) {
    Contact<3> c = random_contact<3>(random, 1.0);
    c.friction = 0.0;
    const ContactVector<3> impulse = solve<3>(c.block, 0.0, c.free, c.old);
    const double normal = std::max(0.0, -c.free[2] / c.block(2, 2));
    ASSERT_LE((impulse - ContactVector<3>(0.0, 0.0, normal)).norm(), 1e-15 * normal);
  }
}

TEST(CoulombBlock, ZeroBlockOpensOrKeepsItsImpulse) {
  const ContactVector<3> old(0.1, 0.2, 0.3);
  EXPECT_TRUE(solve<3>(Block3::Zero(), 0.5, {1, 0, 0.5}, old).isZero(0.0));
  EXPECT_EQ(solve<3>(Block3::Zero(), 0.5, {1, 0, -0.5}, old), old);
  EXPECT_EQ(solve<2>(Block2::Zero(), 0.5, {1, -0.5}, {0.1, 0.3}), ContactVector<2>(0.1, 0.3));
}

TEST(CoulombBlock, SolvesSingularBlocks) {
  // Rank one: D = v vᵀ with b = −v, so that every r with v·r = 1 stops the contact.
  const Eigen::Vector3d v(0.9, -0.2, 0.3);
  const Block3 block = v * v.transpose();
  EXPECT_LE((coulomb_error<3>(block, 0.5, -v, solve<3>(block, 0.5, -v))), 1e-12);
  // Only the normal is moved.
  const Block3 normal = Eigen::Vector3d(0, 0, 2).asDiagonal();
  EXPECT_LE((coulomb_error<3>(normal, 0.5, {1, 0, -1}, solve<3>(normal, 0.5, {1, 0, -1}))), 1e-12);
  EXPECT_LE((coulomb_error<3>(normal, 0.5, {0, 0, -1}, solve<3>(normal, 0.5, {0, 0, -1}))), 1e-12);
}

TEST(CoulombBlock, SolvesContactsThatTheRoundingOfGMakesIndefinite) {
  std::mt19937_64 random(10);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 3000; ++k) {
    Contact<3> c = random_contact<3>(random, 0.3);
    const Eigen::Matrix<double, 3, 2> factor = random_matrix<3>(random).leftCols<2>();
    c.block = factor * factor.transpose();
    c.block += 1e-7 * c.block.norm() * random_matrix<3>(random);
    c.free = factor * Eigen::Vector2d(normal(random), normal(random));
    // Of rank two but for 1e-7, with b in the range: open or closed, an answer to about 1e-5 exists.
    ASSERT_LE((residual(c.block, c.friction, c.free, solve<3>(c.block, c.friction, c.free, c.old))),
              1e-4 * c.free.norm());
  }
}

TEST(CoulombBlock, StaysFiniteForExtremeUnits) {
  std::mt19937_64 random(11);
  for (const double scale : {1e-150, 1e-60, 1e60, 1e150}) {
    for (int k = 0; k < 100; ++k) {
      Contact<3> c = random_contact<3>(random, 0.3);
      c.block *= scale;
      ASSERT_FALSE(solve<3>(c.block, c.friction, c.free).hasNaN());
      if (scale > 1e-100 && scale < 1e100) expect_exact<3>(c, 1e-10, "scaled");
    }
  }
}

/// A 3x3 block of rank 2 or 1, and the least-squares stick that Eigen gives.
TEST(CoulombBlock, SolvesSingularBlocksWithoutTakingMemory) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  int sticks = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Eigen::Matrix<double, 3, Eigen::Dynamic> factor(3, seed % 2 + 1);
    for (Eigen::Index k = 0; k < factor.size(); ++k)
      factor.data()[k] = std::sin(1.0 + 3.0 * seed + 1.7 * static_cast<double>(k));
    const Eigen::Matrix3d block = factor * factor.transpose();
    // In the range of the block: sticking can stop it.
    const ContactVector<3> wanted(0.1, -0.05, 1.0);
    const ContactVector<3> free = -(block * wanted);
    const long before = testing::allocation_count();
    const ContactVector<3> impulse = solve_carefully(block, 1e3, free, ContactVector<3>::Zero());
    EXPECT_EQ(testing::allocation_count(), before);
    EXPECT_LE(residual(block, 1e3, free, impulse), 1e-12 * free.norm());
    const Eigen::CompleteOrthogonalDecomposition<Eigen::Matrix3d> decomposition(block);
    const ContactVector<3> stick = -decomposition.solve(free);
    if (free[2] < 0.0) sticks += impulse == stick ? 1 : 0;
  }
  EXPECT_GE(sticks, 10);  // elsewhere a slip is better, by rounding
}

}  // namespace
}  // namespace conebench::gauss_seidel
