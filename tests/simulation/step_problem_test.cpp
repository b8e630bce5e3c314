#include <Eigen/LU>
#include <array>
#include <string>
#include <vector>

#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "solvers/registry.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class StepProblem : public WithMujoco {};

Simulation scene(const std::string& id, const OptionValues& values) {
  return simulate(plan_scene(**require_simulated_scene(id), values, 1).value()).value();
}

double difference(const Matrix& a, const Matrix& b) { return (a - b).norm() / (1.0 + b.norm()); }

/// All that a step derives from M, D, τ and J, by dense algebra.
void expect_dense_algebra(Simulation& loop) {
  const Vector before = loop.state().velocity;
  const StepRecord record = step(loop);
  const Mechanics& mechanics = loop.mechanics();
  const double time_step = loop.time_step();
  const PrimalForm& primal = *record.problem.primal();

  const Matrix mass = Matrix(mechanics.mass) + time_step * Matrix(mechanics.damping);
  const Matrix jacobian(mechanics.jacobian);
  EXPECT_LT(difference(primal.mass, mass), 1e-15);
  EXPECT_EQ(difference(primal.jacobian, jacobian), 0.0);
  const Eigen::FullPivLU<Matrix> lu(mass);
  const Vector free_velocity = before + lu.solve(Vector(time_step * mechanics.force));
  EXPECT_LT(difference(primal.free_velocity, free_velocity), 1e-9);
  const Matrix delassus = jacobian * lu.solve(Matrix(jacobian.transpose()));
  EXPECT_LT(difference(record.problem.blocks().dense(), delassus), 1e-9);
  EXPECT_LT(difference(record.problem.free_term(), jacobian * free_velocity + *record.problem.bias()), 1e-9);
  const Vector after = free_velocity + lu.solve(Vector(jacobian.transpose() * record.impulse));
  EXPECT_LT(difference(loop.state().velocity, after), 1e-9);
}

TEST_F(StepProblem, IsWhatDenseAlgebraMakesOfTheMechanics) {
  for (const char* coordinates : {"reduced", "maximal"}) {
    for (const char* id : {"quadruped", "hand", "nunchuk", "fclib-chain"}) {
      SCOPED_TRACE(std::string(id) + " in " + coordinates + " coordinates");
      Simulation loop = scene(id, {{"coordinates", coordinates}, {"max_iterations", 200L}});
      for (int k = 0; k < 60; ++k) step(loop);
      expect_dense_algebra(loop);
    }
  }
}

TEST_F(StepProblem, HasTheSameMatrixInEveryForm) {
  std::vector<Matrix> matrices;
  for (const char* form : {"block_sparse", "factored", "dense"}) {
    Simulation loop = scene("quadruped", {{"form", form}});
    StepRecord record = step(loop);
    while (record.problem.cones().contacts() == 0) record = step(loop);
    matrices.push_back(record.problem.delassus().dense());
  }
  EXPECT_LT(difference(matrices[1], matrices[0]), 1e-14);
  EXPECT_LT(difference(matrices[2], matrices[0]), 1e-14);
}

/// A sliding box, from zero and from the last step's impulses. Compliance is for NEWTON-CCP, which needs some.
TEST_F(StepProblem, EveryRegisteredSolverRunsInTheLoop) {
  int solvers = 0;
  for (const SolverRow& row : solver_table()) {
    if (row.info.own_process) continue;
    SCOPED_TRACE(row.info.id);
    for (const char* start : {"cold", "previous"}) {
      Simulation loop = scene("box-on-plane", {{"solver", row.info.id},
                                               {"start", start},
                                               {"regularisation", 1e-3},
                                               {"tolerance", 1e-4},
                                               {"max_iterations", 1000L}});
      for (int k = 0; k < 3; ++k) {
        const StepRecord record = step(loop);
        EXPECT_TRUE(record.impulse.allFinite());
        EXPECT_EQ(record.problem.guess().has_value(), std::string(start) == "previous");
        const std::string found_by = record.problem.reference().value_or(Reference{}).source;
        EXPECT_EQ(found_by, record.problem.rows() > 0 ? row.info.id : "");
        // Lemke's plain methods may end on a ray. Others solve another model at most, in which the box may hop, but
        // slides on.
        EXPECT_TRUE(row.info.id.starts_with("LEMKE") || loop.state().velocity[0] > 0.5);
      }
    }
    ++solvers;
  }
  EXPECT_GE(solvers, 30);
}

TEST_F(StepProblem, EveryStageOfAStepIsReported) {
  Simulation loop = scene("box-on-plane", {});
  std::array<int, stage_count> reported{};
  loop.watch([&](Stage stage) { ++reported.at(static_cast<std::size_t>(stage)); });
  step(loop);
  for (const Stage stage : {Stage::assembly, Stage::collision, Stage::setup, Stage::solve, Stage::rest}) {
    EXPECT_GE(reported.at(static_cast<std::size_t>(stage)), 1);
  }
  loop.watch({});
  const auto before = reported;
  step(loop);
  EXPECT_EQ(reported, before);
}

}  // namespace
}  // namespace conebench::simulation
