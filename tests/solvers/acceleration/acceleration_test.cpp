#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "solvers/acceleration/accelerator.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench {
namespace {

using Map = std::function<Vector(const Vector&)>;

Matrix random_matrix(Index rows, Index columns, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(random); });
}

/// F(x) = A x + b with a dense A of spectral radius `radius`.
struct LinearMap {
  Matrix a;
  Vector b;
  LinearMap(Index n, double radius, unsigned seed) : a(random_matrix(n, n, seed)), b(random_matrix(n, 1, seed + 1)) {
    a *= radius / a.eigenvalues().cwiseAbs().maxCoeff();
  }
  Vector operator()(const Vector& x) const { return a * x + b; }
  Vector solution() const { return (Matrix::Identity(a.rows(), a.cols()) - a).partialPivLu().solve(b); }
};

/// Jacobi-like with a kink in every row.
struct KinkedMap {
  LinearMap linear;
  explicit KinkedMap(Index n) : linear(n, 0.9, 5) {}
  Vector operator()(const Vector& x) const { return linear(x).cwiseMax(-0.1); }
};

struct History {
  std::vector<Vector> points, images;
  std::vector<double> residuals, predicted;
};

History anderson(const Map& map, Vector x, Index capacity, int steps, const Vector& weights = {}) {
  Anderson method(x.size(), x.size(), capacity);
  History run;
  for (int k = 0; k < steps; ++k) {
    const Vector image = map(x);
    Vector residual = image - x;
    run.points.push_back(x);
    run.images.push_back(image);
    run.residuals.push_back(residual.norm());
    if (weights.size() > 0) residual = residual.cwiseProduct(weights);
    method.next(image, residual, x);
    run.predicted.push_back(method.predicted_residual());
  }
  return run;
}

TEST(Anderson, OnALinearMapItIsGmresAndEndsInOneStepMoreThanItsDimension) {
  // Walker & Ni 2011 Thm. 2.2: without truncation the least squares' residual is that of GMRES for (I − A) x = b, and
  // x_{k+1} the image of GMRES' iterate.
  constexpr Index n = 8;
  const LinearMap map(n, 3.0, 1);  // the plain iteration diverges
  const History run = anderson(map, Vector::Zero(n), n, n + 2);
  const Matrix system = Matrix::Identity(n, n) - map.a;
  Matrix krylov(n, 0);
  Vector next = map.b;
  for (Index k = 0; k < n; ++k) {
    Vector best = map.b;
    if (k > 0) best -= system * krylov * (system * krylov).householderQr().solve(map.b);
    EXPECT_NEAR(run.predicted[static_cast<std::size_t>(k)], best.norm(), 1e-10) << k;
    const Vector column = (next - krylov * (krylov.transpose() * next)).normalized();
    krylov.conservativeResize(n, k + 1);
    krylov.col(k) = (column - krylov.leftCols(k) * (krylov.leftCols(k).transpose() * column)).normalized();
    next = system * krylov.col(k);
  }
  EXPECT_LE((run.points[n + 1] - map.solution()).norm(), 1e-9);
  EXPECT_GE((run.points[n] - map.solution()).norm(), 1e-6) << "no sooner";
}

/// The point after `k` by the definition, with dense least squares.
Vector literal_point(const History& run, std::size_t k, std::size_t capacity, const Vector& weights) {
  const std::size_t first = k > capacity ? k - capacity : 0;
  const auto n = run.points[0].size();
  Matrix images(n, static_cast<Index>(k - first)), residuals = images;
  const auto residual = [&](std::size_t i) { return Vector(weights.cwiseProduct(run.images[i] - run.points[i])); };
  for (std::size_t i = first; i < k; ++i) {
    images.col(static_cast<Index>(i - first)) = run.images[i + 1] - run.images[i];
    residuals.col(static_cast<Index>(i - first)) = residual(i + 1) - residual(i);
  }
  return run.images[k] - images * residuals.householderQr().solve(residual(k));
}

TEST(Anderson, PointsAreThoseOfTheDenseLeastSquaresWhileColumnsComeAndGo) {
  constexpr Index n = 12;
  const Vector weights = Vector::LinSpaced(n, 0.5, 4.0);
  for (const std::size_t capacity : {1U, 2U, 5U}) {
    const History run = anderson(KinkedMap(n), Vector::Ones(n), static_cast<Index>(capacity), 16, weights);
    for (std::size_t k = 1; k + 1 < run.points.size(); ++k) {
      const Vector expected = literal_point(run, k, capacity, weights);
      EXPECT_LE((run.points[k + 1] - expected).norm(), 1e-8 * expected.norm()) << capacity << " at " << k;
    }
  }
}

TEST(Anderson, AfterARestartItIsAsNew) {
  constexpr Index n = 6;
  const KinkedMap map(n);
  Anderson used(n, n, 3), fresh(n, n, 3);
  Vector x = Vector::Ones(n), point(n), other(n);
  for (int k = 0; k < 5; ++k) {
    const Vector image = map(x);
    used.next(image, image - x, x);
  }
  used.restart();
  x.setConstant(2.0);
  for (int k = 0; k < 6; ++k) {
    const Vector image = map(x);
    used.next(image, image - x, point);
    fresh.next(image, image - x, other);
    EXPECT_EQ(point, other) << k;
    EXPECT_EQ(used.columns(), std::min(k, 3));
    x = point;
  }
}

TEST(Anderson, ColumnsThatDependOnOthersAreLeftOut) {
  Anderson method(3, 3, 3);
  Vector point(3);
  const Vector unit = Vector::Unit(3, 0);
  for (const double size : {4.0, 2.0, 1.0}) method.next(unit * size, unit * size, point);
  EXPECT_EQ(method.columns(), 1);
  EXPECT_TRUE(point.isZero(1e-15)) << "f is linear along the line: " << point.transpose();
  method.next(unit, unit, point);
  EXPECT_TRUE(point.allFinite()) << "f has not changed";
}

TEST(Momentum, WeightsAreNesterovs) {
  Momentum momentum(1);
  Vector point(1);
  double alpha = 1.0;
  for (int k = 1; k < 8; ++k) {
    // Images k²: differences 2k − 1; residuals fall.
    EXPECT_TRUE(momentum.next(Vector::Constant(1, k * k), std::exp(-k), point));
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * alpha * alpha));
    EXPECT_DOUBLE_EQ(point[0], k * k + (k > 1 ? (alpha - 1.0) / next * (2 * k - 1) : 0.0)) << k;
    alpha = next;
  }
}

TEST(Momentum, WhereTheResidualDoesNotFallItGoesBackToTheLastImage) {
  Momentum momentum(1);
  Vector point(1);
  const auto next = [&](double image, double residual) {
    const bool falls = momentum.next(Vector::Constant(1, image), residual, point);
    return std::pair(falls, point[0]);
  };
  next(1.0, 1.0);
  next(2.0, 0.9);
  next(3.0, 0.8);
  EXPECT_EQ(next(7.0, 0.7995), std::pair(false, 3.0)) << "Goldstein et al. Alg. 8: 0.7995 is above 0.999 · 0.8";
  EXPECT_EQ(next(5.0, 0.7999), std::pair(true, 5.0)) << "0.8 / 0.999 is what is to be beaten; no momentum at first";
}

TEST(Momentum, WhereItPointsUphillItGoesOnFromTheImage) {
  // Descent on x²/2 with step 1/4: F(x) = 3/4 x, x − F(x) = x/4.
  Momentum momentum(1);
  Vector x = Vector::Constant(1, 1.0);
  bool crossed = false;
  for (int k = 0; k < 30 && !crossed; ++k) {
    const Vector image = 0.75 * x;
    const double before = x[0];
    const bool kept = momentum.next_by_gradient(image, x);
    crossed = before < 0.0;  // past the minimum, and still on the way down in x
    EXPECT_EQ(kept, !crossed) << k;
    if (crossed) {
      EXPECT_EQ(x[0], image[0]);
    }
  }
  EXPECT_TRUE(crossed);
}

TEST(Nncg, FollowsThePapersAlgorithm) {
  // Silcowitz et al. 2010 from its text, with the gradient g = x − F(x). The map turns, so that β > 1 at times.
  constexpr Index n = 6;
  const KinkedMap map(n);
  Vector x = Vector::Ones(n);
  Vector y = x, direction, gradient;
  Nncg method(n);
  int restarts = 0;
  for (int k = 0; k < 25; ++k) {
    const Vector image = map(x);
    const bool kept = method.next(x, image, (image - x).squaredNorm(), x);

    Vector next = map(y);
    const Vector gradient_before = gradient;
    gradient = y - next;
    if (k == 0) {
      direction = -gradient;
    } else {
      const double beta = gradient.squaredNorm() / gradient_before.squaredNorm();
      EXPECT_EQ(kept, beta <= 1.0) << k;
      restarts += kept ? 0 : 1;
      if (beta > 1.0) {
        direction.setZero();
      } else {
        next += beta * direction;
        direction = beta * direction - gradient;
      }
    }
    y = next;
    EXPECT_LE((x - y).norm(), 1e-12) << k;
  }
  EXPECT_GT(restarts, 0);
}

TEST(Momentum, CrossesALongWayOfEqualStepsInTheRootOfThem) {
  // F(x) = min(x + 1, n): n plain steps. Momentum's weights are 1 − 3/k or more, so that a step is k/4 or more.
  constexpr double n = 60000.0;
  Momentum momentum(1);
  Vector x = Vector::Zero(1);
  int k = 0;
  for (; x[0] < n && k < 10000; ++k) {
    const Vector image = (x.array() + 1.0).min(n);
    momentum.next_by_gradient(image, x);
  }
  EXPECT_LE(k, std::sqrt(8.0 * n));
}

TEST(Momentum, ABlockThatTurnsBackLosesItsOwnMomentumAlone) {
  // Rows 0 and 1 go on for ever; row 2, a block of its own, overshoots its end at 7.5.
  Momentum momentum(3, {0, 2});
  Momentum alone(2);
  Vector x = Vector::Zero(3);
  Vector expected = x.head(2);
  int restarts = 0;
  for (int k = 0; k < 20; ++k) {
    const Vector image = Eigen::Vector3d(x[0] + 1.0, x[1] + 2.0, std::min(x[2] + 1.0, 7.5));
    if (!momentum.next_by_gradient(image, x)) ++restarts;
    const Vector image_alone = expected + Eigen::Vector2d(1.0, 2.0);
    ASSERT_TRUE(alone.next_by_gradient(image_alone, expected));
    EXPECT_EQ(x.head(2), expected) << k;
  }
  EXPECT_EQ(restarts, 1);
  EXPECT_EQ(x[2], 7.5);
}

/// Evaluations of the map until its residual is below 1e-9 of the first.
int evaluations(const Map& map, Vector x, const AccelerationOptions& options, int most = 20000) {
  std::vector<Index> rows(static_cast<std::size_t>(x.size()));
  std::iota(rows.begin(), rows.end(), Index{0});
  Accelerator accelerator(options, Vector::Ones(x.size()), rows);
  accelerator.restart();
  double first = 0.0;
  for (int k = 1; k <= most; ++k) {
    const Vector image = map(x);
    const double residual = (image - x).norm();
    if (k == 1) first = residual;
    if (residual <= 1e-9 * first) return k;
    accelerator.next(x, image, x);
  }
  return most + 1;
}

/// Projected gradient of ½ xᵀ H x − bᵀ x over x ≥ 0 with condition number 1e3.
Map projected_gradient(Index n) {
  const Matrix turn = random_matrix(n, n, 3).householderQr().householderQ();
  const Vector spectrum = Vector::LinSpaced(n, -3.0, 0.0).unaryExpr([](double e) { return std::pow(10.0, e); });
  const Matrix hessian = turn * spectrum.asDiagonal() * turn.transpose();
  const Vector b = random_matrix(n, 1, 4);
  return [hessian, b](const Vector& x) { return Vector((x - hessian * x + b).cwiseMax(0.0)); };
}

TEST(Accelerator, TakesAFractionOfThePlainIterations) {
  const Map map = projected_gradient(30);
  const int plain = evaluations(map, Vector::Zero(30), {});
  EXPECT_GE(plain, 1000);
  EXPECT_LE(evaluations(map, Vector::Zero(30), {.method = "anderson", .capacity = 10}), plain / 4);
  for (const char* method : {"nesterov", "block_nesterov", "nncg"}) {
    EXPECT_LE(evaluations(map, Vector::Zero(30), {.method = method}), plain / 4) << method;
  }
}

TEST(Accelerator, GoesBackToTheLastImageWhereTheMeritIsAboveTheLeast) {
  const KinkedMap map(4);
  Accelerator accelerator({.method = "anderson", .capacity = 3, .safeguard = 1.5}, Vector::Ones(4));
  for (const double merit : {1.49, 1.51, std::numeric_limits<double>::infinity(), std::nan("")}) {
    SCOPED_TRACE(merit);
    accelerator.restart();
    Vector x = Vector::Ones(4);
    accelerator.next(x, map(x), 1.0, x);
    const Vector plain = map(x);
    accelerator.next(x, plain, 1.4, x);
    EXPECT_NE(x, plain);
    const Vector image = map(plain);
    accelerator.next(x, map(x), merit, x);
    if (merit == 1.49) {
      EXPECT_EQ(accelerator.rejected(), 0);
      continue;
    }
    EXPECT_EQ(x, plain);
    EXPECT_EQ(accelerator.rejected(), 1);
    accelerator.next(x, image, 100.0, x);
    EXPECT_EQ(x, image) << "anew, and what is not extrapolated is taken as it is";
    EXPECT_EQ(accelerator.rejected(), 1);
  }
}

TEST(Accelerator, TakesEverMorePlainStepsWhereExtrapolationFails) {
  const KinkedMap map(4);
  Accelerator accelerator({.method = "anderson", .capacity = 3}, Vector::Ones(4));
  accelerator.restart();
  Vector x = Vector::Ones(4);
  std::vector<int> plain_steps;
  int plain = 0;
  for (int k = 0; k < 60; ++k) {
    const Vector image = map(x);
    const bool extrapolated = k > 0 && plain < 0;
    const double merit = extrapolated ? 2.0 : 1.0;  // no extrapolated point is any good
    const long before = accelerator.rejected();
    accelerator.next(x, image, merit, x);
    if (accelerator.rejected() > before) {
      plain = 0;
    } else if (x == image) {
      ++plain;
    } else {
      plain_steps.push_back(plain);
      plain = -1;
    }
  }
  // One is needed for a first difference.
  EXPECT_THAT(std::vector<int>(plain_steps.begin(), plain_steps.begin() + 6), ::testing::ElementsAre(1, 1, 1, 2, 4, 8));
}

TEST(Accelerator, WithoutAccelerationThePointIsTheImage) {
  Accelerator accelerator({}, Vector::Ones(2));
  EXPECT_FALSE(accelerator.active());
  Vector x = Vector::Zero(2);
  const Vector image = Vector::Ones(2);
  accelerator.next(x, image, x);
  EXPECT_EQ(x, image);
}

TEST(Accelerator, RepeatsToTheBitAndAllocatesNothing) {
  const KinkedMap map(20);
  for (const char* method : {"anderson", "nesterov", "block_nesterov", "nncg"}) {
    SCOPED_TRACE(method);
    Accelerator accelerator({.method = method, .capacity = 4}, Vector::Constant(20, 0.3), {0, 7, 8});
    Vector first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      accelerator.restart();
      Vector x = Vector::Ones(20);
      for (int k = 0; k < 15; ++k) {
        const Vector image = map(x);
        const long before = testing::allocation_count();
        accelerator.next(x, image, x);
        if (testing::allocations_are_counted()) {
          EXPECT_EQ(testing::allocation_count(), before);
        }
      }
      if (repeat == 0) first = x;
      EXPECT_EQ(x, first);
    }
  }
}

struct OnlyAcceleration {
  AccelerationOptions acceleration;
};
void declare_options(OptionBinder& bind, OnlyAcceleration& o) { declare_acceleration(bind, o.acceleration); }

struct AcceleratedByDefault : OnlyAcceleration {
  AcceleratedByDefault() { acceleration.method = "anderson"; }
};

template <class Options>
SolverRow row_with() {
  return with_acceleration_left_out(
      make_row<Options>({}, [](const SolverInfo&, const Options&) { return std::unique_ptr<Solver>(); }));
}

TEST(AccelerationOptions, ArePartOfAConfigurationOnlyWhereTheyHaveAnEffect) {
  using ::testing::IsEmpty;
  using ::testing::Key;
  using ::testing::Pair;
  using ::testing::UnorderedElementsAre;
  const SolverRow plain = row_with<OnlyAcceleration>(), accelerated = row_with<AcceleratedByDefault>();
  EXPECT_THAT(*plain.effective_options({}), IsEmpty());
  EXPECT_THAT(*plain.effective_options({{"capacity", 7L}}), IsEmpty());
  for (const SolverRow& row : {plain, accelerated}) {
    EXPECT_THAT(*row.effective_options({{"acceleration", "nesterov"}}), UnorderedElementsAre(Key("acceleration")));
    EXPECT_THAT(*row.effective_options({{"acceleration", "anderson"}}),
                UnorderedElementsAre(Key("acceleration"), Key("capacity"), Key("safeguard")));
    EXPECT_FALSE(row.effective_options({{"acceleration", "aitken"}}));
  }
  EXPECT_EQ(accelerated.effective_options({})->size(), 3U);
  EXPECT_THAT(*accelerated.effective_options({{"acceleration", "none"}}),
              UnorderedElementsAre(Pair("acceleration", OptionValue(std::string("none")))));
}

}  // namespace
}  // namespace conebench
