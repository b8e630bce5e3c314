#include "tests/reports/synthetic_nights.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <random>

namespace conebench::testing {

namespace {

std::string day(std::size_t night) {
  using namespace std::chrono;
  const year_month_day date = sys_days(2026y / January / 1) + days(night);
  return fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

RunRecord run_of(std::size_t night) {
  RunRecord run;
  run.id = 1;
  run.suite_name = "nightly";
  run.suite_text = "{}";
  run.started_utc = day(night) + "T02:00:00Z";
  run.finished_utc = day(night) + "T02:30:00Z";
  run.mode = "timed";
  run.machine = {"node7", "Some CPU", 16, 64000, "6.1", "performance"};
  run.build.version = "0.1.0";
  run.build.commit = fmt::format("c{:07}", night);
  run.build.compiler = "g++ 12.2";
  run.build.flags = "-O3";
  run.build.executable = fmt::format("e{:015}", night);
  return run;
}

}  // namespace

StoreContents synthetic_night(const NightPlan& plan, std::size_t night) {
  constexpr std::array<const char*, 4> families{"Boxes", "Chain", "Rover", "Spheres"};
  std::mt19937_64 engine(plan.seed * 1000 + night);
  std::normal_distribution<double> normal;
  StoreContents store;
  store.runs.push_back(run_of(night));
  for (std::size_t s = 0; s < plan.configurations; ++s) {
    const std::string label = fmt::format("S{}", s);
    store.configurations.push_back({"s-" + label, label, 1, "NCP", label, "{}"});
  }
  const double machine = 0.015 * normal(engine);
  for (std::size_t p = 0; p < plan.problems; ++p) {
    ProblemRecord& problem = store.problems.emplace_back();
    problem.name = fmt::format("problem-{}", p);
    problem.hash = "p-" + problem.name;
    problem.family = families[p % families.size()];
    for (std::size_t s = 0; s < plan.configurations; ++s) {
      for (const double tolerance : plan.tolerances) {
        CellRecord& cell = store.cells.emplace_back();
        cell.key = fmt::format("{}|{}|{:.0e}", p, s, tolerance);
        cell.run_id = 1;
        cell.problem = problem.hash;
        cell.configuration = store.configurations[s].hash;
        cell.tolerance = tolerance;
        cell.stop_by = "judge";
        cell.verdict = "natural_map_scaled";
        cell.start = "cold";
        cell.limit_s = 10.0;
        cell.status = CellStatus::converged;
        cell.claimed = cell.solved = true;
        cell.iterations = static_cast<std::int64_t>(20 + p);
        cell.repeats = 5;
        const double usual = 1e-3 * std::pow(1.1, static_cast<double>(p % 40)) * static_cast<double>(1 + s);
        const bool slow = s == plan.slower && night >= plan.slower_from;
        cell.total.minimum = usual * std::exp(machine + 0.023 * normal(engine)) * (slow ? plan.factor : 1.0);
        cell.total.median = 1.01 * cell.total.minimum;
      }
    }
  }
  return store;
}

}  // namespace conebench::testing
