#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solvers/admm/admm.hpp"
#include "tests/solvers/admm/admm_fixtures.hpp"
#include "tests/solvers/admm/literal_acceleration.hpp"

namespace conebench {
namespace {

using admm_test::LiteralKamino;
using admm_test::LiteralPinocchio;
using admm_test::LiteralShadow;
using admm_test::natural_map;
using admm_test::random_problem;
using admm_test::run;

struct Setting {
  const char* description;
  std::string id;
  OptionValues options;
  bool ncp;
  double eta;
};
const std::vector<Setting> kSettings = {
    {"NCP", "ADMM-NCP-FP", {{"initial_penalty", 0.5}, {"proximal", 1e-3}}, true, 1e-3},
    {"CCP", "ADMM-CCP", {{"update", "fixed"}, {"initial_penalty", 0.5}}, false, 0.0},
};

/// Compares y after 1, 2, … iterations with that of a literal method, on joints, limits and contacts in both
/// dimensions.
template <class Literal, class Prepare>
void expect_same_iterates(const OptionValues& options, Prepare prepare, double tolerance) {
  for (const int dimension : {2, 3}) {
    for (const Setting& setting : kSettings) {
      SCOPED_TRACE(std::string(setting.description) + " in " + std::to_string(dimension) + "D");
      const ContactProblem problem = random_problem(7, 5, 2, 0.4, dimension, 2, 3);
      const Vector guess = Vector::LinSpaced(problem.rows(), -0.5, 1.0);
      Literal expected(problem, guess, setting.ncp);
      prepare(expected, setting);
      OptionValues all = options;
      all.insert(setting.options.begin(), setting.options.end());
      for (long iterations = 1; iterations <= 50; ++iterations) {
        expected.step();
        const Vector& y = expected.y;
        const auto answer = run(setting.id, problem, all, {.tolerance = 0.0, .max_iterations = iterations}, guess);
        EXPECT_LE((answer.impulse - y).lpNorm<Eigen::Infinity>(), tolerance * (1.0 + y.lpNorm<Eigen::Infinity>()))
            << "after " << iterations;
      }
    }
  }
}

TEST(AdmmAcceleration, MomentumIsThatOfKamino) {
  int restarts = 0;
  expect_same_iterates<LiteralKamino>(
      {{"acceleration", std::string("nesterov")}},
      [&](LiteralKamino& literal, const Setting& setting) {
        literal.admm.rho = 0.5;
        literal.admm.eta = setting.eta;
      },
      1e-10);
  LiteralKamino literal(random_problem(7, 5, 2, 0.4, 3, 2, 3), Vector::Zero(20));
  for (int k = 0; k < 50; ++k) literal.step();
  restarts += literal.restarts;
  EXPECT_GE(restarts, 1) << "the comparison has a restart in it";
}

TEST(AdmmAcceleration, ProjectionFirstIsThePlainMethodOfPinocchio) {
  expect_same_iterates<LiteralPinocchio>(
      {{"order", std::string("project_solve")}},
      [](LiteralPinocchio& literal, const Setting& setting) {
        literal.rho = 0.5;
        literal.eta = setting.eta;
      },
      1e-12);
}

TEST(AdmmAcceleration, ProjectionFirstWithAndersonIsPinocchios) {
  for (const long capacity : {1L, 3L, 4L}) {
    SCOPED_TRACE(capacity);
    expect_same_iterates<LiteralPinocchio>(
        {{"order", std::string("project_solve")}, {"acceleration", std::string("anderson")}, {"capacity", capacity}},
        [&](LiteralPinocchio& literal, const Setting& setting) {
          literal.rho = 0.5;
          literal.eta = setting.eta;
          literal.differences = static_cast<std::size_t>(capacity);
        },
        1e-9);
  }
  LiteralPinocchio literal(random_problem(7, 5, 2, 0.4, 3, 2, 3), Vector::Zero(20));
  literal.differences = 4;
  for (int k = 0; k < 50; ++k) literal.step();
  EXPECT_GE(literal.accepted, 5);
  EXPECT_GE(literal.rejected, 1);
}

TEST(AdmmAcceleration, AndersonActsOnTheShadow) {
  for (const long capacity : {2L, 5L}) {
    SCOPED_TRACE(capacity);
    expect_same_iterates<LiteralShadow>(
        {{"acceleration", std::string("anderson")}, {"capacity", capacity}, {"safeguard", 1e12}},
        [&](LiteralShadow& literal, const Setting& setting) {
          literal.admm.rho = 0.5;
          literal.admm.eta = setting.eta;
          literal.capacity = static_cast<std::size_t>(capacity);
        },
        1e-8);
  }
}

TEST(AdmmAcceleration, EverySettingEndsAtASolution) {
  const ContactProblem problem = random_problem(3, 6, 3, 0.5, 3, 2, 2);
  for (const auto& row : admm_rows()) {
    for (const char* order : {"solve_project", "project_solve"}) {
      for (const char* method : {"none", "anderson", "nesterov"}) {
        SCOPED_TRACE(row.info.id + " " + order + " " + method);
        const auto answer = run(row.info.id, problem, {{"order", order}, {"acceleration", method}},
                                {.tolerance = 1e-10, .max_iterations = 20000});
        EXPECT_EQ(answer.summary.status, SolveStatus::converged);
        EXPECT_LE(natural_map(problem, answer.impulse, row.info.formulation == Formulation::ncp), 1e-7);
      }
    }
  }
}

TEST(AdmmAcceleration, RelaxationBelongsToTheOtherOrder) {
  const auto wrong = find_solver("ADMM-NCP-SA")->make({{"order", std::string("project_solve")}, {"relaxation", 1.5}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, ::testing::HasSubstr("relaxation is a step of order=solve_project"));
}

TEST(AdmmAcceleration, WithoutAccelerationAConfigurationIsThatOfBefore) {
  for (const auto& row : admm_rows()) {
    const auto options = row.effective_options({}).value();
    if (row.info.id == "ADMM-NCP-AA-S") continue;
    for (const char* name : {"acceleration", "capacity", "safeguard", "order"}) EXPECT_FALSE(options.contains(name));
  }
}

TEST(AdmmAcceleration, TheAcceleratedIdIsTheStepBalancedOneWithAnderson) {
  const ContactProblem problem = random_problem(1, 12, 3);
  const auto expected = run("ADMM-NCP-ST-S", problem, {{"acceleration", "anderson"}, {"capacity", 10L}});
  const auto actual = run("ADMM-NCP-AA-S", problem);
  EXPECT_EQ(actual.impulse, expected.impulse);
  EXPECT_LE(2 * actual.summary.iterations, run("ADMM-NCP-ST-S", problem).summary.iterations);
  EXPECT_EQ(run("ADMM-NCP-AA-S", problem, {{"acceleration", "none"}}).impulse, run("ADMM-NCP-ST-S", problem).impulse);
}

}  // namespace
}  // namespace conebench
