#pragma once

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "store/records.hpp"
#include "store/store.hpp"

namespace conebench::testing {

/// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "conebench-store-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline RunRecord sample_run() {
  RunRecord run;
  run.suite_name = "nightly";
  run.suite_text = "{\"name\": \"nightly\"}\n";
  run.seed = 0xFEDCBA9876543210U;
  run.started_utc = "2024-05-01T02:00:00Z";
  run.mode = "timed";
  run.machine = {"node7", "Some CPU @ 3 GHz", 16, 64000, "6.1.0", "performance"};
  run.build = {
      "0.1.0",           "abc-dirty", "g++ 12.2", "-O3", "Release", true, {{"eigen", "3.4.0"}, {"hdf5", "1.10.8"}},
      "0123456789abcdef"};
  run.data_sets = {{"mine", "5d41402abc4b"}};
  run.load_before = 0.25;
  run.load_after = 1.5;
  run.steal_share = 0.01;
  run.noise = {{NoiseKind::governor, 0.0, "power\"save"}, {NoiseKind::stolen, 0.1}};
  return run;
}

inline ProblemRecord sample_problem(const std::string& hash) {
  ProblemRecord problem;
  problem.hash = hash;
  problem.name = "stack-" + hash;
  problem.family = "box-stack";
  problem.source = "scènes/μ=0.5";
  problem.kind = "local";
  problem.contacts = 4;
  problem.rows = 12;
  problem.nonzeros = 144;
  problem.mu_min = 0.3;
  problem.mu_max = 0.7;
  problem.symmetry_error = 1e-17;
  problem.rank = 6;
  problem.category = "unknown";
  problem.given = "primal";
  problem.factor_s = 0.25;
  problem.diagonal_s = 0.125;
  return problem;
}

inline ConfigurationRecord sample_configuration(const std::string& hash) {
  ConfigurationRecord configuration;
  configuration.hash = hash;
  configuration.solver = "NSGS";
  configuration.solver_version = 2;
  configuration.formulation = "NCP";
  configuration.label = "NSGS(order=shuffled)";
  configuration.options_json = R"({"order":"shuffled","relaxation":1.0})";
  configuration.changed_options = {"order"};
  return configuration;
}

inline CellRecord sample_cell(const std::string& key, std::int64_t run = 1) {
  CellRecord cell;
  cell.key = key;
  cell.run_id = run;
  cell.problem = "p1";
  cell.configuration = "s1";
  cell.tolerance = 1e-8;
  cell.stop_by = "judge";
  cell.verdict = "natural_map_scaled";
  cell.start = cell.start_used = "cold";
  cell.max_iterations = 20000;
  cell.limit_s = 10.0;
  cell.limit_mb = 4000;
  cell.status = CellStatus::converged;
  cell.claimed = true;
  cell.stage = "newton";
  cell.solved = true;
  cell.verdict_value = 3.0000000000000004e-9;
  cell.residuals.set("natural_map_scaled", {3.0000000000000004e-9, "", 2});
  cell.residuals.set("penetration", {std::nullopt, "no gaps are known", -1});
  cell.own_residual = 1e-9;
  cell.own_residual_known = true;
  cell.used = UsedParts::products;
  cell.condensation_s = 0.25;
  cell.wall_s = 0.125;
  cell.own_setup_s = 0.03125;
  cell.own_solve_s = 0.0625;
  cell.iterations = 57;
  cell.factorizations = 1;
  cell.operator_products = 58;
  cell.setup = {1e-4, 0.9e-4, 0.95e-4, 1e-6};
  cell.solve = {2e-3, 1.8e-3, 1.9e-3, 1e-5};
  cell.total = {2.1e-3, 1.89e-3, 1.995e-3, 1.1e-5};
  cell.repeats = 25;
  cell.judge_s = 1e-3;
  cell.timed_rounds = {{1, run, 1.89e-3, 1.995e-3, 0.99, 3}};
  cell.peak_memory_kb = 20480;
  cell.open = 1;
  cell.stick = 2;
  cell.slip = 1;
  cell.moment_stick = 2;
  cell.moment_slip = 3;
  cell.inside = 4;
  cell.at_lower = 5;
  cell.at_upper = 6;
  cell.verdict_version = 2;
  cell.trace = {{1.0, 0.25, TracePoint::unknown, 0.5}, {3.0, 0.5, 0.125, 0.0625}};
  cell.reaction = {0.0, -1.5, std::nan(""), std::numeric_limits<double>::infinity(), 1e-308};
  cell.reaction.resize(12, 0.5);  // as sample_problem() has rows
  return cell;
}

/// A store with one run, problem p1 and configuration s1, ready for cells.
inline Store new_store(const std::filesystem::path& file) {
  auto store = Store::open(file, Store::Mode::read_write);
  if (!store) throw std::runtime_error(store.error().message);
  (void)store->begin_run(sample_run());
  (void)store->put_problem(sample_problem("p1"));
  (void)store->put_configuration(sample_configuration("s1"));
  return std::move(*store);
}

inline void write_text(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace conebench::testing
