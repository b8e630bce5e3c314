#include "solvers/gauss_seidel/ellipse_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace conebench::gauss_seidel {
namespace {

struct DrawnContact {
  Eigen::Matrix3d block;
  double friction;
  ContactVector<3> free;
  double correction = 0.0;  ///< s

  CoulombSpace cone() const { return {{friction}}; }
  double energy(const ContactVector<3>& x) const { return 0.5 * x.dot(block * x) + x.dot(free) + correction * x[2]; }
  double eccentricity() const { return friction * block.bottomLeftCorner<1, 2>().norm() / block(2, 2); }
  bool sticks() const {
    const ContactVector<3> stick = -block.inverse() * free;
    return stick.head<2>().norm() <= friction * stick[2];
  }
  Ellipse3 ellipse() const { return {block, 1.0 / block(2, 2), friction, free, correction}; }
  /// λ_n (μ ρ cos θ, μ ρ sin θ, 1) with no normal velocity, from the definition. False where it points down.
  bool point(double angle, double radius, ContactVector<3>& x) const {
    x = {friction * radius * std::cos(angle), friction * radius * std::sin(angle), 1.0};
    const double resistance = block.row(2).dot(x);
    x *= -free[2] / resistance;
    return resistance > 1e-3 * block(2, 2);
  }
  /// Over a grid of the disk of directions.
  ContactVector<3> brute_force_least() const {
    constexpr int angles = 2000;
    ContactVector<3> least = ContactVector<3>::Zero();
    double smallest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < angles; ++k) {
      for (const double radius : {0.0, 0.25, 0.5, 0.75, 0.9, 1.0}) {
        ContactVector<3> x;
        if (!point(2.0 * std::numbers::pi * k / angles, radius, x) || energy(x) >= smallest) continue;
        smallest = energy(x);
        least = x;
      }
    }
    return least;
  }
};

/// Contacts that close and can't stick, symmetric blocks, all strengths of coupling of normal and tangent.
std::vector<DrawnContact> sliding_contacts(bool eccentric, bool corrected) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<DrawnContact> contacts;
  while (contacts.size() < 300) {
    Eigen::Matrix3d factor;
    for (double& entry : factor.reshaped()) entry = normal(random);
    DrawnContact c{factor * factor.transpose() + 0.05 * Eigen::Matrix3d::Identity(), std::abs(normal(random)),
                   ContactVector<3>(normal(random), normal(random), -std::abs(normal(random)))};
    if (corrected) c.correction = std::abs(normal(random));
    if (!c.sticks() && (c.eccentricity() >= 1.0) == eccentric) contacts.push_back(c);
  }
  return contacts;
}

template <class Search>
ContactVector<3> solve(const DrawnContact& c) {
  // An old impulse whose velocity gives the contact's s: along −t1, at λ_n = 0.
  const EllipseBlock<Search> local{.de_saxce = c.correction > 0.0};
  ContactVector<3> old = ContactVector<3>::Zero();
  if (c.correction > 0.0) {
    const Eigen::Vector2d wanted(c.correction / c.friction, 0.0);
    old.head<2>() = c.block.topLeftCorner<2, 2>().inverse() * (wanted - c.free.head<2>());
  }
  return local.solve(local.prepare(c.block, c.cone()), Eigen::Map<const Eigen::Matrix3d>(c.block.data()), c.cone(),
                     c.free, old);
}

void expect_least(const DrawnContact& c, const ContactVector<3>& impulse) {
  const ContactVector<3> velocity = c.block * impulse + c.free;
  EXPECT_NEAR(velocity[2], 0.0, 1e-9 * (1.0 + c.free.norm() + impulse.norm()));
  EXPECT_LE(impulse.head<2>().norm(), c.friction * impulse[2] * (1.0 + 1e-12));
  const double brute = c.energy(c.brute_force_least());
  EXPECT_LE(c.energy(impulse), brute + 1e-10 * (1.0 + std::abs(brute))) << "something on the curve has less";
  EXPECT_GE(c.energy(impulse), brute - 0.05 * (1.0 + std::abs(brute))) << "the grid is not that coarse";
}

TEST(EllipseBlock, TakesTheLeastEnergyOnTheEllipse) {
  for (const bool corrected : {false, true}) {
    for (const DrawnContact& c : sliding_contacts(false, corrected)) {
      expect_least(c, solve<Bisection>(c));
      expect_least(c, solve<Quartic>(c));
    }
  }
}

TEST(EllipseBlock, TakesTheLeastEnergyOnAParabolaOrHyperbola) {
  for (const DrawnContact& c : sliding_contacts(true, false)) {
    expect_least(c, solve<Bisection>(c));
    expect_least(c, solve<Quartic>(c));
  }
}

TEST(EllipseBlock, BisectionAndQuarticNeedNoSecondAttempt) {
  int bisected = 0;
  int rooted = 0;
  const auto contacts = sliding_contacts(false, false);
  for (const DrawnContact& c : contacts) {
    const Ellipse3 ellipse = c.ellipse();
    Eigen::Vector2d e;
    bisected += Bisection::find(ellipse, -c.block.inverse() * c.free, {}, e);
    rooted += Quartic::find(ellipse, {}, ContactVector<3>::Zero(), e);
  }
  EXPECT_EQ(rooted, static_cast<int>(contacts.size()));
  EXPECT_GE(bisected, static_cast<int>(contacts.size()) * 9 / 10) << "it may run into a valley on the far side";
}

TEST(EllipseBlock, OldDirectionsLeadToTheSameAnswer) {
  const EllipseBlock<Quartic> local{};
  for (const bool eccentric : {false, true}) {
    for (const DrawnContact& c : sliding_contacts(eccentric, false)) {
      const ContactVector<3> expected = solve<Quartic>(c);
      for (int k = 0; k < 12; ++k) {
        const double angle = std::numbers::pi * k / 6.0 + std::atan2(expected[1], expected[0]) + 0.01;
        const ContactVector<3> old(c.friction * std::cos(angle), c.friction * std::sin(angle), 1.0);
        const ContactVector<3> impulse = local.solve(
            local.prepare(c.block, c.cone()), Eigen::Map<const Eigen::Matrix3d>(c.block.data()), c.cone(), c.free, old);
        EXPECT_LE((impulse - expected).norm(), 1e-9 * expected.norm());
      }
    }
  }
}

TEST(EllipseBlock, QuarticHasOneRootThatIsNotNegative) {
  for (const DrawnContact& c : sliding_contacts(false, false)) {
    const Ellipse3 d = c.ellipse();
    const auto quartic = [&](double x) {
      Eigen::Matrix2d m;
      m << d.m11 + x, -d.m01, -d.m10, d.m00 + x;  // adj(M + x I)
      return std::pow(m.determinant(), 2) -
             (m * (Eigen::Vector2d(d.p0, d.p1) + x * Eigen::Vector2d(d.a0, d.a1))).squaredNorm();
    };
    int changes = 0;
    double before = quartic(0.0);
    for (double x = 1e-6; x < 1e6; x *= 1.05) {
      const double here = quartic(x);
      changes += (here < 0.0) != (before < 0.0);
      before = here;
    }
    EXPECT_EQ(changes, 1);
  }
}

TEST(EllipseBlock, SlidesAsThePapersKarushKuhnTuckerConditionsSay) {
  // LeLidec24 (24): c_T ∝ −λ_T − μ² λ_N / G_NN · G_NT, which contradicts maximal dissipation (12), c_T ∝ −λ_T.
  double largest_angle = 0.0;
  for (const DrawnContact& c : sliding_contacts(false, false)) {
    const ContactVector<3> impulse = solve<Bisection>(c);
    const Eigen::Vector2d slip = (c.block * impulse + c.free).head<2>();
    const Eigen::Vector2d tangent = impulse.head<2>();
    const Eigen::Vector2d printed =
        -tangent - c.friction * c.friction * impulse[2] / c.block(2, 2) * c.block.bottomLeftCorner<1, 2>().transpose();
    const auto angle = [](const Eigen::Vector2d& x, const Eigen::Vector2d& y) {
      return std::atan2(std::abs(x[0] * y[1] - x[1] * y[0]), x.dot(y));
    };
    EXPECT_LE(angle(slip, printed), 1e-6);
    largest_angle = std::max(largest_angle, angle(slip, -tangent));
  }
  EXPECT_GE(largest_angle, 0.5);
}

TEST(EllipseBlock, WithoutCouplingItIsCoulombsLaw) {
  std::vector<DrawnContact> contacts = sliding_contacts(false, false);
  const CoulombBlock coulomb;
  for (DrawnContact& c : contacts) {
    c.block.topRightCorner<2, 1>().setZero();
    c.block.bottomLeftCorner<1, 2>().setZero();
    const Eigen::Map<const Eigen::Matrix3d> block(c.block.data());
    const ContactVector<3> exact =
        coulomb.solve(coulomb.prepare(c.block, c.cone()), block, c.cone(), c.free, ContactVector<3>::Zero());
    EXPECT_LE((solve<Bisection>(c) - exact).norm(), 1e-10 * exact.norm());
    EXPECT_LE((solve<Quartic>(c) - exact).norm(), 1e-10 * exact.norm());
  }
}

TEST(EllipseBlock, DeSaxcesCorrectionEndsInCoulombsLaw) {
  // Tsounis Table I, RAISIM-DS: successive approximations of s on one contact, where normal and tangent are coupled.
  const EllipseBlock<Bisection> plain{};
  const EllipseBlock<Bisection> corrected{.de_saxce = true};
  int settled = 0;
  const auto contacts = sliding_contacts(false, false);
  for (const DrawnContact& c : contacts) {
    const auto prepared = plain.prepare(c.block, c.cone());
    const Eigen::Map<const Eigen::Matrix3d> block(c.block.data());
    const ContactVector<3> raisim = plain.solve(prepared, block, c.cone(), c.free, ContactVector<3>::Zero());
    ContactVector<3> impulse = raisim;
    double change = 1.0;
    for (int k = 0; k < 500 && change > 1e-13; ++k) {
      const ContactVector<3> next = corrected.solve(prepared, block, c.cone(), c.free, impulse);
      change = (next - impulse).norm() / next.norm();
      impulse = next;
    }
    if (change > 1e-13) continue;
    ++settled;
    EXPECT_LE(coulomb_residual(c.block, c.cone(), c.free, impulse), 1e-9 * c.free.norm());
    if (c.eccentricity() > 0.3) {
      EXPECT_GE(coulomb_residual(c.block, c.cone(), c.free, raisim), 1e-6 * c.free.norm());
    }
  }
  EXPECT_GE(settled, static_cast<int>(contacts.size()) * 9 / 10);
}

TEST(EllipseBlock, UnsymmetricBlocksSolveTheVariationalInequality) {
  int count = 0;
  for (DrawnContact c : sliding_contacts(false, false)) {
    c.block(0, 2) *= 1.1;
    c.block(1, 0) *= 0.9;
    if (c.sticks() || c.eccentricity() >= 0.9) continue;
    const ContactVector<3> impulse = solve<Bisection>(c);
    EXPECT_LE((impulse - solve<Quartic>(c)).norm(), 1e-8 * impulse.norm());
    const ContactVector<3> velocity = c.block * impulse + c.free;
    for (int k = 0; k < 360; ++k) {
      ContactVector<3> other;
      if (!c.point(k * std::numbers::pi / 180.0, 1.0, other)) continue;
      EXPECT_GE(velocity.dot(other - impulse), -1e-9 * velocity.norm() * (other - impulse).norm());
    }
    ++count;
  }
  EXPECT_GE(count, 100);
}

TEST(EllipseBlock, TakesTheLeastEnergyInTwoDimensions) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const EllipseBlock<Bisection> local{};
  int slides = 0;
  for (int k = 0; k < 500; ++k) {
    Eigen::Matrix2d factor;
    for (double& entry : factor.reshaped()) entry = normal(random);
    const Eigen::Matrix2d block = factor * factor.transpose() + 0.05 * Eigen::Matrix2d::Identity();
    const ContactVector<2> free(normal(random), -std::abs(normal(random)));
    const double mu = std::abs(normal(random));
    const ContactVector<2> impulse =
        local.solve(local.prepare(block, CoulombPlane{{mu}}), Eigen::Map<const Eigen::Matrix2d>(block.data()),
                    CoulombPlane{{mu}}, free, ContactVector<2>::Zero());
    const ContactVector<2> velocity = block * impulse + free;
    EXPECT_NEAR(velocity[1], 0.0, 1e-10 * (1.0 + impulse.norm()));
    EXPECT_LE(std::abs(impulse[0]), mu * impulse[1] * (1.0 + 1e-12));
    slides += velocity.norm() > 1e-9;
    const auto energy = [&](const ContactVector<2>& x) { return 0.5 * x.dot(block * x) + x.dot(free); };
    for (int j = -100; j <= 100; ++j) {
      ContactVector<2> x(mu * 0.01 * j, 1.0);
      const double resistance = block.row(1).dot(x);
      if (resistance <= 1e-6) continue;
      x *= -free[1] / resistance;
      EXPECT_LE(energy(impulse), energy(x) + 1e-10 * (1.0 + std::abs(energy(x))));
    }
  }
  EXPECT_GE(slides, 100);
}

TEST(EllipseBlock, OpenAndFrictionlessContactsAndSingularBlocksAreCoulombs) {
  const EllipseBlock<Quartic> local{};
  const auto at = [&](const Eigen::Matrix3d& block, double mu, const ContactVector<3>& free) {
    const CoulombSpace cone{{mu}};
    return local.solve(local.prepare(block, cone), Eigen::Map<const Eigen::Matrix3d>(block.data()), cone, free,
                       ContactVector<3>::Zero());
  };
  const Eigen::Matrix3d identity = Eigen::Matrix3d::Identity();
  EXPECT_TRUE(at(identity, 0.5, {1, 0, 0}).isZero(0.0));
  EXPECT_TRUE(at(identity, 0.5, {1, 0, 2}).isZero(0.0));
  EXPECT_EQ(at(identity, 0.0, {1, 0, -2}), (ContactVector<3>(0, 0, 2)));
  EXPECT_TRUE(at(Eigen::Matrix3d::Zero(), 0.5, {1, 0, -2}).allFinite());
  const Eigen::Matrix3d singular = Eigen::Vector3d(0, 0, 1).asDiagonal();
  EXPECT_NEAR(at(singular, 0.5, {1, 0, -2})[2], 2.0, 1e-12);
}

}  // namespace
}  // namespace conebench::gauss_seidel
