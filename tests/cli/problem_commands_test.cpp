#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "simulation/engine.hpp"
#include "tests/cli/conebench_process.hpp"
#include "tests/cli/test_solvers.hpp"

namespace conebench::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::vector<std::string> residual_names = {"primal",
                                                 "dual",
                                                 "complementarity",
                                                 "natural_map",
                                                 "natural_map_ccp",
                                                 "natural_map_relative",
                                                 "natural_map_scaled",
                                                 "penetration"};

std::string small_stack(const ScratchFolder& folder) { return generate(folder, {"box-stack", "--set", "boxes=2"}); }

TEST(Solve, JsonHasEveryDocumentedKey) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const auto outcome = conebench({"solve", file, "--solver", "NSGS", "--tolerance", "1e-8", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto json = outcome.json();
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json["problem"], file);
  EXPECT_EQ(json["solver"], "NSGS");
  EXPECT_TRUE(json["options"].is_object());
  EXPECT_FALSE(json["options"].empty());
  EXPECT_EQ(json["status"], "converged");
  EXPECT_EQ(json["solved"], true);
  EXPECT_GT(json["iterations"], 0);
  EXPECT_GE(json["setup_s"], 0.0);
  EXPECT_GT(json["solve_s"], 0.0);
  for (const auto& name : residual_names) EXPECT_TRUE(json["residuals"].contains(name)) << name;
  EXPECT_LE(json["residuals"]["natural_map_scaled"], 1e-8);
  EXPECT_EQ(json["residuals"]["natural_map_scaled"], json["verdict_value"]);
  EXPECT_EQ(json["tolerance"], 1e-8);
  EXPECT_EQ(json["stop_by"], "judge");
  EXPECT_EQ(json["verdict"], "natural_map_scaled");
  for (const std::string key : {"claimed", "factorizations", "operator_products", "modes", "worst_blocks"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["modes"]["open"].get<int>() + json["modes"]["stick"].get<int>() + json["modes"]["slip"].get<int>(), 8);
}

TEST(Solve, TextHasStatusVerdictAndResiduals) {
  const ScratchFolder folder;
  const auto outcome = conebench({"solve", small_stack(folder), "--solver", "NSGS"});
  EXPECT_EQ(outcome.code, 0);
  for (const auto& part : {"converged", "solved     yes", "natural_map_scaled", "complementarity"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Solve, OptionsLimitsAndStopByReachTheSolver) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const auto json = conebench({"solve", file, "--solver", "PGS-NCP-SAFE", "--set", "relaxation=0.5", "--max-iterations",
                               "3", "--stop-by", "solver", "--verdict", "natural_map", "--json"})
                        .json();
  EXPECT_EQ(json["options"]["relaxation"], 0.5);
  EXPECT_EQ(json["iterations"], 3);
  EXPECT_EQ(json["status"], "max_iterations");
  EXPECT_EQ(json["solved"], false);
  EXPECT_EQ(json["stop_by"], "solver");
  EXPECT_EQ(json["verdict"], "natural_map");
  expect_failure(conebench({"solve", file, "--solver", "NSGS", "--verdict", "beauty"}), 2, {"beauty"});
}

TEST(Solve, RequireSolvedIsAGateAndAnUnsolvedProblemAloneIsNot) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const std::vector<std::string> hopeless = {"solve", file,          "--solver", "NSGS", "--max-iterations",
                                             "1",     "--tolerance", "1e-14"};
  EXPECT_EQ(conebench(hopeless).code, 0);
  auto gated = hopeless;
  gated.emplace_back("--require-solved");
  const auto outcome = conebench(gated);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr("not solved"), HasSubstr("natural_map_scaled")));
  EXPECT_EQ(conebench({"solve", file, "--solver", "NSGS", "--require-solved"}).code, 0);
}

TEST(Solve, AFileWithoutAGuessCannotStartFromIt) {
  const ScratchFolder folder;
  expect_failure(conebench({"solve", small_stack(folder), "--solver", "NSGS", "--start", "guess"}), 3,
                 {"guess", "--start cold"});
}

TEST(Solve, TraceIsACsvThatEndsAtTheAnswer) {
  const ScratchFolder folder;
  const auto trace = folder / "trace.csv";
  const auto json = conebench({"solve", small_stack(folder), "--solver", "NSGS", "--trace", trace, "--json"}).json();
  std::istringstream lines(text_of(trace));
  std::string line;
  std::string last;
  int count = -1;  // the heading
  std::string heading;
  while (std::getline(lines, line)) {
    if (heading.empty()) heading = line;
    last = line;
    ++count;
  }
  EXPECT_THAT(heading, HasSubstr("iteration,"));
  EXPECT_GT(count, 0);
  EXPECT_EQ(std::stol(last), json["iterations"].get<long>());
  expect_failure(
      {.code = 3,
       .out = "",
       .err = conebench({"solve", small_stack(folder), "--solver", "NSGS", "--trace", folder / "no/trace.csv"}).err},
      3, {"no/trace.csv", "cannot be written"});
  for (const std::string option : {"--trace", "--write-solution"}) {
    expect_failure(conebench({"solve", "sliding-box", "--solver", "NSGS", option, folder / "no/file"}), 3,
                   {"no/file", "there is no folder", "make it first"});
  }
}

TEST(Solve, TheWrittenSolutionIsJudgedTheSame) {
  const ScratchFolder folder;
  for (const std::vector<std::string>& scene : {std::vector<std::string>{"box-stack", "--set", "boxes=3"},
                                                {"random"},
                                                {"sphere-lattice"},
                                                {"known-solution"}}) {
    const auto file = generate(folder, scene);
    const auto solved = folder / "solved.hdf5";
    const auto solve =
        conebench({"solve", file, "--solver", "NSGS", "--tolerance", "1e-6", "--write-solution", solved, "--json"});
    ASSERT_EQ(solve.code, 0) << solve.err;
    const auto judge = conebench({"judge", file, "--reaction", solved, "--json"});
    ASSERT_EQ(judge.code, 0) << judge.err;
    EXPECT_EQ(judge.json()["residuals"], solve.json()["residuals"]) << scene[0];
    EXPECT_EQ(judge.json()["modes"], solve.json()["modes"]);
    EXPECT_EQ(judge.json()["solved"], solve.json()["solved"]);
    EXPECT_EQ(judge.json()["problem_hash"], solve.json()["problem_hash"]);
    // What was written is a problem too, and it says that it holds a solution.
    EXPECT_EQ(conebench({"inspect", solved, "--json"}).json()["solution"], true);
  }
}

TEST(Solve, ASceneIsNamedAsReportsNameIt) {
  const ScratchFolder folder;
  const auto solve = [&](const std::string& problem, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"solve", problem, "--solver", "NSGS"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return conebench(arguments);
  };
  const auto json = solve("random contacts=3 seed=4", {"--write-solution", folder / "solved.hdf5", "--json"}).json();
  EXPECT_EQ(json["solved"], true);
  EXPECT_NE(json["problem_hash"], solve("random contacts=3 seed=5", {"--json"}).json()["problem_hash"]);
  const auto judge = conebench({"judge", "random contacts=3 seed=4", "--reaction", folder / "solved.hdf5", "--json"});
  EXPECT_EQ(judge.json()["residuals"], json["residuals"]);
  EXPECT_EQ(json["time_limit_s"], 10) << "and 20,000 iterations: what reports leave out of the commands they print";
  EXPECT_EQ(json["max_iterations"], 20000);
  const auto stack = solve("box-stack boxes=2 mass_ratio=1000 seed=3", {"--json"}).json();
  EXPECT_EQ(solve("box-stack_boxes=2_mass_ratio=1000_seed=3", {"--json"}).json()["problem_hash"],
            stack["problem_hash"]);
  expect_failure(solve("box-stack_box=2", {}), 3, {"no such file or scene"});
  expect_failure(solve("box-stack_boxes=x", {}), 2, {"boxes"});
  expect_failure(conebench({"solve", "random", "contacts=3", "--solver", "NSGS"}), 2,
                 {"not expected: contacts=3", "in quotes"});
  expect_failure(solve("random contact=3", {}), 2, {"contact", "contacts"});
  expect_failure(solve("random seed=x", {}), 2, {"seed=x"});
  expect_failure(solve("randon seed=1", {}), 3,
                 {"randon seed=1: no such file or scene; did you mean 'random'? scenes: ", "box-stack"});
  const auto inspected = conebench({"inspect", "random contacts=3 seed=4", "--json"}).json();
  EXPECT_EQ(inspected["problem_hash"], json["problem_hash"]);
  EXPECT_EQ(inspected["contacts"], 3);
  EXPECT_THAT(conebench({"inspect", "random contacts=3 seed=4"}).out, HasSubstr("generated"));
}

TEST(Solve, OfAStepWithoutContactTheNextOneThatHasSomeIsNamed) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const auto solve = [](long step) {
    return conebench({"solve", "box-on-plane height=0.05 step=" + std::to_string(step), "--solver", "NSGS"});
  };
  const auto falling = solve(2);
  const std::string key = "no joint's row; step=";
  const auto at = falling.err.find(key);
  ASSERT_NE(at, std::string::npos) << falling.err;
  expect_failure(falling, 3, {"step 2 is no problem", "is the next one"});
  const long next = std::stol(falling.err.substr(at + key.size()));
  EXPECT_GT(next, 3);
  EXPECT_EQ(solve(next - 1).code, 3);
  EXPECT_EQ(solve(next).code, 0);
}

TEST(Solve, OfASimulatedStepCountsItsStepsOnATerminal) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const auto on_terminal = python("import pty, sys; pty.spawn(sys.argv[1:])",
                                  {executable().string(), "solve", "cube-sliding step=3", "--solver", "NSGS"});
  EXPECT_THAT(on_terminal.out, ::testing::AllOf(HasSubstr("1 of 3 steps"), HasSubstr("solved     yes")));
  EXPECT_EQ(conebench({"solve", "cube-sliding step=3", "--solver", "NSGS"}).err, "");
}

TEST(Solve, AnAnswerThatIsNotFiniteIsNotWritten) {
  const ScratchFolder folder;
  const auto outcome = conebench({"solve", "sliding-box", "--solver", "MISBEHAVE", "--set", "mode=nan",
                                  "--write-solution", folder / "nan.hdf5", "--json"},
                                 with_test_solvers());
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("not finite"));
  EXPECT_EQ(outcome.json()["claimed"], true) << "the test solver lies";
  EXPECT_EQ(outcome.json()["solved"], false);
  EXPECT_FALSE(std::filesystem::exists(folder / "nan.hdf5"));
}

TEST(Solve, AnAnswerThatPassesTooLateDiffersFromOneThatDoesNotPass) {
  const std::vector<std::string> words = {"solve", "box-stack boxes=2", "--solver", "CASCADE",      "--tolerance",
                                          "10",    "--stop-by",         "solver",   "--time-limit", "1e-9"};
  const auto with = [&](const std::string& more) {
    auto all = words;
    all.push_back(more);
    return conebench(all);
  };
  EXPECT_THAT(with("--all").out,
              ContainsRegex("solved +no: passes, but came after the time limit: natural_map_scaled = "));
  const auto json = with("--json").json();
  EXPECT_EQ(json["solved"], false);
  EXPECT_LE(json["verdict_value"], 10.0);
  EXPECT_THAT(json["reason"].get<std::string>(), ::testing::StartsWith("passes, but came too late"));
  const auto required = with("--require-solved");
  EXPECT_EQ(required.code, 1);
  EXPECT_THAT(required.err, ::testing::AllOf(HasSubstr("passes 10, but came after the time limit"),
                                             ::testing::Not(HasSubstr("exceeds"))));
  auto missed = words;
  missed[5] = "1e-9";
  EXPECT_THAT(conebench(missed).out, HasSubstr("no: natural_map_scaled = "));
}

TEST(Solve, SaysWhoseTheSolverIs) {
  const auto solve = [](const std::string& solver, const std::string& more) {
    return conebench({"solve", "sliding-box", "--solver", solver, more});
  };
  EXPECT_EQ(solve("NSGS", "--json").json()["origin"], "own");
  EXPECT_EQ(solve("PGS-NCP", "--json").json()["origin"], "paper");
  EXPECT_THAT(solve("NSGS", "--all").out, HasSubstr("\norigin     by Conebench's authors\n"));
  if (conebench({"list", "solvers"}).out.find("\nSICONOS-NSGS ") == std::string::npos) {
    GTEST_SKIP() << "this build has no Siconos";
  }
  const auto listed = conebench({"list", "solvers", "SICONOS-NSGS", "--json"}).json();
  const auto solved = solve("SICONOS-NSGS", "--json").json();
  for (const char* key : {"origin", "peer_version", "peer_released", "peer_build", "checks"}) {
    EXPECT_EQ(solved[key], listed[key]) << key;
  }
  EXPECT_EQ(solved["origin"], "peer");
}

TEST(Solve, ByDefaultAPeerAndItsJudgePay) {
  if (conebench({"list", "solvers"}).out.find("\nSICONOS-NSGS ") == std::string::npos) {
    GTEST_SKIP() << "this build has no Siconos";
  }
  const auto stop_by = [](const std::string& solver) {
    return conebench({"solve", "sliding-box", "--solver", solver, "--json"}).json()["stop_by"];
  };
  EXPECT_EQ(stop_by("SICONOS-NSGS"), "judge_timed");
  EXPECT_EQ(stop_by("NSGS"), "judge");
}

TEST(Solve, APeerThatDoesNotStopIsKilledAndLeavesNoAnswer) {
  if (conebench({"list", "solvers"}).out.find("\nSICONOS-NSGS ") == std::string::npos) {
    GTEST_SKIP() << "this build has no Siconos";
  }
  const ScratchFolder folder;
  const auto outcome = conebench({"solve", "random contacts=20 seed=1", "--solver", "SICONOS-NSGS", "--stop-by",
                                  "solver", "--tolerance", "1e-300", "--max-iterations", "2000000000", "--time-limit",
                                  "0.05", "--write-solution", folder / "none.hdf5", "--json"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("no answer (status timeout)"));
  EXPECT_EQ(outcome.json()["solved"], false);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.hdf5"));
}

TEST(Judge, RequireSolvedIsAGate) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  ASSERT_EQ(conebench({"solve", file, "--solver", "NSGS", "--write-solution", folder / "s.hdf5"}).code, 0);
  const std::vector<std::string> words = {"judge", file, "--reaction", folder / "s.hdf5"};
  const auto judge = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return conebench(more);
  };
  EXPECT_EQ(judge({"--require-solved"}).code, 0);
  EXPECT_EQ(judge({"--tolerance", "1e-30"}).code, 0);
  const auto refused = judge({"--tolerance", "1e-30", "--require-solved", "--json"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.json()["solved"], false);
  EXPECT_THAT(refused.err, ::testing::AllOf(HasSubstr("does not solve"), HasSubstr("natural_map_scaled = "),
                                            HasSubstr(" exceeds 1e-30")));
}

TEST(Judge, BadAnswersAreOneLineEach) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  std::ofstream(folder / "text.npy") << "not numpy";
  expect_failure(conebench({"judge", file, "--reaction", folder / "absent.npy"}), 3, {"absent.npy"});
  expect_failure(conebench({"judge", file, "--reaction", folder / "text.npy"}), 3,
                 {"text.npy", "not a NumPy array file"});
  expect_failure(conebench({"judge", folder / "absent.hdf5", "--reaction", folder / "text.npy"}), 3, {"absent.hdf5"});
}

TEST(Judge, AnAnswerThatIsNotFiniteHasNullResidualsAndIsNotSolved) {
  if (!python_has("numpy")) GTEST_SKIP() << "no numpy for the system's Python";
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const auto answer = folder / "r.npy";
  const auto rows = conebench({"inspect", file, "--json"}).json()["rows"].get<int>();
  ASSERT_EQ(python("import numpy, sys; numpy.save(sys.argv[1], numpy.full(int(sys.argv[2]), numpy.nan))",
                   {answer, std::to_string(rows)})
                .code,
            0);
  const auto outcome = conebench({"judge", file, "--reaction", answer, "--json"});
  EXPECT_EQ(outcome.code, 0);
  const auto json = outcome.json();
  EXPECT_EQ(json["solved"], false);
  for (const auto& name : residual_names) EXPECT_TRUE(json["residuals"][name].is_null()) << name;
  ASSERT_EQ(python("import numpy, sys; r = numpy.zeros(int(sys.argv[2])); r[4] = numpy.nan; numpy.save(sys.argv[1], r)",
                   {answer, std::to_string(rows)})
                .code,
            0);
  EXPECT_THAT(conebench({"judge", file, "--reaction", answer}).out, HasSubstr("entry 4 of r is nan"));
  EXPECT_EQ(conebench({"judge", file, "--reaction", answer, "--json"}).json()["not_finite"],
            "entry 4 of r is nan (counted from 0)");
  const auto required = conebench({"judge", file, "--reaction", answer, "--require-solved"});
  EXPECT_EQ(required.code, 1);
  EXPECT_THAT(required.err, ::testing::ContainsRegex("does not solve .*: entry 4 of r is nan"));
}

/// r of a written answer with a contact's rows moved: FCLIB's normal first to tangents first, or the like.
Outcome move_rows(const std::string& solved, const std::string& answer, const std::string& order) {
  return python(
      "import h5py, numpy, sys\n"
      "r = h5py.File(sys.argv[1])['solution/r'][:].reshape(-1, 3)\n"
      "numpy.save(sys.argv[2], r[:, [int(k) for k in sys.argv[3]]].ravel())",
      {solved, answer, order});
}

TEST(Judge, AnAnswerWithTangentsFirstGetsAHint) {
  if (!python_has("h5py, numpy")) GTEST_SKIP() << "no h5py for the system's Python";
  const ScratchFolder folder;
  const std::string problem = "random contacts=4 seed=1", solved = folder / "s.hdf5", answer = folder / "r.npy";
  ASSERT_EQ(conebench({"solve", problem, "--solver", "NSGS", "--write-solution", solved}).code, 0);
  const auto judge = [&](const std::string& order) {
    EXPECT_EQ(move_rows(solved, answer, order).code, 0);
    return conebench({"judge", problem, "--reaction", answer, "--json"}).json();
  };
  EXPECT_EQ(judge("012")["solved"], true);
  EXPECT_TRUE(judge("012")["hint"].is_null());
  EXPECT_EQ(judge("120")["solved"], false);
  EXPECT_THAT(judge("120")["hint"].get<std::string>(), HasSubstr("tangents first"));
  EXPECT_THAT(conebench({"judge", problem, "--reaction", answer}).out, HasSubstr("\nhint "));
  EXPECT_TRUE(judge("021")["hint"].is_null()) << "normal first, but the tangents are swapped";
}

TEST(Inspect, WritesDensitiesAsText) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const auto densities = conebench({"inspect", file, "--json"}).json()["densities"];
  ASSERT_TRUE(densities.is_object());
  EXPECT_EQ(densities["degrees_of_freedom"], 12);
  EXPECT_THAT(conebench({"inspect", file}).out,
              ContainsRegex("densities +joints 0.00, contacts 2.00, all 2.00 of 12 "));
}

TEST(Inspect, JsonHasEveryDocumentedKey) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  const auto outcome = conebench({"inspect", file, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["file"], file);
  EXPECT_EQ(json["space_dimension"], 3);
  EXPECT_EQ(json["contacts"], 8);
  EXPECT_EQ(json["rows"], 24);
  EXPECT_EQ(json["joint_rows"], 0);
  EXPECT_EQ(json["limits"], 0);
  for (const std::string name : {"scene", "step", "seed", "coordinates"}) {
    EXPECT_TRUE(json.contains(name) && json[name].is_null()) << name;
  }
  EXPECT_GT(json["nonzeros"], 0);
  EXPECT_GT(json["mu_min"], 0.0);
  EXPECT_LE(json["mu_min"], json["mu_max"]);
  EXPECT_LT(json["symmetry_error"], 1e-12);
  EXPECT_GT(json["rank"], 0);
  EXPECT_LE(json["rank"], 12) << "two free boxes have twelve degrees of freedom";
  EXPECT_GE(json["conditioning"], 1.0);
  EXPECT_EQ(json["features_estimated"], false);
  EXPECT_EQ(json["positive_semidefinite"], true);
  EXPECT_EQ(json["guess"], false);
  EXPECT_EQ(json["category"], "dense contacts") << "24 rows on 12 degrees of freedom";
  EXPECT_GE(json["coupling"], 0.0);
  EXPECT_THAT((std::vector<std::string>{"local", "global"}), ::testing::Contains(json["kind"].get<std::string>()));
}

TEST(Inspect, CountsTheEntriesOfMAndJWhereGIsNotAssembled) {
  const std::string problem = "soft-block nx=10 ny=6 nz=3";
  const auto json = conebench({"inspect", problem, "--json"}).json();
  const ScratchFolder folder;
  std::ofstream(folder / "suite.json") << R"({"name": "soft", "problems": [{"scene": "soft-block",
      "options": {"nx": 10, "ny": 6, "nz": 3}}], "solvers": ["CASCADE"]})";
  ASSERT_EQ(conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}).code, 0);
  ASSERT_EQ(conebench({"report", folder / "s.sqlite", "--format", "json", "--out", folder / "r"}).code, 0);
  const auto stored = nlohmann::json::parse(text_of(folder / "r/report.json"))["problems"][0];
  EXPECT_EQ(stored["given"], "deformable");
  EXPECT_EQ(json["nonzeros"], stored["nonzeros"]);
  EXPECT_THAT(json["notes"], ::testing::Contains("nonzeros counts the entries of M and J"));
  EXPECT_THAT(conebench({"inspect", problem}).out,
              ContainsRegex("nonzeros +" + stored["nonzeros"].dump() + "\n(.*\n)*notes +nonzeros counts"));
  const auto dense = conebench({"inspect", problem + " form=dense", "--json"}).json();
  EXPECT_EQ(dense["notes"], nlohmann::json::array());
  const long rows = dense["rows"];
  EXPECT_LE(dense["nonzeros"], rows * rows) << "of G";
}

TEST(Inspect, EstimatesAreMarked) {
  const std::string problem = "random contacts=400";  // 1,200 rows: above 1,000 the spectrum is estimated
  const auto json = conebench({"inspect", problem, "--json"}).json();
  ASSERT_EQ(json["features_estimated"], true);
  EXPECT_TRUE(json["rank"].is_number());
  const std::string text = conebench({"inspect", problem}).out;
  EXPECT_THAT(text, ContainsRegex("\nrank +≈ [0-9]"));
  EXPECT_THAT(text, ContainsRegex("\npositive_semidefinite +(yes|no) .estimated"));
  EXPECT_THAT(conebench({"inspect", "random contacts=3"}).out, ::testing::Not(HasSubstr("≈")));
}

TEST(Inspect, CountsJointRowsApart) {
  const ScratchFolder folder;
  const auto file = generate(folder, {"random", "--set", "contacts=2", "--set", "joints=5"});
  for (const std::string& problem : {file, std::string("random contacts=2 joints=5")}) {
    const auto json = conebench({"inspect", problem, "--json"}).json();
    EXPECT_EQ(json["joint_rows"], 5) << problem;
    EXPECT_EQ(json["rows"], 6) << problem;
  }
  EXPECT_THAT(conebench({"inspect", file}).out, HasSubstr("joint_rows"));
}

TEST(Inspect, CountsLimitsApartFromContacts) {
  const ScratchFolder folder;
  const auto file =
      generate(folder, {"known-solution", "--set", "contacts=2", "--set", "limits=3", "--set", "joints=0"});
  const auto json = conebench({"inspect", file, "--json"}).json();
  EXPECT_EQ(json["contacts"], 2);
  EXPECT_EQ(json["limits"], 3);
  EXPECT_EQ(json["rows"], 9);
  EXPECT_EQ(json["notes"], nlohmann::json::array());
}

TEST(Inspect, SaysWhatItsAnswerOnFeasibilityMeans) {
  const auto out = conebench({"inspect", "box-stack boxes=1", "--feasibility"}).out;
  EXPECT_THAT(out, ::testing::AnyOf(HasSubstr("not_excluded: "), HasSubstr("no_library: this build is without CLP")));
  EXPECT_THAT(out, ::testing::Not(HasSubstr("infeasible_block")));
}

TEST(Inspect, OneBadFileAmongSeveralIsReportedWithTheOthers) {
  const ScratchFolder folder;
  const auto file = small_stack(folder);
  std::ofstream(folder / "bad.hdf5") << "no hdf5";
  const auto outcome = conebench({"inspect", file, folder / "bad.hdf5", file, "--json"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("bad.hdf5"));
  const auto json = outcome.json();
  ASSERT_EQ(json["files"].size(), 3U);
  EXPECT_EQ(json["files"][0]["contacts"], 8);
  EXPECT_THAT(json["files"][1]["error"].get<std::string>(), HasSubstr("bad.hdf5"));
  EXPECT_EQ(json["files"][2]["contacts"], 8);
  const auto good = conebench({"inspect", file, file, "--json"});
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.json()["files"].size(), 2U);
  expect_failure(conebench({"inspect", folder / "bad.hdf5", "--json"}), 3, {"bad.hdf5"});
  const auto whole = conebench({"inspect", folder.path().string()});
  EXPECT_EQ(whole.code, 3);
  EXPECT_THAT(whole.err, HasSubstr("bad.hdf5"));
  EXPECT_THAT(whole.out, HasSubstr("box-stack")) << "the table of those that could be read";
  expect_failure(conebench({"inspect", "two\nlines\x1b[31m"}), 3, {"two lines"});
  expect_failure(conebench({"report", "two\nlines", "--out", folder / "r"}), 3, {"two lines"});
  EXPECT_THAT(conebench({"inspect", file}).out, HasSubstr("contacts"));
}

TEST(Generate, TheSameSeedGivesTheSameProblem) {
  const ScratchFolder first;
  const ScratchFolder second;
  const auto hash = [](const std::string& file) {
    return conebench({"solve", file, "--solver", "NSGS", "--max-iterations", "1", "--json"}).json()["problem_hash"];
  };
  const auto one = hash(generate(first, {"random", "--seed", "5"}));
  EXPECT_TRUE(one.is_string());
  EXPECT_EQ(one, hash(generate(second, {"random", "--seed", "5"})));
  EXPECT_NE(one, hash(generate(second, {"random", "--seed", "6"})));
}

TEST(Generate, AKnownSolutionIsWrittenAndJudgedAsExact) {
  const ScratchFolder folder;
  const auto file = generate(folder, {"known-solution"});
  EXPECT_EQ(conebench({"inspect", file, "--json"}).json()["solution"], true);
  const auto json = conebench({"judge", file, "--reaction", file, "--json"}).json();
  EXPECT_LE(json["residuals"]["natural_map_scaled"], 1e-12);
}

TEST(Generate, PerturbedCopiesDifferInFreeTermAndFrictionAlone) {
  const ScratchFolder folder;
  const auto file = generate(folder, {"known-solution", "--set", "contacts=3"});
  const auto numbers = [](const std::string& problem) { return conebench({"inspect", problem, "--json"}).json(); };
  const auto perturb = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "perturb", "--out", folder / out, "--set", "path=" + file, "--json"});
    const Outcome outcome = conebench(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json()["files"].get<std::vector<std::string>>();
  };
  const auto copies = perturb("a", {"--set", "copies=2"});
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_THAT(copies[1], HasSubstr("known-solution/" + std::filesystem::path(file).stem().string() + "-copy2.hdf5"));
  const auto original = numbers(file), copy = numbers(copies[0]);
  for (const char* key : {"contacts", "rows", "nonzeros", "symmetry_error"}) EXPECT_EQ(copy[key], original[key]) << key;
  EXPECT_FALSE(copy["solution"]) << "it is the answer of another problem";
  EXPECT_NE(copy["mu_max"], original["mu_max"]);
  EXPECT_GE(copy["mu_min"], 0.7 * original["mu_min"].get<double>());
  EXPECT_LE(copy["mu_max"], 1.3 * original["mu_max"].get<double>());

  const auto hash = [](const std::string& problem) {
    return conebench({"solve", problem, "--solver", "NSGS", "--max-iterations", "1", "--json"}).json()["problem_hash"];
  };
  EXPECT_NE(hash(copies[0]), hash(copies[1]));
  EXPECT_EQ(hash(copies[0]), hash(perturb("b", {"--set", "copies=1"})[0])) << "the same seed";
  EXPECT_NE(hash(copies[0]), hash(perturb("c", {"--set", "copies=1", "--seed", "2"})[0]));
  EXPECT_EQ(hash(perturb("d", {"--set", "free_term=0", "--set", "friction=0"})[0]), hash(file));

  const std::string out = folder / "e";
  expect_failure(conebench({"generate", "perturb", "--out", out}), 2, {"path"});
  expect_failure(conebench({"generate", "perturb", "--out", out, "--set", "path=" + (folder / "*.h5")}), 3,
                 {"no file"});
  expect_failure(conebench({"generate", "perturb", "--out", out, "--set", "path=" + file, "--steps", "3"}), 2,
                 {"--steps"});
}

TEST(Generate, WrongScenesOptionsAndFoldersAreOneLine) {
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  expect_failure(conebench({"generate", "box-stak", "--out", out}), 2, {"box-stak", "box-stack"});
  expect_failure(conebench({"generate", "box-stack", "--out", out, "--set", "boxs=3"}), 2, {"boxs", "boxes"});
  expect_failure(conebench({"generate", "box-stack", "--out", out, "--set", "boxes=-3"}), 2, {"boxes", "-3"});
  expect_failure(conebench({"generate", "box-stack", "--out", out, "--steps", "10"}), 2, {"--steps"});
  std::ofstream(folder / "file") << "in the way";
  expect_failure(conebench({"generate", "box-stack", "--out", folder / "file"}), 3, {"file"});
}

TEST(Solve, RelativeFilesAreFoundBelowTheDataFolderToo) {
  const ScratchFolder folder;
  const auto file = std::filesystem::path(small_stack(folder)).filename().string();
  const ScratchFolder elsewhere;
  const std::vector<std::string> arguments = {"solve", file, "--solver", "NSGS"};
  EXPECT_EQ(conebench(arguments, {.folder = elsewhere.path(), .environment = {}, .out_to = {}}).code, 3);
  const auto outcome = conebench(
      arguments,
      {.folder = elsewhere.path(), .environment = {"CONEBENCH_DATA=" + folder.path().string()}, .out_to = {}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(FileNames, ArePrintedWithoutWhatATerminalObeys) {
  const ScratchFolder folder;
  const std::string file = folder / "red\x1B[31m\x07.hdf5";
  std::filesystem::rename(small_stack(folder), file);
  const std::vector<std::vector<std::string>> commands = {
      {"inspect", file},
      {"inspect", file + "-none"},
      {"solve", file, "--solver", "NSGS"},
      {"solve", file + "-none", "--solver", "NSGS"},
      {"judge", file, "--reaction", file + "-none"},
      {"generate", "box-stack", "--out", folder / "red\x1B[31m"},
      {"report", folder / "red\x1B[31m.sqlite", "--out", folder / "out"},
  };
  for (const auto& words : commands) {
    const Outcome outcome = conebench(words);
    for (const char sign : {'\x1B', '\x07'}) {
      EXPECT_EQ((outcome.out + outcome.err).find(sign), std::string::npos) << words[0] << ": " << outcome.err;
    }
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr("red\xEF\xBF\xBD")) << words[0];
  }
}

}  // namespace
}  // namespace conebench::testing
