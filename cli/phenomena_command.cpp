#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "cli/command.hpp"
#include "runners/plan/peer_programs.hpp"

namespace conebench::cli {

namespace {

constexpr const char* phenomena_footer =
    R"(The Python package measures, each engine in processes of its own; docs/phenomena.md has the phenomena, the
engines, and how to add one's own. The same command again resumes: cells that the folder holds are not
measured again.

The folder: index.html, tables (table.md, table.tex, table.csv), results.jsonl and run.json.

Examples:
  conebench phenomena --list
  conebench phenomena --engines all --out friction
  conebench phenomena --engines MUJOCO,DRAKE --phenomena lift,creep --variants all --out lift
  conebench phenomena --engines mine.py --compare last/results.jsonl --fail-on worse)";

struct Arguments {
  std::string out = "phenomena";
  std::vector<std::string> engines = {"all"};
  std::vector<std::string> variants = {"default", "best"};
  std::vector<std::string> phenomena;
  std::vector<std::string> cases;
  std::vector<double> time_steps = {0.005};
  long jobs = 2;
  double time_limit = 60.0;
  std::vector<std::string> retry;
  std::string compare;
  std::string fail_on = "none";
  bool quick = false;
  bool replace = false;
  bool list = false;
  bool json = false;
};

/// What conebench.phenomena's Options are made of.
nlohmann::json request_of(const Arguments& a) {
  return {{"out", a.out},           {"engines", a.engines},
          {"variants", a.variants}, {"phenomena", a.phenomena},
          {"cases", a.cases},       {"time_steps", a.time_steps},
          {"jobs", a.jobs},         {"time_limit", a.time_limit},
          {"retry", a.retry},       {"compare", a.compare},
          {"fail_on", a.fail_on},   {"quick", a.quick},
          {"replace", a.replace},   {"list", a.list},
          {"json", a.json}};
}

/// The error where this Python does not run, or has no numpy or scipy.
Result<void> check_python(const std::string& python) {
  constexpr const char* missing =
      "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ('numpy', 'scipy')))";
  const pid_t child = fork_process({}, [&] {
    execlp(python.c_str(), python.c_str(), "-c", missing, nullptr);
    return 127;
  });
  const int status = child < 0 ? 127 : wait_for_end(child);
  if (status == 0) return {};
  const bool ran = WIFEXITED(status) && WEXITSTATUS(status) != 127;
  return Error{ErrorCode::unsupported,
               fmt::format("phenomena: {} {}; set CONEBENCH_PYTHON to a Python that has numpy and scipy", python,
                           ran ? "has no numpy or no scipy" : "does not run")};
}

/// Becomes the Python package, whose exit code is the command's.
Result<int> run_phenomena(const Arguments& arguments) {
  const std::string python = peer_python();
  CONEBENCH_CHECK(check_python(python));
  if (const auto package = python_package()) {
    const char* const before = std::getenv("PYTHONPATH");
    const std::string path = package->parent_path().string() +
                             (before == nullptr || *before == '\0' ? std::string() : ":" + std::string(before));
    setenv("PYTHONPATH", path.c_str(), 1);
  }
  const std::string request = request_of(arguments).dump();
  execlp(python.c_str(), python.c_str(), "-m", "conebench.phenomena", request.c_str(), nullptr);
  return Error{ErrorCode::unsupported, fmt::format("phenomena: {}: {}", python, std::strerror(errno))};
}

}  // namespace

Command add_phenomena(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  CLI::App* app = root.add_subcommand("phenomena", "Measures engines on phenomena of friction with exact values");
  app->footer(phenomena_footer);
  app->add_option("--out", a.out, "Folder of results, tables and the page (phenomena)");
  app->add_option("--engines,--engine", a.engines, "Engines, or files of one's own (NAME.py); all")->delimiter(',');
  app->add_option("--variants,--variant", a.variants, "Settings of the engines, by name (default,best); all")
      ->delimiter(',');
  app->add_option("--phenomena,--phenomenon", a.phenomena, "Phenomena or groups of them (all)")->delimiter(',');
  app->add_option("--case", a.cases, "Cases of the phenomena, each by an option of its own (all)")
      ->allow_extra_args(false);
  app->add_option("--time-step", a.time_steps, "Time steps [s] (0.005)")->delimiter(',')->check(CLI::Range(1e-6, 1.0));
  app->add_option("--jobs", a.jobs, "Engines at a time (2)")->check(CLI::Range(1, 256));
  app->add_option("--time-limit", a.time_limit, "Of a cell [s] (60)")->check(CLI::Range(0.1, 1e6));
  app->add_option("--retry", a.retry, "Outcomes to measure again, as crashed,failed")->delimiter(',');
  app->add_option("--compare", a.compare, "Results of before: results.jsonl or its folder");
  app->add_option("--fail-on", a.fail_on, "What makes the exit code 1 with --compare: worse, or none")
      ->check(CLI::IsMember({"worse", "none"}));
  app->add_flag("--quick", a.quick, "One case a phenomenon, and shorter runs");
  app->add_flag("--replace", a.replace, "Remove what the folder holds");
  app->add_flag("--list", a.list, "Print phenomena and engines");
  app->add_flag("--json", a.json, "Print one JSON object");
  return {app, [arguments]() -> Result<int> { return run_phenomena(*arguments); }};
}

}  // namespace conebench::cli
