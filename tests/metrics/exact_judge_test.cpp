#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "known_answers.hpp"
#include "metrics/residuals.hpp"
#include "problem_builders.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/paths.hpp"

namespace conebench {
namespace {

using testing::make_problem;

nlohmann::json rows_of(const Matrix& matrix) {
  nlohmann::json rows = nlohmann::json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json list_of(const Vector& vector) { return std::vector<double>(vector.begin(), vector.end()); }

/// Answers, each with the judge's residuals, to be judged by exact arithmetic.
class ExactCases {
 public:
  /// `only`: residuals to compare; empty: all.
  void add(const std::string& name, const ContactProblem& problem, const Vector& impulse,
           const std::vector<std::string>& only = {}) {
    const ConeProduct& cones = problem.cones();
    nlohmann::json made = {{"name", name},
                           {"joints", cones.joints()},
                           {"limits", cones.limits()},
                           {"intervals", nlohmann::json::array()},
                           {"contacts", nlohmann::json::array()},
                           {"R", list_of(problem.compliance())},
                           {"g", list_of(problem.free_term())},
                           {"impulse", list_of(impulse)}};
    for (const auto& [lower, upper] : cones.intervals()) {
      made["intervals"].push_back({bound_of(lower), bound_of(upper)});
    }
    for (Index i = 0; i < cones.contacts(); ++i) {
      const FrictionLaw law = cones.law(i);
      made["contacts"].push_back({{"shape", law.shape == ConeShape::pyramid ? "pyramid" : "discs"},
                                  {"groups", law.groups},
                                  {"mu", law.coefficients}});
    }
    if (problem.given_as_primal()) {
      made["M"] = rows_of(Matrix(problem.primal()->mass));
      made["J"] = rows_of(Matrix(problem.primal()->jacobian));
    } else {
      made["G"] = rows_of(problem.blocks().dense());
    }
    const auto& configuration = problem.configuration();
    if (configuration && configuration->gaps && configuration->time_step && problem.bias()) {
      made["gaps"] = list_of(*configuration->gaps);
      made["time_step"] = *configuration->time_step;
      made["bias"] = list_of(*problem.bias());
    }
    if (!only.empty()) made["only"] = only;
    for (const Residual& residual : judge(problem, impulse).residuals) {
      made["residuals"][residual.name] =
          residual.known() && std::isfinite(residual.value) ? nlohmann::json(residual.value) : nlohmann::json(nullptr);
    }
    cases_.push_back(std::move(made));
  }

  std::size_t count() const { return cases_.size(); }

  void multiply(const std::string& residual, double factor) {
    for (nlohmann::json& made : cases_) {
      made["residuals"][residual] = made["residuals"][residual].get<double>() * factor;
    }
  }

  void expect_exact() const { EXPECT_TRUE(are_exact()); }
  bool are_exact() const {
    const auto file = std::filesystem::temp_directory_path() / fmt::format("conebench_exact_{}.json", getpid());
    std::ofstream(file) << cases_.dump();
    const std::string command =
        fmt::format("/usr/bin/python3 '{}/tests/metrics/exact_judge.py' '{}'", CONEBENCH_SOURCE_DIR, file.string());
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed command of the test
    std::filesystem::remove(file);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  static nlohmann::json bound_of(double bound) {
    return std::isfinite(bound) ? nlohmann::json(bound) : nlohmann::json(nullptr);
  }

  nlohmann::json cases_ = nlohmann::json::array();
};

class ExactJudge : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("/usr/bin/python3 -c ''") != 0) GTEST_SKIP() << "python3 is not there";  // NOLINT(cert-env33-c)
  }
};

ContactProblem random_problem(const std::string& form, long dimension, std::uint64_t seed) {
  return make_problem("known-solution",
                      {{"form", form},
                       {"dimension", dimension},
                       {"contacts", 3L},
                       {"joints", 2L},
                       {"limits", dimension == 5 ? 0L : 2L},
                       {"compliance", seed % 2 == 0 ? 0.0 : 0.02}},
                      seed);
}

/// Every friction coefficient times `factor`.
ContactProblem with_friction(const ContactProblem& problem, double factor) {
  ContactProblemData data = problem.data();
  std::vector<double> friction(data.cones.friction().begin(), data.cones.friction().end());
  std::vector<double> rolling = data.cones.rolling_friction();
  for (double& mu : friction) mu *= factor;
  for (double& mu : rolling) mu *= factor;
  data.cones =
      ConeProduct::create(data.cones.joints(), data.cones.limits(), friction, data.cones.contact_dimension(), rolling)
          .value();
  return ContactProblem::create(std::move(data)).value();
}

/// Impulses times `impulse`, velocities times `velocity`, both powers of two.
ContactProblem in_units(const ContactProblem& problem, double impulse, double velocity) {
  ContactProblemData data = problem.data();
  const double delassus = velocity / impulse;
  if (problem.given_as_primal()) {
    data.primal->mass *= 1.0 / delassus;
    data.primal->free_velocity *= velocity;
    data.delassus = nullptr;
  } else {
    data.primal.reset();
    data.delassus = make_dense_delassus(problem.blocks().dense() * delassus);
  }
  data.compliance *= delassus;
  data.free_term *= velocity;
  data.bias.reset();
  data.guess.reset();
  data.reference.reset();
  return ContactProblem::create(std::move(data)).value();
}

TEST_F(ExactJudge, AgreesOnAHundredAnswersRightAndWrong) {
  ExactCases cases;
  std::uint64_t seed = 0;
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    for (const long dimension : {2L, 3L, 5L}) {
      for (const double distance : {0.0, 1e-12, 1e-6, 1.0, 1e4, 1e16}) {
        for (int repeat = 0; repeat < 2; ++repeat) {
          const ContactProblem problem = random_problem(form, dimension, ++seed);
          const Vector impulse = problem.reference()->reaction + distance * Vector::Random(problem.rows());
          cases.add(fmt::format("{} {}D {} {}", form, dimension, distance, seed), problem, impulse);
        }
      }
    }
  }
  EXPECT_GE(cases.count(), 100U);
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesOnIntervalsAndAllLawsOfFrictionInOneProblem) {
  ExactCases cases;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const testing::KnownModes known =
        testing::problem_with_known_modes(testing::drawn_cones(seed, 3), seed, seed % 4 == 0);
    for (const double distance : {0.0, 1e-12, 1e-6, 1.0, 1e4, 1e16}) {
      cases.add(fmt::format("mixed {} {}", seed, distance), known.problem,
                known.impulse + distance * Vector::Random(known.problem.rows()));
    }
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesOnEachLawOfFriction) {
  ExactCases cases;
  const std::vector<FrictionLaw> laws = testing::all_laws();
  for (std::size_t k = 0; k < laws.size(); ++k) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const testing::KnownModes known =
          testing::problem_with_known_modes(testing::with_intervals({laws[k], laws[k]}), 100 * k + seed);
      for (const double distance : {0.0, 1e-6, 1.0, 100.0}) {
        cases.add(fmt::format("law {} {} {}", k, seed, distance), known.problem,
                  known.impulse + distance * Vector::Random(known.problem.rows()));
      }
    }
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesOnGroupsWithCoefficientsFarFromOne) {
  ExactCases cases;
  using enum ConeShape;
  for (const double factor : {1e-6, 1e6}) {
    std::vector<FrictionLaw> laws = {{discs, {2, 1, 2}, {0.5, 0.2, 0.02, 0.005, 0.01}},
                                     {discs, {5}, {0.9, 0.9, 0.02, 0.005, 0.005}},
                                     {pyramid, {3}, {0.5, 0.3, 0.02}},
                                     {discs, {2}, {0.7, 0.7e-3}}};
    for (FrictionLaw& law : laws) {
      for (double& mu : law.coefficients) mu *= factor;
    }
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const testing::KnownModes known = testing::problem_with_known_modes(testing::with_intervals(laws), seed);
      for (const double distance : {0.0, 1e-9, 1e-3, 1e16}) {
        cases.add(fmt::format("factor {} {} {}", factor, seed, distance), known.problem,
                  known.impulse + distance * Vector::Random(known.problem.rows()));
      }
    }
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesOnBoundsAtTheEndOfTheRange) {
  ExactCases cases;
  const double largest = std::numeric_limits<double>::max();
  const ConeProduct cones = interval_cones({{-largest, largest}, {-1.0, largest}, {-largest, 1.0}});
  const Matrix delassus = 1e3 * Matrix::Identity(3, 3);
  for (const Vector& impulse :
       {vector_of({0.5, -1.0, 1.0}), vector_of({1e3, -2.0, 2.0}), vector_of({0.0, 1e300, -1e300})}) {
    cases.add("far bounds", problem_with(cones, delassus, vector_of({1.0, -2.0, 3.0})), impulse,
              {"primal", "dual", "natural_map", "natural_map_scaled", "natural_map_relative"});
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, NoticesADifferenceInTheThirteenthDigit) {
  ExactCases cases;
  const ContactProblem problem = random_problem("dense", 3, 1);
  cases.add("one", problem, Vector::Random(problem.rows()));
  cases.expect_exact();
  cases.multiply("natural_map_scaled", 1.0 + 1e-13);
  EXPECT_FALSE(cases.are_exact());
}

TEST_F(ExactJudge, AgreesWhereMIsIllConditioned) {
  // Stiff springs between light bodies: M by one dense block, of conditioning 1e12. The scaled residuals have r_i from
  // M's factor in double, so that they have fewer digits here.
  ExactCases cases;
  const Index size = 6;
  Matrix mass = 1e-6 * Matrix::Identity(size, size);
  for (Index i = 0; i + 1 < size; ++i) {
    mass(i, i) += 1e6;
    mass(i + 1, i + 1) += 1e6;
    mass(i, i + 1) -= 1e6;
    mass(i + 1, i) -= 1e6;
  }
  const Matrix jacobian = Matrix::Random(size, size);
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 0, {0.5, 0.3}).value();
  data.primal = PrimalForm{mass.sparseView(), jacobian.sparseView(), Vector::Zero(size)};
  data.free_term = Vector::Random(size);
  const ContactProblem problem = ContactProblem::create(data).value();
  for (const double impulse : {1e-6, 1.0, 1e6}) {
    cases.add(fmt::format("ill-conditioned {}", impulse), problem, impulse * Vector::Random(size),
              {"dual", "dual_ccp", "r_dual", "natural_map", "complementarity", "objective", "duality_gap_ccp"});
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesAtAMillionfoldFriction) {
  ExactCases cases;
  for (const char* form : {"dense", "factored"}) {
    for (const long dimension : {2L, 3L, 5L}) {
      for (const double distance : {0.0, 1e-9, 1e-3, 1e16}) {
        const ContactProblem problem = with_friction(random_problem(form, dimension, 7), 1e6);
        const Vector impulse = problem.reference()->reaction + distance * Vector::Random(problem.rows());
        cases.add(fmt::format("{} {}D mu 1e6 {}", form, dimension, distance), problem, impulse);
      }
    }
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesInUnitsFarFromOne) {
  ExactCases cases;
  const double large = 0x1p498;  // 1e150
  for (const char* form : {"dense", "factored"}) {
    for (const long dimension : {2L, 3L, 5L}) {
      for (const auto& [force, velocity] : {std::pair(large, 1.0),
                                            {1.0, large},
                                            {1.0 / large, 1.0},
                                            {1.0, 1.0 / large},
                                            {large, large},
                                            {large, 1.0 / large}}) {
        const ContactProblem known = random_problem(form, dimension, 11);
        const Vector impulse = known.reference()->reaction + 1e-7 * Vector::Random(known.rows());
        cases.add(fmt::format("{} {}D units {} {}", form, dimension, force, velocity), in_units(known, force, velocity),
                  impulse * force);
      }
    }
  }
  cases.expect_exact();
}

TEST_F(ExactJudge, AgreesOnAnInflatedImpulse) {
  ExactCases cases;
  for (const double size : {1.0, 1e5, 1e7}) {
    cases.add(fmt::format("inflated {}", size), one_contact(vector_of({0.3, -0.4, -1.0}), 1e-5),
              vector_of({0.0, 0.0, size}));
  }
  cases.expect_exact();
}

/// Walls approach a body of 1 kg and 1 kg m² from both sides, each at two points. The velocities of the four points add
/// up to that of the walls whatever the body does, so some point always approaches by 1 m/s: there is no solution. J is
/// exact, and so is G.
Matrix squeezing_jacobian() {
  Matrix jacobian(4, 2);  // x, angle
  jacobian << 1.0, 0.625, 1.0, -0.375, -1.0, -0.75, -1.0, 0.5;
  return jacobian;
}

/// An impulse of some 7e15 N s by which the velocities computed in double are those of a solution: all 0.
Vector squeezing_impulse(const ContactProblem& problem) {
  Verdict verdict = Verdict::create("natural_map_scaled", problem).value();
  std::mt19937_64 random(1);
  Vector impulse(4);
  for (int trial = 0; trial < 2000000; ++trial) {
    for (Index i = 0; i < 2; ++i) {
      impulse[i] = 7e15 + static_cast<double>(random() % 64);
      impulse[i + 2] = 7e15 + static_cast<double>(random() % 64);
    }
    if (verdict(impulse) <= 1e-6) return impulse;
  }
  return {};
}

TEST_F(ExactJudge, RefusesTheBodySqueezedByTwoWallsThatDoubleAccepts) {
  const Matrix jacobian = squeezing_jacobian();
  const Vector approach = Vector::Constant(4, -1.0);
  const ContactProblem limits = problem_of({.limits = 4}, jacobian * jacobian.transpose(), approach);
  const Vector impulse = squeezing_impulse(limits);
  ASSERT_EQ(impulse.size(), 4) << "no impulse deceives double";
  const Residual verdict = judge(limits, impulse)["natural_map_scaled"];
  EXPECT_GE(verdict.value, 1.0);
  EXPECT_FALSE(is_solved(verdict, 1e-4));

  ExactCases cases;
  cases.add("squeezed between limits", limits, impulse);
  // The same with friction, as G and as (M, J).
  Matrix space = Matrix::Zero(12, 6);
  for (Index i = 0; i < 4; ++i) {
    space.block(3 * i + 2, 0, 1, 2) = jacobian.row(i);
    space.block(3 * i, 2, 2, 2) = Matrix::Identity(2, 2);
  }
  Vector walls = Vector::Zero(12), pushed = Vector::Zero(12);
  for (Index i = 0; i < 4; ++i) {
    walls[3 * i + 2] = -1.0;
    pushed[3 * i + 2] = impulse[i];
  }
  for (const double mu : {0.5, 1e6}) {
    ContactProblemData data = problem_data({.friction = {mu, mu, mu, mu}}, space * space.transpose(), walls);
    cases.add(fmt::format("squeezed, mu {}", mu), ContactProblem::create(data).value(), pushed);
    data.delassus = nullptr;
    data.primal = PrimalForm{Matrix(Matrix::Identity(6, 6)).sparseView(), space.sparseView(), Vector::Zero(6)};
    const ContactProblem primal = ContactProblem::create(data).value();
    EXPECT_GE(judge(primal, pushed)["natural_map_scaled"].value, 1.0);
    cases.add(fmt::format("squeezed, mu {}, by M and J", mu), primal, pushed);
  }
  cases.expect_exact();
}

TEST(WideJudge, AnswersBeyondAHundredDigitsAreNeverSolved) {
  // σ = 1e100 − 1e100 − 1e-100 on every row: no digits of V are left in the sum of 100.
  Matrix coupled(2, 2);
  coupled << 1.0, -1.0, -1.0, 1.0;
  const ContactProblem problem = problem_of({.limits = 2}, coupled, Vector::Constant(2, -1e-100));
  for (const Residual& residual : judge(problem, Vector::Constant(2, 1e100)).residuals) {
    EXPECT_EQ(residual.value, std::numeric_limits<double>::infinity()) << residual.name;
  }
}

}  // namespace
}  // namespace conebench
