#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/build_difference.hpp"
#include "store/records.hpp"

namespace conebench {

struct NightProblem {
  std::string hash, name, family;
  /// Whether it counts in shares: no copy of another problem in another form, could be loaded, not at noise level.
  bool counts = true;
  bool certified = false;  ///< ProblemRecord::infeasible(), and no cell is solved by a verdict that the bound is not of
  std::optional<double> verdict_bound = {};
  bool noise_level = false;  ///< ProblemRecord::noise_level()

  bool infeasible_at(const std::string& verdict, double tolerance) const {
    return certified && excludes(verdict_bound, verdict, tolerance);
  }
};

/// What a history needs of one cell.
struct NightCell {
  CellStatus status = CellStatus::unknown;  ///< not run
  bool solved = false;
  double minimum_s = 0.0;    ///< of set-up + solve; 0: not timed
  std::uint32_t work = 0;    ///< of iterations, factorizations and products: the same work has the same number
  bool near_memory = false;  ///< took over a third of the memory that it was allowed
  bool doubtful = false;     ///< CellRecord::doubts are not empty
};

/// One setting at one tolerance and start.
struct NightRow {
  std::string label, solver;
  int solver_version = 1;
  double tolerance = 0.0;
  std::string criterion, verdict, start;
  double limit_s = 0.0;
  std::vector<NightCell> cells;         ///< one a problem of the summary
  std::string origin = {}, looks = {};  ///< of its SettingRecord
};

/// A store as one night of a history.
struct NightSummary {
  std::filesystem::path store;    ///< where it was read from
  std::string suite, suite_hash;  ///< name, and a hash of the suite's text
  std::string started_utc, finished_utc;
  std::string mode;  ///< "timed" or "throughput"
  std::string host;  ///< several (shards on a cluster's nodes) in order, with commas between
  std::string cpu;
  int cores = 0;
  std::string version, commit, executable, compiler, flags;  ///< of the build of the latest run
  std::map<std::string, std::string> libraries;              ///< of the same: name → version
  CodeHashes code_hashes;                                    ///< of plug-ins and programs
  bool several_builds = false;
  bool side_by_side = false;  ///< of two builds in turn: no night
  long missing = 0;           ///< cells that the suite asks for, too
  double loaded_share = 0.0;  ///< of the long cells, see is_loaded
  bool loaded = false;
  bool exact = false;  ///< every solved cell was judged to its last digits, so that it refutes a certificate
  std::vector<NightProblem> problems;
  std::vector<NightRow> rows;

  /// Ran to its end, with every cell.
  bool complete() const { return !finished_utc.empty() && missing == 0; }
  /// A solver ran to its end in at least one cell.
  bool answered() const;
};

/// Only cells that the suite still asks for (present_contents) belong in `contents`. A store without a run gives a
/// summary without a date.
NightSummary summarise(const StoreContents& contents);

/// Eight hexadecimal digits, as of NightSummary::suite_hash.
std::string hash_of_text(const std::string& text);

/// "results.sqlite" → "results.sqlite.summary.json".
std::filesystem::path summary_file(const std::filesystem::path& store);

/// The summary kept beside the store, or, where there is none, it is damaged or older than the store, a new one made of
/// the store and kept there if that can be written. Nothing of a file that fails its checksum is believed.
/// Errors: those of Store::open and Store::read_outcomes.
Result<NightSummary> read_night(const std::filesystem::path& store);

}  // namespace conebench
