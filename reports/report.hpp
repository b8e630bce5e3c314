#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/pictures.hpp"
#include "reports/view.hpp"
#include "reports/write_files.hpp"
#include "store/records.hpp"

namespace conebench {

enum class ReportFormat { html, md, latex, csv, json, badge };

/// All of them, in the order in which they are written.
std::vector<ReportFormat> all_report_formats();
/// "html,csv" → the formats, each once. Errors (wrong_usage): an unknown name; lists the known ones.
Result<std::vector<ReportFormat>> parse_report_formats(const std::string& comma_separated);

/// How a report groups problems in rankings, profiles and weights.
enum class ReportGroups { family, category, conditioning };
/// Errors (wrong_usage): another name.
Result<ReportGroups> parse_report_groups(const std::string& name);
/// The contents with each problem's family replaced by its sample category (Tsounis VII-C) or the band of its
/// conditioning (ConditioningBands). StoreContents::group names the grouping.
StoreContents grouped(StoreContents contents, ReportGroups groups);

/// The contents without the solvers of Conebench's authors (ConfigurationRecord::origin), so that ratios to the best
/// are ratios to the best of the others.
StoreContents without_own(StoreContents contents);

/// Pseudonyms for names: "machine 1", "problem 12", "solver 2". A name has the same one in all contents that share the
/// object.
class Pseudonyms {
 public:
  /// `known`: ids of Conebench's solvers, and text values of their options.
  explicit Pseudonyms(std::set<std::string> known) : public_names(std::move(known)) {}
  const std::set<std::string> public_names;

  std::string number(const std::string& kind, const std::string& text);
  /// `text` itself if it is a hash.
  std::string key(const std::string& kind, const std::string& text);
  std::string solver(const std::string& id);
  /// `label`, with a number if another configuration has it already.
  std::string distinct(const std::string& label, const std::string& hash);

 private:
  std::map<std::string, std::map<std::string, std::size_t>> numbers_;
};

/// The contents as they may be published: numbers, times, statuses, hashes, Conebench's own solvers with their options,
/// and the kind of machine and build. Every other text is replaced by a pseudonym or left out.
StoreContents anonymous(StoreContents contents, Pseudonyms& names);

/// The comparison of the two runs as JSON, with the first 200 changed cells.
std::string changes_since(const StoreContents& earlier, const StoreContents& now);
/// How a terminal shows the cells that are not solved.
struct UnsolvedList {
  bool every_cell = false;
  bool colour = false;       ///< ANSI colours
  std::size_t columns = 0;   ///< of the terminal; 0: lines of any length
  std::string command = {};  ///< command that shows every cell; empty: none
  std::string explain = {};  ///< command that explains a cell, without its key; empty: none
};

struct ReportOptions {
  std::vector<ReportFormat> formats = all_report_formats();
  /// Time profiles and times of `throughput` runs are left out unless this is set; then they carry a warning.
  bool force_time_profiles = false;
  ReportView view;    ///< of tables and figures; pages, CSV and JSON have everything
  std::string title;  ///< heading of the page and documents; empty: the suites' names
  /// Folders that problems' files are looked for in, for the pictures of their scenes.
  std::vector<std::filesystem::path> folders;
  std::string since;                 ///< changes_since() an earlier run, for the page; empty: there is none
  bool colour = false;               ///< of ReportFiles::ranking
  UnsolvedList unsolved;             ///< of ReportFiles::unsolved
  std::string home;                  ///< address of the list that the page belongs to; empty: none
  std::vector<std::string> remarks;  ///< warnings that come first among the notes
  reports::Pictures pictures;        ///< on the page; write_report() adds those next to the problems' files
};

struct ReportFiles {
  std::vector<std::filesystem::path> paths;  ///< written files, first the page, or else the first file
  std::string ranking;                       ///< as terminal_ranking() has it
  std::string unsolved;                      ///< the cells that are not solved, as terminal_ranking() has them
  std::vector<std::string> notes;  ///< what the files lack (charts), and files of an earlier report in the folder
};

/// All files of a report as a pure function of the records: the same contents and options give the same bytes.
/// Never fails: an empty store gives a report that says so.
std::vector<ReportFile> render_report(const StoreContents& contents, const ReportOptions& options);

/// render_report() into the folder `out`, made where it is missing; files of the same names are replaced, others stay,
/// and `notes` names those of them that look like an earlier report's. All are written or, on an error, none (see
/// write_files). Errors (bad_input): the folder can't be made or written to.
Result<ReportFiles> write_report(const StoreContents& contents, const std::filesystem::path& out,
                                 const ReportOptions& options);

/// Checks that the stores can be joined. `names`: one for each. Errors (bad_input): two of them have run the same cells
/// of one suite, as two nights have. Joined, they would mix cells of both.
Result<void> check_disjoint(const std::vector<StoreContents>& stores, const std::vector<std::string>& names);

/// Records of several stores as one: cells with the same key are kept once, the last store's wins, and run ids are
/// renumbered so that they stay apart. What present_contents says of each is kept; shards of one suite are one.
StoreContents join_contents(std::vector<StoreContents> stores);

/// Cells that ran and are not solved, with their ending and its reason. With every_cell also unsupported ones. Empty:
/// there are none.
std::string terminal_unsolved(const StoreContents& contents, const UnsolvedList& list);

/// Compact ranking for a terminal, one table a tolerance, with the notes above it. `colour`: ANSI colours.
/// `force_time_profiles` and `view` as in ReportOptions. `unsolved`: append that list, for a terminal of its columns.
std::string terminal_ranking(const StoreContents& contents, bool colour, bool force_time_profiles = false,
                             const UnsolvedList* unsolved = nullptr, const ReportView& view = {});

}  // namespace conebench
