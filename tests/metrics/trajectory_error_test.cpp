#include "metrics/trajectory_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

namespace conebench {
namespace {

using ::testing::HasSubstr;

class TrajectoryFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  Result<Trajectory> read(const std::string& text) const {
    std::ofstream(file_) << text;
    return read_trajectory(file_);
  }
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      ("trajectory_error_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".csv");
};

/// q1 and q2 as functions of time, `count` steps of `time_step`.
Trajectory made(double time_step, Index count, const std::function<std::pair<double, double>(double)>& q) {
  Trajectory t{{"status", "state_time_s", "kinetic_J", "potential_J", "q1", "q2"}, Matrix(count, 6), Vector(count)};
  for (Index k = 0; k < count; ++k) {
    t.times[k] = time_step * double(k);
    const auto [q1, q2] = q(t.times[k]);
    t.values.row(k) << std::nan(""), t.times[k], 2.0 * q1, 3.0 * q2, q1, q2;
  }
  return t;
}

TEST(TrajectoryError, IsTheIntegralOfTheDistance) {
  const auto reference = made(0.01, 101, [](double t) { return std::pair(t, -t); });
  const auto run = made(0.1, 11, [](double t) { return std::pair(t + 3.0 * t, -t + 4.0 * t); });
  const auto error = trajectory_error(run, reference);
  ASSERT_TRUE(error) << error.error().message;
  EXPECT_EQ(error->times, 11);
  EXPECT_NEAR(error->time_step, 0.1, 1e-12);
  EXPECT_NEAR(error->until, 1.0, 1e-12);
  // ‖(3 t, 4 t)‖ = 5 t at 0, 0.1, …, 1.
  EXPECT_NEAR(error->positions.integral, 5.0 * 5.5 * 0.1, 1e-12);
  EXPECT_NEAR(error->positions.largest, 5.0, 1e-12);
  EXPECT_NEAR(error->positions.largest_at, 1.0, 1e-12);
  ASSERT_TRUE(error->energy);
  EXPECT_NEAR(error->energy->largest, 2.0 * 3.0 + 3.0 * 4.0, 1e-12);
  EXPECT_TRUE(error->body_heights.empty());
  EXPECT_FALSE(error->of_bodies);
}

TEST(TrajectoryError, IsTheSameWhicheverComesFirst) {
  const auto fine = made(0.004, 200, [](double t) { return std::pair(std::sin(t), t * t); });
  const auto coarse = made(0.03, 20, [](double t) { return std::pair(std::cos(t), t); });
  const auto one = trajectory_error(fine, coarse), other = trajectory_error(coarse, fine);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->times, 20);
  EXPECT_EQ(one->positions.integral, other->positions.integral);
  EXPECT_EQ(one->energy->largest, other->energy->largest);
}

TEST(TrajectoryError, StepsThatDoNotDivideAreInterpolatedLinearly) {
  const auto line = [](double t) { return std::pair(2.0 * t, 1.0 - t); };
  const auto error = trajectory_error(made(0.03, 30, line), made(0.007, 140, line));
  ASSERT_TRUE(error);
  EXPECT_LT(error->positions.largest, 1e-13);
}

TEST(TrajectoryError, EndsWithTheShorterOne) {
  const auto still = [](double) { return std::pair(0.0, 0.0); };
  const auto error = trajectory_error(made(0.1, 11, still), made(0.01, 51, [](double) { return std::pair(1.0, 0.0); }));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->times, 6);
  EXPECT_NEAR(error->until, 0.5, 1e-12);
  EXPECT_NEAR(error->positions.integral, 0.6, 1e-12);
}

TEST(TrajectoryError, RoundingOfTheTimesLosesNoLine) {
  const auto still = [](double) { return std::pair(0.0, 0.0); };
  auto fine = made(0.001, 1001, still);
  fine.times[1000] -= 1e-12;
  EXPECT_EQ(trajectory_error(made(0.1, 11, still), fine)->times, 11);
}

TEST(TrajectoryError, WithoutPositionsTheBodiesThatBothHaveCount) {
  const auto bodies = [](double height, const std::string& other) {
    Trajectory t{{"state_time_s", "cube_x", "cube_y", "cube_z", "cube_qw", other + "_x", other + "_qw"},
                 Matrix(2, 7),
                 Vector(2)};
    t.times << 0.0, 1.0;
    t.values.row(0) << 0.0, 1.0, 2.0, height, 1.0, 7.0, 1.0;
    t.values.row(1) << 1.0, 1.0, 2.0, height + 1.0, 1.0, 7.0, 1.0;
    return t;
  };
  const auto error = trajectory_error(bodies(0.0, "a"), bodies(0.25, "b"));
  ASSERT_TRUE(error) << error.error().message;
  EXPECT_TRUE(error->of_bodies);
  EXPECT_NEAR(error->positions.integral, 0.5, 1e-15);
  ASSERT_EQ(error->body_heights.size(), 1U);
  EXPECT_NEAR(error->body_heights.at("cube").largest, 0.25, 1e-15);
  EXPECT_FALSE(error->energy);
}

TEST(TrajectoryError, OtherModelsAndOtherTimesAreNotCompared) {
  const auto still = [](double) { return std::pair(0.0, 0.0); };
  const auto two = made(0.1, 5, still);
  auto one = two;
  one.columns.back() = "x";
  EXPECT_THAT(trajectory_error(one, two).error().message, HasSubstr("the first has 1 positions, the second 2"));
  auto none = two;
  none.columns[4] = none.columns[5] = "x";
  EXPECT_THAT(trajectory_error(none, two).error().message, HasSubstr("--state"));
  auto later = two;
  later.times.array() += 10.0;
  EXPECT_THAT(trajectory_error(later, two).error().message, HasSubstr("no time in common"));
}

TEST(TrajectoryError, ANumberThatIsMissingIsNoAgreement) {
  const auto still = [](double) { return std::pair(0.0, 0.0); };
  auto broken = made(0.1, 5, still);
  broken.values(2, 4) = std::nan("");
  const auto error = trajectory_error(broken, made(0.1, 5, still));
  ASSERT_TRUE(error);
  EXPECT_TRUE(std::isnan(error->positions.integral));
  EXPECT_TRUE(std::isnan(error->positions.largest));
}

TEST_F(TrajectoryFile, IsReadByItsHeading) {
  const auto read_back = read("step,status,state_time_s,q1\n1,converged,0,-1.5e-3\n2,stalled,0.01,nan\n");
  ASSERT_TRUE(read_back) << read_back.error().message;
  EXPECT_EQ(read_back->values.rows(), 2);
  EXPECT_EQ(read_back->times[1], 0.01);
  EXPECT_EQ(read_back->values(0, *read_back->find("q1")), -1.5e-3);
  EXPECT_TRUE(std::isnan(read_back->values(0, *read_back->find("status"))));
  EXPECT_FALSE(read_back->find("q2"));
}

TEST_F(TrajectoryFile, WhatIsWrongIsNamedWithItsLine) {
  const auto message = [&](const std::string& text) {
    const auto result = read(text);
    return result ? std::string("read") : result.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("is empty"));
  EXPECT_THAT(message("step,time_s\n1,0\n2,1\n"), HasSubstr("no column state_time_s"));
  EXPECT_THAT(message("state_time_s\n0\n"), HasSubstr("fewer than two steps"));
  EXPECT_THAT(message("state_time_s,q1\n0,1\n1\n"), HasSubstr("line 3 has 1 cells, the heading 2"));
  EXPECT_THAT(message("state_time_s,q1\n0,1\n0,1\n"), HasSubstr("line 3: state_time_s does not ascend"));
  EXPECT_THAT(message("state_time_s,q1\nnan,1\n1,1\n"), HasSubstr("line 2"));
}

}  // namespace
}  // namespace conebench
