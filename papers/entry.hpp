#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "papers/command_source.hpp"
#include "papers/language.hpp"
#include "papers/trajectory_source.hpp"
#include "runners/plan/suite.hpp"

/// A table, figure or headline number of a paper as data: what to run, the published values, the layout, and the claims
/// to check. docs/add_a_paper.md has the schema.
namespace conebench::papers {

enum class State { runs, needs_data, is_static, not_to_be_had, not_built };
/// "runs", "needs-data", "static", "not-to-be-had", "not-built".
std::string to_string(State state);

enum class Size { quick, full };
std::string to_string(Size size);

/// A named part of the cells: a table's row, a curve, or a group in which a check must hold.
struct Part {
  std::string name;
  CellFilter where;
  std::string where_text;
};

/// A published number, with its spread if there is one.
struct Published {
  std::optional<double> value, spread;
};

/// A row or a column: a part of the cells, a quantity, or both.
struct TableLine {
  Part part;
  std::string each;  ///< one of group_keys(): one line for each group of the part, named after it; empty: one line
  std::optional<Expression> quantity, spread;
  std::string location;  ///< of the row's numbers in the paper; empty: the table's
  bool own = false;      ///< it names a solver or configuration by Conebench's authors
};

struct Table {
  std::string title;
  std::string location;  ///< "Table III"
  std::string corner;    ///< heading of the rows
  std::string unit;
  std::optional<Expression> quantity, spread;  ///< for cells whose row and column have none
  std::vector<TableLine> rows, columns;
  std::string sort;  ///< column that orders the rows, largest first; empty: given order, groups by name
  std::vector<std::vector<Published>> published;  ///< [row][column], or empty
  std::vector<std::string> without_cells;         ///< rows and columns left out for lack of cells
};

struct Figure {
  enum class Form { points, profile, path };
  std::string id;  ///< of its files, within the entry: "left"
  Form form = Form::points;
  std::string title, location, x_label, y_label;
  bool x_log = false, y_log = false;
  std::vector<Part> series;
  std::string key;                   ///< points: one a group of the series
  std::optional<Expression> x, y;    ///< points: of a group; path: of a cell, in the store's order
  std::optional<Expression> cost;    ///< profile: number of a cell
  std::optional<Expression> counts;  ///< profile: truth of a cell, whether it solved the problem
};

/// A change of a sound run's records after which a check must fail (or, for a known failure, hold).
struct Mutation {
  CellFilter where;
  std::string where_text;
  std::string field;
  double times = 1.0;
  std::optional<double> to;
};

struct KnownFailure {
  std::string reason;
  double low = 0.0, high = 0.0;  ///< range of `measure`
};

struct Check {
  std::string id, claim, location;
  std::string
      finding;  ///< what was found, with {1}, {2}, … for the measured sides of `holds`; empty: told from `holds`
  Expression holds;
  std::optional<Expression> measure;
  std::vector<Part> each;  ///< the check must hold in each; empty: in all cells together
  long min_problems = 1;
  long min_cells = 1;  ///< for a simulation: steps
  std::optional<KnownFailure> known_failure;
  std::vector<Mutation> mutated;
};

/// A suite of one size, as text.
struct SuiteText {
  std::string name;  ///< of its store
  std::string json;
  bool embedded = false;  ///< `json` is the name of a suite that is built in
};

struct Entry {
  std::string id, paper, location, title, shows;
  std::string variant, variant_of;  ///< the variant's name ("code") and the entry that it changes; empty: no variant
  State state = State::runs;
  std::string reason;  ///< why it does not run, except for `runs` and `static`
  double quick_s = 0.0, full_s = 0.0;
  std::string suites_of;  ///< the entry whose suites it shares; empty: it has its own
  std::vector<SuiteText> quick, full;
  std::vector<TrajectorySource> quick_trajectories, full_trajectories;
  std::vector<CommandSource> quick_commands, full_commands;
  std::string data_problems;       ///< JSON list that replaces the suites' problems if the data folder has its files
  std::string data_name;           ///< name of that data
  std::optional<Expression> only;  ///< truth of a cell; other cells are ignored
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<Check> checks;
  std::vector<std::string> notes;
  std::filesystem::path folder;  ///< of its file, for the suites' own paths
  std::string text;              ///< the whole as compact JSON, but for the findings
};

/// The `paper` of entries that no paper has: our own tables.
inline constexpr const char* own_tables = "own";

/// Hash of everything except the build that determines the entry's numbers: its text without findings, and the text of
/// the entry whose suites it shares.
std::string fingerprint(const Entry& entry, const std::vector<Entry>& entries);

/// One entry, or a list of them; each is followed by its variants as entries of their own, "ID-VARIANT". Errors
/// (wrong_usage), in one line with `file` and the key's path: as those of suites, and those of the expressions.
Result<std::vector<Entry>> parse_entries(const std::string& text, const std::filesystem::path& file);
/// parse_entries of a file. Errors: bad_input where it can't be read.
Result<std::vector<Entry>> load_entries(const std::filesystem::path& file);

/// The built-in entries, by id. Errors (internal): one of them is invalid.
Result<std::vector<Entry>> embedded_entries();

/// The entry's suites at a size, or those of the entry that it shares. `with_data`: with its data_problems.
/// Errors (wrong_usage): as parse_suite; no suite; the entry that it shares is not there.
Result<std::vector<Suite>> suites_of(const Entry& entry, Size size, bool with_data, const std::vector<Entry>& entries,
                                     std::span<const SampledScene> scenes = {});

}  // namespace conebench::papers
