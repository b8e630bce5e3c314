#include "solvers/newton/block_functions.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace conebench::newton {
namespace {

/// Points away from the functions' kinks by chance, in all modes.
template <int Dim>
ContactVector<Dim> random_vector(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return ContactVector<Dim>::NullaryExpr([&] { return normal(random); });
}

/// X and Y of `function` against central differences; returns the relative error.
template <int Dim, class Function>
double derivative_error(const ContactVector<Dim>& impulse, const ContactVector<Dim>& velocity, Function function) {
  const BlockFunction<Dim> f = function(impulse, velocity);
  constexpr double h = 1e-6;
  double worst = 0.0;
  for (int c = 0; c < Dim; ++c) {
    const ContactVector<Dim> step = h * ContactVector<Dim>::Unit(c);
    const ContactVector<Dim> by_impulse =
        (function(impulse + step, velocity).value - function(impulse - step, velocity).value) / (2.0 * h);
    const ContactVector<Dim> by_velocity =
        (function(impulse, velocity + step).value - function(impulse, velocity - step).value) / (2.0 * h);
    worst = std::max({worst, (by_impulse - f.by_impulse.col(c)).norm(), (by_velocity - f.by_velocity.col(c)).norm()});
  }
  return worst / (1.0 + f.by_impulse.norm() + f.by_velocity.norm());
}

template <int Dim>
void expect_derivatives_match() {
  std::mt19937_64 random(7);
  int stick = 0;
  int slip = 0;
  int open = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const ContactVector<Dim> impulse = random_vector<Dim>(random);
    const ContactVector<Dim> velocity = random_vector<Dim>(random);
    const double mu = trial % 3 == 0 ? 0.0 : 0.3 * (trial % 5 + 1);
    const Steps r{.normal = 0.7, .tangential = trial % 2 == 0 ? 0.7 : 1.9};
    const auto alart_curnier = [&](const ContactVector<Dim>& l, const ContactVector<Dim>& s) {
      return alart_curnier_function<Dim>(l, s, mu, r);
    };
    const auto natural_map = [&](const ContactVector<Dim>& l, const ContactVector<Dim>& s) {
      return natural_map_function<Dim>(l, s, mu, r.normal);
    };
    EXPECT_LE((derivative_error<Dim>(impulse, velocity, alart_curnier)), 1e-7) << trial;
    EXPECT_LE((derivative_error<Dim>(impulse, velocity, natural_map)), 1e-7) << trial;
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

TEST(BlockFunctions, JacobiansAreThoseOfCentralDifferencesIn3D) { expect_derivatives_match<3>(); }
TEST(BlockFunctions, JacobiansAreThoseOfCentralDifferencesIn2D) { expect_derivatives_match<2>(); }

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

TEST(BlockFunctions, BothVanishAtTheStatesOfCoulombsLawAndOnlyThere) {
  for (const State& s : lawful_states()) {
    for (const Steps r : {Steps{1.0, 1.0}, Steps{0.2, 5.0}}) {
      EXPECT_LE(alart_curnier_function<3>(s.impulse, s.velocity, s.mu, r).value.norm(), 1e-14);
      EXPECT_LE(natural_map_function<3>(s.impulse, s.velocity, s.mu, r.normal).value.norm(), 1e-14);
    }
    const Eigen::Vector3d wrong = s.velocity + Eigen::Vector3d(0.0, 0.0, -0.7);
    EXPECT_GE(alart_curnier_function<3>(s.impulse, wrong, s.mu, {}).value.norm(), 1e-2);
    EXPECT_GE(natural_map_function<3>(s.impulse, wrong, s.mu, 1.0).value.norm(), 1e-2);
  }
}

}  // namespace
}  // namespace conebench::newton
