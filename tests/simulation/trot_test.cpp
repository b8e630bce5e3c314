// A quadruped's trot that tracks a velocity (LeLidec24 Figs. 18 and 19).

#include <gtest/gtest.h>

#include <cmath>

#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

class TrackingTrot : public WithMujoco {
 protected:
  static OptionValues gait(OptionValues more) {
    more.insert({{"gait", std::string("track")},
                 {"push", 0.0},
                 {"tolerance", 1e-6},
                 {"stop_by", std::string("solver")},
                 {"max_iterations", 1000L}});
    return more;
  }
};

/// Height of the trunk's z axis: 1 where it is level.
double level(const State& state) {
  const double x = state.position[4], y = state.position[5];
  return 1.0 - 2.0 * (x * x + y * y);
}

TEST_F(TrackingTrot, HasItsSpeedWithinFivePercentOnFlatGroundWithEverySolver) {
  for (const char* const solver : {"PGS-NCP", "ADMM-NCP-SA", "ADMM-CCP", "CASCADE"}) {
    for (const double speed : {-0.3, 0.4}) {
      auto robot = scene_of("quadruped", gait({{"speed", speed}, {"friction", 0.9}, {"solver", std::string(solver)}}));
      run(robot, 2.0);
      const Vector before = robot.state().position;
      run(robot, 2.0);  // five whole periods
      const Vector after = robot.state().position;
      EXPECT_NEAR((after[0] - before[0]) / 2.0, speed, 0.05 * std::abs(speed)) << solver;
      EXPECT_LT(std::abs(after[1]), 0.02) << solver << ": no drift across";
      EXPECT_NEAR(after[2], before[2], 0.01) << solver;
      EXPECT_GT(level(robot.state()), 0.99) << solver;
    }
  }
}

TEST_F(TrackingTrot, StaysWhereItIsAtNoSpeed) {
  auto robot = scene_of("quadruped", gait({{"speed", 0.0}, {"solver", std::string("CASCADE")}}));
  run(robot, 3.0);
  EXPECT_LT(robot.state().position.head<2>().norm(), 0.06);
  EXPECT_GT(level(robot.state()), 0.99);
}

TEST_F(TrackingTrot, GetsOverBumpyAndSlipperyGround) {
  auto robot = scene_of("quadruped", gait({{"ground", std::string("bumpy")},
                                           {"roughness", 0.05},
                                           {"friction", 0.3},
                                           {"solver", std::string("CASCADE")}}));
  run(robot, 4.0);
  EXPECT_NEAR(robot.state().position[0], 0.4 * (4.0 - 0.25), 0.15);
  EXPECT_GT(level(robot.state()), 0.9);
}

TEST_F(TrackingTrot, TheSameSeedMovesOnToTheSameBitsAndAnotherElsewhere) {
  const auto after = [](std::uint64_t seed) {
    const auto plan = plan_scene(
        **require_simulated_scene("quadruped"),
        gait({{"ground", std::string("bumpy")}, {"friction", 0.3}, {"solver", std::string("PGS-NCP")}}), seed);
    auto robot = simulate(*plan);
    run(*robot, 0.5);
    return robot->state().position;
  };
  EXPECT_EQ(after(1), after(1));
  EXPECT_NE(after(1), after(2));
}

TEST_F(TrackingTrot, NeedsReducedCoordinates) {
  const auto plan = plan_scene(**require_simulated_scene("quadruped"),
                               {{"gait", std::string("track")}, {"coordinates", std::string("maximal")}}, 1);
  const auto robot = simulate(*plan);
  ASSERT_FALSE(robot);
  EXPECT_EQ(robot.error().code, ErrorCode::wrong_usage);
  EXPECT_NE(robot.error().message.find("set coordinates=reduced"), std::string::npos);
}

}  // namespace
}  // namespace conebench::simulation
