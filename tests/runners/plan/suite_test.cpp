#include "runners/plan/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "runners/plan/peer_programs.hpp"
#include "simulation/sampled_scenes.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "solvers/registry.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const small = R"({
  "name": "small", "problems": [{"scene": "box-stack"}], "solvers": ["NSGS"]
})";

/// `small` with a part replaced, as a JSON patch in merge form.
std::string with(const std::string& patch) {
  auto json = nlohmann::json::parse(small);
  json.merge_patch(nlohmann::json::parse(patch));
  return json.dump();
}

std::string error_of(const std::string& text) {
  const auto suite = parse_suite(text, "dir/x.json", simulation::sampled_scenes());
  if (suite) return "no error";
  EXPECT_EQ(suite.error().code, ErrorCode::wrong_usage);
  EXPECT_EQ(suite.error().message.find('\n'), std::string::npos) << suite.error().message;
  return suite.error().message;
}

TEST(Suite, TheDesignsDefaultsHoldWhereAKeyIsLeftOut) {
  const auto suite = parse_suite(small, "dir/x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->name, "small");
  EXPECT_EQ(suite->seed, 1U);
  EXPECT_EQ(suite->tolerances, std::vector<double>{1e-6});
  EXPECT_EQ(suite->verdict, "natural_map_scaled");
  EXPECT_EQ(suite->stop_by, StopBy::judge);
  EXPECT_EQ(suite->starts, std::vector<Start>{Start::cold});
  EXPECT_EQ(suite->limits.iterations, 20000);
  EXPECT_EQ(suite->limits.seconds, 10.0);
  EXPECT_EQ(suite->limits.memory_mb, 4000);
  EXPECT_EQ(suite->limits.simulation_seconds, 3600.0);
  EXPECT_EQ(suite->repeats.minimum, 5);
  EXPECT_EQ(suite->repeats.minimum_ms, 50.0);
  EXPECT_EQ(suite->repeats.maximum, 2000);
  EXPECT_EQ(suite->repeats.precision, 0.01);
  EXPECT_EQ(suite->repeats.rounds, 1);
  EXPECT_EQ(suite->traces, 2000);
  EXPECT_EQ(suite->folder, "dir");
  EXPECT_EQ(suite->text, small);
}

TEST(Suite, ThreadsAreAnAxisOfConfigurationsThatShareTheirWork) {
  const auto suite = parse_suite(with(R"({"threads": [1, 2], "solvers": [
      "NSGS", "APGD-CCP", {"id": "NSGS", "grid": {"order": ["given", "coloured"]}},
      {"id": "PGS-NCP", "options": {"order": "coloured", "threads": 3}}]})"),
                                 "x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  const auto of = [&](std::size_t entry) { return suite->solvers[entry].options; };
  const OptionValue coloured = std::string("coloured"), given = std::string("given");
  EXPECT_EQ(of(0), std::vector<OptionValues>{{}}) << "contacts in the order given act on each other";
  EXPECT_EQ(suite->not_threaded, (std::vector<std::string>{"NSGS", "NSGS order=given"}));
  EXPECT_EQ(of(1), (std::vector<OptionValues>{{}, {{"threads", 2L}}}));
  EXPECT_EQ(of(2), (std::vector<OptionValues>{
                       {{"order", given}}, {{"order", coloured}}, {{"order", coloured}, {"threads", 2L}}}));
  EXPECT_EQ(of(3), (std::vector<OptionValues>{{{"order", coloured}, {"threads", 3L}}}));
  EXPECT_THAT(error_of(with(R"({"threads": [1, 2]})")), HasSubstr("threads: no solver of the suite can share"));
  EXPECT_THAT(error_of(with(R"({"threads": [2, 1]})")), HasSubstr("threads[1]"));
  EXPECT_THAT(error_of(with(R"({"threads": [0]})")), HasSubstr("threads[0]"));
  EXPECT_TRUE(parse_suite(with(R"({"threads": [1]})"), "x.json"));
}

TEST(Suite, EveryKeyIsRead) {
  const auto suite = parse_suite(R"({
    "name": "full", "description": "all of it", "seed": 7,
    "problems": [
      {"fclib": "BoxesStack/*.hdf5", "family": "boxes"},
      {"scene": "box-stack", "options": {"friction": 0.3}, "grid": {"boxes": [2, 5], "mass_ratio": [1, 10, 1000]},
       "seeds": [3, 4], "as": "fclib"}],
    "solvers": ["NSGS", {"id": "ADMM-NCP-SA", "grid": {"increment": [0.01, 0.05, 0.08]}}],
    "tolerances": [1e-4, 1e-8], "verdict": "natural_map_relative", "stop_by": "judge_timed", "start": "guess",
    "limits": {"iterations": 10, "seconds": 0.5, "memory_mb": 100, "load_seconds": 3, "read_seconds": 2},
    "repeats": {"min": 2, "min_ms": 1.5, "max": 4, "rounds": 3}, "traces": 0
  })",
                                 "x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->seed, 7U);
  ASSERT_EQ(suite->problems.size(), 2U);
  EXPECT_EQ(suite->problems[0].fclib, "BoxesStack/*.hdf5");
  EXPECT_EQ(suite->problems[0].family, "boxes");
  EXPECT_EQ(suite->problems[1].options.size(), 6U);
  EXPECT_EQ(suite->problems[1].options[0].at("friction"), OptionValue(0.3));
  EXPECT_EQ(suite->problems[1].seeds, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_TRUE(suite->problems[1].as_fclib);
  ASSERT_EQ(suite->solvers.size(), 2U);
  EXPECT_EQ(suite->solvers[1].options.size(), 3U);
  EXPECT_EQ(suite->stop_by, StopBy::judge_timed);
  EXPECT_EQ(suite->starts, std::vector<Start>{Start::guess});
  EXPECT_EQ(suite->limits.seconds, 0.5);
  EXPECT_EQ(suite->limits.load_seconds, 3.0);
  EXPECT_EQ(suite->limits.read_seconds, 2.0);
  EXPECT_EQ(suite->repeats.minimum_ms, 1.5);
  EXPECT_EQ(suite->repeats.precision, 0.0) << "a suite that says how many wants so many";
  EXPECT_EQ(suite->repeats.rounds, 3);
  EXPECT_EQ(suite->traces, 0);
}

TEST(Suite, RepeatsThatAreStatedSettleOnlyToAStatedPrecision) {
  const auto precision = [](const std::string& repeats) {
    const auto suite = parse_suite(with(R"({"repeats": )" + repeats + "}"), "x.json");
    EXPECT_TRUE(suite) << suite.error().message;
    return suite ? suite->repeats.precision : -1.0;
  };
  EXPECT_EQ(precision(R"({"rounds": 3})"), 0.01);
  EXPECT_EQ(precision(R"({"min": 3})"), 0.0);
  EXPECT_EQ(precision(R"({"min_ms": 3})"), 0.0);
  EXPECT_EQ(precision(R"({"max": 30})"), 0.0);
  EXPECT_EQ(precision(R"({"min_ms": 20, "precision": 0.02})"), 0.02);
  EXPECT_EQ(precision(R"({"precision": 0})"), 0.0);
}

TEST(Suite, AllMeansEverySolverOfTheTable) {
  const auto suite = parse_suite(with(R"({"solvers": "all"})"), "x.json");
  ASSERT_TRUE(suite);
  EXPECT_EQ(suite->solvers.size(), solver_table().size());
  const auto listed = parse_suite(with(R"({"solvers": ["all", {"id": "NSGS", "options": {}}]})"), "x.json");
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->solvers.size(), solver_table().size() + 1);
}

TEST(Suite, PeersCanBeLeftOut) {
  const auto suite = parse_suite(with(R"({"solvers": "without-peers"})"), "x.json");
  ASSERT_TRUE(suite);
  EXPECT_FALSE(suite->solvers.empty());
  for (const SolverEntry& entry : suite->solvers) {
    EXPECT_FALSE(find_solver(entry.id)->info.own_process) << entry.id;
    EXPECT_NE(find_solver(entry.id)->info.origin, Origin::peer) << entry.id;
  }
}

TEST(Suite, APeerMayBeNamedThatTheBuildMayLack) {
  const auto suite = parse_suite(with(R"({"solvers": ["NSGS", {"id": "SICONOS-NSGS", "optional": true}]})"), "x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->solvers.size(), find_solver("SICONOS-NSGS") == nullptr ? 1U : 2U);
  EXPECT_THAT(error_of(with(R"({"solvers": ["NSGS", {"id": "SICONOS-NSG", "optional": true}]})")),
              HasSubstr("solvers[1]"));
  EXPECT_THAT(error_of(with(R"({"solvers": [{"id": "NSGS", "optional": 1}]})")), HasSubstr("solvers[0].optional"));
}

TEST(Suite, AllPayForLooksAsSoonAsOneSolverDoes) {
  const auto stop_by = [](const std::string& keys) {
    const auto suite = parse_suite(with(keys), "x.json");
    EXPECT_TRUE(suite) << keys;
    return suite->stop_by;
  };
  EXPECT_EQ(stop_by(R"({"solvers": ["NSGS", "CASCADE"]})"), StopBy::judge);
  EXPECT_EQ(stop_by(R"({"solvers": "without-peers"})"), StopBy::judge);
  // Whatever this build has of them: the cells' keys do not depend on what is installed.
  EXPECT_EQ(stop_by(R"({"solvers": ["NSGS", {"id": "SICONOS-NSGS", "optional": true}]})"), StopBy::judge_timed);
  EXPECT_EQ(stop_by(R"({"solvers": "all"})"), StopBy::judge_timed);
  EXPECT_EQ(stop_by(R"({"solvers": "all", "stop_by": "judge"})"), StopBy::judge);
  EXPECT_EQ(stop_by(R"({"solvers": "all", "stop_by": "solver"})"), StopBy::solver);
  // Earlier names.
  EXPECT_EQ(stop_by(R"({"solvers": "all", "criterion": "own"})"), StopBy::solver);
  EXPECT_EQ(stop_by(R"({"solvers": "all", "criterion": "verdict"})"), StopBy::judge);
  EXPECT_EQ(stop_by(R"({"solvers": ["NSGS"], "criterion": "verdict-paid"})"), StopBy::judge_timed);
  EXPECT_THAT(error_of(with(R"({"solvers": "all", "criterion": "own", "stop_by": "judge"})")),
              HasSubstr("criterion: "));
}

TEST(Suite, MayStartInSeveralWaysAndMakeSequences) {
  const auto suite = parse_suite(with(R"({"start": ["cold", "previous"],
      "problems": [{"scene": "box-stack", "sequence": true}, {"fclib": "*.hdf5"}]})"),
                                 "x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->starts, (std::vector<Start>{Start::cold, Start::previous}));
  EXPECT_TRUE(suite->problems[0].sequence);
  EXPECT_FALSE(suite->problems[1].sequence);
  EXPECT_THAT(error_of(with(R"({"start": "warm"})")), HasSubstr("start: "));
  EXPECT_THAT(error_of(with(R"({"start": []})")), HasSubstr("start: must be a list"));
  EXPECT_THAT(error_of(with(R"({"start": ["cold", "cold"]})")), HasSubstr("start[1]: is there already"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-stack", "sequence": 1}]})")),
              HasSubstr("problems[0].sequence"));
}

TEST(Suite, ProblemsMayBeOfCategoriesAndARangeOfConditioning) {
  const auto suite = parse_suite(with(R"({"problems": [
    {"fclib": "*.hdf5", "category": "dense contacts", "conditioning": [1e2, 1e6]},
    {"scene": "box-stack", "category": ["dense contacts", "single-contact"]}, {"scene": "box-stack"}]})"),
                                 "dir/x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  const FeatureCondition& first = suite->problems[0].condition;
  EXPECT_TRUE(first.holds("dense contacts", 1e2));
  EXPECT_TRUE(first.holds("dense contacts", 1e6));
  EXPECT_FALSE(first.holds("dense contacts", 1.1e6));
  EXPECT_FALSE(first.holds("dense contacts", std::nullopt));
  EXPECT_FALSE(first.holds("single contact", 1e3));
  EXPECT_TRUE(suite->problems[1].condition.holds("single contact", std::nullopt));
  EXPECT_TRUE(suite->problems[2].condition.empty());
  const auto entry = [](const std::string& part) {
    return error_of(with(R"({"problems": [{"scene": "box-stack", )" + part + "}]}"));
  };
  EXPECT_THAT(
      entry(R"("category": "dense-contact")"),
      AllOf(HasSubstr("problems[0].category: no category is called 'dense-contact'"), HasSubstr("single contact")));
  EXPECT_THAT(entry(R"("conditioning": 3)"), HasSubstr("problems[0].conditioning: must be [minimum, maximum]"));
  EXPECT_THAT(entry(R"("conditioning": [5, 2])"), HasSubstr("conditioning: is an empty range"));
}

TEST(Suite, OptionsOfTheLoopsSolverAreAnObjectOrAText) {
  const auto entry = [](const std::string& part) {
    return with(R"({"problems": [{"scene": "box-on-plane", )" + part + "}]}");
  };
  const auto suite = parse_suite(entry(R"("options": {"speed": 1},
      "grid": {"solver_options": [{"relaxation": 0.5, "order": "random"}, "relaxation=0.5", "", {}]})"),
                                 "dir/x.json", simulation::sampled_scenes());
  ASSERT_TRUE(suite) << suite.error().message;
  const auto& points = suite->problems[0].options;
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].at("solver_options"), OptionValue("order=random,relaxation=0.5"));
  EXPECT_EQ(points[1].at("solver_options"), OptionValue("relaxation=0.5"));
  EXPECT_FALSE(points[2].contains("solver_options"));
  EXPECT_FALSE(points[3].contains("solver_options"));
  EXPECT_THAT(
      error_of(entry(R"("options": {"solver_options": 3})")),
      HasSubstr(R"(problems[0].options.solver_options: must be as {"increment": 0.02} or "increment=0.02", not 3)"));
  EXPECT_THAT(error_of(entry(R"("options": {"solver_options": {"order": []}})")),
              HasSubstr("problems[0].options.solver_options.order: must be a text"));
}

TEST(Suite, AnUnknownKeyIsNamedWithItsPath) {
  EXPECT_THAT(error_of(with(R"({"tolerance": 1e-6})")),
              AllOf(HasSubstr("dir/x.json: tolerance: unknown key"), HasSubstr("tolerances")));
  EXPECT_THAT(error_of(with(R"({"limits": {"second": 1}})")), HasSubstr("limits.second: unknown key"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-stack", "gird": {}}]})")),
              HasSubstr("problems[0].gird: unknown key"));
  EXPECT_THAT(error_of(with(R"({"solvers": ["NSGS", {"id": "NSGS", "option": {}}]})")),
              HasSubstr("solvers[1].option: unknown key"));
}

TEST(Suite, AWrongValueIsNamedWithItsPathAndBounds) {
  EXPECT_THAT(error_of(with(R"({"limits": {"seconds": -1}})")), HasSubstr("limits.seconds: -1 is outside"));
  EXPECT_THAT(error_of(with(R"({"limits": {"iterations": 1.5}})")), HasSubstr("limits.iterations: must be an integer"));
  EXPECT_THAT(error_of(with(R"({"limits": {"iterations": 18446744073709551615}})")), HasSubstr("is outside"));
  EXPECT_THAT(error_of(with(R"({"tolerances": [1e-6, 0]})")), HasSubstr("tolerances[1]: 0 is outside"));
  EXPECT_THAT(error_of(with(R"({"tolerances": [1e-6, 1e-6]})")), HasSubstr("tolerances[1]: is there already"));
  EXPECT_THAT(error_of(with(R"({"solvers": "NSGS"})")),
              HasSubstr(R"(solvers: must be "all", "without-peers" or a list)"));
  EXPECT_THAT(error_of(with(R"({"tolerances": []})")), HasSubstr("tolerances: must be a list"));
  EXPECT_THAT(error_of(with(R"({"verdict": "primal"})")),
              AllOf(HasSubstr("verdict: 'primal'"), HasSubstr("natural_map_scaled")));
  EXPECT_THAT(error_of(with(R"({"stop_by": "mine"})")), HasSubstr("solver, judge, judge_timed"));
  EXPECT_THAT(error_of(with(R"({"start": 3})")), HasSubstr("start: must be a text"));
  EXPECT_THAT(error_of(with(R"({"repeats": {"min": 9, "max": 3}})")), HasSubstr("repeats.max"));
  EXPECT_THAT(error_of(with(R"({"repeats": {"rounds": 0}})")), HasSubstr("repeats.rounds"));
  EXPECT_THAT(error_of(with(R"({"traces": -1})")), HasSubstr("traces"));
  EXPECT_THAT(error_of(with(R"({"traces": "all"})")), HasSubstr("traces"));
  EXPECT_THAT(error_of(with(R"({"repeats": {"precision": 2}})")), HasSubstr("repeats.precision: 2 is outside"));
  EXPECT_THAT(error_of(with(R"({"solvers": null})")), HasSubstr("solvers: is missing"));
}

TEST(Suite, UnknownSolversScenesAndOptionsAreNamed) {
  EXPECT_THAT(error_of(with(R"({"solvers": ["NSGSS"]})")), AllOf(HasSubstr("solvers[0]"), HasSubstr("NSGS,")));
  EXPECT_THAT(error_of(with(R"({"solvers": [{"id": "NSGS", "grid": {"bogus": [1]}}]})")),
              AllOf(HasSubstr("solvers[0]"), HasSubstr("bogus")));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "boxstack"}]})")), HasSubstr("box-stack"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-stack", "steps": 3}]})")), HasSubstr("steps: unknown key"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-on-plane", "steps": 0}]})")),
              HasSubstr("problems[0].steps"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-on-plane", "options": {"fricton": 1}}]})")),
              HasSubstr("fricton"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-on-plane", "options": {"every": 1}, "every": 2}]})")),
              HasSubstr("problems[0].every"));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-stack", "grid": {"boxes": [0]}}]})")),
              AllOf(HasSubstr("problems[0]"), HasSubstr("'boxes' = 0 is outside")));
  EXPECT_THAT(error_of(with(R"({"problems": [{"scene": "box-stack", "options": {"boxes": 2.5}}]})")),
              HasSubstr("must be an integer"));
  EXPECT_THAT(
      error_of(with(R"({"problems": [{"scene": "box-stack", "options": {"boxes": 2}, "grid": {"boxes": [3]}}]})")),
      HasSubstr("fixed"));
  EXPECT_THAT(error_of(with(R"({"problems": [{}]})")), HasSubstr("either"));
}

TEST(Suite, WithoutASimulationItsScenesAreUnknown) {
  const auto suite = parse_suite(with(R"({"problems": [{"scene": "box-on-plane"}]})"), "dir/x.json");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(suite.error().message, AllOf(HasSubstr("problems[0].scene: "), HasSubstr("'box-on-plane'"),
                                           ::testing::Not(HasSubstr("simulated"))));
}

TEST(Suite, AHugeGridIsRefusedBeforeItIsMade) {
  nlohmann::json values = nlohmann::json::array();
  for (int i = 1; i <= 1000; ++i) values.push_back(0.001 * i);
  nlohmann::json suite = nlohmann::json::parse(small);
  suite["problems"] = {
      {{"scene", "box-stack"},
       {"grid", {{"friction", values}, {"gravity", values}, {"mass", values}, {"half_width", values}}}}};
  EXPECT_THAT(error_of(suite.dump()), HasSubstr("points"));
}

TEST(Suite, BrokenJsonIsNamedWithItsLine) {
  EXPECT_THAT(error_of("{\n\"name\": \"x\",\n,}"), HasSubstr("line 3"));
  EXPECT_THAT(error_of(R"({"name": "x", "name": "y"})"), HasSubstr("'name' is given twice"));
  EXPECT_THAT(error_of("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error_of(""), HasSubstr("not JSON"));
}

TEST(Suite, SeedsAreAListOrARange) {
  const auto seeds = [](const std::string& text) {
    return with(R"({"problems": [{"scene": "box-stack", "seeds": )" + text + "}]}");
  };
  const auto suite = parse_suite(seeds(R"({"first": 7, "last": 10})"), "dir/x.json");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->problems.front().seeds, (std::vector<std::uint64_t>{7, 8, 9, 10}));
  EXPECT_THAT(error_of(seeds(R"({"first": 7, "last": 6})")), HasSubstr("problems[0].seeds: is an empty range"));
  EXPECT_THAT(error_of(seeds(R"({"first": 7})")), HasSubstr("problems[0].seeds: has no \"last\""));
  EXPECT_THAT(error_of(seeds(R"({"first": 0, "last": 9223372036854775807})")), HasSubstr("makes more than"));
}

TEST(Suite, EveryEmbeddedSuiteIsValidAndCanBeNamed) {
  ASSERT_FALSE(embedded_suites().empty());
  offer_peer_programs();  // as the program does
  for (const EmbeddedSuite& embedded : embedded_suites()) {
    const auto suite = load_suite(embedded.name, simulation::sampled_scenes());
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(suite->name, embedded.name);
  }
  const auto missing = load_suite("nowhere.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
  EXPECT_THAT(missing.error().message, HasSubstr("default"));
}

/// The simulated scenes of an embedded suite.
std::set<std::string> scenes_of(const std::string& name, const std::string& option = "",
                                const std::string& value = "") {
  std::set<std::string> scenes;
  const auto suite = load_suite(name, simulation::sampled_scenes());
  EXPECT_TRUE(suite) << name;
  for (const ProblemEntry& entry : suite ? suite->problems : std::vector<ProblemEntry>{}) {
    EXPECT_TRUE(entry.simulated) << entry.where;
    for (const OptionValues& options : entry.options) {
      const auto found = options.find(option);
      if (option.empty() || (found != options.end() && to_text(found->second) == value)) scenes.insert(entry.scene);
    }
  }
  return scenes;
}

TEST(Suite, OfSimulatedScenesHasThemAllAndThatOfLoopsThoseOfTsounis) {
  std::set<std::string> all;
  std::set<std::string> elastic;
  for (const SimulatedSceneRow& row : simulated_scene_table()) (row.elastic ? elastic : all).insert(row.id);
  all.erase("file");
  EXPECT_EQ(scenes_of("simulated"), all);
  EXPECT_EQ(scenes_of("deformable"), elastic);
  const std::set<std::string> of_tsounis = {"box-on-plane", "boxes-fixed", "nunchuk",      "fourbar",
                                            "arm7d",        "quadruped",   "bdx-like",     "lima-like",
                                            "misha-like",   "walker-like", "gazelle-like", "ironman-like"};
  EXPECT_EQ(scenes_of("kinematic-loops", "coordinates", "maximal"), of_tsounis);
  EXPECT_EQ(scenes_of("kinematic-loops"), of_tsounis) << "in maximal coordinates all";
  EXPECT_FALSE(scenes_of("sequences").empty());
  EXPECT_THAT(load_suite("sequences", simulation::sampled_scenes())->starts,
              ::testing::ElementsAre(Start::cold, Start::previous));
}

/// `small` with a text instead of a value.
std::string with_text(const std::string& key, const std::string& value) {
  return R"({"problems": [{"scene": "box-stack"}], "solvers": ["NSGS"], ")" + key + "\": " + value + "}";
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Suite, BracketsInBracketsEndAtSixtyFourWhereverTheyStand) {
  for (const std::string& text :
       {nested(100'000), std::string(100'000, '['), with_text("name", nested(100'000)), with_text("seed", nested(64)),
        R"({"problems": [{"scene": "box-stack", "options": {"boxes": )" + nested(30'000) + "}}]}"}) {
    EXPECT_EQ(error_of(text), "dir/x.json: brackets in brackets, more than 64 deep");
  }
  EXPECT_THAT(error_of(with_text("seed", nested(60))), HasSubstr("seed: must be an integer"));
  EXPECT_THAT(error_of(with_text("verdict", '"' + std::string(100, '[') + R"(\"[")")),
              HasSubstr("is unknown; known: "));
}

TEST(Suite, AMisspeltWordIsAnsweredWithTheNearestOne) {
  EXPECT_EQ(error_of(with_text("stop_by", "\"juge\"")),
            "dir/x.json: stop_by: 'juge' is unknown; did you mean 'judge'? known: solver, judge, judge_timed");
  EXPECT_THAT(error_of(with_text("verdict", "\"natural_map_scald\"")), HasSubstr("did you mean 'natural_map_scaled'?"));
  EXPECT_THAT(error_of(with_text("start", "\"gues\"")), HasSubstr("did you mean 'guess'?"));
}

TEST(Suite, ANumberThatNoDoubleHoldsIsNamed) {
  EXPECT_EQ(error_of(with_text("seed", "1e999")), "dir/x.json: no number is as large as '1e999'");
  EXPECT_THAT(error_of(with_text("seed", std::string(500, '7'))), HasSubstr("no number is as large as '7777"));
  EXPECT_THAT(error_of(with_text("seed", "99999999999999999999")), HasSubstr("must be an integer"));
}

TEST(Suite, ANameIsAPlainFileName) {
  for (const char* name : {"../../evil", "/tmp/evil", "..", ".hidden", "a\\nb", "a\\u0000b"}) {
    EXPECT_THAT(error_of(with_text("name", '"' + std::string(name) + '"')), HasSubstr("is no plain file name")) << name;
  }
  EXPECT_THAT(error_of(with_text("name", '"' + std::string(201, 'a') + '"')), HasSubstr("200 bytes at most"));
  EXPECT_THAT(error_of(with_text("name", "\"\"")), HasSubstr("must be a text"));
  const auto suite = parse_suite(with_text("name", R"("Größe 3, μ=0.5")"), "x.json");
  EXPECT_TRUE(suite) << suite.error().message;
}

TEST(Suite, TextsAndListsThatNobodyWritesAreRefused) {
  EXPECT_THAT(error_of(with_text("description", '"' + std::string(70'000, 'a') + '"')), HasSubstr("65536 bytes"));
  std::string seeds = "1";
  for (int seed = 2; seed < 1'001; ++seed) seeds += "," + std::to_string(seed);
  const std::string scenes =
      R"({"scene": "box-stack", "grid": {"boxes": [2,3,4,5,6,7,8,9,10,11,12]}, "seeds": [)" + seeds + "]}";
  std::string list = scenes;
  for (int k = 0; k < 9; ++k) list += "," + scenes;
  EXPECT_THAT(error_of(R"({"solvers": ["NSGS"], "problems": [)" + list + "]}"),
              HasSubstr("problems[9]: makes more than 100000 problems"));
}

TEST(Suite, OnlyAFileOfAPersonsSizeIsRead) {
  const auto error = [](const std::filesystem::path& file) {
    const auto suite = load_suite(file);
    return suite ? "no error" : suite.error().message;
  };
  EXPECT_EQ(error("/dev/zero"), "/dev/zero: is a device, a pipe or a socket; give a file");
  EXPECT_EQ(error("/tmp"), "/tmp: is a folder; give a file");
}

}  // namespace
}  // namespace conebench
