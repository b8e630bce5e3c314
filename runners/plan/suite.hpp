#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/plan/sampled_scene.hpp"
#include "runners/plan/start.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// Problems of certain categories and a range of conditioning.
struct FeatureCondition {
  std::vector<std::string> categories = {};  ///< as records have them ("sparse contacts"); empty: all
  std::optional<double> min_conditioning = {}, max_conditioning = {};

  bool empty() const { return categories.empty() && !min_conditioning && !max_conditioning; }
  /// A problem without conditioning (G = 0) is in no range.
  bool holds(const std::string& category, std::optional<double> conditioning) const;
};

/// One entry of a suite's "problems": FCLIB files by a glob, or a scene with every point of its grid and every seed; a
/// simulated scene gives many problems each.
struct ProblemEntry {
  std::string fclib;                  ///< glob as the suite writes it; empty for a scene or a whole data set
  std::string data = {};              ///< data set that the glob is of, "NAME" or "NAME@VERSION"; empty: none named
  std::string scene;                  ///< id; empty for files
  std::vector<OptionValues> options;  ///< of the scene, one a grid point
  std::vector<std::uint64_t> seeds;   ///< of the scene
  bool as_fclib = false;              ///< the scene is written as FCLIB HDF5 and read back
  bool sequence = false;              ///< its problems are one simulation's, in order
  long batch = 1;                     ///< so many of its problems, in order, are one cell's
  const SampledScene* simulated = nullptr;  ///< of a simulated scene; else null
  long steps = 0;                           ///< of the simulation; 0: the scene's default
  FeatureCondition condition;               ///< that its problems must fulfil
  std::string family;                       ///< overrides the family of the file or scene; empty: does not
  std::string where;                        ///< "suite.json: problems[1]", for messages
};

/// One entry of a suite's "solvers", with every point of its grid.
struct SolverEntry {
  std::string id;
  std::vector<OptionValues> options;
  std::string where;
};

struct SuiteLimits {
  long iterations = 20000;
  double seconds = 10.0;               ///< limit of set-up and solve of a cell, and of all its repeats together
  long memory_mb = 4000;               ///< resident memory of the process that solves one cell
  double load_seconds = 60.0;          ///< loading one problem
  double read_seconds = 10.0;          ///< reading one file, plus a second for each 4 MB of it
  double simulation_seconds = 3600.0;  ///< making the samples of one simulation
};

struct SuiteRepeats {
  int minimum = 5;
  double minimum_ms = 50.0;
  int maximum = 2000;
  /// Repeats end before minimum_ms where minimum and median have settled to within this (RunTimes::another). 0: never,
  /// as in a suite that states min, min_ms or max alone.
  double precision = 0.01;
  int rounds = 1;            ///< passes over the solved cells; the one with the least median time of a cell counts
  bool counts_only = false;  ///< `run --quick`: times are not used, so that nothing confirms them
};
/// Each cell runs once.
inline constexpr SuiteRepeats quick_look = {
    .minimum = 1, .minimum_ms = 0.0, .maximum = 1, .precision = 0.0, .counts_only = true};

/// A valid suite file: names, options, ranges and verdict have been checked. docs/suites.md has the schema.
struct Suite {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  std::vector<ProblemEntry> problems;
  std::vector<SolverEntry> solvers;  ///< "all" spelled out
  std::vector<double> tolerances = {1e-6};
  std::string verdict = "natural_map_scaled";
  StopBy stop_by = StopBy::judge;  ///< of the file, else fair_stop_by() of all its solvers
  std::vector<Start> starts = {Start::cold};
  SuiteLimits limits;
  SuiteRepeats repeats;
  long traces = 2000;  ///< kept at most: of failed cells first, then of the slowest
  /// "NSGS order=given": configurations that the axis `threads` leaves as they are, since they can't share their work;
  /// empty where it has one thread alone.
  std::vector<std::string> not_threaded = {};

  std::filesystem::path folder;  ///< of the file; relative globs resolve against it last
  std::string text;              ///< the file, verbatim
};

/// Errors (wrong_usage), in one line with `file` and the key's path: not JSON, an unknown key, a key given twice, a
/// missing key, a value of another type or out of range, an unknown solver, scene, option or verdict. `scenes`: the
/// simulated ones that it may name; the suite points into them.
Result<Suite> parse_suite(const std::string& text, const std::filesystem::path& file,
                          std::span<const SampledScene> scenes = {});

/// parse_suite of a file, or of the embedded suite of that name if there is no such file. Errors: bad_input: it can't
/// be read; as parse_suite.
Result<Suite> load_suite(const std::filesystem::path& file, std::span<const SampledScene> scenes = {});

/// A suite that is part of the executable.
struct EmbeddedSuite {
  std::string name;  ///< "default"
  std::string text;
};
const std::vector<EmbeddedSuite>& embedded_suites();

}  // namespace conebench
