#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/comparison/comparison.hpp"

/// Two runs of four solvers on 24 problems, for tests of comparisons.
namespace conebench::reports {

inline constexpr std::size_t problems = 24;
inline const std::vector<std::string> solvers = {"NSGS", "PGS-NCP", "SSN", "CASCADE"};

/// A run in which every solver solves every problem; the times scatter by 1 % and differ from `seed` to `seed`.
inline StoreContents complete_run(std::uint64_t seed) {
  StoreContents store;
  RunRecord run;
  run.id = 1;
  run.suite_name = "nightly";
  run.started_utc = fmt::format("2026-11-{:02}T01:00:00Z", seed);
  run.mode = "timed";
  run.machine.cpu = "Imaginary CPU";
  run.machine.cores = 2;
  run.build.version = "0.1.0";
  run.build.commit = fmt::format("c0ffee{}", seed);
  run.build.compiler = "GNU 12";
  store.runs.push_back(run);
  for (std::size_t p = 0; p < problems; ++p) {
    ProblemRecord problem;
    problem.hash = fmt::format("hash-{}", p);
    problem.name = fmt::format("problem-{}", p);
    problem.family = p < 18 ? "boxes" : "chains";
    problem.source = problem.family + "/" + problem.name + ".hdf5";
    store.problems.push_back(problem);
  }
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> noise(0.0, 0.01);
  for (const std::string& solver : solvers) {
    store.configurations.push_back({"configuration-" + solver, solver, 1, "NCP", solver, R"({"omega":1.0})"});
    for (const ProblemRecord& problem : store.problems) {
      CellRecord cell;
      cell.key = problem.hash + solver;
      cell.run_id = 1;
      cell.problem = problem.hash;
      cell.configuration = "configuration-" + solver;
      cell.tolerance = 1e-6;
      cell.stop_by = "judge";
      cell.verdict = "natural_map_scaled";
      cell.start = "cold";
      cell.max_iterations = 1000;
      cell.limit_s = 1.0;
      cell.limit_mb = 100;
      cell.status = CellStatus::converged;
      cell.claimed = cell.solved = true;
      cell.verdict_value = 1e-7;
      cell.iterations = cell.operator_products = 40;
      cell.answer_crc = 17;
      cell.repeats = 5;
      cell.total.minimum = 1e-3 * std::exp(noise(engine));
      cell.total.median = 1.01 * cell.total.minimum;
      store.cells.push_back(cell);
    }
  }
  return store;
}

inline CellRecord& cell_of(StoreContents& store, const std::string& solver, std::size_t problem) {
  for (CellRecord& cell : store.cells) {
    if (cell.configuration == "configuration-" + solver && cell.problem == fmt::format("hash-{}", problem)) return cell;
  }
  throw std::out_of_range(solver);
}

inline Comparison compared(const StoreContents& baseline, const StoreContents& candidate,
                           const CompareOptions& options = {}) {
  return compare(make_side("baseline", baseline), make_side("candidate", candidate), options);
}

inline const ConfigurationChange& configuration_of(const Comparison& comparison, const std::string& solver) {
  for (const ConfigurationChange& change : comparison.slices.at(0).configurations) {
    if (comparison.configurations[change.configuration].solver == solver) return change;
  }
  throw std::out_of_range(solver);
}

inline void slow_down(StoreContents& store, const std::string& solver, double factor, const std::string& family = {}) {
  for (std::size_t p = 0; p < problems; ++p) {
    if (!family.empty() && store.problems[p].family != family) continue;
    cell_of(store, solver, p).total.minimum *= factor;
    cell_of(store, solver, p).total.median *= factor;
  }
}

class Compare : public ::testing::Test {
 protected:
  StoreContents baseline = complete_run(1);
  StoreContents candidate = complete_run(2);
};

}  // namespace conebench::reports
