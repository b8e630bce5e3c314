#include "metrics/change/two_stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "metrics/statistics.hpp"

namespace conebench {
namespace {

/// Two stores of one build by the measured noise of a quiet machine: a common part of 1.5 %, one of 1.4 % that the
/// cells of a problem share, 1.3 % of a cell's own with one in twenty four times as wide, 0.1 % of a configuration's.
struct Stores {
  std::size_t configurations = 8, problems = 42;
  std::function<double(std::size_t configuration, std::size_t problem)> effect = [](std::size_t, std::size_t) {
    return 0.0;
  };

  std::vector<PairedTime> draw(std::uint64_t seed) const {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<PairedTime> times;
    const double common = 0.015 * std::sqrt(2.0) * normal(engine);
    std::vector<double> of_configuration;
    for (std::size_t s = 0; s < configurations; ++s)
      of_configuration.push_back(0.001 * std::sqrt(2.0) * normal(engine));
    for (std::size_t p = 0; p < problems; ++p) {
      const double while_of_problem = 0.014 * std::sqrt(2.0) * normal(engine);
      for (std::size_t s = 0; s < configurations; ++s) {
        const double width = std::uniform_real_distribution<double>()(engine) < 0.05 ? 0.052 : 0.013;
        const double own = width * std::sqrt(2.0) * normal(engine);
        times.push_back({s, p, p / 6, common + while_of_problem + of_configuration[s] + own + effect(s, p)});
      }
    }
    return times;
  }
};

ChangeState verdict_of(const Stores& stores, std::uint64_t seed, std::size_t configuration) {
  return compare_times(stores.draw(seed), stores.configurations, false).configurations[configuration].verdict;
}

int alarms(const TimeComparison& comparison) {
  const auto is_alarm = [](ChangeState v) { return v == ChangeState::slower || v == ChangeState::faster; };
  int count = 0;
  for (const auto& configuration : comparison.configurations) count += is_alarm(configuration.verdict) ? 1 : 0;
  for (const auto& family : comparison.families) count += is_alarm(family.verdict) ? 1 : 0;
  return count;
}

TEST(CompareTimes, OneBuildAgainstItselfAlarmsInAtMostOneOfFortyComparisons) {
  for (const std::size_t problems : {42U, 20U}) {
    int with_alarm = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      with_alarm += alarms(compare_times(Stores{.problems = problems}.draw(seed), 8, false)) > 0 ? 1 : 0;
    }
    EXPECT_LE(with_alarm, 10) << problems;
  }
}

/// Of a hundred comparisons those that call a configuration slower which is, by this share.
int found_of_hundred(double share, std::size_t problems) {
  Stores stores{.problems = problems};
  stores.effect = [slower = std::log1p(share)](std::size_t s, std::size_t) { return s == 3 ? slower : 0.0; };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) found += verdict_of(stores, seed, 3) == ChangeState::slower;
  return found;
}

TEST(CompareTimes, FindsOneConfigurationThatIsSlowerByThreePerCentInNineOfTenComparisonsOfFortyTwoProblems) {
  EXPECT_GE(found_of_hundred(0.03, 42), 90);
}

TEST(CompareTimes, FindsASlowerConfigurationAsOftenAsTheDocumentSays) {
  struct Row {
    std::size_t problems;
    std::array<int, 4> found;  ///< of docs/compare.md
  };
  constexpr std::array shares = {0.02, 0.03, 0.05, 0.10};
  for (const Row& row : {Row{42, {45, 99, 99, 99}}, Row{20, {30, 81, 99, 99}}}) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_NEAR(found_of_hundred(shares[i], row.problems), row.found[i], 3) << shares[i] << " " << row.problems;
    }
  }
}

TEST(CompareTimes, FindsEffectsThatDifferBetweenProblems) {
  Stores stores;
  std::mt19937_64 engine(7);
  std::exponential_distribution<double> effect(1.0 / 0.05);
  std::vector<double> slower;
  for (std::size_t p = 0; p < stores.problems; ++p) slower.push_back(effect(engine));
  stores.effect = [&](std::size_t s, std::size_t p) { return s == 0 ? slower[p] : 0.0; };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) found += verdict_of(stores, seed, 0) == ChangeState::slower;
  EXPECT_GE(found, 45);
}

TEST(CompareTimes, FindsAFamilyThatItsConfigurationHides) {
  Stores stores;
  stores.effect = [](std::size_t s, std::size_t p) { return s == 2 && p / 6 == 4 ? std::log(1.2) : 0.0; };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto comparison = compare_times(stores.draw(seed), 8, false);
    found += std::any_of(comparison.families.begin(), comparison.families.end(), [](const FamilyTimes& family) {
      return family.configuration == 2 && family.family == 4 && family.verdict == ChangeState::slower;
    });
  }
  EXPECT_GE(found, 48);
}

TEST(CompareTimes, JudgesNoConfigurationWhereAllMovedTogether) {
  Stores stores;
  stores.effect = [](std::size_t, std::size_t) { return std::log(1.15); };
  const auto comparison = compare_times(stores.draw(1), 8, false);
  EXPECT_NEAR(comparison.together, std::log(1.15), 0.05);
  for (const auto& configuration : comparison.configurations) {
    EXPECT_EQ(configuration.verdict, ChangeState::none);
    EXPECT_NE(configuration.reason.find("machine or shared code"), std::string::npos) << configuration.reason;
  }
}

TEST(CompareTimes, NeedsASecondConfigurationAndTenCells) {
  EXPECT_EQ(compare_times(Stores{.configurations = 1}.draw(1), 1, false).configurations[0].verdict, ChangeState::none);
  EXPECT_EQ(compare_times(Stores{.problems = 9}.draw(1), 8, false).configurations[0].verdict, ChangeState::none);
  EXPECT_NE(compare_times(Stores{.problems = 10}.draw(1), 8, false).configurations[0].verdict, ChangeState::none);
  EXPECT_TRUE(compare_times({}, 0, false).configurations.empty());
}

TEST(CompareTimes, OfTwoConfigurationsNeitherAlarmsAndOfThreeTheOneThatMoved) {
  const auto slower_first = [](std::size_t s, std::size_t) { return s == 0 ? 0.05 : 0.0; };
  const auto two = compare_times(Stores{.configurations = 2, .effect = slower_first}.draw(1), 2, false);
  EXPECT_EQ(alarms(two), 0);
  EXPECT_NE(two.configurations[0].reason.find("one of two"), std::string::npos);
  const auto three = compare_times(Stores{.configurations = 3, .effect = slower_first}.draw(1), 3, false);
  EXPECT_EQ(three.configurations[0].verdict, ChangeState::slower);
  EXPECT_NE(three.configurations[1].verdict, ChangeState::faster);
  EXPECT_NE(three.configurations[2].verdict, ChangeState::faster);
}

TEST(CompareTimes, JudgesNoFamilyWhereAStoreWasLoaded) {
  EXPECT_TRUE(compare_times(Stores{}.draw(1), 8, true).families.empty());
  EXPECT_FALSE(compare_times(Stores{}.draw(1), 8, false).families.empty());
}

TEST(CompareTimes, DoesNotDependOnTheOrderOfCells) {
  auto times = Stores{}.draw(3);
  const auto first = compare_times(times, 8, false);
  std::shuffle(times.begin(), times.end(), std::mt19937_64(5));
  const auto second = compare_times(times, 8, false);
  for (std::size_t s = 0; s < 8; ++s) {
    EXPECT_EQ(first.configurations[s].verdict, second.configurations[s].verdict);
    EXPECT_NEAR(first.configurations[s].corrected, second.configurations[s].corrected, 1e-15);
    EXPECT_NEAR(first.configurations[s].deviation, second.configurations[s].deviation, 1e-15);
  }
}

TEST(CompareTimes, TheBootstrapsDeviationIsThatOfSampleMeans) {
  // Without trimming the deviation of a bootstrapped mean is √(Σ(x − x̄)²)/n.
  std::vector<PairedTime> times;
  std::vector<double> values;
  for (std::size_t p = 0; p < 200; ++p) {
    values.push_back(std::sin(static_cast<double>(p * p)));
    times.push_back({0, p, 0, values.back()});
    times.push_back({1, p, 0, 0.0});
  }
  const auto comparison = compare_times(times, 2, true, {.trim = 0.0, .resamples = 20000});
  const double expected = *sample_deviation(values) * std::sqrt(199.0 / 200.0) / std::sqrt(200.0);
  EXPECT_NEAR(comparison.configurations[0].deviation, expected, 0.02 * expected);
}

TEST(CompareTimes, ACellAloneOnItsProblemIsCorrectedByTheOtherConfigurationsEffects) {
  std::vector<PairedTime> times;
  for (std::size_t p = 0; p < 12; ++p) {
    times.push_back({0, p, 0, 0.04});
    times.push_back({1, 100 + p, 0, 0.03});
  }
  const auto comparison = compare_times(times, 2, false);
  EXPECT_NEAR(comparison.configurations[0].corrected, 0.01, 1e-15);
  EXPECT_NEAR(comparison.configurations[1].corrected, -0.01, 1e-15);
}

TEST(AlarmZ, IsTheTabulatedOne) {
  EXPECT_NEAR(alarm_z(8, {}), 3.55, 0.005);
  EXPECT_GT(alarm_z(51, {}), alarm_z(8, {}));
}

TEST(NormalQuantile, AgreesWithTablesAndInvertsTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(normal_quantile(0.99), 2.3263478740408408, 1e-13);
  EXPECT_NEAR(normal_quantile(1e-9), -5.997807015007696, 1e-12);
  EXPECT_DOUBLE_EQ(normal_quantile(0.5), 0.0);
  for (const double p : {1e-12, 1e-3, 0.2, 0.7, 0.9999}) {
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)), p, 1e-13 * std::max(p, 1e-2));
  }
  for (const double p : {0.0, 1.0, -0.1, std::nan("")}) EXPECT_THROW(normal_quantile(p), std::invalid_argument);
}

TEST(TrimmedMean, LeavesOutAFifthAtEachEnd) {
  EXPECT_DOUBLE_EQ(*trimmed_mean(std::vector{100.0, 1.0, 2.0, 3.0, -50.0}, 0.2), 2.0);
  EXPECT_DOUBLE_EQ(*trimmed_mean(std::vector{1.0, 2.0, 4.0, 5.0}, 0.2), 3.0);
  EXPECT_FALSE(trimmed_mean(std::vector<double>{}, 0.2));
}

}  // namespace
}  // namespace conebench
