#include "runners/plan/problem_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>

#include "base/temporary_folder.hpp"
#include "runners/plan/problem_survey.hpp"
#include "simulation/engine.hpp"
#include "simulation/sampled_scenes.hpp"
#include "solvers/registry.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Sources : public ::testing::Test {
 protected:
  Sources() {
    for (const char* const file : {"data/A/Box-i1.hdf5", "data/B/Box-i1.hdf5", "data/B/Ball-i2.hdf5", "env/E.hdf5"}) {
      fs::create_directories((base / file).parent_path());
      std::ofstream(base / file) << "x";
    }
  }
  Suite suite(const std::string& problems) const {
    auto parsed = parse_suite(R"({"name": "s", "solvers": ["NSGS"], "problems": )" + problems + "}", base / "s.json",
                              simulation::sampled_scenes());
    if (!parsed) throw std::runtime_error(parsed.error().message);
    return *parsed;
  }
  const TemporaryFolder temporary;
  const fs::path base = temporary.path();
};

TEST_F(Sources, AreLookedUpInDataThenEnvironmentThenTheSuitesFolder) {
  const auto found = list_sources(suite(R"([{"fclib": "*/*.hdf5"}, {"fclib": "E.hdf5"}, {"fclib": "data/A/*.hdf5"}])"),
                                  base / "data", base / "env");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 4U);
  EXPECT_EQ((*found)[0].source, "A/Box-i1.hdf5");
  EXPECT_EQ((*found)[0].name, "A/Box-i1");
  EXPECT_EQ((*found)[0].family, "Box");
  EXPECT_EQ((*found)[1].name, "Ball-i2");
  EXPECT_EQ((*found)[3].source, "E.hdf5");
}

TEST_F(Sources, AGlobThatMatchesNothingSaysWhereItLooked) {
  const auto found = list_sources(suite(R"([{"fclib": "C/*.hdf5"}])"), base / "data", {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("problems[0]: 'C/*.hdf5'"), HasSubstr((base / "data").string()), HasSubstr("--data")));
}

TEST_F(Sources, ADefaultFolderThatFilesComeFromIsReported) {
  std::vector<std::string> lines;
  const SceneWatch watch{.note = [&](const std::string& line) { lines.push_back(line); }};
  const Suite all = suite(R"([{"fclib": "data/*/*.hdf5"}, {"fclib": "E.hdf5"}])");
  ASSERT_TRUE(list_sources(all, {}, base / "env", {}, watch));
  const std::string own = fs::canonical(base).string();
  EXPECT_THAT(lines, ElementsAre("taken from " + own + ", the suite's own folder, because --data is not given: 3 files",
                                 "taken from " + own + "/env, CONEBENCH_DATA, because --data is not given: 1 file"));
  lines.clear();
  ASSERT_TRUE(list_sources(suite(R"([{"fclib": "E.hdf5"}])"), base / "data", base / "env", {}, watch));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("because --data " + (base / "data").string() + " has none that fits")));
  lines.clear();
  ASSERT_TRUE(list_sources(suite(R"([{"fclib": "*/*.hdf5"}])"), base / "data", {}, {}, watch));
  ASSERT_TRUE(list_sources(suite(R"([{"fclib": ")" + (base / "env/E.hdf5").string() + R"("}])"), {}, {}, {}, watch));
  EXPECT_THAT(lines, ElementsAre()) << "a folder that --data names, and a file by its whole path";
}

TEST_F(Sources, ADataFolderThatIsNotThereIsAnError) {
  const auto found = list_sources(suite(R"([{"fclib": "*/*.hdf5"}])"), base / "nowhere", base / "env");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("--data"), HasSubstr("nowhere: no such folder")));
}

TEST_F(Sources, ABuiltInSuiteLooksInNoFolderOfItsOwn) {
  Suite embedded = suite(R"([{"fclib": "**/*.hdf5"}])");
  embedded.folder.clear();
  const auto found = list_sources(embedded, {}, {});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("needs a data folder"));
}

TEST_F(Sources, AreListedOnceThoughTwoEntriesNameThem) {
  const auto found = list_sources(suite(R"([{"fclib": "A/*.hdf5"}, {"fclib": "**/Box*.hdf5"}, {"scene": "box-stack"},
                {"scene": "box-stack", "grid": {"boxes": [5, 6]}}])"),
                                  base / "data", {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 4U);
}

TEST_F(Sources, ASceneComesBackFromItsFileAsItWas) {
  const auto found = list_sources(
      suite(R"([{"scene": "box-stack", "options": {"boxes": 3}, "as": "fclib", "family": "mine"}])"), {}, {});
  ASSERT_TRUE(found);
  const ProblemSource& source = (*found)[0];
  const auto problem = load_source(source, base / "cache");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_TRUE(fs::exists(cached_file(source, base / "cache")));
  EXPECT_EQ(problem->content_hash(), testing::make_problem("box-stack", {{"boxes", 3L}}).content_hash());
  EXPECT_EQ(problem->provenance().family, "mine");
  EXPECT_EQ(problem->provenance().name, testing::make_problem("box-stack", {{"boxes", 3L}}).provenance().name);
  const auto again = load_source(source, base / "cache", true);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->content_hash(), problem->content_hash());
}

TEST_F(Sources, ASimulatedScenesSamplesAreMadeOnceAndThenTakenFromTheirFolder) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const Suite sliding = suite(R"([{"scene": "box-on-plane", "grid": {"speed": [1, 2]}, "steps": 12, "every": 4}])");
  const auto found = list_sources(sliding, {}, {}, base / "cache");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 6U);
  const auto written = fs::last_write_time((*found)[0].file);
  for (const ProblemSource& source : *found) {
    const auto problem = load_source(source, base / "cache");
    ASSERT_TRUE(problem) << problem.error().message;
    EXPECT_EQ(problem->provenance().family, "box-on-plane");
    EXPECT_EQ(problem->provenance().name, source.name);
    EXPECT_EQ(problem->cones().contacts(), 4);
  }
  EXPECT_THAT((*found)[0].name, HasSubstr("speed=1_step=00004"));
  const auto again = list_sources(sliding, {}, {}, base / "cache");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 6U);
  EXPECT_EQ(fs::last_write_time((*again)[0].file), written);
  fs::remove((*found)[1].file);
  ASSERT_TRUE(list_sources(sliding, {}, {}, base / "cache"));
  EXPECT_TRUE(fs::exists((*found)[1].file)) << "what is missing is made again";
}

TEST_F(Sources, ASimulationThatFailsIsOneProblemThatSaysWhyBesideTheOthers) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const auto found = list_sources(suite(R"([{"scene": "box-on-plane", "options": {"speed": 5, "max_speed": 1}},
                                            {"scene": "box-on-plane", "steps": 3}])"),
                                  {}, {}, base / "cache");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 4U);
  EXPECT_EQ((*found)[0].name, "box-on-plane_max_speed=1_speed=5");
  EXPECT_EQ((*found)[0].source, "box-on-plane max_speed=1 speed=5 seed=1 steps=100");
  const auto failed = load_source((*found)[0], base / "cache");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::bad_input);
  EXPECT_THAT(failed.error().message, AllOf(HasSubstr("problems[0]"), HasSubstr("blown up"), HasSubstr("time_step")));
  EXPECT_TRUE(load_source((*found)[1], base / "cache"));
}

TEST_F(Sources, WithoutMujocoAScenesSamplesCantBeLoadedAlsoInADryRun) {
  if (!simulation::engine_version().empty()) GTEST_SKIP() << "built with MuJoCo";
  const std::string path = (base / "robot.xml").string();
  std::ofstream(path) << "<mujoco/>";
  for (const bool simulate : {true, false}) {
    std::vector<std::string> notes;
    const auto found =
        list_sources(suite(R"([{"scene": "box-on-plane", "seeds": [1, 2]}, {"scene": "file", "options": {"path": ")" +
                           path + R"("}}])"),
                     {}, {}, base / "cache",
                     {.simulate = simulate, .note = [&](const std::string& line) { notes.push_back(line); }});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 3U);
    EXPECT_FALSE((*found)[0].pending);
    EXPECT_THAT((*found)[0].failure, AllOf(HasSubstr("problems[0]"), HasSubstr("without MuJoCo")));
    ASSERT_EQ(notes.size(), 1U) << "one line, however many scenes";
    EXPECT_THAT(notes[0], ::testing::StartsWith("box-on-plane, robot: this Conebench was built without MuJoCo"));
    EXPECT_TRUE((*found)[2].reported);
    EXPECT_FALSE(fs::exists(base / "cache"));
  }
}

TEST_F(Sources, WhatASimulationLeavesOutIsReportedAlsoWhereItsSamplesWereThere) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  for (int time = 1; time <= 2; ++time) {
    std::vector<std::string> notes;
    const auto found = list_sources(
        suite(R"([{"scene": "box-on-plane", "options": {"control": "sine", "tolerance": 1e-6}, "steps": 3}])"), {}, {},
        base / "cache", {.note = [&](const std::string& line) { notes.push_back(line); }});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(notes, ::testing::Contains(HasSubstr("control=sine does nothing"))) << time;
  }
}

TEST_F(Sources, AModelIsLookedForBesideTheSuiteAndInTheDataFolderWhereTheCallerHasNone) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const auto source_in = [&](const fs::path& data) {
    Suite found = suite(R"([{"scene": "file", "options": {"path": "models/ball.xml"}, "steps": 2}])");
    found.folder = base / "suites";
    const auto sources = list_sources(found, data, {}, base / "cache", {.simulate = false});
    return sources ? (*sources)[0].source + " " + (*sources)[0].failure : sources.error().message;
  };
  const auto write = [&](const fs::path& folder) {
    fs::create_directories(folder / "models");
    std::ofstream(folder / "models/ball.xml")
        << "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>"
           "<freejoint/><geom size='.1'/></body></worldbody></mujoco>";
  };
  EXPECT_THAT(source_in({}), HasSubstr("models/ball.xml"));
  EXPECT_THAT(source_in({}), ::testing::Not(HasSubstr("step=1")));
  write(base / "suites");
  EXPECT_THAT(source_in({}), AllOf(HasSubstr((base / "suites/models/ball.xml").string()), HasSubstr("step=1")));
  write(base / "data");
  EXPECT_THAT(source_in(base / "data"), HasSubstr((base / "data/models/ball.xml").string()));
  const fs::path before = fs::current_path();
  write(base / "here");
  fs::current_path(base / "here");
  EXPECT_THAT(source_in(base / "data"), HasSubstr(" path=models/ball.xml")) << "as it always was";
  fs::current_path(before);
}

TEST_F(Sources, AModelThatCannotBeReadIsOneProblemThatSaysWhyBesideTheOthers) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  // MuJoCo 2.2.2 crashes on it.
  std::ofstream(base / "my arm.urdf") << R"(<robot name="arm"><link name="base"/><link name="arm"><inertial>
    <mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn" type="helical"><parent link="base"/><child link="arm"/></joint></robot>)";
  const std::string path = (base / "my arm.urdf").string();
  const auto found = list_sources(suite(R"([{"scene": "file", "options": {"path": ")" + path +
                                        R"("}, "steps": 3, "every": 2}, {"scene": "box-stack"}])"),
                                  {}, {}, base / "cache");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].source, "file every=2 path=\"" + path + "\" seed=1 steps=3");
  const auto failed = load_source((*found)[0], base / "cache");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::bad_input);
  EXPECT_THAT(failed.error().message, AllOf(HasSubstr("problems[0]"), HasSubstr("my arm.urdf")));
  EXPECT_TRUE(load_source((*found)[1], base / "cache"));
}

TEST_F(Sources, SamplesAreKeptApartByTheVersionOfTheLoopsSolver) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const Suite sliding = suite(R"([{"scene": "box-on-plane", "steps": 2, "options": {"solver": "CASCADE"}}])");
  const auto folder = [&] { return (*list_sources(sliding, {}, {}, base / "cache"))[0].file.parent_path(); };
  const fs::path before = folder();
  EXPECT_EQ(folder(), before);
  SolverRow* const row = const_cast<SolverRow*>(find_solver("CASCADE"));
  ++row->info.version;
  EXPECT_NE(folder(), before);
  --row->info.version;
  EXPECT_EQ(folder(), before);
}

TEST_F(Sources, SamplesAreKeptApartByTheOptionsOfTheLoopsSolver) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const auto folder = [&](const std::string& solver_options) {
    const auto found = list_sources(
        suite(fmt::format(R"([{{"scene": "box-on-plane", "steps": 2, "options": {{"solver": "ADMM-NCP-SA"{}}}}}])",
                          solver_options)),
        {}, {}, base / "cache");
    return found ? (*found)[0].file.parent_path() : fs::path(found.error().message);
  };
  const fs::path usual = folder("");
  const fs::path other = folder(R"(, "solver_options": "increment=0.1,ratio=5")");
  EXPECT_NE(other, usual);
  EXPECT_EQ(folder(R"(, "solver_options": "ratio=5.0,increment=0.1")"), other) << "the same configuration";
  EXPECT_EQ(folder(R"(, "solver_options": "increment=0.05")"), usual) << "its default";
  EXPECT_EQ(folder(R"(, "solver_options": "")"), usual);
  EXPECT_EQ(folder(R"(, "solver_options": {})"), usual);
  EXPECT_EQ(folder(R"(, "solver_options": {"increment": 0.1, "ratio": 5})"), other);
  EXPECT_EQ(folder(R"(, "solver_options": "increment=0.1, ratio=5,")"), other) << "blanks and an empty word";
}

TEST_F(Sources, WhatIsWrongWithTheLoopsSolversOptionsIsSaidBeforeAnythingIsSimulated) {
  const auto error = [&](const std::string& options) {
    const auto found = list_sources(
        suite(fmt::format(R"([{{"scene": "box-on-plane", "options": {{"solver": "ADMM-NCP-SA", {}}}}}])", options)), {},
        {}, base / "cache", {.simulate = false});
    EXPECT_FALSE(found) << options;
    if (found) return std::string();
    EXPECT_EQ(found.error().code, ErrorCode::wrong_usage);
    return found.error().message;
  };
  EXPECT_THAT(error(R"("solver_options": "incremet=0.1")"),
              HasSubstr("problems[0]: scene 'box-on-plane': solver_options incremet=0.1: ADMM-NCP-SA has no option "
                        "'incremet'; did you mean 'increment'? known: relaxation, "));
  EXPECT_THAT(error(R"("solver_options": {"incremet": 0.1})"), HasSubstr("did you mean 'increment'?"));
  EXPECT_THAT(error(R"("solver_options": "increment=2")"), HasSubstr("'increment' = 2 is outside [0, 1]"));
  EXPECT_THAT(error(R"("solver_options": "increment=big")"), HasSubstr("'increment' = big must be a number"));
  EXPECT_THAT(error(R"("solver_options": "increment")"), HasSubstr("solver_options increment: must be key=value"));
  EXPECT_THAT(error(R"("solver_options": "ratio=5,ratio=6")"), HasSubstr("'ratio' is set twice"));
  EXPECT_THAT(error(R"("solver_options": "factorization=round")"), HasSubstr("must be one of: cholesky, lu"));
}

TEST_F(Sources, NotesOfModelsOfOneNameBeginWithTheirPaths) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  for (const char* const folder : {"a", "b"}) {
    fs::create_directories(base / folder);
    std::ofstream(base / folder / "robot.xml") << R"(<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>)";
  }
  const auto notes_of = [&](const std::vector<std::string>& folders) {
    std::string problems;
    for (const std::string& folder : folders) {
      problems += fmt::format(R"({}{{"scene": "file", "steps": 1, "options": {{"path": "{}"}}}})",
                              problems.empty() ? "" : ", ", (base / folder / "robot.xml").string());
    }
    std::vector<std::string> lines;
    const SceneWatch watch{.note = [&](const std::string& line) { lines.push_back(line); }};
    EXPECT_TRUE(
        list_sources(suite("[" + problems + "]"), {}, {}, base / "cache" / std::to_string(folders.size()), watch));
    std::erase_if(lines, [](const std::string& line) { return line.find("simulating") == std::string::npos; });
    return lines;
  };
  const auto line = [&](const char* folder) {
    return (base / folder / "robot.xml").string() + ": simulating robot, 1 steps";
  };
  EXPECT_THAT(notes_of({"a", "b"}), ElementsAre(line("a"), line("b")));
  EXPECT_THAT(notes_of({"a"}), ElementsAre("simulating robot, 1 steps"));
}

TEST_F(Sources, NamesShowWhatDiffersAndNoMore) {
  const auto names = [&](const std::string& problems) {
    std::vector<std::string> all;
    const auto found = list_sources(suite(problems), {}, {}, base / "cache", {.simulate = false});
    for (const ProblemSource& source : *found) all.push_back(source.name);
    return all;
  };
  EXPECT_THAT(names(R"([{"scene": "box-stack", "grid": {"boxes": [2, 5]}, "options": {"friction": 0.25}}])"),
              ElementsAre("box-stack_boxes=2_friction=0.25", "box-stack_boxes=5_friction=0.25"))
      << "five is the default, and reported where there is another";
  EXPECT_THAT(names(R"([{"scene": "box-stack"}, {"scene": "random", "seeds": [1, 2]}])"),
              ElementsAre("box-stack", "random_seed=1", "random_seed=2"));
  EXPECT_THAT(names(R"([{"scene": "box-on-plane", "steps": 1, "options": {"solver": "CASCADE", "tolerance": 1e-6,
      "speed": 2}}])"),
              ElementsAre("box-on-plane_speed=2_step=00001"));
  EXPECT_THAT(names(R"([{"scene": "box-on-plane", "steps": 1, "grid": {"solver": ["CASCADE", "NSGS"]},
      "options": {"tolerance": 1e-6}}])"),
              ElementsAre("box-on-plane_solver=CASCADE_step=00001", "box-on-plane_solver=NSGS_step=00001"));
  EXPECT_THAT(names(R"([{"scene": "box-on-plane", "steps": 1, "options": {"solver_options": "relaxation=0.8"}}])"),
              ElementsAre("box-on-plane_step=00001"));
  EXPECT_THAT(names(R"([{"scene": "box-on-plane", "steps": 1},
                        {"scene": "box-on-plane", "steps": 1, "options": {"solver_options": "relaxation=0.8"}}])"),
              ElementsAre("box-on-plane_step=00001", "box-on-plane_solver_options=relaxation=0.8_step=00001"));
  EXPECT_THAT(
      names(R"([{"scene": "box-on-plane", "steps": 1, "grid": {"solver_options": ["", {"relaxation": 0.8}]}}])"),
      ElementsAre("box-on-plane_step=00001", "box-on-plane_solver_options=relaxation=0.8_step=00001"));
}

TEST_F(Sources, StrataThatAreShortOfSamplesAreReportedAlsoOfStoredOnes) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const Suite lying = suite(R"([{"scene": "box-on-plane", "steps": 9, "options": {"sample": "stratified",
      "per_stratum": 2, "categories": "dense-contacts,single-contact", "bands": "1e16"}}])");
  for (const char* const when : {"first", "again"}) {
    std::vector<std::string> notes;
    SceneWatch watch;
    watch.note = [&](const std::string& line) { notes.push_back(line); };
    ASSERT_TRUE(list_sources(lying, {}, {}, base / "cache", watch)) << when;
    EXPECT_THAT(notes, ::testing::Contains(AllOf(HasSubstr("box-on-plane"),
                                                 HasSubstr("single contact, conditioning below 1e16: 0 of 2"))))
        << when;
    EXPECT_THAT(notes, ::testing::Not(::testing::Contains(HasSubstr("dense contacts, conditioning below")))) << when;
  }
}

TEST_F(Sources, OptionsOfStratifiedSamplesNeedThem) {
  for (const char* const option : {R"("categories": "dense-contacts")", R"("bands": "1e3")", R"("per_stratum": 2)"}) {
    const auto found = list_sources(suite(fmt::format(R"([{{"scene": "box-on-plane", "steps": 2,
        "options": {{"sample": "impacts", {}}}}}])",
                                                      option)),
                                    {}, {}, base / "cache");
    ASSERT_FALSE(found) << option;
    EXPECT_EQ(found.error().code, ErrorCode::wrong_usage);
    EXPECT_THAT(found.error().message, AllOf(HasSubstr("problems[0]"), HasSubstr("sample=stratified")));
  }
}

TEST_F(Sources, AFileOfTwoEntriesIsKeptWhereItFitsOneOfThem) {
  const auto found = list_sources(suite(R"([{"fclib": "A/*.hdf5", "category": "dense contacts"},
                                            {"fclib": "**/*.hdf5", "category": "single contact"},
                                            {"fclib": "B/Ball*.hdf5"}])"),
                                  base / "data", {});
  ASSERT_TRUE(found) << found.error().message;
  std::map<std::string, std::vector<bool>> kept;
  for (const ProblemSource& source : *found) {
    for (const char* const category : {"dense contacts", "single contact", "other"}) {
      kept[source.source].push_back(source.kept(category, std::nullopt));
    }
  }
  EXPECT_EQ(kept.at("A/Box-i1.hdf5"), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(kept.at("B/Box-i1.hdf5"), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(kept.at("B/Ball-i2.hdf5"), (std::vector<bool>{true, true, true}));
}

TEST(Survey, TellsWhatAProblemIsLike) {
  ProblemSource source;
  source.scene = "box-stack";
  source.source = "box-stack boxes=2 seed=1";
  const auto problem = testing::make_problem("box-stack", {{"boxes", 2L}, {"friction", 0.7}});
  const SurveyedProblem surveyed = survey_problem(problem, source, true);
  EXPECT_EQ(surveyed.record.hash, problem.data_hash());
  EXPECT_EQ(surveyed.record.kind, "generated");
  EXPECT_EQ(surveyed.record.contacts, 8);
  EXPECT_EQ(surveyed.record.rows, 24);
  EXPECT_EQ(surveyed.record.mu_max, 0.7);
  EXPECT_EQ(surveyed.record.rank, 12);
  EXPECT_GT(surveyed.record.zero_impulse.at("natural_map_scaled"), 1e-3);
  const auto floating = testing::make_problem("box-stack", {{"boxes", 2L}, {"gravity", 0.0}});
  EXPECT_EQ(survey_problem(floating, source, false).record.zero_impulse.at("natural_map_scaled"), 0.0);
}

TEST(Duplicates, ExactOnesAreOneProblemAndTwinsAreMarked) {
  const auto surveyed = [](const ContactProblem& problem, const std::string& name) {
    ProblemSource source;
    source.source = name;
    return survey_problem(problem, source, false);
  };
  const auto problem = testing::make_problem("random", {{"contacts", 4L}});
  ContactProblemData nudged;
  nudged.cones = problem.cones();
  nudged.delassus = make_dense_delassus(problem.blocks().dense() * (1.0 + 1e-15));
  nudged.free_term = problem.free_term();
  nudged.compliance = problem.compliance();
  const auto near_duplicate = ContactProblem::create(std::move(nudged));
  ASSERT_TRUE(near_duplicate);
  const auto other = testing::make_problem("random", {{"contacts", 4L}}, 2);
  ProblemSet set = resolve_duplicates(
      std::vector<ProblemSource>(4),
      {surveyed(problem, "a"), surveyed(problem, "b"), surveyed(*near_duplicate, "c"), surveyed(other, "d")});
  ASSERT_EQ(set.problems.size(), 3U);
  EXPECT_EQ(set.duplicates, 1);
  EXPECT_EQ(set.problems[0].record.source, "a");
  EXPECT_THAT(set.problems[0].record.copies, ElementsAre("b"));
  EXPECT_EQ(set.problems[1].record.duplicate_of, set.problems[0].record.hash);
  EXPECT_EQ(set.problems[2].record.duplicate_of, "");
}

ContactProblem with_free_term(const ContactProblem& problem, const Vector& free_term) {
  ContactProblemData data;
  data.cones = problem.cones();
  data.delassus = make_block_sparse_delassus(problem.blocks());
  data.free_term = free_term;
  return ContactProblem::create(std::move(data)).value();
}

TEST(DuplicateFingerprints, AreTheSameProblemInOtherFramesAndOrder) {
  const auto problem = testing::make_problem("random", {{"contacts", 6L}, {"joints", 2L}});
  const DuplicateFingerprint fingerprint = duplicate_fingerprint(problem);
  EXPECT_TRUE(same_problem(
      fingerprint, duplicate_fingerprint(testing::rotate_tangents(problem, testing::random_angles(6, 3)).problem)));
  EXPECT_TRUE(same_problem(
      fingerprint, duplicate_fingerprint(testing::permute_contacts(problem, testing::random_order(6, 3)).problem)));
}

TEST(DuplicateFingerprints, AreNotProblemsThatDifferInASignOrInWhichContactHoldsWhat) {
  const auto problem = testing::make_problem("random", {{"contacts", 4L}, {"mu_min", 0.2}, {"mu_max", 0.9}});
  const DuplicateFingerprint fingerprint = duplicate_fingerprint(problem);
  const ConeProduct& cones = problem.cones();

  std::vector<double> friction(cones.friction().begin(), cones.friction().end());
  std::swap(friction[0], friction[1]);
  ContactProblemData swapped = with_free_term(problem, problem.free_term()).data();
  swapped.cones = ConeProduct::create(0, 0, friction).value();
  EXPECT_FALSE(same_problem(fingerprint, duplicate_fingerprint(ContactProblem::create(std::move(swapped)).value())));

  Vector reversed = problem.free_term();
  reversed.segment<2>(cones.contact_row(2)) *= -1.0;
  EXPECT_FALSE(same_problem(fingerprint, duplicate_fingerprint(with_free_term(problem, reversed))));

  Vector leaving = problem.free_term();
  leaving[cones.contact_row(1) + 2] *= -1.0;
  EXPECT_FALSE(same_problem(fingerprint, duplicate_fingerprint(with_free_term(problem, leaving))));
}

TEST(DuplicateFingerprints, TellBoundsAndLawsOfFrictionApart) {
  const auto fingerprint = [](const std::vector<Interval>& intervals, const std::vector<FrictionLaw>& contacts) {
    ContactProblemData data;
    data.cones = ConeProduct::create(1, 1, intervals, contacts).value();
    data.delassus = make_dense_delassus(Matrix::Identity(data.cones.rows(), data.cones.rows()));
    data.free_term = Vector::LinSpaced(data.cones.rows(), -1.0, 2.0);
    return duplicate_fingerprint(ContactProblem::create(std::move(data)).value());
  };
  const std::vector<Interval> bounds = {{-0.5, 0.5}, {-std::numeric_limits<double>::infinity(), 0.0}};
  const FrictionLaw space = FrictionLaw::coulomb(0.5), elliptic{ConeShape::discs, {2}, {0.5, 0.2}};
  const FrictionLaw ellipsoid{ConeShape::discs, {3}, {0.5, 0.5, 0.1}},
      torsion{ConeShape::discs, {2, 1}, {0.5, 0.5, 0.1}};
  const FrictionLaw pyramid{ConeShape::pyramid, {2}, {0.5, 0.5}};
  const auto given = fingerprint(bounds, {space, ellipsoid});
  EXPECT_TRUE(same_problem(given, fingerprint(bounds, {space, ellipsoid})));
  EXPECT_FALSE(same_problem(given, fingerprint({bounds[0], {0.0, 0.0}}, {space, ellipsoid})));
  EXPECT_FALSE(same_problem(given, fingerprint({{-0.5, 0.6}, bounds[1]}, {space, ellipsoid})));
  EXPECT_FALSE(same_problem(given, fingerprint({bounds[1], bounds[0]}, {space, ellipsoid}))) << "at other rows";
  EXPECT_FALSE(same_problem(given, fingerprint(bounds, {space, torsion})));
  EXPECT_FALSE(same_problem(given, fingerprint(bounds, {elliptic, ellipsoid})));
  EXPECT_FALSE(same_problem(given, fingerprint(bounds, {pyramid, ellipsoid})));
}

TEST(Duplicates, ProblemsThatDifferInTheirGuessAloneAreBothKept) {
  ContactProblemData data = testing::make_problem("random", {{"contacts", 4L}}).data();
  data.guess = Vector::Zero(12);
  const auto first = ContactProblem::create(data).value();
  data.guess = Vector::Ones(12);
  const auto second = ContactProblem::create(data).value();
  ProblemSource source;
  const ProblemSet set = resolve_duplicates(
      std::vector<ProblemSource>(2), {survey_problem(first, source, false), survey_problem(second, source, false)});
  ASSERT_EQ(set.problems.size(), 2U);
  EXPECT_EQ(set.problems[1].record.duplicate_of, set.problems[0].record.hash);
}

TEST(Survey, AProblemThatCannotBeLoadedIsKnownByItsBytes) {
  ProblemSource source;
  source.source = "x.hdf5";
  const SurveyedProblem bad = survey_failure(source, {ErrorCode::bad_input, "x.hdf5: broken"});
  EXPECT_FALSE(bad.loaded);
  EXPECT_FALSE(bad.unsupported);
  EXPECT_EQ(bad.record.error, "x.hdf5: broken");
  EXPECT_EQ(bad.record.hash.size(), 32U);
  EXPECT_TRUE(survey_failure(source, {ErrorCode::unsupported, "rolling friction"}).unsupported);
}

}  // namespace
}  // namespace conebench
