#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "metrics/residuals.hpp"
#include "simulation/engine.hpp"
#include "simulation/step_problem.hpp"
#include "tests/support/paths.hpp"

// MuJoCo's own constraint solver as an independent judge of what a step is made of: its Jacobian, its smooth velocity,
// its velocity after the step, and its forces, which solve the CCP with its compliance.

namespace conebench::simulation {
namespace {

namespace fs = std::filesystem;

constexpr double rounding = 1e-10;

double largest(const Vector& v) { return v.size() == 0 ? 0.0 : v.lpNorm<Eigen::Infinity>(); }

struct Compared {
  double jacobian = 0.0, free_velocity = 0.0, velocity = 0.0, residual = 0.0;
  double mass = 0.0, force = 0.0;  ///< of the engine that makes samples, relative
  Index rows = 0;
  int steps = 0;
};

/// Steps the model along MuJoCo's own answers.
Result<Compared> compare(const fs::path& file, int steps) {
  SimulatedModel model;
  model.source_file = file.string();
  CONEBENCH_TRY(const auto engine, load_engine(model, file.stem().string(), {.own_rows = true, .own_iterations = 50}));
  CONEBENCH_TRY(const auto sampling, load_engine(model, file.stem().string()));
  StepOptions options;
  options.softening = "engine";
  options.damping = "explicit";
  State state = engine->start();
  const double time_step = engine->dimensions().time_step;
  Compared worst;
  for (; worst.steps < steps; ++worst.steps) {
    Mechanics mechanics;
    CONEBENCH_CHECK(engine->evaluate(state, {.time_step = time_step}, mechanics));
    const EngineRows& own = *mechanics.own;
    Mechanics sampled;
    CONEBENCH_CHECK(sampling->evaluate(state, {.time_step = time_step}, sampled));
    const double inertia = Matrix(mechanics.mass).cwiseAbs().maxCoeff();
    worst.mass = std::max(worst.mass, Matrix(sampled.mass - mechanics.mass).cwiseAbs().maxCoeff() / inertia);
    const bool adhesive = std::any_of(sampled.contacts.begin(), sampled.contacts.end(),
                                      [](const ContactPoint& contact) { return contact.adhesion != 0.0; });
    if (!adhesive) {  // whose forces are along normals, and the engine's contacts need not be the sample's
      worst.force =
          std::max(worst.force, largest(sampled.force - mechanics.force) / std::max(1.0, largest(mechanics.force)));
    }
    CONEBENCH_TRY(const auto step, discretise(mechanics, state.velocity, time_step, options, "step"));
    const double speed = std::max(1.0, largest(own.velocity));
    worst.free_velocity = std::max(worst.free_velocity, largest(step.free_velocity - own.free_velocity) / speed);
    if (mechanics.rows() > 0) {
      worst.rows = std::max(worst.rows, mechanics.rows());
      Matrix difference = Matrix(mechanics.jacobian) - Matrix(own.jacobian);
      for (Index row = 0; row < mechanics.rows(); ++row) {
        if (own.compliance[row] == 0.0) difference.row(row).setZero();  // MuJoCo has no such row
      }
      worst.jacobian = std::max(worst.jacobian, difference.cwiseAbs().maxCoeff());
      worst.velocity = std::max(worst.velocity, largest(velocity_after(step, own.impulse) - own.velocity) / speed);
      CONEBENCH_TRY(const auto problem, step_problem(mechanics, step, time_step, options, {}));
      // In units of what gravity does in a step, where g is less than that (in free fall it is rounding).
      const double unit = largest(problem.free_term());
      const double least_unit = time_step * engine->dimensions().gravity;
      worst.residual = std::max(worst.residual, judge(problem, own.impulse)["natural_map_ccp_scaled"].value * unit /
                                                    std::max(unit, least_unit));
    }
    engine->advance_position(state, own.velocity, time_step);
    state.velocity = own.velocity;
    engine->advance_activation(state, time_step);
    state.time += time_step;
    if (!(largest(state.velocity) < 1e6)) break;
  }
  return worst;
}

std::vector<fs::path> models(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(EngineRows, StepOfEveryExampleModelIsMujocosOwn) {
  const auto files = models(fs::path(CONEBENCH_SOURCE_DIR) / "examples" / "models");
  ASSERT_GE(files.size(), 20U);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const auto compared = compare(file, 60);
    ASSERT_TRUE(compared) << compared.error().message;
    EXPECT_EQ(compared->steps, 60);
    EXPECT_GT(compared->rows, 0);
    EXPECT_LE(compared->mass, rounding);
    EXPECT_LE(compared->force, rounding);
    EXPECT_LE(compared->jacobian, rounding);
    EXPECT_LE(compared->free_velocity, rounding);
    EXPECT_LE(compared->velocity, rounding);
    EXPECT_LE(compared->residual, rounding);
  }
}

/// A list of models, a path a line, for whoever has more of them: CONEBENCH_MODEL_LIST=list.txt.
TEST(EngineRows, StepOfModelsFromElsewhereIsMujocosOwn) {
  const char* const list = std::getenv("CONEBENCH_MODEL_LIST");
  if (list == nullptr) GTEST_SKIP() << "CONEBENCH_MODEL_LIST names no list of models";
  std::ifstream lines(list);
  std::string line;
  while (std::getline(lines, line)) {
    SCOPED_TRACE(line);
    const auto compared = compare(line, 20);
    if (!compared) {
      std::printf("%-80s %s\n", line.c_str(), compared.error().message.c_str());
      continue;
    }
    EXPECT_LE(compared->mass, rounding);
    EXPECT_LE(compared->force, rounding);
    std::printf("%-80s %2d steps, %4ld rows: J %.1e, v_free %.1e, v+ %.1e, forces %.1e\n", line.c_str(),
                compared->steps, static_cast<long>(compared->rows), compared->jacobian, compared->free_velocity,
                compared->velocity, compared->residual);
    EXPECT_LE(compared->jacobian, rounding);
    EXPECT_LE(compared->free_velocity, rounding);
    EXPECT_LE(compared->velocity, rounding);
    EXPECT_LE(compared->residual, rounding);
  }
}

}  // namespace
}  // namespace conebench::simulation
