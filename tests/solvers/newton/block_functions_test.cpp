#include "solvers/newton/contact_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace conebench::newton {
namespace {

/// Points away from the functions' kinks by chance, in all modes.
template <int Dim>
ContactVector<Dim> random_vector(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return ContactVector<Dim>::NullaryExpr([&] { return normal(random); });
}

constexpr std::array functions = {ContactFunction::alart_curnier, ContactFunction::natural_map,
                                  ContactFunction::fischer_burmeister};

/// X and Y of `function` against central differences; returns the relative error.
template <int Dim, class Function>
double derivative_error(const ContactVector<Dim>& impulse, const ContactVector<Dim>& velocity, Function function) {
  const BlockFunction<Dim> f = function(impulse, velocity);
  constexpr double h = 1e-6;
  double worst = 0.0;
  for (Index c = 0; c < impulse.size(); ++c) {
    const ContactVector<Dim> step = h * ContactVector<Dim>::Unit(impulse.size(), c);
    const ContactVector<Dim> by_impulse =
        (function(impulse + step, velocity).value - function(impulse - step, velocity).value) / (2.0 * h);
    const ContactVector<Dim> by_velocity =
        (function(impulse, velocity + step).value - function(impulse, velocity - step).value) / (2.0 * h);
    worst = std::max({worst, (by_impulse - f.by_impulse.col(c)).norm(), (by_velocity - f.by_velocity.col(c)).norm()});
  }
  return worst / (1.0 + f.by_impulse.norm() + f.by_velocity.norm());
}

template <class Cone>
void expect_derivatives_match() {
  constexpr int Dim = Cone::rows;
  std::mt19937_64 random(7);
  int stick = 0;
  int slip = 0;
  int open = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const ContactVector<Dim> impulse = random_vector<Dim>(random);
    const ContactVector<Dim> velocity = random_vector<Dim>(random);
    const double mu = trial % 3 == 0 ? 0.0 : 0.3 * (trial % 5 + 1);
    const Steps r{.normal = 0.7, .tangential = trial % 2 == 0 ? 0.7 : 1.9};
    const Cone cone{{mu}};
    const auto alart_curnier = [&](const ContactVector<Dim>& l, const ContactVector<Dim>& s) {
      return alart_curnier_function(l, s, cone, r);
    };
    const auto natural_map = [&](const ContactVector<Dim>& l, const ContactVector<Dim>& s) {
      return natural_map_function(l, s, cone, r.normal);
    };
    EXPECT_LE((derivative_error<Dim>(impulse, velocity, alart_curnier)), 1e-7) << trial;
    EXPECT_LE((derivative_error<Dim>(impulse, velocity, natural_map)), 1e-7) << trial;
    const auto fischer_burmeister = [&](const ContactVector<Dim>& l, const ContactVector<Dim>& s) {
      return fischer_burmeister_function(l, s, cone, mu, r.normal);
    };
    EXPECT_LE((derivative_error<Dim>(impulse, velocity, fischer_burmeister)), 1e-7) << trial;
    const BlockFunction<Dim> f = alart_curnier(impulse, velocity);
    if (f.by_velocity(Dim - 1, Dim - 1) == 0.0) {
      ++open;
    } else {
      ++(f.by_impulse.isZero(0.0) ? stick : slip);
    }
  }
  EXPECT_GT(open, 10);
  EXPECT_GT(slip, 10);
  EXPECT_GT(stick, 5);
}

TEST(BlockFunctions, JacobiansAreThoseOfCentralDifferencesIn3D) { expect_derivatives_match<CoulombSpace>(); }
TEST(BlockFunctions, JacobiansAreThoseOfCentralDifferencesIn2D) { expect_derivatives_match<CoulombPlane>(); }

TEST(BlockFunctions, JacobiansOfEveryLawAreThoseOfCentralDifferences) {
  using Block = FrictionCone::Block;
  const std::vector<FrictionLaw> laws = {FrictionLaw::rolling(0.5, 0.2),
                                         {ConeShape::discs, {3}, {0.4, 0.4, 0.4}},
                                         {ConeShape::discs, {2, 1, 2}, {0.6, 0.6, 0.1, 0.3, 0.3}},
                                         {ConeShape::pyramid, {2}, {0.5, 0.5}}};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const Steps r{.normal = 0.7, .tangential = 1.9, .moment = 0.4};
  for (const FrictionLaw& law : laws) {
    const FrictionCone cone(law.shape, law.groups, law.coefficients);
    for (int trial = 0; trial < 100; ++trial) {
      const Block impulse = Block::NullaryExpr(cone.size(), [&] { return normal(random); });
      const Block velocity = Block::NullaryExpr(cone.size(), [&] { return normal(random); });
      for (const ContactFunction kind : functions) {
        const auto function = [&](const Block& l, const Block& s) { return contact_function(kind, l, s, cone, r); };
        EXPECT_LE((derivative_error<Eigen::Dynamic>(impulse, velocity, function)), 1e-7) << trial;
      }
    }
  }
}

TEST(BlockFunctions, APyramidTakesTheNaturalMapInAnyCase) {
  const FrictionCone cone(ConeShape::pyramid, std::vector{2}, std::vector{0.5, 0.5});
  const FrictionCone::Block impulse = Eigen::Vector3d(0.3, -0.2, 1.0), velocity = Eigen::Vector3d(0.4, 0.1, -0.2);
  const Steps r{.normal = 0.7, .tangential = 1.9};
  for (const ContactFunction kind : functions) {
    EXPECT_EQ(contact_function(kind, impulse, velocity, cone, r).value,
              natural_map_function(impulse, velocity, cone, r.normal).value);
  }
}

TEST(BlockFunctions, ConesOfSeveralGroupsTakeTheNaturalMapForFischerAndBurmeisters) {
  const FrictionLaw law = FrictionLaw::rolling(0.5, 0.2);
  const FrictionCone cone(law.shape, law.groups, law.coefficients);
  FrictionCone::Block impulse(5), velocity(5);
  impulse << 0.3, -0.2, 1.0, 0.1, 0.0;
  velocity << 0.4, 0.1, -0.2, 0.0, 0.3;
  EXPECT_EQ(contact_function(ContactFunction::fischer_burmeister, impulse, velocity, cone, {.normal = 0.7}).value,
            natural_map_function(impulse, velocity, cone, 0.7).value);
}

TEST(BlockFunctions, FischerBurmeisterIsXPlusYLessTheRootOfTheirSquares) {
  // (x + y − φ)² = x² + y² by Jordan's product, and x + y − φ is in the cone: the definition.
  std::mt19937_64 random(3);
  const auto square = [](const Eigen::Vector4d& v) {
    Eigen::Vector4d result = 2.0 * v[3] * v;
    result[3] = v.squaredNorm();
    return result;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Vector4d x = 2.0 * random_vector<4>(random),
                          y = std::pow(10.0, -(trial % 9)) * random_vector<4>(random);
    const BlockFunction<4> f = cone_fischer_burmeister<4>(x, y);
    const Eigen::Vector4d root = x + y - f.value;
    EXPECT_LE((square(root) - square(x) - square(y)).norm(), 1e-13 * square(x)[3]) << trial;
    EXPECT_LE(root.head<3>().norm(), root[3] * (1.0 + 1e-14)) << trial;
  }
}

TEST(BlockFunctions, FischerBurmeisterOfOneRowIsTheScalarFunction) {
  using Row = ContactVector<1>;
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{{2, 0.5}, {-1, 3}, {-1, -2}, {0, 4}, {1e-9, 1}}) {
    const BlockFunction<1> cone = cone_fischer_burmeister<1>(Row(a), Row(b));
    const ScalarFischerBurmeister scalar = fischer_burmeister(a, b);
    EXPECT_NEAR(cone.value[0], scalar.value, 1e-15 * std::abs(scalar.value)) << a << " " << b;
    EXPECT_NEAR(cone.by_impulse(0, 0), scalar.by_first, 1e-15) << a << " " << b;
    EXPECT_NEAR(scalar.value, a + b - std::hypot(a, b), 1e-15) << a << " " << b;
  }
}

TEST(BlockFunctions, FischerBurmeisterHasAnElementOfItsJacobianOnTheConesBoundary) {
  // A contact that sticks at the edge of its cone, one that opens there, and one that does neither: limits along x = y.
  const Eigen::Vector3d edge(0.6, -0.8, 1.0);
  for (const auto& [x, y] : std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>>{
           {edge, Eigen::Vector3d::Zero()}, {edge, 2.0 * edge}, {Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()}}) {
    constexpr double h = 1e-9;
    const Eigen::Vector3d inside(0, 0, h);
    const BlockFunction<3> at = cone_fischer_burmeister<3>(x, y);
    const BlockFunction<3> near = cone_fischer_burmeister<3>(x + inside, y + inside);
    EXPECT_LE((at.by_impulse - near.by_impulse).norm(), 1e-6) << x.transpose();
    EXPECT_LE((at.by_velocity - near.by_velocity).norm(), 1e-6) << x.transpose();
  }
}

TEST(BlockFunctions, IntervalFischerBurmeisterHasTheZerosOfTheIntervalFunctionAndItsOwnDerivatives) {
  const std::vector<Interval> all = {{}, {.lower = 0.0}, {.upper = 0.5}, {-1.0, 2.0}, {0.4, 0.4}};
  for (const Interval& bounds : all) {
    for (const double impulse : {-1.5, -1.0, 0.0, 0.4, 0.5, 0.7, 2.0, 3.0}) {
      for (const double velocity : {-0.6, 0.0, 0.9}) {
        const double value = interval_fischer_burmeister(impulse, velocity, bounds, 0.5).value[0];
        EXPECT_EQ(std::abs(value) <= 1e-15, interval_function(impulse, velocity, bounds, 0.5).value[0] == 0.0)
            << impulse << " " << velocity << " in [" << bounds.lower << ", " << bounds.upper << "]";
        const auto function = [&](const ContactVector<1>& l, const ContactVector<1>& s) {
          return interval_fischer_burmeister(l[0], s[0], bounds, 0.5);
        };
        // Off the kinks.
        EXPECT_LE((derivative_error<1>(ContactVector<1>(impulse + 0.03), ContactVector<1>(velocity + 0.04), function)),
                  1e-7);
      }
    }
  }
}

TEST(BlockFunctions, IntervalFunctionVanishesAtItsLawAlone) {
  const Interval bounds{-1.0, 2.0};
  const auto value = [&](double impulse, double velocity) {
    return interval_function(impulse, velocity, bounds, 0.5).value[0];
  };
  EXPECT_EQ(value(-1.0, 0.7), 0.0);
  EXPECT_EQ(value(2.0, -0.7), 0.0);
  EXPECT_EQ(value(0.3, 0.0), 0.0);
  EXPECT_NE(value(0.3, 0.7), 0.0);
  EXPECT_NE(value(-1.0, -0.7), 0.0);
  EXPECT_NE(value(3.0, 0.0), 0.0);
  EXPECT_EQ(interval_function(0.4, 0.7, {0.4, 0.4}, 0.5).value[0], 0.0) << "a given impulse, at any velocity";
  EXPECT_EQ(interval_function(0.4, 0.7, {}, 0.5).value[0], 0.7) << "a bilateral row";
}

TEST(BlockFunctions, DiskFunctionFollowsItsRadius) {
  const Eigen::Vector2d impulse(0.5, -0.8);
  const Eigen::Vector2d velocity(-0.3, 0.9);
  for (const double radius : {0.4, 1.0, 3.0}) {
    constexpr double h = 1e-6;
    const auto f = disk_function<2>(impulse, velocity, radius, 0.6);
    const auto above = disk_function<2>(impulse, velocity, radius + h, 0.6);
    const auto below = disk_function<2>(impulse, velocity, radius - h, 0.6);
    EXPECT_LE(((above.value - below.value) / (2.0 * h) - f.by_radius).norm(), 1e-8) << radius;
  }
}

TEST(BlockFunctions, UnilateralFunctionVanishesWhereEitherSideIsZeroAndTheOtherNotNegative) {
  EXPECT_EQ(unilateral_function(0.0, 0.7, 2.0).value[0], 0.0);
  EXPECT_EQ(unilateral_function(0.7, 0.0, 2.0).value[0], 0.0);
  EXPECT_NE(unilateral_function(0.0, -0.7, 2.0).value[0], 0.0);
  EXPECT_NE(unilateral_function(-0.7, 0.0, 2.0).value[0], 0.0);
}

/// A state of Coulomb's law in each mode, with the normal last.
struct State {
  Eigen::Vector3d impulse, velocity;
  double mu = 0.5;
};

const std::vector<State>& lawful_states() {
  static const std::vector<State> states = {
      {{0, 0, 0}, {0.3, -0.2, 0.4}},       // open
      {{0.1, 0.2, 1.0}, {0, 0, 0}},        // stick
      {{-0.3, 0.4, 1.0}, {0.6, -0.8, 0}},  // slip
      {{0, 0, 1.0}, {0.6, -0.8, 0}, 0.0},  // no friction
      {{0, 0, 0}, {0, 0, 0}},              // grazing
  };
  return states;
}

TEST(BlockFunctions, AllVanishAtTheStatesOfCoulombsLawAndOnlyThere) {
  for (const State& s : lawful_states()) {
    const CoulombSpace cone{{s.mu}};
    for (const Steps r : {Steps{1.0, 1.0}, Steps{0.2, 5.0}}) {
      EXPECT_LE(alart_curnier_function(s.impulse, s.velocity, cone, r).value.norm(), 1e-14);
      EXPECT_LE(natural_map_function(s.impulse, s.velocity, cone, r.normal).value.norm(), 1e-14);
      EXPECT_LE(fischer_burmeister_function(s.impulse, s.velocity, cone, s.mu, r.normal).value.norm(), 1e-14);
    }
    const Eigen::Vector3d wrong = s.velocity + Eigen::Vector3d(0.0, 0.0, -0.7);
    EXPECT_GE(alart_curnier_function(s.impulse, wrong, cone, {}).value.norm(), 1e-2);
    EXPECT_GE(natural_map_function(s.impulse, wrong, cone, 1.0).value.norm(), 1e-2);
    EXPECT_GE(fischer_burmeister_function(s.impulse, wrong, cone, s.mu, 1.0).value.norm(), 1e-2);
  }
}

}  // namespace
}  // namespace conebench::newton
