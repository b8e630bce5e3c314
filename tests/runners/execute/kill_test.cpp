#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "runners/execute/cell_clock.hpp"
#include "runners/execute/wire.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"

namespace conebench {
namespace {

constexpr int cells_in_all = 200;
constexpr int kills_wanted = 50;

/// 5 problems × 20 configurations × 2 tolerances.
const char* const suite_text = R"({
  "name": "killed", "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2, 3, 4, 5]}}],
  "solvers": [{"id": "MISBEHAVE", "grid": {"step": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6,
                                                    0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]}}],
  "tolerances": [1e-2, 1e-4], "limits": {"iterations": 200, "seconds": 30}, "repeats": {"min": 1, "min_ms": 0, "max": 1}
})";

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

class Kills : public testing::SweepTest {
 protected:
  /// A runner in a process of its own; −1 once it is gone.
  pid_t start_runner(const std::string& store_name) {
    const pid_t runner = fork();
    if (runner == 0) {
      auto store = Store::open(folder / store_name, Store::Mode::read_write);
      if (!store) _exit(1);
      options.jobs = 2;
      const auto outcome = run_sweep(killed, *store, options, progress);
      _exit(outcome && outcome->not_run() == 0 && !outcome->stopped ? 0 : 1);
    }
    return runner;
  }

  std::map<std::string, std::string> lasting(const std::string& store_name) const {
    std::map<std::string, std::string> cells;
    const auto store = Store::open(folder / store_name, Store::Mode::read_only);
    if (!store) return cells;  // killed before it had its tables
    const auto contents = store->read(true);
    for (const CellRecord& cell : contents->cells) {
      cells[cell.key] = encode(CellReport{0, testing::without_times(cell), 0});
    }
    return cells;
  }

  /// Runner, worker or solving child, whatever there is.
  pid_t pick_victim(pid_t runner) {
    std::vector<pid_t> victims = {runner};
    const int level = std::uniform_int_distribution<>(0, 2)(random);
    for (int i = 0; i < level; ++i) {
      std::vector<pid_t> below;
      for (const pid_t parent : victims) {
        for (const pid_t child : children_of(parent)) below.push_back(child);
      }
      if (below.empty()) break;
      victims = below;
    }
    return victims[std::uniform_int_distribution<std::size_t>(0, victims.size() - 1)(random)];
  }

  Suite killed = suite(suite_text);
  std::mt19937 random{20240607};
};

TEST_F(Kills, AtFiftyRandomInstantsLoseNothingAndChangeNothing) {
  const double began = monotonic_seconds();
  int status = 0;
  waitpid(start_runner("undisturbed.sqlite"), &status, 0);
  ASSERT_EQ(status, 0);
  const double undisturbed_s = monotonic_seconds() - began;
  const auto expected = lasting("undisturbed.sqlite");
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(cells_in_all));

  int kills = 0, runners_killed = 0, sweeps = 0;
  while (kills < kills_wanted) {
    // Where the suite gets done before enough kills, it is begun once more.
    const std::string name = "killed-" + std::to_string(sweeps++) + ".sqlite";
    std::size_t stored = 0;
    pid_t runner = start_runner(name);
    for (;;) {
      if (kills < kills_wanted) {
        const double wait_s = std::uniform_real_distribution<>(0.0, 0.3 * undisturbed_s)(random);
        usleep(static_cast<useconds_t>(1e6 * wait_s));
        if (waitpid(runner, &status, WNOHANG) == runner) break;
        const pid_t victim = pick_victim(runner);
        if (kill(victim, SIGKILL) != 0) continue;  // gone since
        ++kills;
        if (victim != runner) continue;
        ++runners_killed;
      }
      waitpid(runner, &status, 0);
      if (WIFEXITED(status)) break;
      if (std::filesystem::exists(folder / name)) {
        const std::size_t now = lasting(name).size();
        EXPECT_GE(now, stored) << "stored cells are gone";
        stored = now;
      }
      runner = start_runner(name);
    }
    EXPECT_EQ(status, 0);
    EXPECT_EQ(lasting(name), expected);
  }
  EXPECT_GT(runners_killed, 5);
}

}  // namespace
}  // namespace conebench
