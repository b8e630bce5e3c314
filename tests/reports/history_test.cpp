#include "reports/history/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/temporary_folder.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/describe.hpp"
#include "reports/history/history_describe.hpp"
#include "reports/page_assets.hpp"
#include "reports/text.hpp"
#include "store/store.hpp"
#include "store/suite_scope.hpp"
#include "tests/reports/synthetic_nights.hpp"

namespace conebench::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NightPlan;
using ::testing::Not;
using ::testing::SizeIs;
using testing::synthetic_night;
using Change = std::function<void(StoreContents&)>;

/// `changes[i]` is done to night i's store, where there is one.
std::vector<NightSummary> nights(const NightPlan& plan, std::size_t count,
                                 const std::map<std::size_t, Change>& changes = {}) {
  std::vector<NightSummary> all;
  for (std::size_t night = 0; night < count; ++night) {
    StoreContents store = synthetic_night(plan, night);
    if (const auto change = changes.find(night); change != changes.end()) change->second(store);
    all.push_back(summarise(store));
    all.back().store = "night-" + std::to_string(night) + ".sqlite";
  }
  return all;
}

SuiteHistory history_of(const NightPlan& plan, std::size_t count, const std::map<std::size_t, Change>& changes = {}) {
  History history = make_history(nights(plan, count, changes));
  EXPECT_THAT(history.suites, SizeIs(1));
  return std::move(history.suites.at(0));
}

void scatter(StoreContents& store) {
  for (CellRecord& cell : store.cells) cell.total.median = 1.5 * cell.total.minimum;
}

TEST(History, ThirtyNightsOfOneBuildChangeNothing) {
  const auto suite = history_of({}, 30);
  EXPECT_THAT(suite.time_changes, IsEmpty());
  EXPECT_THAT(suite.cell_changes, IsEmpty());
  ASSERT_THAT(suite.nights, SizeIs(30));
  const HistoryPoint& point = whole_series(suite, 1, 0).points[29];
  EXPECT_EQ(point.solved, 40);
  EXPECT_EQ(point.problems, 40);
  EXPECT_LT(std::abs(*point.corrected), 0.02);
}

TEST(History, AChangeOfThreePercentLiesBetweenItsTwoBuildsThoughTheMachineVariesAsMuch) {
  const auto suite = history_of({.slower_from = 20}, 30);
  ASSERT_THAT(suite.time_changes, SizeIs(1));
  const TimeChange& change = suite.time_changes[0];
  EXPECT_EQ(suite.configurations[change.configuration], "S2");
  EXPECT_EQ(change.change.last_before, 19U);
  EXPECT_EQ(change.change.first_after, 20U);
  EXPECT_NEAR(change.change.effect, std::log(1.03), 0.012);
  EXPECT_THAT(describe_change(suite, change),
              AllOf(HasSubstr("S2 at 1e-6 became slower by"), HasSubstr("% between 2026-01-20 c0000019 (e0000000)"),
                    HasSubstr("and 2026-01-21 c0000020")));
}

/// References of all nights shift a little with each, so that a change can seem to have shown earlier than it did.
TEST(History, AChangeIsNewOnTheFirstNightThatShowsItWhateverItsSeenAt) {
  constexpr std::size_t begins = 14, count = 26;
  int shown = 0, seen_on_its_night = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto all = nights({.slower_from = begins, .factor = 1.012, .seed = seed}, count);
    const auto is_it = [](const SuiteHistory& suite, const TimeChange& change) {
      return suite.configurations[change.configuration] == "S2" && change.change.effect > 0.0 &&
             change.change.first_after + 3 >= begins;
    };
    SuiteHistory before;
    bool is_new = false, on_its_night = false;
    for (std::size_t night = 10; night < count; ++night) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(night) + 1;
      SuiteHistory suite = std::move(make_history({all.begin(), end}).suites.at(0));
      for (const TimeChange& change : new_time_changes(suite, before)) is_new = is_new || is_it(suite, change);
      for (const TimeChange& change : suite.time_changes) {
        on_its_night = on_its_night || (is_it(suite, change) && change.change.seen_at == night);
      }
      EXPECT_THAT(new_time_changes(suite, suite), IsEmpty());
      before = std::move(suite);
    }
    const bool is_shown = std::any_of(before.time_changes.begin(), before.time_changes.end(),
                                      [&](const TimeChange& change) { return is_it(before, change); });
    EXPECT_TRUE(is_new || !is_shown) << seed;
    shown += is_shown ? 1 : 0;
    seen_on_its_night += is_shown && on_its_night ? 1 : 0;
  }
  EXPECT_GT(shown, seen_on_its_night) << "else this shows nothing";
}

TEST(History, ACertificateLeavesAProblemOutUnlessANightSolvedIt) {
  const auto counted = [](int verdict_version, double bound) {
    const Change judged = [&](StoreContents& store) {
      for (CellRecord& cell : store.cells) cell.verdict_version = verdict_version;
    };
    const Change lost = [&](StoreContents& store) {
      judged(store);
      ProblemRecord& problem = store.problems.front();
      problem.feasibility = {"infeasible", -0.5, 0, {1.0}, bound};
      for (CellRecord& cell : store.cells) {
        if (cell.problem != problem.hash) continue;
        cell.solved = false;
        cell.status = CellStatus::stalled;
      }
    };
    const SuiteHistory suite = history_of({}, 2, {{0, judged}, {1, lost}});
    return suite.series.at(0).points.at(1).problems;
  };
  const auto all = static_cast<long>(NightPlan().problems);
  EXPECT_EQ(counted(2, 1e-3), all) << "the first night solved it";
  EXPECT_EQ(counted(1, 1e-3), all - 1) << "as a judge with fewer digits found";
  EXPECT_EQ(counted(1, 1e-7), all) << "the cells are asked for at 1e-6";
}

TEST(History, NightsComeInOrderWhateverTheOrderTheyAreGivenIn) {
  auto all = nights({.slower_from = 20}, 30);
  std::reverse(all.begin(), all.end());
  const History history = make_history(std::move(all));
  ASSERT_THAT(history.suites.at(0).time_changes, SizeIs(1));
  EXPECT_EQ(history.suites[0].time_changes[0].change.first_after, 20U);
}

TEST(History, ALoadedNightIsShownAndNotJudged) {
  std::map<std::size_t, Change> changes;
  for (const std::size_t night : {20U, 21U, 22U}) {
    changes[night] = [](StoreContents& store) {
      scatter(store);
      for (CellRecord& cell : store.cells) {
        if (cell.configuration == "s-S1") cell.total.minimum *= 1.5;
      }
    };
  }
  const auto suite = history_of({}, 30, changes);
  EXPECT_THAT(suite.time_changes, IsEmpty());
  EXPECT_THAT(suite.nights[21].not_judged, HasSubstr("other processes"));
  EXPECT_GT(*whole_series(suite, 1, 0).points[21].corrected, 0.3);
  EXPECT_TRUE(suite.nights[23].not_judged.empty());
}

TEST(History, AnotherMachineStartsAnewThoughItsProcessorIsOfTheSameModel) {
  for (const bool same_model : {false, true}) {
    std::map<std::size_t, Change> changes;
    for (std::size_t night = 15; night < 30; ++night) {
      changes[night] = [same_model](StoreContents& store) {
        (same_model ? store.runs[0].machine.host : store.runs[0].machine.cpu) = "another";
        for (CellRecord& cell : store.cells) cell.total.minimum *= cell.configuration == "s-S1" ? 0.4 : 0.8;
      };
    }
    const auto suite = history_of({}, 30, changes);
    EXPECT_THAT(suite.time_changes, IsEmpty());
    EXPECT_NE(suite.nights[14].segment, suite.nights[15].segment);
    EXPECT_LT(std::abs(*whole_series(suite, 1, 0).points[20].corrected), 0.02) << "against the nights of its machine";
  }
}

TEST(History, OtherNodesOfAClusterAreAnotherMachine) {
  std::map<std::size_t, Change> changes;
  for (std::size_t night = 0; night < 30; ++night) {
    changes[night] = [night](StoreContents& store) {
      store.runs.push_back(store.runs[0]);
      store.runs[night % 2].machine.host = night < 15 ? "a" : "c";
      store.runs[1 - night % 2].machine.host = night < 15 ? "b" : "d";
    };
  }
  const auto suite = history_of({}, 30, changes);
  EXPECT_EQ(suite.nights[0].segment, suite.nights[14].segment) << "whichever node took the last shard";
  EXPECT_NE(suite.nights[14].segment, suite.nights[15].segment);
  EXPECT_EQ(suite.nights[15].segment, suite.nights[29].segment);
}

TEST(History, WhatMovesAllConfigurationsIsNoChangeOfAnyAndIsTogether) {
  std::map<std::size_t, Change> changes;
  for (std::size_t night = 15; night < 30; ++night) {
    changes[night] = [](StoreContents& store) {
      for (CellRecord& cell : store.cells) cell.total.minimum *= 1.04;
    };
  }
  const auto suite = history_of({}, 30, changes);
  EXPECT_THAT(suite.time_changes, IsEmpty());
  double before = 0.0, after = 0.0;
  for (std::size_t night = 0; night < 15; ++night) before += *suite.together[0][night] / 15.0;
  for (std::size_t night = 15; night < 30; ++night) after += *suite.together[0][night] / 15.0;
  EXPECT_NEAR(after - before, std::log(1.04), 0.02);
}

TEST(History, ASingleConfigurationHasRawTimesOnly) {
  const auto suite = history_of({.configurations = 1, .slower = 0, .slower_from = 20, .factor = 1.5}, 30);
  EXPECT_THAT(suite.time_changes, IsEmpty()) << "it can't be distinguished from the machine's";
  EXPECT_FALSE(whole_series(suite, 0, 0).points[29].corrected);
  EXPECT_NEAR(*whole_series(suite, 0, 0).points[29].raw, std::log(1.5), 0.07);
}

TEST(History, OfTwoConfigurationsNoChangeIsFound) {
  const auto suite = history_of({.configurations = 2, .slower = 1, .slower_from = 20, .factor = 1.2}, 30);
  EXPECT_THAT(suite.time_changes, IsEmpty()) << "each is compared with the other: which one moved is unknown";
  EXPECT_NEAR(*whole_series(suite, 1, 0).points[29].corrected, std::log(1.2), 0.03);
}

TEST(History, OfThreeConfigurationsTheOneThatChangedIsFound) {
  const auto suite = history_of({.configurations = 3, .slower = 0, .slower_from = 20, .factor = 1.2}, 30);
  ASSERT_THAT(suite.time_changes, SizeIs(1));
  EXPECT_EQ(suite.configurations[suite.time_changes[0].configuration], "S0");
}

/// Each of eight configurations is slower on ten nights of forty, one after the other.
TEST(History, TheNewestOfManyChangesIsFound) {
  constexpr std::size_t count = 152;
  std::map<std::size_t, Change> changes;
  for (std::size_t night = 0; night < count; ++night) {
    changes[night] = [night](StoreContents& store) {
      for (CellRecord& cell : store.cells) {
        const std::size_t begin = 10 + 5 * std::stoul(cell.configuration.substr(3));
        if (night >= begin && (night - begin) % 40 < 10) cell.total.minimum *= 1.3;
      }
    };
  }
  const auto suite = history_of({.problems = 12, .configurations = 8}, count, changes);
  EXPECT_GT(suite.time_changes.size(), 50U);
  const bool found = std::any_of(suite.time_changes.begin(), suite.time_changes.end(), [&](const TimeChange& one) {
    return one.change.seen_at == count - 1 && suite.configurations[one.configuration] == "S4" &&
           one.change.effect > 0.0;
  });
  EXPECT_TRUE(found);
}

TEST(History, ANightInWhichAllConfigurationsMovedTooFarIsNotJudged) {
  const auto suite = history_of({}, 12, {{9, [](StoreContents& store) {
                                            for (CellRecord& cell : store.cells) cell.total.minimum *= 1.2;
                                          }}});
  EXPECT_FALSE(suite.nights[9].not_judged.empty());
  EXPECT_TRUE(suite.nights[8].not_judged.empty());
  EXPECT_TRUE(suite.nights[10].not_judged.empty());
}

TEST(History, ATimeThatHalvesIsHalfFasterInTextAsInNumbers) {
  const auto suite = history_of({.slower_from = 20, .factor = 0.5}, 30);
  ASSERT_THAT(suite.time_changes, SizeIs(1));
  EXPECT_THAT(describe_change(suite, suite.time_changes[0]), ::testing::ContainsRegex("faster by (49|50)\\.[0-9] %"));
}

TEST(History, OneLostProblemIsNamedBetweenItsTwoNights) {
  const auto suite = history_of({}, 4, {{2, [](StoreContents& store) {
                                           store.cells[5].solved = false;
                                           store.cells[5].status = CellStatus::stalled;
                                         }}});
  ASSERT_THAT(suite.cell_changes, SizeIs(2));
  EXPECT_THAT(suite.cell_changes[0].lost, ::testing::ElementsAre("problem-1"));
  EXPECT_EQ(suite.configurations[suite.cell_changes[0].configuration], "S1");
  EXPECT_EQ(suite.cell_changes[0].before, 1U);
  EXPECT_EQ(suite.cell_changes[0].night, 2U);
  EXPECT_THAT(suite.cell_changes[1].won, ::testing::ElementsAre("problem-1"));
  EXPECT_EQ(whole_series(suite, 1, 0).points[2].solved, 39);
}

TEST(History, AMarkOfTonightChangesNoShareOfANightBefore) {
  const auto suite = history_of({}, 4, {{3, [](StoreContents& store) { store.problems[1].noise_ratio = 0.5; }}});
  EXPECT_EQ(whole_series(suite, 1, 0).points[2].problems, 40);
  EXPECT_EQ(whole_series(suite, 1, 0).points[3].problems, 39);
}

TEST(History, AProblemThatSaysNothingOfASolverIsNeitherLostNorWon) {
  const auto suite = history_of({}, 4, {{2, [](StoreContents& store) {
                                           store.cells[5].solved = false;
                                           store.cells[5].status = CellStatus::stalled;
                                           store.problems[1].noise_ratio = 0.5;
                                         }}});
  EXPECT_THAT(suite.cell_changes, IsEmpty()) << "as nightly, which leaves out what either night marks";
}

TEST(History, WhatAClockEndedNearTheLimitIsNotLost) {
  const auto lose = [](double seconds_before) {
    std::map<std::size_t, Change> changes;
    changes[0] = [=](StoreContents& store) { store.cells[5].total.minimum = seconds_before; };
    changes[1] = [](StoreContents& store) {
      store.cells[5].solved = false;
      store.cells[5].status = CellStatus::time_limit;
    };
    return history_of({}, 2, changes).cell_changes.at(0);
  };
  EXPECT_EQ(lose(6.0).hit_limit, 1);
  EXPECT_THAT(lose(6.0).lost, IsEmpty());
  EXPECT_THAT(lose(0.01).lost, SizeIs(1)) << "far below the limit of 10 s";
}

TEST(History, WhatRanOutOfMemoryIsLostUnlessItTookNearlyAsMuchBefore) {
  const auto lose = [](std::int64_t peak_before_kb, double seconds_before) {
    std::map<std::size_t, Change> changes;
    changes[0] = [=](StoreContents& store) {
      store.cells[5].total.minimum = seconds_before;
      store.cells[5].peak_memory_kb = peak_before_kb;
      store.cells[5].limit_mb = 1000;
    };
    changes[1] = [](StoreContents& store) {
      store.cells[5].solved = false;
      store.cells[5].status = CellStatus::out_of_memory;
    };
    return history_of({}, 2, changes).cell_changes.at(0);
  };
  EXPECT_EQ(lose(500'000, 0.01).hit_limit, 1) << "half of the memory that it is allowed";
  EXPECT_THAT(lose(10'000, 6.0).lost, SizeIs(1)) << "its time says nothing of memory";
}

TEST(History, AFlakyCellIsNeitherLostNorWon) {
  const auto suite = history_of({}, 3, {{1, [](StoreContents& store) {
                                           store.cells[5].solved = false;
                                           store.cells[5].status = CellStatus::flaky;
                                         }}});
  ASSERT_THAT(suite.cell_changes, SizeIs(2));
  for (const CellChanges& changes : suite.cell_changes) {
    EXPECT_THAT(changes.lost, IsEmpty());
    EXPECT_THAT(changes.won, IsEmpty());
    EXPECT_EQ(changes.flaky, 1);
  }
}

TEST(History, OtherWorkOfAConfigurationMovesNoOther) {
  for (const std::size_t count : {2U, 12U}) {
    const auto suite = history_of({.configurations = 3, .slower = 0, .slower_from = count - 1, .factor = 1.5}, count,
                                  {{count - 1, [](StoreContents& store) {
                                      for (CellRecord& cell : store.cells) {
                                        if (cell.configuration == store.configurations[0].hash) cell.iterations += 1;
                                      }
                                    }}});
    for (const std::size_t configuration : {1U, 2U}) {
      EXPECT_NEAR(*whole_series(suite, configuration, 0).points[count - 1].corrected, 0.0, 0.02) << count << " nights";
    }
    const HistoryPoint& first = whole_series(suite, 0, 0).points[0];
    EXPECT_NEAR(*whole_series(suite, 0, 0).points[count - 1].corrected - *first.corrected, std::log(1.5), 0.03);
  }
}

TEST(History, OtherWorkIsReportedWithoutStatistics) {
  const auto suite = history_of({}, 2, {{1, [](StoreContents& store) { store.cells[7].iterations += 1; }}});
  ASSERT_THAT(suite.cell_changes, SizeIs(1));
  EXPECT_EQ(suite.cell_changes[0].other_work, 1);
}

TEST(History, APlugInThatChangedIsADifferenceOfTheTwoBuildsInTextAndJson) {
  std::map<std::size_t, Change> changes;
  for (std::size_t night = 0; night < 30; ++night) {
    changes[night] = [night](StoreContents& store) {
      SuiteScope scope;
      scope.code_hashes = {{"MINE", night < 20 ? "0123456789abcdef" : "fedcba9876543210"}};
      store.runs[0].scope_json = to_json_text(scope);
      if (night == 20) store.cells[7].iterations += 1;
    };
  }
  const History history = make_history(nights({.slower_from = 20}, 30, changes));
  const SuiteHistory& suite = history.suites.at(0);
  for (std::size_t night = 0; night < 30; ++night) {
    EXPECT_THAT(suite.nights[night].code_changes, SizeIs(night == 20 ? 1 : 0)) << night;
  }
  ASSERT_THAT(suite.time_changes, SizeIs(1));
  const std::string code = "code of MINE 01234567 → fedcba98";
  EXPECT_THAT(describe_change(suite, suite.time_changes[0]), HasSubstr(code));
  EXPECT_THAT(history_markdown(history), AllOf(HasSubstr("### Plug-ins and programs that changed\n\n- 2026-01-21 "),
                                               HasSubstr("other work on 1 cell; " + code)));
  const auto json = nlohmann::json::parse(history_json(history))["suites"][0];
  EXPECT_EQ(json["nights"][20]["code_hashes"]["MINE"][0], "fedcba9876543210");
  for (const auto& changed : {json["nights"][20], json["time_changes"][0], json["cell_changes"][0]}) {
    EXPECT_EQ(changed["code_changes"][0]["solver"], "MINE");
    EXPECT_EQ(changed["code_changes"][0]["before"][0], "0123456789abcdef");
    EXPECT_EQ(changed["code_changes"][0]["after"][0], "fedcba9876543210");
  }
}

TEST(History, AnEditedSuiteLosesNothing) {
  const auto lose = [](StoreContents& store) {
    store.cells[7].status = CellStatus::max_iterations;
    store.cells[7].solved = false;
  };
  const auto edited = [&](StoreContents& store) {
    lose(store);
    store.runs[0].suite_text += " ";
  };
  EXPECT_THAT(history_of({}, 2, {{1, lose}}).cell_changes, SizeIs(1));
  EXPECT_THAT(history_of({}, 3, {{1, edited}}).cell_changes, IsEmpty()) << "the third is compared with the first";
}

TEST(History, ABrokenNightLosesNothing) {
  const auto suite = history_of({}, 3, {{1, [](StoreContents& store) {
                                           store.runs[0].finished_utc.clear();
                                           store.cells.resize(20);
                                         }}});
  EXPECT_THAT(suite.cell_changes, IsEmpty());
  EXPECT_EQ(whole_series(suite, 0, 0).points[1].problems, 5);
}

TEST(History, AFamilyHasItsOwnSeries) {
  std::map<std::size_t, Change> changes;
  for (std::size_t night = 5; night < 8; ++night) {
    changes[night] = [](StoreContents& store) {
      for (CellRecord& cell : store.cells) {
        const bool rover = std::stoul(cell.problem.substr(cell.problem.rfind('-') + 1)) % 4 == 2;
        if (rover && cell.configuration == "s-S3") cell.total.minimum *= 1.2;
      }
    };
  }
  const auto suite = history_of({}, 8, changes);
  const auto of_family = [&](const std::string& family) {
    for (const HistorySeries& series : suite.series) {
      if (series.configuration == 3 && series.family == family) return series.points[6];
    }
    return HistoryPoint{};
  };
  EXPECT_NEAR(*of_family("Rover").corrected, std::log(1.2), 0.04);
  EXPECT_EQ(of_family("Rover").problems, 10);
  EXPECT_LT(std::abs(*of_family("Chain").corrected), 0.04);
}

TEST(History, SuitesAreKeptApartAndANightWithoutARunIsANote) {
  auto all = nights({}, 4);
  all[1].suite = all[3].suite = "other";
  all[2].started_utc.clear();
  const History history = make_history(std::move(all));
  ASSERT_THAT(history.suites, SizeIs(2));
  EXPECT_THAT(history.suites[0].nights, SizeIs(1));
  EXPECT_THAT(history.suites[1].nights, SizeIs(2));
  EXPECT_THAT(history.notes, ::testing::ElementsAre(HasSubstr("night-2.sqlite")));
}

/// A folder of stores, as nights that somebody ran by hand.
void write_stores(const std::filesystem::path& folder, const NightPlan& plan, std::size_t count) {
  std::filesystem::create_directories(folder);
  for (std::size_t night = 0; night < count; ++night) {
    const StoreContents contents = synthetic_night(plan, night);
    auto store =
        Store::open(folder / (contents.runs[0].started_utc.substr(0, 10) + ".sqlite"), Store::Mode::read_write);
    ASSERT_TRUE(store && store->begin_run(contents.runs[0]));
    for (const auto& problem : contents.problems) ASSERT_TRUE(store->put_problem(problem));
    for (const auto& configuration : contents.configurations) ASSERT_TRUE(store->put_configuration(configuration));
    for (const auto& cell : contents.cells) ASSERT_TRUE(store->put_cell(cell));
  }
}

TEST(History, TheLastNightHasTheStatesOfACompareOfItsTwoStores) {
  const TemporaryFolder scratch;
  std::size_t slower = 0, undecided = 0, same = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    NightPlan plan{.problems = 12 + 4 * (seed % 3), .slower_from = 1, .factor = 1.0 + 0.01 * static_cast<double>(seed)};
    plan.seed = seed;
    const std::filesystem::path folder = scratch.path() / std::to_string(seed);
    write_stores(folder, plan, 2);
    const auto read = read_history({folder});
    ASSERT_TRUE(read) << read.error().message;
    const SuiteHistory& suite = read->suites.at(0);
    EXPECT_FALSE(suite.decidable());
    const Comparison comparison =
        compare(make_side("baseline", synthetic_night(plan, 0)), make_side("candidate", synthetic_night(plan, 1)), {});
    ASSERT_EQ(suite.last.states.size(), comparison.slices.at(0).configurations.size());
    for (const ConfigurationChange& change : comparison.slices[0].configurations) {
      const std::string& label = comparison.configurations[change.configuration].label;
      const auto found = std::find_if(suite.last.states.begin(), suite.last.states.end(), [&](const auto& one) {
        return suite.configurations[one.configuration] == label;
      });
      ASSERT_NE(found, suite.last.states.end());
      EXPECT_EQ(found->state, state_of(change)) << seed << " " << label;
      EXPECT_EQ(found->evidence.value().estimate, change.times.corrected);
      slower += found->state == ChangeState::slower;
      undecided += found->state == ChangeState::undecided;
      same += found->state == ChangeState::same;
    }
  }
  EXPECT_GT(slower, 0U);
  EXPECT_GT(undecided + same, 0U);
}

TEST(HistoryFormats, TheTimeAgainstTheLastNightsIsOneNumberInMarkdownAndPage) {
  const History history = make_history(nights({.slower_from = 5, .factor = 1.437}, 8));
  const auto json = nlohmann::json::parse(history_json(history));
  for (const auto& series : json["suites"][0]["series"]) {
    if (series["configuration"] != 2 || !series["family"].is_null()) continue;
    const double change = series["against_last_percent"];
    EXPECT_THAT(history_markdown(history), HasSubstr(per_cent(std::log1p(change / 100.0))));
  }
}

TEST(HistoryFormats, JsonNamesItsSchemaAndHasEveryNight) {
  const auto json = nlohmann::json::parse(history_json(make_history(nights({.slower_from = 20}, 30))));
  EXPECT_EQ(json["schema"], "conebench.history/2");
  const auto& suite = json["suites"][0];
  EXPECT_EQ(suite["nights"].size(), 30U);
  EXPECT_EQ(suite["series"].size(), 4U * 5U);
  EXPECT_EQ(suite["time_changes"][0]["first_after"], 20);
  EXPECT_NEAR(suite["time_changes"][0]["effect_percent"].get<double>(), 3.0, 1.2);
}

TEST(HistoryFormats, MarkdownSaysWhatChangedAndBetweenWhichBuilds) {
  const std::string text =
      history_markdown(make_history(nights({.slower_from = 20}, 30, {{29, [](StoreContents& store) {
                                                                        store.cells[0].solved = false;
                                                                        store.cells[0].status = CellStatus::stalled;
                                                                      }}})));
  EXPECT_THAT(text, AllOf(HasSubstr("30 nights"), HasSubstr("S2 at 1e-6 became"), HasSubstr("c0000019"),
                          HasSubstr("**lost 1**: problem-0"), HasSubstr("39 of 40")));
}

TEST(HistoryFormats, WhoPaysWhoseAConfigurationIsAndDoubtfulTimesAreReported) {
  const History history =
      make_history(nights({}, 2, {{1, [](StoreContents& store) {
                                     for (ConfigurationRecord& configuration : store.configurations) {
                                       configuration.checks = configuration.label == "S1" ? "paid" : "free";
                                       configuration.origin = configuration.label == "S0" ? "own" : "peer";
                                     }
                                     store.cells[5].doubts = {"kept_answers"};
                                   }}}));
  const std::string terms =
      "1e-6: stop_by judge (S1 pays for tests of its own, residual checks of the others are free)";
  const std::string doubt = "1e-6: doubtful times in 1 cell of S1";
  const std::string text = history_markdown(history);
  EXPECT_THAT(text, AllOf(HasSubstr(markdown(terms)), HasSubstr(markdown(doubt)), HasSubstr("| S0 \\* |"),
                          HasSubstr("by Conebench's authors")));
  const auto suite = nlohmann::json::parse(history_json(history))["suites"][0];
  EXPECT_EQ(suite["terms"][0], terms);
  EXPECT_EQ(suite["doubts"][0], doubt);
  EXPECT_EQ(suite["origins"][0], "own");
}

TEST(HistoryFormats, NightsOfOneDateHaveTheirTimeOfDay) {
  auto all = nights({}, 4);
  all[1].started_utc = "2026-01-01T04:12:33Z";
  all[2].started_utc = "2026-01-01T04:12:50Z";
  const SuiteHistory suite = make_history(std::move(all)).suites.at(0);
  const auto day = [&](std::size_t night) { return describe_day(suite, night); };
  EXPECT_EQ(day(0), "2026-01-01 02:00");
  EXPECT_EQ(day(1), "2026-01-01 04:12:33");
  EXPECT_EQ(day(2), "2026-01-01 04:12:50");
  EXPECT_EQ(day(3), "2026-01-04");
}

TEST(HistoryFormats, HostileNamesBreakNoTableOfTheMarkdown) {
  auto all = nights({}, 3);
  const std::string name = "=1|<b>\n*x*`";
  for (auto& night : all) {
    night.suite = name;
    night.commit = "|<b>|";
    for (NightRow& row : night.rows) row.label += name;
    for (NightProblem& problem : night.problems) problem.name = name + problem.name;
  }
  all[2].rows[0].cells[0].solved = false;
  const std::string text = history_markdown(make_history(std::move(all)));
  EXPECT_THAT(text, AllOf(HasSubstr("S0=1\\|&lt;b&gt; \\*x\\*\\`"), HasSubstr("**lost 1**: =1\\|")));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(bars, 8U) << line;
  }
}

TEST(HistoryFormats, ThePageFetchesNothingAndHostileNamesStayData) {
  auto all = nights({}, 3);
  all[0].suite = all[1].suite = all[2].suite = "</title><script>alert(1)</script>{{data}}";
  for (auto& night : all) night.rows[0].label = "</script><img src=x onerror=alert(1)>";
  std::string page = history_page(make_history(std::move(all)));
  const std::size_t library = page.find("id=\"plotly\">") + 12;  // which is not ours to check
  page.erase(library, page.find("</script>", library) - library);
  for (const char* word : {"<img", "<script>alert", "src=\"http", "href=\"http", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

}  // namespace
}  // namespace conebench::reports
