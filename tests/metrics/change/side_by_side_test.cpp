#include "metrics/change/side_by_side.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace conebench {
namespace {

constexpr std::size_t settings = 8;

/// Two builds in turn on a machine as it was measured: replicates scatter by 1.3 %, one in twenty by 8 % to the slow.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : engine_(seed) {}
  double drift = 0.0;  ///< log time from one replicate of a block to the next

  /// `effect`: log ratio of the new build, of setting 0 alone; `shared`: of all.
  std::vector<ReplicatedCell> run(std::size_t problems, std::size_t blocks, double effect, double shared = 0.0) {
    std::vector<ReplicatedCell> cells;
    for (std::size_t s = 0; s < settings; ++s) {
      for (std::size_t p = 0; p < problems; ++p) {
        ReplicatedCell cell{s, p, {}, {}};
        const double mu = -9.0 + 0.2 * static_cast<double>(p);
        for (std::size_t j = 0; j < blocks; ++j) {
          const bool base_first = (s + p + j) % 2 == 0;
          for (int place = 0; place < 4; ++place) {
            const bool outer = place == 0 || place == 3;
            const bool is_base = outer == base_first;
            const double time = mu + noise() + drift * place + (is_base ? 0.0 : shared + (s == 0 ? effect : 0.0));
            (is_base ? cell.base_s : cell.new_s).push_back(std::exp(time));
          }
        }
        cells.push_back(std::move(cell));
      }
    }
    return cells;
  }

 private:
  double noise() {
    const double slow = uniform_(engine_) < 0.05 ? std::abs(normal_(engine_)) * 0.08 : 0.0;
    return 0.013 * normal_(engine_) + slow;
  }
  std::mt19937_64 engine_;
  std::normal_distribution<> normal_;
  std::uniform_real_distribution<> uniform_;
};

bool any_alarm(const TimeComparison& comparison) {
  return std::any_of(comparison.settings.begin(), comparison.settings.end(), [](const SettingTimes& setting) {
    return setting.verdict == ChangeState::slower || setting.verdict == ChangeState::faster;
  });
}

/// Of 100 comparisons those that alarm, or call setting 0 slower.
template <class Which>
int count(std::size_t problems, std::size_t blocks, double effect, Which which, double drift = 0.0) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Machine machine(seed);
    machine.drift = drift;
    found += which(compare_side_by_side(machine.run(problems, blocks, effect), settings)) ? 1 : 0;
  }
  return found;
}
bool first_is_slower(const TimeComparison& comparison) { return comparison.settings[0].verdict == ChangeState::slower; }

/// z allows one alarm in forty comparisons: of a hundred, five or fewer with a probability of 96 %.
TEST(SideBySide, OneBuildAgainstItselfAlarmsNoMoreOftenThanOnceInFortyComparisons) {
  EXPECT_LE(count(22, 1, 0.0, any_alarm), 5);
  EXPECT_LE(count(22, 3, 0.0, any_alarm), 5);
}

TEST(SideBySide, ThreePerCentAreFoundByTwoReplicatesASideAndTwoBySix) {
  EXPECT_GE(count(22, 1, std::log(1.03), first_is_slower), 90);
  EXPECT_GE(count(22, 3, std::log(1.02), first_is_slower), 90);
}

TEST(SideBySide, BelowTheMinimumEffectNothingIsEverCalledSlower) {
  EXPECT_EQ(count(40, 3, std::log(1.005), first_is_slower), 0);
}

TEST(SideBySide, AnEvenDriftWithinBlocksCancels) {
  Machine still(1), drifting(1);
  drifting.drift = 0.05;
  const auto a = compare_side_by_side(still.run(22, 3, 0.0), settings);
  const auto b = compare_side_by_side(drifting.run(22, 3, 0.0), settings);
  for (std::size_t s = 0; s < settings; ++s) {
    EXPECT_NEAR(a.settings[s].corrected, b.settings[s].corrected, 1e-12);
    // It is noise all the same, of which u knows.
    EXPECT_GT(b.settings[s].deviation, a.settings[s].deviation);
  }
  EXPECT_LE(count(22, 1, 0.0, any_alarm, 0.05), 1);
}

TEST(SideBySide, ACodeThatAllSettingsShareIsSeen) {
  Machine machine(5);
  const auto comparison = compare_side_by_side(machine.run(22, 3, 0.0, std::log(1.04)), settings);
  for (const SettingTimes& setting : comparison.settings) EXPECT_EQ(setting.verdict, ChangeState::slower);
  EXPECT_NEAR(comparison.together, std::log(1.04), 0.01);
}

TEST(SideBySide, TheOrderOfCellsDoesNotMatter) {
  Machine machine(2);
  auto cells = machine.run(22, 3, 0.02);
  const auto one = compare_side_by_side(cells, settings);
  std::shuffle(cells.begin(), cells.end(), std::mt19937(7));
  const auto other = compare_side_by_side(cells, settings);
  for (std::size_t s = 0; s < settings; ++s) {
    EXPECT_EQ(one.settings[s].corrected, other.settings[s].corrected);
    EXPECT_EQ(one.settings[s].deviation, other.settings[s].deviation);
    EXPECT_EQ(one.settings[s].verdict, other.settings[s].verdict);
  }
}

TEST(SideBySide, NoDifferenceOfTheBuildsEntersTheNoise) {
  Machine machine(3);
  auto cells = machine.run(22, 3, 0.0);
  const auto equal = compare_side_by_side(cells, settings);
  for (ReplicatedCell& cell : cells) {
    const double factor = 1.0 + 0.1 * static_cast<double>(cell.problem % 5);  // an effect that differs by problem
    for (double& time : cell.new_s) time *= factor;
  }
  const auto changed = compare_side_by_side(cells, settings);
  for (std::size_t s = 0; s < settings; ++s) {
    EXPECT_NEAR(equal.settings[s].deviation, changed.settings[s].deviation, 1e-12);
    EXPECT_EQ(changed.settings[s].verdict, ChangeState::slower);
  }
}

TEST(SideBySide, TooFewCellsOrHalfBlocksAreNotJudged) {
  Machine machine(4);
  auto few = compare_side_by_side(machine.run(9, 3, 0.5), settings);
  EXPECT_EQ(few.settings[0].verdict, ChangeState::none);
  EXPECT_EQ(few.settings[0].reason, "only 9 cells; 10 are needed");
  auto cells = machine.run(22, 1, 0.5);
  for (ReplicatedCell& cell : cells) cell.new_s.pop_back();
  const auto halves = compare_side_by_side(cells, settings + 1);
  EXPECT_EQ(halves.settings[0].cells, 0U);
  EXPECT_EQ(halves.settings[settings].verdict, ChangeState::none);
  EXPECT_FALSE(any_alarm(halves));
}

TEST(SideBySide, WhatIsNotSeenIsUndecidedAndSaysWhatWouldHaveBeen) {
  Machine machine(6);
  const auto comparison = compare_side_by_side(machine.run(10, 1, 0.0), settings);
  for (const SettingTimes& setting : comparison.settings) {
    EXPECT_GE(setting.bar, 0.01);
    EXPECT_GT(setting.could_have_seen, setting.bar);
    EXPECT_TRUE(setting.verdict == ChangeState::undecided || setting.verdict == ChangeState::same);
  }
}

}  // namespace
}  // namespace conebench
