#include "simulation/trajectory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "base/temporary_folder.hpp"
#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// A CSV file by columns.
struct Columns {
  std::map<std::string, std::vector<std::string>> cells;
  std::size_t size() const { return cells.empty() ? 0 : cells.begin()->second.size(); }
  double at(const std::string& column, std::size_t line) const { return std::stod(cells.at(column).at(line)); }
};

Columns read(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> names;
  Columns columns;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::size_t k = 0;
    const bool heading = names.empty();
    for (std::string word; std::getline(words, word, ','); ++k) {
      if (heading) {
        names.push_back(word);
      } else {
        columns.cells[names.at(k)].push_back(word);
      }
    }
    EXPECT_EQ(k, names.size()) << line;
  }
  return columns;
}

class Trajectory : public WithMujoco {
 protected:
  void write(Simulation& simulation, const TrajectoryOptions& options, int steps) {
    auto files = TrajectoryFiles::create(folder_, options, simulation);
    if (!files) throw std::runtime_error(files.error().message);
    for (int k = 0; k < steps; ++k) files->add(step(simulation));
    EXPECT_TRUE(files->check());
  }
  Columns trajectory() const { return read(folder_ / trajectory_name); }
  Columns impulses() const { return read(folder_ / impulses_name); }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Trajectory, ASlidingCubesPositionsAreThoseOfCoulombsLaw) {
  const double speed = 2.0, friction = 0.4, dt = 0.001;
  auto cube = scene_of("cube-sliding", {{"speed", speed}, {"friction", friction}, {"tolerance", 1e-12}});
  write(cube, {.state = true}, 500);
  const Columns lines = trajectory();
  ASSERT_EQ(lines.size(), 500U);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const double t = lines.at("state_time_s", k);
    ASSERT_NEAR(t, dt * double(k), 1e-12);
    ASSERT_NEAR(lines.at("v1", k), speed - friction * g * t, 1e-8);
    // The parabola at the speeds of the steps' ends: semi-implicit Euler is behind it by μ g Δt t / 2.
    ASSERT_NEAR(lines.at("q1", k), speed * t - friction * g * t * (t + dt) / 2.0, 1e-9);
    ASSERT_NEAR(lines.at("q2", k), 0.0, 1e-9);
    ASSERT_NEAR(lines.at("q3", k), 0.1, 1e-9);
    ASSERT_NEAR(lines.at("momentum_x", k), lines.at("v1", k), 1e-7) << "of 1 kg, at the same time";
  }
}

TEST_F(Trajectory, TheForcesOnARestingCubeAreItsWeight) {
  const double mass = 3.0;
  auto cube = scene_of("cube-sliding", {{"mass", mass}, {"speed", 0.0}, {"tolerance", 1e-12}});
  write(cube, {.bodies = {"cube", "world"}, .impulses = true}, 20);
  const Columns lines = trajectory(), contacts = impulses();
  ASSERT_EQ(contacts.size(), 4 * lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    EXPECT_NEAR(lines.at("cube_force_z", k), mass * g, 1e-6);
    EXPECT_NEAR(lines.at("world_force_z", k), -mass * g, 1e-6);
    double sum = 0.0;
    Eigen::Vector3d torque = Eigen::Vector3d::Zero();
    for (std::size_t c = 4 * k; c < 4 * k + 4; ++c) {
      EXPECT_EQ(contacts.at("step", c), double(k + 1));
      EXPECT_EQ(contacts.cells.at("first_body")[c] + contacts.cells.at("second_body")[c], "worldcube");
      const Eigen::Vector3d point(contacts.at("x", c), contacts.at("y", c), contacts.at("z", c));
      const Eigen::Vector3d force(contacts.at("force_x", c), contacts.at("force_y", c), contacts.at("force_z", c));
      EXPECT_NEAR(std::abs(point.x()), 0.1, 1e-9);
      EXPECT_NEAR(point.z(), 0.0, 1e-9);
      EXPECT_NEAR(contacts.at("gap_m", c), 0.0, 1e-9);
      sum += force.z();
      torque += point.cross(force);
    }
    EXPECT_NEAR(sum, mass * g, 1e-6);
    EXPECT_NEAR(torque.head<2>().norm(), 0.0, 1e-6) << "the cube does not tip";
  }
}

TEST_F(Trajectory, ASlidingCubesForcesAreThoseOfCoulombsLawInWorldAxes) {
  const double friction = 0.4;
  auto cube = scene_of("cube-sliding", {{"friction", friction}, {"tolerance", 1e-12}});
  write(cube, {.bodies = {"cube"}, .impulses = true}, 10);
  const Columns lines = trajectory();
  for (std::size_t k = 0; k < lines.size(); ++k) {
    EXPECT_NEAR(lines.at("cube_force_x", k), -friction * g, 1e-6);
    EXPECT_NEAR(lines.at("cube_force_y", k), 0.0, 1e-6);
    EXPECT_NEAR(lines.at("cube_force_z", k), g, 1e-6);
  }
}

TEST_F(Trajectory, TheFeetOfASquatterCarryItsWeightOverAWholeSquat) {
  // Yamane Fig. 2: as force plates would have it.
  const int period = 2000;
  auto humanoid = scene_of("humanoid-squat", {{"solver", std::string("CASCADE")}, {"frequency", 0.5}});
  write(humanoid, {.bodies = {"left_leg6", "right_leg6"}}, 2 * period);
  const auto masses = humanoid.engine().body_masses();
  const double weight = std::accumulate(masses.begin(), masses.end(), 0.0) * g;
  const Columns lines = trajectory();
  std::vector<double> load;
  for (std::size_t k = period; k < lines.size(); ++k) {
    load.push_back(lines.at("left_leg6_force_z", k) + lines.at("right_leg6_force_z", k));
  }
  EXPECT_NEAR(std::accumulate(load.begin(), load.end(), 0.0) / period / weight, 1.0, 0.01);
  EXPECT_NEAR(lines.at("weight_N", 0), weight, 1e-9 * weight);
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  EXPECT_GT(*most - *least, 0.01 * weight) << "it moves up and down";
}

TEST_F(Trajectory, TheFourCornersOfACubeAtRestAreActiveAndCarryItsWeight) {
  auto cube = scene_of("cube-sliding", {{"speed", 0.0}, {"tolerance", 1e-12}});
  write(cube, {.bodies = {"cube"}}, 5);
  const Columns lines = trajectory();
  EXPECT_EQ(lines.at("active", 4), 4.0);
  EXPECT_NEAR(lines.at("cube_force_z", 4), lines.at("weight_N", 4), 1e-8);
  EXPECT_EQ(lines.at("failed", 4), 0.0);
}

TEST_F(Trajectory, AStepWhoseSolveFailedDiffersFromOneWithoutAnyAnswer) {
  const auto failed = [&](const std::string& fallback, long pivots) {
    auto cube = scene_of("cube-sliding", {{"solver", std::string("LEMKE-ROBUST-DF")},
                                          {"stop_by", std::string("solver")},
                                          {"tolerance", 1e-9},
                                          {"max_iterations", pivots},
                                          {"fallback", fallback}});
    write(cube, {}, 3);
    return trajectory().at("failed", 0);
  };
  EXPECT_EQ(failed("none", 1000), 0.0);
  EXPECT_EQ(failed("none", 6), 1.0);
  EXPECT_EQ(failed("frictionless", 6), 1.0) << "the frictionless step was solved";
  EXPECT_EQ(failed("frictionless", 1), 2.0);
}

TEST_F(Trajectory, AContactThatSlidesKeepsItsIdentity) {
  auto cube = scene_of("cube-sliding", {});
  write(cube, {.impulses = true}, 30);
  const Columns contacts = impulses();
  for (std::size_t c = 4; c < contacts.size(); ++c) {
    const double before = contacts.at("x", c - 4);
    EXPECT_EQ(contacts.cells.at("contact")[c], contacts.cells.at("contact")[c - 4]);
    EXPECT_NEAR(contacts.at("x", c) - before, 0.002, 2e-4);
  }
}

TEST_F(Trajectory, ABodysPoseIsTheSameInBothCoordinates) {
  std::vector<Columns> lines;
  for (const std::string coordinates : {"reduced", "maximal"}) {
    auto arm = scene_of("nunchuk", {{"coordinates", coordinates}, {"tolerance", 1e-10}});
    const std::string body = arm.engine().body_name(2);
    write(arm, {.bodies = {body}}, 1);
    lines.push_back(trajectory());
    ASSERT_EQ(arm.engine().body_number(body), 2);
    for (const char* of : {"_x", "_y", "_z", "_qw", "_qx", "_qy", "_qz"}) {
      EXPECT_NEAR(lines.front().at(body + of, 0), lines.back().at(body + of, 0), 1e-12) << of;
    }
  }
}

TEST_F(Trajectory, AFreeBodysPoseIsItsPosition) {
  auto cube = scene_of("two-cubes", {});
  write(cube, {.state = true, .bodies = {"upper"}}, 5);
  const Columns lines = trajectory();
  const std::vector<std::string> pose = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    for (std::size_t i = 0; i < pose.size(); ++i) {
      EXPECT_NEAR(lines.at("upper_" + pose[i], k), lines.at("q" + std::to_string(8 + i), k), 1e-12);
    }
  }
}

TEST_F(Trajectory, MoreausStateIsThatOfTheMiddleOfTheStep) {
  auto cube = scene_of("cube-sliding", {{"integrator", std::string("moreau")}});
  write(cube, {.state = true}, 2);
  const Columns lines = trajectory();
  EXPECT_NEAR(lines.at("state_time_s", 0), 0.0005, 1e-12);
  EXPECT_NEAR(lines.at("q1", 0), 2.0 * 0.0005, 1e-12);
  EXPECT_NEAR(lines.at("time_s", 0), 0.001, 1e-12);
}

TEST_F(Trajectory, RecordsWhatTheSolverDid) {
  auto admm = scene_of("cube-sliding", {{"solver", std::string("ADMM-NCP-SA")}, {"stop_by", std::string("solver")}});
  write(admm, {}, 20);
  const Columns lines = trajectory();
  for (std::size_t k = 0; k < lines.size(); ++k) {
    ASSERT_EQ(lines.cells.at("status")[k], "converged");
    EXPECT_LE(lines.at("own_residual", k), 1e-8);
    EXPECT_GE(lines.at("factorizations", k), 1.0);
    EXPECT_GT(lines.at("solve_ms", k), 0.0);
    EXPECT_GT(lines.at("setup_ms", k), 0.0);
  }
  auto sweeps = scene_of("cube-sliding", {{"solver", std::string("PGS-NCP")}});
  write(sweeps, {}, 2);
  EXPECT_EQ(trajectory().at("factorizations", 1), 0.0) << "sweeps factor nothing";
}

TEST_F(Trajectory, AStepWithoutContactsHasNoSolve) {
  auto box = scene_of("box-on-plane", {{"height", 2.0}});
  write(box, {.bodies = {"world"}, .impulses = true}, 2);
  const Columns lines = trajectory();
  EXPECT_EQ(lines.at("solve_ms", 1), 0.0);
  EXPECT_EQ(lines.at("factorizations", 1), 0.0);
  EXPECT_TRUE(std::isnan(lines.at("own_residual", 1)));
  EXPECT_EQ(lines.at("world_force_z", 1), 0.0);
  EXPECT_EQ(impulses().size(), 0U);
}

TEST_F(Trajectory, ImpulsesOfAnEarlierRunDoNotStay) {
  for (const bool asked : {true, false}) {
    auto cube = scene_of("cube-sliding", {});
    write(cube, {.impulses = asked}, 1);
    EXPECT_EQ(fs::exists(folder_ / impulses_name), asked);
  }
}

TEST_F(Trajectory, AnUnknownBodyIsNamedWithThoseThatThereAre) {
  auto cube = scene_of("two-cubes", {});
  const auto files = TrajectoryFiles::create(folder_, {.bodies = {"uper"}}, cube);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(files.error().message, ::testing::HasSubstr("'uper'"));
  EXPECT_THAT(files.error().message, ::testing::HasSubstr("did you mean 'upper'? known: world, lower, upper"));
}

TEST_F(Trajectory, NamesNeverBreakACellOrBeginAFormula) {
  auto ball = simulation_of(world(R"(<geom type="plane" size="1 1 1"/><body name='=A1,"x"'><freejoint/>
      <geom type="sphere" size="0.1"/></body>)",
                                  keyframe("0 0 0.1 1 0 0 0", "0 0 0 0 0 0")),
                            0.01);
  write(ball, {.bodies = {"=A1,\"x\""}, .impulses = true}, 1);
  EXPECT_TRUE(trajectory().cells.contains("_A1__x__x"));
  EXPECT_EQ(impulses().cells.at("second_body")[0], "_A1__x_");
}

}  // namespace
}  // namespace conebench::simulation
