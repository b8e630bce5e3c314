#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

TEST(InverseDynamicsCommand, GivesBackWhatForwardDynamicsDo) {
  const Outcome done = conebench({"inverse-dynamics", "sliding-box", "--press", "0.1", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = done.json();
  EXPECT_EQ(json["iterations"], 1);
  EXPECT_TRUE(json["converged"]);
  EXPECT_TRUE(json["forward"]["agrees"]);
  EXPECT_GT(json["impulse"][2], 0.0);
  EXPECT_EQ(json["torque"].size(), 6U);
}

TEST(InverseDynamicsCommand, WithoutDeSaxcesTermASlidingContactHasNoAnswer) {
  const Outcome done = conebench({"inverse-dynamics", "sliding-box", "--ccp", "--max-iterations", "5", "--json"});
  EXPECT_EQ(done.code, 1);
  const auto norms = done.json()["impulse_norms"];
  ASSERT_EQ(norms.size(), 5U);
  EXPECT_GT(norms[4].get<double>(), 4.9 * norms[0].get<double>());
}

TEST(InverseDynamicsCommand, AVelocityThatNoMotionReachesIsNoSuccess) {
  const Outcome done = conebench({"inverse-dynamics", "sphere-lattice", "--velocity", "0,0,0.1", "--json"});
  EXPECT_EQ(done.code, 1);
  EXPECT_GT(done.json()["missed"], 0.01);
  EXPECT_FALSE(done.json()["forward"]["agrees"]);
}

TEST(InverseDynamicsCommand, SaysWhatItCannotTake) {
  expect_failure(conebench({"inverse-dynamics", "sliding-box", "--velocity", "0.1,0"}), 2, {"--velocity 0.1,0"});
  expect_failure(conebench({"inverse-dynamics", "sliding-box", "--step", "3"}), 2, {"--step 3"});
  expect_failure(conebench({"inverse-dynamics", "no-such-scene"}), 3, {"no-such-scene"});
  expect_failure(conebench({"inverse-dynamics", "sphere-lattice", "--solver", "NSGG"}), 2, {"NSGG"});
}

}  // namespace
}  // namespace conebench::testing
