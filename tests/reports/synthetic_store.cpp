#include "tests/reports/synthetic_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/residuals.hpp"
#include "solvers/monitor.hpp"
#include "store/suite_scope.hpp"

namespace conebench::testing {

namespace {

RunRecord quiet_run() {
  RunRecord run;
  run.id = 1;
  run.suite_name = "synthetic";
  run.suite_text = "{\n  \"name\": \"synthetic\", \"seed\": 1,\n  \"solvers\": [\"NSGS\", \"PGS-NCP\"]\n}\n";
  run.seed = 1;
  run.started_utc = "2026-11-20T01:00:00Z";
  run.finished_utc = "2026-11-20T01:12:34Z";
  run.mode = "timed";
  run.machine = {"bench01", "Imaginary CPU 3000 @ 3.0 GHz", 8, 32000, "6.1.0", "performance"};
  run.build = {
      "0.1.0", "0123abc", "g++ 12.2.0", "-O3 -DNDEBUG", "Release", true, {{"Eigen", "3.4.0"}, {"HDF5", "1.10.8"}}, ""};
  run.load_before = 0.04;
  run.load_after = 1.01;
  return run;
}

ProblemRecord make_problem(const std::string& name, const std::string& family, long contacts) {
  ProblemRecord problem;
  problem.hash = "p-" + name;
  problem.name = name;
  problem.family = family;
  problem.source = family + "/" + name + ".hdf5";
  problem.kind = "local";
  problem.contacts = contacts;
  problem.rows = 3 * contacts;
  problem.nonzeros = 27 * contacts;
  problem.mu_min = 0.3;
  problem.mu_max = 0.8;
  problem.symmetry_error = 1.5e-16;
  problem.rank = std::min<long>(3 * contacts, 6 * contacts / 4 + 6);
  problem.conditioning = 1e3 * static_cast<double>(contacts);
  problem.category = "sparse";
  return problem;
}

ConfigurationRecord make_configuration(const std::string& solver, const std::string& label,
                                       const std::string& options) {
  ConfigurationRecord configuration{"s-" + label, solver, 1, solver.find("CCP") == std::string::npos ? "NCP" : "CCP",
                                    label,        options};
  configuration.origin = solver == "NSGS" ? "own" : solver == "LIAR" ? "foreign" : "paper";
  configuration.checks = solver == "LIAR" ? "paid" : "free";
  // "ADMM alpha=1.5 rule=a": what a solver's record would list.
  std::istringstream words(label);
  for (std::string word; words >> word;) {
    if (const auto equals = word.find('='); equals != std::string::npos) {
      configuration.changed_options.push_back(word.substr(0, equals));
    }
  }
  if (solver == "LIAR") {
    configuration.peer_version = "1.2";
    configuration.peer_released = "2024-05-06";
    configuration.peer_build = "built with -O3";
  }
  return configuration;
}

CellRecord make_cell(const ProblemRecord& problem, const ConfigurationRecord& configuration, double tolerance) {
  CellRecord cell;
  cell.key = fmt::format("{}|{}|{:.0e}", problem.hash, configuration.hash, tolerance);
  cell.run_id = 1;
  cell.problem = problem.hash;
  cell.configuration = configuration.hash;
  cell.tolerance = tolerance;
  cell.stop_by = "judge";
  cell.verdict = "natural_map_scaled";
  cell.start = cell.start_used = "cold";
  cell.max_iterations = 20000;
  cell.limit_s = 10.0;
  cell.limit_mb = 4000;
  cell.judge_s = 2e-4;
  cell.peak_memory_kb = 20000 + 10 * problem.contacts;
  return cell;
}

void set_times(CellRecord& cell, double setup_s, double solve_s, int repeats) {
  const auto around = [](double median) { return TimingRecord{1.5 * median, 0.95 * median, median, 0.02 * median}; };
  cell.setup = around(setup_s);
  cell.solve = around(solve_s);
  cell.total = around(setup_s + solve_s);
  cell.repeats = repeats;
}

void set_residuals(CellRecord& cell, double scaled, double relative) {
  cell.verdict_value = scaled;
  cell.residuals.set("natural_map_scaled", {scaled, "", 2});
  cell.residuals.set("natural_map_relative", {relative, "", -1});
  cell.residuals.set("primal", {0.0, "", 0});
  cell.residuals.set("penetration", {std::nullopt, "gaps and time step are unknown", -1});
}

void solve_it(CellRecord& cell, double seconds, long iterations, long factorizations) {
  cell.status = CellStatus::converged;
  cell.claimed = true;
  cell.solved = true;
  set_residuals(cell, 0.6 * cell.tolerance, 0.1 * cell.tolerance);
  set_times(cell, 0.2 * seconds, 0.8 * seconds, 5);
  cell.iterations = iterations;
  cell.factorizations = factorizations;
  cell.operator_products = 2 * iterations;
  cell.open = 1;
  cell.stick = 2;
  cell.slip = 1;
  if (factorizations > 0) cell.stage = iterations > 20 ? "far" : "near";
}

void fail_it(CellRecord& cell, CellStatus status, const std::string& reason) {
  cell.status = status;
  cell.reason = reason;
  cell.claimed = false;
  cell.solved = false;
  if (status == CellStatus::unsupported || status == CellStatus::crashed || status == CellStatus::timeout) {
    cell.verdict_value.reset();
    cell.residuals.clear();
    cell.iterations = cell.factorizations = cell.operator_products = 0;
    set_times(cell, 0.0, 0.0, 0);
  } else {
    set_residuals(cell, 30.0 * cell.tolerance, 0.5 * cell.tolerance);
    set_times(cell, 0.01, 1.2, 1);
    cell.iterations = cell.max_iterations;
    cell.operator_products = 2 * cell.iterations;
  }
}

/// From the error of λ = 0 to the answer's, evenly in the logarithm, at the iterates that a run checks.
void trace_it(CellRecord& cell, double first) {
  if (!cell.verdict_value || cell.iterations < 2) return;
  for (long k = 1; k <= cell.iterations; k = k < cell.iterations ? std::min(next_check(k), cell.iterations) : k + 1) {
    const double share = static_cast<double>(k) / static_cast<double>(cell.iterations);
    const double residual = first * std::pow(*cell.verdict_value / first, share);
    const double seconds = cell.setup.cold + share * cell.solve.cold;
    cell.trace.push_back({static_cast<double>(k), seconds, 2.0 * residual, residual});
  }
}

/// What the judge knows of every answer, as real stores have it.
void fill_residuals(CellRecord& cell) {
  if (!cell.verdict_value) return;
  for (const auto& row : residual_table()) {
    if (!cell.residuals.find(row.name)) cell.residuals.set(row.name, {0.37 * *cell.verdict_value, "", 1});
  }
}

/// Uniform in [0, 1) by splitmix64: the same on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

/// How a drawn solver behaves: seconds and iterations on an easy problem, growth with difficulty and digits.
struct Temper {
  const char* solver;
  const char* label;
  double seconds, iterations, growth, digits, robustness;
  bool factors;
};

/// Of λ = 0.
constexpr double zero_error = 0.8;

constexpr std::array<Temper, 12> tempers{{
    {"NSGS", "NSGS", 4e-5, 20, 1.0, 1.0, 1.1, false},
    {"ADMM-NCP-SA", "ADMM-NCP-SA", 2e-4, 15, 0.55, 0.5, 1.25, true},
    {"ADMM-NCP-SA-S", "ADMM-NCP-SA-S", 2e-4, 14, 0.5, 0.5, 1.45, true},
    {"PGS-NCP", "PGS-NCP", 3e-5, 40, 1.4, 1.2, 0.55, false},
    {"PGS-NCP-SAFE", "PGS-NCP-SAFE", 3e-5, 60, 1.35, 1.2, 0.8, false},
    {"ADMM-NCP-LA", "ADMM-NCP-LA", 3e-4, 30, 0.8, 0.7, 1.0, true},
    {"PGS-CCP", "PGS-CCP", 3e-5, 30, 1.3, 1.1, 0.35, false},
    {"PGS-CCP-DS", "PGS-CCP-DS", 3.2e-5, 45, 1.3, 1.2, 0.75, false},
    {"ADMM-CCP", "ADMM-CCP", 2.5e-4, 35, 0.8, 0.6, 0.4, true},
    {"ADMM-NCP-FP", "ADMM-NCP-FP", 2.2e-4, 60, 1.1, 0.8, 0.7, true},
    {"ADMM-NCP-SA", "ADMM-NCP-SA increment=0.01", 2.4e-4, 18, 0.6, 0.55, 1.2, true},
    {"SICONOS-NSGS", "SICONOS-NSGS", 8e-5, 25, 1.05, 1.0, 1.0, false},
}};

void draw_cell(CellRecord& cell, const Temper& temper, double difficulty, double luck, double noise, long contacts) {
  const double digits = -std::log10(cell.tolerance) / 4.0;
  const double effort = std::exp(temper.growth * 2.2 * difficulty) * std::pow(digits, 2.0 * temper.digits);
  const double iterations = std::ceil(temper.iterations * effort * (0.7 + 0.6 * noise));
  const double seconds = temper.seconds * effort * (0.7 + 0.6 * noise) * std::pow(static_cast<double>(contacts), 0.9);
  const bool beyond = luck * temper.robustness < 0.055 * difficulty * difficulty * digits;
  if (!beyond && seconds < cell.limit_s && iterations < static_cast<double>(cell.max_iterations)) {
    solve_it(cell, seconds, static_cast<long>(iterations), temper.factors ? 2 + static_cast<long>(6 * noise) : 0);
    cell.claimed = noise > 0.03;
    if (!cell.claimed) cell.status = CellStatus::max_iterations;
    return;
  }
  if (noise < 0.08) return fail_it(cell, CellStatus::timeout, "wall clock above 10 s, killed");
  if (noise < 0.10) return fail_it(cell, CellStatus::crashed, "signal 11");
  if (noise < 0.25) return fail_it(cell, CellStatus::diverged, "growth");
  if (noise < 0.30 && temper.factors) return fail_it(cell, CellStatus::breakdown, "singular");
  if (noise < 0.45) {
    fail_it(cell, CellStatus::converged, "");
    cell.claimed = true;
    cell.iterations = static_cast<long>(std::min(iterations, 5e3));
    return;
  }
  fail_it(cell, noise < 0.6 ? CellStatus::stalled : CellStatus::max_iterations, "");
}

}  // namespace

StoreContents small_store() {
  StoreContents store;
  store.runs.push_back(quiet_run());
  auto& problems = store.problems;
  for (const int n : {2, 5, 9}) problems.push_back(make_problem(fmt::format("stack-{}", n), "BoxesStack", 4 * n));
  for (const int n : {10, 30}) problems.push_back(make_problem(fmt::format("chain-{}", n), "Chain", n));
  problems.push_back(make_problem("</script><img src=x onerror=alert(1)>", "a|b,\"c\"_$\\ μ & 中", 7));
  problems.push_back(make_problem("it's; rm -rf \"~\" \x1b[31m\n", "a|b,\"c\"_$\\ μ & 中", 8));
  problems.push_back(make_problem("stack-2-copy", "BoxesStack", 8));
  problems.back().duplicate_of = "p-stack-2";
  problems.push_back(make_problem("at-rest", "Chain", 4));
  problems.back().zero_impulse = {{"natural_map_scaled", 0.0}};
  problems.push_back(make_problem("torn", "Chain", 0));
  problems.back().error = "/fclib_local/W: dataset is missing";

  auto& configurations = store.configurations;
  configurations.push_back(make_configuration("NSGS", "NSGS", R"({"relaxation":1.0})"));
  configurations.push_back(make_configuration("PGS-NCP", "PGS-NCP", R"({"relaxation":0.9})"));
  configurations.push_back(make_configuration("ADMM-NCP-SA", "ADMM-NCP-SA increment=0.01",
                                              R"({"increment":0.01,"rule":"it's spectral","sparse":true})"));
  configurations.push_back(make_configuration("LIAR", "LIAR <b>", "{}"));

  for (const double tolerance : {1e-4, 1e-8}) {
    for (std::size_t p = 0; p + 1 < problems.size(); ++p) {
      for (std::size_t s = 0; s < configurations.size(); ++s) {
        if (p == 6 && s == 1 && tolerance < 1e-6) continue;  // interrupted before it
        CellRecord cell = make_cell(problems[p], configurations[s], tolerance);
        const double size = static_cast<double>(problems[p].contacts) * (tolerance < 1e-6 ? 3.0 : 1.0);
        const auto count = static_cast<long>(size);
        if (s == 0) solve_it(cell, 1e-4 * size, 3 * count, 0);
        if (s == 1) solve_it(cell, (p % 2 == 0 ? 0.5e-4 : 4e-4) * size, 5 * count, 0);
        if (s == 2) solve_it(cell, 2e-4 * size + 1e-3, 2 * count, 4);
        if (s == 1 && p == 2) fail_it(cell, CellStatus::max_iterations, "");
        if (s == 1 && p == 4 && tolerance < 1e-6) fail_it(cell, CellStatus::diverged, "growth");
        if (s == 2 && p == 3) fail_it(cell, CellStatus::timeout, "wall clock above 10 s, killed");
        if (s == 2 && p == 5) fail_it(cell, CellStatus::crashed, "signal 11 | \"core\", <dumped>");
        if (s == 2 && p >= 6) fail_it(cell, CellStatus::unsupported, "needs M and J");
        if (s == 3) {
          fail_it(cell, CellStatus::converged, "");
          cell.claimed = true;
          if (p == 0) solve_it(cell, 5e-3, 1, 1);
          if (p == 1) cell.residuals.set("natural_map_scaled", {std::nullopt, "", -1});
          if (p >= 4) {
            cell.compliance_share = 1e-6;
            cell.verdict_compliant = (p == 4 ? 2.0 : 0.5) * tolerance;
            cell.ccp_compliant = 0.25 * tolerance;
          }
        }
        store.cells.push_back(cell);
      }
    }
  }
  return store;
}

StoreContents large_store(std::size_t problems, std::size_t solvers, std::uint64_t seed, std::size_t max_traces) {
  std::size_t traces = 0;
  constexpr std::array<const char*, 6> families{"BoxesStack",  "Capsules", "Chain",
                                                "KaplasTower", "Rover",    "SpheresPile"};
  StoreContents store;
  store.cells.reserve(3 * problems * solvers);
  store.runs.push_back(quiet_run());
  Draw draw(seed);
  for (std::size_t s = 0; s < solvers; ++s) {
    const Temper& temper = tempers[s % tempers.size()];
    const std::string again = s < tempers.size() ? "" : fmt::format(" copy={}", s / tempers.size());
    store.configurations.push_back(
        make_configuration(temper.solver, temper.label + again, R"({"relaxation":1.0,"order":"cyclic"})"));
  }
  for (std::size_t p = 0; p < problems; ++p) {
    const std::string family = families[p % families.size()];
    const auto contacts = static_cast<long>(std::exp(draw.between(0.7, 6.0)));
    store.problems.push_back(make_problem(fmt::format("{}-i{}-{}", family, 100 + 7 * p, contacts), family, contacts));
    ProblemRecord& problem = store.problems.back();
    problem.zero_impulse = {{"natural_map_scaled", draw.uniform() < 0.02 ? 0.0 : zero_error}};
    if (family == "Rover") {
      problem.sequence = "rover";
      problem.step = static_cast<std::int64_t>(p);
    }
    if (p > 8 && draw.uniform() < 0.03) problem.duplicate_of = store.problems[p - 6].hash;
    const double difficulty = draw.between(0.1, 2.4);
    for (std::size_t s = 0; s < solvers; ++s) {
      const double luck = draw.uniform();
      const double noise = draw.uniform();
      for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
        CellRecord cell = make_cell(problem, store.configurations[s], tolerance);
        if (s % 7 == 6 && p % 6 == 4) {
          fail_it(cell, CellStatus::unsupported, "the problem has joints");
        } else {
          draw_cell(cell, tempers[s % tempers.size()], difficulty, luck, noise, contacts);
          fill_residuals(cell);
          // A peer shows its answer alone.
          if (!store.configurations[s].solver.starts_with("SICONOS") && traces < max_traces) {
            trace_it(cell, zero_error);
            ++traces;
          }
        }
        store.cells.push_back(cell);
      }
    }
  }
  return store;
}

StoreContents grid_store() {
  constexpr std::array<const char*, 4> families{"BoxesStack", "Chain", "KaplasTower", "Rover"};
  StoreContents store;
  store.runs.push_back(quiet_run());
  store.configurations.push_back(make_configuration("NSGS", "NSGS", "{}"));
  struct Point {
    double value, weight;
  };
  std::vector<Point> points{{1.0, 0.0}};
  for (const double relaxation : {0.5, 0.8, 1.0, 1.25, 1.5, 1.8}) {
    const std::string options = fmt::format("relaxation={}", relaxation);
    store.configurations.push_back(
        make_configuration("PGS-NCP", relaxation == 1.0 ? "PGS-NCP" : "PGS-NCP " + options,
                           fmt::format(R"({{"order":"cyclic","relaxation":{}}})", relaxation)));
    points.push_back({relaxation, 3.0});
  }
  for (const double increment : {0.001, 0.01, 0.1, 1.0}) {
    for (const double alpha : {0.5, 1.0, 1.5}) {
      store.configurations.push_back(
          make_configuration("ADMM-NCP-SA", fmt::format("ADMM-NCP-SA alpha={} increment={}", alpha, increment),
                             fmt::format(R"({{"alpha":{},"increment":{},"rule":"spectral"}})", alpha, increment)));
      points.push_back({increment * alpha * alpha * 10.0, 0.2});
    }
  }
  Draw draw(7);
  for (std::size_t p = 0; p < 28; ++p) {
    const std::size_t f = p % families.size();
    const auto contacts = static_cast<long>(5 + 7 * p);
    store.problems.push_back(make_problem(fmt::format("{}-{:02}", families[f], p), families[f], contacts));
    const double best = std::exp(0.5 * static_cast<double>(f) - 0.75 + 0.4 * draw.uniform());
    for (std::size_t s = 0; s < store.configurations.size(); ++s) {
      CellRecord cell = make_cell(store.problems.back(), store.configurations[s], 1e-6);
      const double off = std::log(points[s].value / best);
      const double effort = std::exp(points[s].weight * off * off) * (0.9 + 0.2 * draw.uniform());
      if (points[s].weight * off * off > 2.5) {
        fail_it(cell, CellStatus::max_iterations, "");
      } else {
        solve_it(cell, 1e-5 * static_cast<double>(contacts) * effort, static_cast<long>(30.0 * effort), 0);
      }
      store.cells.push_back(cell);
    }
  }
  return store;
}

StoreContents as_stored(StoreContents store) {
  SuiteScope scope;
  for (const ProblemRecord& problem : store.problems) {
    scope.problems[problem.source] = problem.hash;
    scope.names[problem.source] = {problem.name, problem.family, problem.source};
  }
  for (const ConfigurationRecord& configuration : store.configurations)
    scope.configurations[configuration.hash] = {configuration.solver, configuration.label};
  for (CellRecord& cell : store.cells) {
    scope.tolerances.insert(cell.tolerance);
    if (cell.repeats > 0) cell.timed_rounds = {{1, cell.run_id, cell.total.minimum, cell.total.median, 0.99, 0}};
  }
  const CellRecord& first = store.cells.front();
  scope.starts = {first.start};
  scope.stop_by = first.stop_by;
  scope.verdict = first.verdict;
  scope.max_iterations = first.max_iterations;
  scope.limit_s = first.limit_s;
  scope.limit_mb = first.limit_mb;
  store.runs.front().scope_json = to_json_text(scope);
  return store;
}

StoreContents another_night(StoreContents store, std::uint64_t seed) {
  Draw draw(seed);
  const auto scatter = [&](double deviation) {  // of a sum of four uniform numbers
    double sum = -2.0;
    for (int i = 0; i < 4; ++i) sum += draw.uniform();
    return std::sqrt(3.0) * deviation * sum;
  };
  const double night = scatter(0.015);
  std::map<std::string, double> of_problem;
  for (const ProblemRecord& problem : store.problems) of_problem[problem.hash] = scatter(0.014);
  for (CellRecord& cell : store.cells) {
    const double factor = std::exp(night + of_problem[cell.problem] + scatter(0.013));
    for (TimingRecord* time : {&cell.setup, &cell.solve, &cell.total}) {
      for (double* seconds : {&time->cold, &time->minimum, &time->median, &time->deviation}) *seconds *= factor;
    }
  }
  for (RunRecord& run : store.runs) {
    run.started_utc = fmt::format("2026-11-{:02}T01:00:00Z", 1 + seed % 28);
    run.build.commit = fmt::format("{:07x}", 0xabc0000 + seed);
  }
  return store;
}

StoreContents changed_night(StoreContents store) {
  std::map<std::string, std::size_t> index;
  for (std::size_t s = 0; s < store.configurations.size(); ++s) index[store.configurations[s].hash] = s;
  std::string lost;
  const std::string last = store.problems.back().hash;
  std::erase_if(store.cells, [&](const CellRecord& cell) {
    return cell.problem == last || index[cell.configuration] + 1 == store.configurations.size();
  });
  long seen = 0;
  for (CellRecord& cell : store.cells) {
    const std::size_t s = index[cell.configuration];
    if (s == 1) {
      cell.total.minimum *= 1.08;
      cell.total.median *= 1.08;
    }
    if (s == 2 && cell.solved && ++seen % 4 == 0) {
      cell.iterations *= 2;
      cell.operator_products *= 2;
      cell.total.minimum *= 2.0;
      cell.total.median *= 2.0;
    }
    if (s == 3 && lost.empty() && cell.solved) lost = cell.problem;
    if (s == 3 && cell.problem == lost) fail_it(cell, CellStatus::stalled, "no progress in 100 iterations");
  }
  return store;
}

}  // namespace conebench::testing
