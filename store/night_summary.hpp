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

/// The data of one cell that a history needs.
struct NightCell {
  CellStatus status = CellStatus::unknown;  ///< not run
  bool solved = false;
  double minimum_s = 0.0;    ///< of set-up + solve; 0: not timed
  std::uint32_t work = 0;    ///< of iterations, factorizations and products: the same work has the same number
  bool near_memory = false;  ///< used more than a third of its memory limit
  bool doubtful = false;     ///< CellRecord::doubts are not empty
};

/// One configuration at one tolerance and start.
struct NightRow {
  std::string label, solver;
  int solver_version = 1;
  double tolerance = 0.0;
  std::string stop_by, verdict, start;
  double limit_s = 0.0;
  std::vector<NightCell> cells;          ///< one a problem of the summary
  std::string origin = {}, checks = {};  ///< of its ConfigurationRecord

  /// Without the cells.
  static void fields(auto& visit, auto& row) {
    visit({"label"}, row.label);
    visit({"solver"}, row.solver);
    visit({"solver_version"}, row.solver_version);
    visit({"tolerance"}, row.tolerance);
    visit({"stop_by"}, row.stop_by);
    visit({"verdict"}, row.verdict);
    visit({"start"}, row.start);
    visit({"limit_s", "s"}, row.limit_s);
    visit({"origin"}, row.origin);
    visit({"checks"}, row.checks);
  }
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
  bool side_by_side = false;  ///< an A/B run, which is no night
  long missing = 0;           ///< cells of the suite that the store lacks
  double loaded_share = 0.0;  ///< of the long cells, see is_loaded
  bool loaded = false;
  bool exact = false;  ///< every solved cell was judged to its last digits, so that it refutes a certificate
  std::vector<NightProblem> problems;
  std::vector<NightRow> rows;

  /// Whether it ran to its end and has every cell.
  bool complete() const { return !finished_utc.empty() && missing == 0; }
  /// Whether a solver ran to its end in at least one cell.
  bool answered() const;

  /// Without the store, the problems and the rows.
  static void fields(auto& visit, auto& night) {
    visit({"suite"}, night.suite);
    visit({"suite_hash"}, night.suite_hash);
    visit({"started_utc"}, night.started_utc);
    visit({"finished_utc"}, night.finished_utc);
    visit({"mode"}, night.mode);
    visit({"host"}, night.host);
    visit({"cpu"}, night.cpu);
    visit({"cores"}, night.cores);
    visit({"version"}, night.version);
    visit({"commit"}, night.commit);
    visit({"executable"}, night.executable);
    visit({"compiler"}, night.compiler);
    visit({"flags"}, night.flags);
    visit({"libraries"}, night.libraries);
    visit({"code_hashes"}, night.code_hashes);
    visit({"several_builds"}, night.several_builds);
    visit({"side_by_side"}, night.side_by_side);
    visit({"missing"}, night.missing);
    visit({"loaded_share"}, night.loaded_share);
    visit({"loaded"}, night.loaded);
    visit({"exact"}, night.exact);
  }
};

/// Only cells that the suite still asks for (present_contents) belong in `contents`. A store without a run gives a
/// summary without a date.
NightSummary summarise(const StoreContents& contents);

/// Eight hexadecimal digits, as of NightSummary::suite_hash.
std::string hash_of_text(const std::string& text);

/// "results.sqlite" → "results.sqlite.summary.json".
std::filesystem::path summary_file(const std::filesystem::path& store);

/// Reads the summary file next to the store. If it is missing, damaged or older than the store, a new summary is made
/// from the store and written there, if possible. A file with a wrong checksum is not used. Of a store that is gone the
/// summary is what is left of the night. Errors: those of
/// Store::open and Store::read_outcomes.
Result<NightSummary> read_night(const std::filesystem::path& store);

}  // namespace conebench
