#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "papers/results.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

struct PaperRunOptions {
  papers::Size size = papers::Size::quick;
  std::filesystem::path data;    ///< --data; empty: not given
  std::filesystem::path stores;  ///< a folder with one store for each suite; or one store, `….sqlite`
  int jobs = 1;
  bool allow_mixed = false;  ///< also use stored cells of other builds and machines
  const std::atomic<bool>* interrupted = nullptr;
};

/// Results of an entry's sweeps and simulations.
struct PaperRun {
  std::vector<papers::Sample> samples;
  std::string problems;                        ///< "63 problems (generated)"
  std::string data_name;                       ///< of the files that generated problems replace; empty: none
  std::set<std::string> builds;                ///< that measured it: "0.3.0 (8c904989f1aa)"
  std::set<std::string> stopped_by, verdicts;  ///< of its cells
  std::set<double> tolerances;                 ///< of its cells
  std::set<std::string> days;                  ///< on which, "2026-11-25"
  std::vector<std::string> notes;              ///< noise, missing data
  long left = 0;                               ///< cells deferred because their process was terminated externally
  bool interrupted = false;

  /// "on 2026-11-24, 2026-11-25 by Conebench 0.3.0 (8c904989f1aa)".
  std::string made() const;
  /// As EntryResult::criterion.
  std::string criterion() const;
};

/// Runs the missing cells of entries. Each set of suites runs once.
class PaperRunner {
 public:
  PaperRunner(const std::vector<papers::Entry>& entries, PaperRunOptions options, Progress& progress)
      : entries_(entries), options_(std::move(options)), progress_(progress) {}

  /// Errors: as suites_of, Store::open, StoreLock::acquire, run_sweep, make_trajectories, trajectory_samples,
  /// run_commands and command_samples.
  Result<PaperRun> run(const papers::Entry& entry);

 private:
  Result<std::vector<Suite>> suites(const papers::Entry& owner, PaperRun& run);
  /// Its simulations and commands.
  Result<void> simulate(const papers::Entry& owner, PaperRun& run);
  template <class Sources>
  Result<void> measure(const Sources& sources, const std::filesystem::path& folder, auto make, auto samples_of,
                       PaperRun& run);
  std::filesystem::path folder_for(const std::string& what) const;
  Result<void> run_suite(const Suite& suite, PaperRun& run);

  const std::vector<papers::Entry>& entries_;
  PaperRunOptions options_;
  Progress& progress_;
  std::map<std::string, PaperRun> done_;  ///< by the entry that has the suites
};

}  // namespace conebench::cli
