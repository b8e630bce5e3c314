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
  std::filesystem::path stores;  ///< a folder, a store a suite; or one store, `….sqlite`
  int jobs = 1;
  bool allow_mixed = false;  ///< cells of other builds and machines in a store count, too
  const std::atomic<bool>* interrupted = nullptr;
};

/// What the sweeps of an entry's suites and its simulations left.
struct PaperRun {
  std::vector<papers::Sample> samples;
  std::string problems;            ///< "63 problems (generated)"
  std::string data_name;           ///< of the files that generated problems stand in for; else empty
  std::set<std::string> builds;    ///< commits of those that measured it
  std::set<std::string> criteria;  ///< of its cells
  std::set<std::string> days;      ///< on which, "2026-11-25"
  std::vector<std::string> notes;  ///< noise, data that was not there
  long left = 0;                   ///< cells that something outside kept from being run
  bool interrupted = false;

  /// "on 2026-11-24 and 2026-11-25 by build 8c904989f1aa".
  std::string made() const;
};

/// Runs what is missing of entries, each set of suites once.
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
