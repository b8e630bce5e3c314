#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "conebench/recording.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/recording.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using recording::Cone;
using recording::Step;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A block of every kind, with numbers that round; M dense, J sparse.
Step every_kind(double seed = 0.0) {
  Step step;
  step.bilateral(2).name("weld").bodies(0, 1);
  step.unilateral().gap(0.25).identity(3);
  step.interval(-0.1 / 3.0, 0.5);
  step.friction({0.5, 0.5}).gap(-1e-3).bodies(-1, 1).point({0.1, 0.2, 0.3}).frame(Eigen::Matrix3d::Identity());
  step.friction({0.8, 0.7, 1e-3}, Cone::ellipsoid).name("left foot");
  step.friction({0.8, 0.7}, Cone::pyramid, {}, 0.125);
  step.friction({0.3, 0.2, 0.1}, Cone::discs, {1, 2});
  step.body_names = {"trunk", "leg"};
  constexpr Eigen::Index velocities = 16;
  Matrix jacobian(step.rows(), velocities);
  for (Eigen::Index k = 0; k < jacobian.size(); ++k) {
    jacobian.reshaped()[k] = std::cos(seed + static_cast<double>(k * k));
  }
  step.J = jacobian.sparseView(1.0, 0.9);
  step.M = Matrix(Vector::LinSpaced(velocities, 1.0 / 3.0, 7.0).asDiagonal());
  step.v_free = Vector::LinSpaced(velocities, -1.0 / 3.0, 0.7 + seed);
  step.b = Vector::LinSpaced(step.rows(), -0.1, 1.0 / 7.0);
  step.R = Vector::LinSpaced(step.rows(), 0.0, 1e-3);
  step.time_step = 0.002;
  step.law = "ccp";
  step.answers["Mine 1.0"].r = Vector::Zero(step.rows());
  return step;
}

/// n intervals, G = 1.
Step intervals(int n) {
  Step step;
  for (int k = 0; k < n; ++k) step.interval(-1.0, 1.0);
  Eigen::SparseMatrix<double> identity(n, n);
  identity.setIdentity();
  step.G = identity;
  step.b = Vector::LinSpaced(n, -1.0, 1.0 / 3.0);
  return step;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const recording::Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordingHeader, AStepsFileIsItsProblem) {
  const testing::TemporaryFolder folder;
  const Step step = every_kind();
  recording::write_step(folder / "step.hdf5", step);
  const auto content = read_fclib(folder / "step.hdf5");
  ASSERT_TRUE(content.ok()) << content.error().message;
  ASSERT_TRUE(content->blocks);
  const GivenProblem& given = *content->blocks;
  EXPECT_EQ(given.blocks.first_row, (std::vector<Index>{0, 2, 3, 4, 7, 11, 14, 18}));
  EXPECT_EQ(given.blocks.mu, Eigen::Map<const Vector>(step.mu.data(), 18));
  EXPECT_EQ(given.blocks.group, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 2, 2}));
  EXPECT_EQ(given.blocks.shift[5], 0.125);
  EXPECT_EQ(Matrix(given.primal->jacobian), Matrix(*step.J.sparse()));
  EXPECT_EQ(Matrix(given.primal->mass), Matrix(*step.M.dense()));
  EXPECT_EQ(given.primal->free_velocity, step.v_free);
  EXPECT_EQ(*given.bias, step.b);
  EXPECT_EQ(given.compliance, step.R);
  EXPECT_EQ(given.provenance.law, "ccp");
  EXPECT_EQ(given.gaps[3], -1e-3);
  const auto problem = load_fclib(folder / "step.hdf5");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->cones().contacts(), 4);
}

TEST(RecordingHeader, ArraysOfAnyLengthAreReadBack) {
  const testing::TemporaryFolder folder;
  for (const int n : {0, 1, 255, 256, 512, 513, 65535, 65536, 70000}) {
    const Step step = intervals(n);
    recording::write_step(folder / "step.hdf5", step);
    const auto content = read_fclib(folder / "step.hdf5");
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(*content->blocks->free_term, step.b) << n;
    EXPECT_EQ(content->blocks->delassus->nonZeros(), n);
  }
}

TEST(RecordingHeader, EveryStepOfARecordingIsAProblem) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder / "recording.hdf5";
  constexpr int count = 300;
  {
    recording::Recorder recorder(file);
    for (int k = 0; k < count; ++k) {
      recorder.add(every_kind(k));
      if (k % 100 != 7) continue;
      const auto meanwhile = recording_steps(file);
      ASSERT_TRUE(meanwhile.ok()) << meanwhile.error().message;
      EXPECT_EQ(meanwhile->size(), static_cast<std::size_t>(k + 1));
    }
  }
  const auto steps = recording_steps(file);
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_EQ(steps->size(), static_cast<std::size_t>(count));
  for (int k = 0; k < count; k += 23) {
    const auto content = read_fclib((*steps)[static_cast<std::size_t>(k)]);
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(content->blocks->primal->free_velocity, every_kind(k).v_free);
    EXPECT_EQ(content->blocks->configuration.step, k + 1);
  }
}

TEST(RecordingHeader, WhatDoesNotChangeIsStoredOnce) {
  const testing::TemporaryFolder folder;
  const auto size_of = [&](int count) {
    recording::Recorder recorder(folder / "recording.hdf5");
    for (int k = 0; k < count; ++k) recorder.add(every_kind());
    recorder.close();
    return static_cast<std::int64_t>(fs::file_size(folder / "recording.hdf5"));
  };
  // Of a step, links and its number are left; its arrays have 5 kB.
  const std::int64_t first = size_of(1) - size_of(0);
  EXPECT_GT(first, 5000);
  EXPECT_LT(size_of(2) - size_of(1), 1700);
}

TEST(RecordingHeader, WhatAStepCantHoldIsOneLine) {
  const testing::TemporaryFolder folder;
  const std::string file = (folder / "recording.hdf5").string();
  recording::Recorder recorder(file);
  recorder.add(every_kind());
  const std::vector<std::pair<std::string, std::function<void(Step&)>>> cases = {
      {"block_rows: has 7 entries, expected 8 (blocks of cone + 1)", [](Step& step) { step.block_rows.pop_back(); }},
      {"upper: has 17 entries, expected 18 (rows)", [](Step& step) { step.upper.pop_back(); }},
      {"lower, upper: block 2, row 3: 1 and 0.5 must be numbers with lower <= upper",
       [](Step& step) { step.lower[3] = 1.0; }},
      {"lower, upper: block 3, row 5: must be NaN on a cone's rows", [](Step& step) { step.lower[5] = 0.0; }},
      {"mu: block 3, row 5: is nan, must be finite and not negative", [](Step& step) { step.mu[5] = nan; }},
      {"mu: block 3, row 4: is 0.5, must be 0 on a normal", [](Step& step) { step.mu[4] = 0.5; }},
      {"mu: block 1, row 2: is 0.5, must be 0 on a row with bounds", [](Step& step) { step.mu[2] = 0.5; }},
      {"groups: block 6, row 17: is 1 after 2", [](Step& step) { step.groups[17] = 1; }},
      {"shift: block 5 is -1, must be finite and not negative", [](Step& step) { step.shift[5] = -1.0; }},
      {"M: is not symmetric: 1 in row 0, column 1, 0 in the other triangle",
       [](Step& step) {
         Matrix mass = *step.M.dense();
         mass(0, 1) = 1.0;
         step.M = mass;
       }},
      {"J: is 18 x 3, expected 18 x 16", [](Step& step) { step.J = Matrix::Zero(18, 3); }},
      {"v_free: entry 4 is nan", [](Step& step) { step.v_free[4] = nan; }},
      {"R: entry 1 is -1, must be at least 0", [](Step& step) { step.R[1] = -1.0; }},
      {"frame: has 8 entries, expected 36 (9 a cone)", [](Step& step) { step.frame.resize(8); }},
      {"bodies: block 0 has body 1, body_names has 1", [](Step& step) { step.body_names.pop_back(); }},
      {"answers/Mine 1.0/r: has 17 entries, expected 18 (rows)",
       [](Step& step) { step.answers["Mine 1.0"].r.resize(17); }},
      {"v_free: has 3 velocities, the first step 16; record another model in a file of its own",
       [](Step& step) {
         step.M = Matrix(Matrix::Identity(3, 3));
         step.J = Matrix(Matrix::Zero(18, 3));
         step.v_free = Vector::Zero(3);
       }},
      {"body_names: body 1 is 'arm', in the first step 'leg'", [](Step& step) { step.body_names[1] = "arm"; }}};
  for (const auto& [expected, change] : cases) {
    Step step = every_kind();
    change(step);
    const std::string error = error_of([&] { recorder.add(step); });
    EXPECT_THAT(error, HasSubstr(file + ": step 2: " + expected));
    EXPECT_THAT(error, Not(HasSubstr("\n")));
  }
  recorder.add(every_kind());
  EXPECT_EQ(recorder.steps(), 2);
}

TEST(RecordingHeader, WhatIsNotWrittenLeavesTheFileOfThatName) {
  const testing::TemporaryFolder folder;
  recording::write_step(folder / "step.hdf5", every_kind());
  Step bad = every_kind();
  bad.v_free[0] = nan;
  EXPECT_THAT(error_of([&] { recording::write_step(folder / "step.hdf5", bad); }),
              HasSubstr("step.hdf5: v_free: entry 0"));
  EXPECT_TRUE(load_fclib(folder / "step.hdf5").ok());
  EXPECT_THAT(error_of([&] { recording::Recorder(folder / "none" / "x.hdf5"); }), HasSubstr("can't be created"));
  EXPECT_THAT(error_of([&] { recording::Recorder{folder.path()}; }), HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace conebench
