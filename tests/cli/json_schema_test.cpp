#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "simulation/engine.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

/// The commands whose help has `--json`.
std::set<std::string> commands_with_json() {
  std::set<std::string> commands;
  const auto all = conebench({"list", "commands", "--json"}).json();
  for (const auto& row : all["commands"]) {
    const std::string name = row["name"];
    if (conebench({name, "--help"}).out.find("--json") != std::string::npos) commands.insert(name);
  }
  return commands;
}

TEST(JsonOutput, NamesItsSchemaWhateverTheCommand) {
  const ScratchFolder folder;
  const std::string file = generate(folder, {"sliding-box"});
  std::ofstream(folder / "small.json") << R"({"name": "small", "problems": [{"scene": "sliding-box"}],
    "solvers": ["NSGS"], "tolerances": [1e-4]})";
  const std::string store = folder / "small.sqlite", answer = folder / "answer.hdf5";
  ASSERT_EQ(conebench({"solve", file, "--solver", "NSGS", "--write-solution", answer}).code, 0);
  for (const std::string& run : {store, folder / "again.sqlite"}) {
    ASSERT_EQ(conebench({"run", folder / "small.json", "--db", run}).code, 0);
  }
  const std::string trajectory = folder / "trajectory.csv";
  std::ofstream(trajectory) << "state_time_s,q1\n0,1\n0.1,1\n";
  const std::map<std::string, std::vector<std::string>> arguments = {
      {"run", {"run", folder / "small.json", "--db", store, "--json"}},
      {"compare", {"compare", store, folder / "again.sqlite", "--json"}},
      {"compare-trajectories", {"compare-trajectories", trajectory, trajectory, "--json"}},
      {"history", {"history", store, folder / "again.sqlite", "--json"}},
      {"solve", {"solve", file, "--solver", "NSGS", "--json"}},
      {"judge", {"judge", file, "--reaction", answer, "--json"}},
      {"inspect", {"inspect", file, "--json"}},
      {"explain", {"explain", file, "--solver", "NSGS", "--solvers", "CASCADE", "--json"}},
      {"list", {"list", "solvers", "--json"}},
      {"generate", {"generate", "sliding-box", "--set", "friction=0.4", "--out", folder.path().string(), "--json"}},
      {"inverse-dynamics", {"inverse-dynamics", "sliding-box", "--json"}},
      {"loop", {"loop", "cube-sliding", "--steps", "3", "--json"}},
      {"paper", {"paper", "list", "--json"}},
      {"tune",
       {"tune", "PGS-NCP", "--suite", folder / "small.json", "--grid", "relaxation=0.8,1", "--db",
        folder / "tune.sqlite", "--json"}},
      {"check-solver", {"check-solver", "NSGS", "--json"}},
      {"phenomena", {"phenomena", "--list", "--json"}},
      {"doctor", {"doctor", "--json"}}};
  const auto commands = commands_with_json();
  EXPECT_GE(commands.size(), arguments.size());
  for (const std::string& command : commands) {
    const auto found = arguments.find(command);
    if (found == arguments.end()) {
      ADD_FAILURE() << "say here how `" << command << " --json` is called";
      continue;
    }
    if (command == "loop" && simulation::engine_version().empty()) continue;
    const Outcome outcome = conebench(found->second);
    if (command == "phenomena" && outcome.code == 4) continue;  // no numpy here
    ASSERT_TRUE(outcome.json().is_object()) << command << ": " << outcome.out << outcome.err;
    EXPECT_EQ(outcome.json()["schema"], "conebench." + command + "/2");
  }
}

}  // namespace
}  // namespace conebench::testing
