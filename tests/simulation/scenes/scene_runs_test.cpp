#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "metrics/features.hpp"
#include "simulation/scene_plan.hpp"
#include "tests/simulation/scenes/engine_model.hpp"
#include "tests/simulation/scenes/scene_cases.hpp"

namespace conebench {
namespace {

using simulation::Simulation;
using simulation::StepRecord;

constexpr double g = 9.81;

Simulation start(const std::string& scene, OptionValues values) {
  const auto plan = simulation::plan_scene(**require_simulated_scene(scene), values, 1);
  if (!plan) throw std::runtime_error(plan.error().message);
  auto made = simulation::simulate(*plan);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

StepRecord step(Simulation& simulation) {
  auto record = simulation.step();
  if (!record) throw std::runtime_error(record.error().message);
  return std::move(*record);
}

class SimulatedSceneRuns : public ::testing::TestWithParam<SceneCase> {};

INSTANTIATE_TEST_SUITE_P(EveryScene, SimulatedSceneRuns, ::testing::ValuesIn(all_scene_cases()), name_of_case);

/// From the start, where impacts are the hardest on stacks and nothing has had time to fall apart.
TEST_P(SimulatedSceneRuns, TwentyFiveStepsKeepJointsTogetherAndShapesApart) {
  OptionValues values = GetParam().values;
  values["tolerance"] = 1e-6;
  values["max_iterations"] = 200L;
  auto simulation = start(GetParam().id, values);
  for (int k = 0; k < 25; ++k) {
    const StepRecord record = step(simulation);
    ASSERT_TRUE(record.impulse.allFinite());
    ASSERT_LT(record.configuration_residual, 5e-3) << "step " << k;
  }
  ASSERT_LT(simulation.state().velocity.cwiseAbs().maxCoeff(), 100.0);
}

/// The same in maximal coordinates, where every joint adds its rows.
TEST_P(SimulatedSceneRuns, TenStepsInMaximalCoordinates) {
  OptionValues values = GetParam().values;
  const auto gait = values.find("gait");
  if (gait != values.end() && gait->second == OptionValue(std::string("track"))) {
    GTEST_SKIP() << "its control reads the joints' angles; TrackingTrot tests that it is refused";
  }
  values["coordinates"] = std::string("maximal");
  values["solver"] = std::string("ADMM-NCP-SA");
  values["tolerance"] = 1e-6;
  values["max_iterations"] = 200L;
  auto simulation = start(GetParam().id, values);
  for (int k = 0; k < 10; ++k) {
    const StepRecord record = step(simulation);
    ASSERT_TRUE(record.impulse.allFinite());
    ASSERT_LT(record.configuration_residual, 5e-3) << "step " << k;
  }
}

TEST(CubeSliding, StopsAfterTheDistanceOfCoulombsLaw) {
  auto cube = start("cube-sliding", {{"speed", 1.0}, {"friction", 0.4}});
  while (cube.state().time < 0.4) step(cube);
  // LeLidec24 Fig. 10: v²/(2 μ g), from which semi-implicit Euler is off by v Δt / 2.
  EXPECT_NEAR(cube.state().position[0], 1.0 / (2.0 * 0.4 * g), 1e-3);
  EXPECT_LT(cube.state().velocity.cwiseAbs().maxCoeff(), 1e-6);
}

TEST(CubeDragged, SticksUntilTheForceExceedsFriction) {
  auto cube = start("cube-dragged", {{"tolerance", 1e-10}});
  const double slips = 0.4 * g / 20.0;  // LeLidec24 Fig. 12: μ m g over the rate of the force, 0.196 s
  while (cube.state().time < slips - 0.002) step(cube);
  EXPECT_LT(cube.state().velocity.cwiseAbs().maxCoeff(), 1e-6);
  while (cube.state().time < slips + 0.1) step(cube);
  // m v = rate t²/2 from there on.
  EXPECT_NEAR(cube.state().velocity[0], 20.0 * 0.1 * 0.1 / 2.0, 0.005);
}

TEST(FclibChain, HangsByItsContactsAlone) {
  auto chain = start("fclib-chain", {{"tolerance", 1e-6}, {"max_iterations", 500L}});
  Index fewest = 1000;
  Index most = 0;
  for (int k = 0; k < 200; ++k) {
    const StepRecord record = step(chain);
    EXPECT_EQ(record.problem.cones().joints(), 0);
    if (k < 40) continue;  // the slack is taken up
    fewest = std::min(fewest, record.problem.cones().contacts());
    most = std::max(most, record.problem.cones().contacts());
  }
  // Ten links hang in each other: at least one contact each.
  EXPECT_GE(fewest, 10);
  EXPECT_LE(most, 40);
  // The tenth link's height: it can't have fallen by more than the slack and the swing.
  EXPECT_LT(chain.state().position.tail<7>()[2], -2.0);
  EXPECT_GT(chain.state().position.tail<7>()[2], -2.6);
}

TEST(FclibKaplaTower, HasFourContactsAPlankWhenItsFirstFloorLands) {
  auto tower = start("fclib-kapla-tower", {{"gap", 0.002}, {"shake", 0.0}, {"max_iterations", 100L}});
  Index contacts = 0;
  while (contacts == 0) contacts = step(tower).problem.cones().contacts();
  EXPECT_EQ(contacts, 48);  // 12 planks, as in FCLIB's KaplasTower with 72 dofs
}

TEST(FclibKaplaTower, HasFourContactsAPairOfPlanksAndLittleMoreWhenShaken) {
  auto tower = start("fclib-kapla-tower", {{"solver", std::string("NSGS")}, {"max_iterations", 100L}});
  Index most = 0;
  for (int k = 0; k < 40; ++k) most = std::max(most, step(tower).problem.cones().contacts());
  // Ten floors of twelve planks on two each, and the ground; FCLIB's own goes to 933. A few shaken pairs have a fifth,
  // and some tilted ones have less than four.
  EXPECT_LE(most, 1.05 * 4 * (10 * 24 + 12));
  EXPECT_GE(most, 0.85 * 4 * (10 * 24 + 12));
}

TEST(FclibBoxesStack, HasFourContactsABoxWhenItHasLanded) {
  const long boxes = 8;
  auto stack = start("fclib-boxes-stack", {{"boxes", boxes}, {"tolerance", 1e-6}, {"max_iterations", 2000L}});
  StepRecord record = step(stack);
  EXPECT_EQ(record.problem.cones().contacts(), 0);
  while (stack.state().time < 1.0) record = step(stack);
  // Rounding decides whether collision detection now and then finds a fifth point of a pair, or three: on average four.
  constexpr int steps = 20;
  Index found = 0;
  for (int k = 0; k < steps; ++k) found += step(stack).problem.cones().contacts();
  EXPECT_GE(found, steps * (4 * boxes - 1));
  EXPECT_LE(found, steps * (4 * boxes + 1));
}

/// MuJoCo's nearest point of two capsules jumps from end to end as they turn: with it alone they sink in by 74 mm.
TEST(FclibCapsules, CapsulesThatLieAlongEachOtherStayApart) {
  auto capsules = start("fclib-capsules", {});
  double deepest = 0.0;
  for (int k = 0; k < 260; ++k) deepest = std::max(deepest, step(capsules).configuration_residual);
  EXPECT_LT(deepest, 0.04);
}

TEST(FclibChute, BlocksPileUpBeforeTheBoardWithMoreThanFourContactsEach) {
  const long grains = 120;
  auto chute = start("fclib-chute", {{"grains", grains},
                                     {"board", 0.4},
                                     {"solver", std::string("NSGS")},
                                     {"tolerance", 1e-4},
                                     {"max_iterations", 100L}});
  Index most = 0;
  for (int k = 0; k < 800; ++k) {
    const StepRecord record = step(chute);
    most = std::max(most, record.problem.cones().contacts());
    ASSERT_LT(record.configuration_residual, 8e-3) << "step " << k;
  }
  EXPECT_GE(most, 4 * grains);
  for (long grain = 0; grain < grains; ++grain) EXPECT_LT(chute.state().position[7 * grain], 0.4);
}

TEST(HumanoidSquat, StandsOnAllCornersOfItsFeet) {
  auto robot = start("humanoid-squat", {{"tolerance", 1e-6}, {"max_iterations", 1000L}});
  for (int k = 0; k < 300; ++k) EXPECT_EQ(step(robot).problem.cones().contacts(), 16);
}

/// Yamane finds 12 to 16 contacts, most of which are redundant: two rigid soles take twelve rows.
TEST(HumanoidSquat, MostOfItsContactsAreRedundant) {
  for (const long corners : {6L, 8L}) {
    auto robot = start("humanoid-squat", {{"corners", corners}, {"solver", std::string("CASCADE")}});
    const StepRecord record = step(robot);
    EXPECT_EQ(record.problem.rows(), 3 * 2 * corners);
    EXPECT_EQ(rank(Matrix(record.problem.primal()->jacobian)), 12);
  }
}

/// The upward impulse of the world on everything [N s].
double from_ground(const Simulation& simulation, const StepRecord& record) {
  const auto& contacts = simulation.mechanics().contacts;
  double sum = 0.0;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts[c].first_body != 0) continue;
    sum += contacts[c].frame.row(2) * record.impulse.segment<3>(record.problem.cones().contact_row(Index(c)));
  }
  return sum;
}

/// Carpentier24 V-A's wall: 15 cubes in rows of five to one, before the ball is there.
TEST(CubeStackHit, AWallOfCubesStandsInRowsAndPressesItsWeightOnTheGround) {
  auto wall = start(
      "cube-stack-hit",
      {{"layout", std::string("wall")}, {"mass_ratio", 1.0}, {"solver", std::string("CASCADE")}, {"tolerance", 1e-8}});
  StepRecord record = step(wall);
  for (int k = 0; k < 30; ++k) record = step(wall);
  std::vector<int> in_row(5, 0);
  for (Index cube = 0; cube < 15; ++cube) {
    const double z = wall.state().position[7 * cube + 2];
    const auto row = static_cast<std::size_t>(std::lround(z / 0.2 - 0.5));
    ASSERT_LT(row, 5U);
    ++in_row[row];
    EXPECT_NEAR(z, 0.2 * (double(row) + 0.5), 1e-6);
  }
  EXPECT_EQ(in_row, (std::vector<int>{5, 4, 3, 2, 1}));
  EXPECT_NEAR(from_ground(wall, record), 15.0 * g * 0.001, 1e-6);
}

/// Yamane's tap dance: each foot leaves the floor and comes back while the other stands.
TEST(HumanoidTap, LiftsItsFeetInTurnAndStaysUp) {
  auto robot = start("humanoid-tap", {{"solver", std::string("CASCADE")}, {"tolerance", 1e-6}});
  std::array<int, 2> lifted{};
  const std::array feet = {robot.engine().body_number("left_leg6").value(),
                           robot.engine().body_number("right_leg6").value()};
  const double height = robot.state().position[2];
  for (int k = 0; k < 1000; ++k) {
    const StepRecord record = step(robot);
    std::array<bool, 2> loaded{};
    const auto& contacts = robot.mechanics().contacts;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (record.impulse[record.problem.cones().contact_row(Index(c)) + 2] <= 0.0) continue;
      for (std::size_t f = 0; f < 2; ++f) loaded[f] = loaded[f] || contacts[c].second_body == feet[f];
    }
    for (std::size_t f = 0; f < 2; ++f) lifted[f] += !loaded[f] && loaded[1 - f] ? 1 : 0;
    ASSERT_GT(robot.state().position[2], 0.9 * height) << "fallen at " << robot.state().time;
  }
  EXPECT_GT(lifted[0], 20);
  EXPECT_GT(lifted[1], 20);
}

/// Yamane's ring: five ball joints a wire, one of which closes a loop.
TEST(Ring, WindsItsWiresRoundThePost) {
  auto ring = start("ring", {{"solver", std::string("CASCADE")}, {"tolerance", 1e-6}});
  EXPECT_EQ(ring.engine().dimensions().bodies, 3 * 4 + 1);
  EXPECT_EQ(step(ring).problem.cones().joints(), 3 * 3) << "three rows a loop";
  Index most = 0;
  double drift = 0.0;
  for (int k = 0; k < 600; ++k) {
    const StepRecord record = step(ring);
    most = std::max(most, record.problem.cones().contacts());
    drift = std::max(drift, record.joint_drift);
  }
  EXPECT_GE(most, 10);
  EXPECT_LT(drift, 2e-3);
}

/// Tsounis VII-C: with joints alone a linkage has more rows than velocities where it is fixed, a figure fewer.
TEST(StandIns, HungUpTheyHaveJointsAlone) {
  const auto category = [](const std::string& scene, OptionValues values, const std::string& coordinates) {
    values["coordinates"] = coordinates;
    values["tolerance"] = 1e-6;
    auto made = start(scene, values);
    const StepRecord record = step(made);
    EXPECT_EQ(record.problem.cones().contacts(), 0) << scene;
    return extract_features(record.problem).category;
  };
  for (const std::string coordinates : {"reduced", "maximal"}) {
    for (const char* figure : {"walker-like", "gazelle-like", "ironman-like"}) {
      EXPECT_EQ(category(figure, {{"height", 1.0}}, coordinates), SampleCategory::redundant_joints) << figure;
    }
    EXPECT_EQ(category("fourbar", {}, coordinates), SampleCategory::dense_joints);
  }
}

/// LeLidec24 Fig. 13: the upper cube lighter, as heavy, heavier.
TEST(TwoCubes, AreSolvedAtEveryRatioOfTheirMasses) {
  for (const double ratio : {1e-3, 1.0, 1e3}) {
    SCOPED_TRACE(ratio);
    auto cubes = start(
        "two-cubes",
        {{"mass_ratio", ratio}, {"solver", std::string("CASCADE")}, {"tolerance", 1e-8}, {"max_iterations", 1000L}});
    // A cube that tips turns by some milliradians a step, whose square contacts do not see.
    const double overlap = ratio > 1.0 ? 1e-5 : 1e-6;
    for (int k = 0; k < 150; ++k) {
      const StepRecord record = step(cubes);
      ASSERT_LE(record.residual, 1e-8) << k;
      ASSERT_LT(record.configuration_residual, overlap) << k;
    }
    // The upper cube slides at first. One that is heavy tips the lower one; else both come to rest, and what they press
    // on the ground is their weight.
    if (ratio > 1.0) {
      EXPECT_GT(cubes.state().velocity.cwiseAbs().maxCoeff(), 0.1);
      continue;
    }
    const StepRecord last = step(cubes);
    const ConeProduct& cones = last.problem.cones();
    double on_ground = 0.0;
    for (Index c = 0; c < cones.contacts(); ++c) {
      // The world's contacts move one cube alone.
      const SparseMatrix rows = last.problem.primal()->jacobian.middleRows(cones.contact_row(c), 3);
      Index moved = 0;
      for (Index cube = 0; cube < 2; ++cube) moved += Matrix(rows).middleCols(6 * cube, 6).norm() > 0.0 ? 1 : 0;
      if (moved == 1) on_ground += last.impulse[cones.contact_row(c) + 2];
    }
    const double weight = (1.0 + ratio) * g * 0.001;
    EXPECT_NEAR(on_ground, weight, 1e-4 * weight);
  }
}

}  // namespace
}  // namespace conebench
