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

/// A table, figure or headline number of a paper as data: what to run, what was published, how it is laid out, which
/// claims are checked. docs/add_a_paper.md has the schema.
namespace conebench::papers {

enum class State { runs, needs_data, is_static, not_to_be_had, not_built };
/// "runs", "needs-data", "static", "not-to-be-had", "not-built".
std::string to_string(State state);

enum class Size { quick, full };
std::string to_string(Size size);

/// Part of the cells under a name: the row of a table, a curve, a group that a check must hold in.
struct Part {
  std::string name;
  CellFilter where;
  std::string where_text;
};

/// A number of the paper, with its spread where it has one.
struct Published {
  std::optional<double> value, spread;
};

/// A row or a column: a part of the cells, a quantity, or both.
struct TableLine {
  Part part;
  std::string each;  ///< one of group_keys(): a line for each group of the part, of the group's name; else empty
  std::optional<Expression> quantity, spread;
  std::string place;  ///< in the paper, of the row's own numbers; empty: the table's
  bool own = false;   ///< written out, it has the name of a solver or setting by Conebench's authors
};

struct Table {
  std::string title;
  std::string place;   ///< "Table III"
  std::string corner;  ///< what the rows are; above them
  std::string unit;
  std::optional<Expression> quantity, spread;  ///< of every cell whose row and column have none
  std::vector<TableLine> rows, columns;
  std::string sort;  ///< the column by which rows are ordered, largest first; empty: as they stand, groups by name
  std::vector<std::vector<Published>> published;  ///< [row][column], or empty
  std::vector<std::string> without_cells;         ///< rows and columns that are left out, once written out
};

struct Figure {
  enum class Form { points, profile, path };
  std::string id;  ///< of its files, within the entry: "left"
  Form form = Form::points;
  std::string title, place, x_label, y_label;
  bool x_log = false, y_log = false;
  std::vector<Part> series;
  std::string key;                   ///< points: one a group of the series
  std::optional<Expression> x, y;    ///< points: of a group; path: of a cell, in the store's order
  std::optional<Expression> cost;    ///< profile: number of a cell
  std::optional<Expression> counts;  ///< profile: truth of a cell, whether it solved the problem
};

/// How the records of a sound run are spoiled so that a check must no longer hold (or, of a known failure, hold again).
struct Spoiling {
  CellFilter where;
  std::string where_text;
  std::string field;
  double times = 1.0;
  std::optional<double> to;
};

struct KnownFailure {
  std::string reason;
  double low = 0.0, high = 0.0;  ///< where `measure` lies
};

struct Check {
  std::string id, claim, place;
  Expression holds;
  std::optional<Expression> measure;
  std::vector<Part> each;  ///< it must hold in each of them; empty: in all cells together
  long min_problems = 1;
  long min_cells = 1;  ///< steps, of a simulation
  std::optional<KnownFailure> known_failure;
  std::vector<Spoiling> spoilt;
};

/// What is run for one size: suites by their text.
struct SuiteText {
  std::string name;  ///< of its store
  std::string json;
  bool embedded = false;  ///< `json` is the name of a suite that is built in
};

struct Entry {
  std::string id, paper, place, title, shows;
  std::string variant, variant_of;  ///< "code" and the entry that it changes; empty: it is none
  State state = State::runs;
  std::string reason;  ///< why not, for all but `runs` and `static`
  double quick_s = 0.0, full_s = 0.0;
  std::string suites_of;  ///< the entry whose suites it shares; empty: it has its own
  std::vector<SuiteText> quick, full;
  std::vector<TrajectorySource> quick_trajectories, full_trajectories;
  std::vector<CommandSource> quick_commands, full_commands;
  std::string data_problems;       ///< JSON list that replaces the suites' problems where the data folder has its files
  std::string data_name;           ///< what those are, for people
  std::optional<Expression> only;  ///< truth of a cell: the others count nowhere
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<Check> checks;
  std::vector<std::string> notes;
  std::filesystem::path folder;  ///< of its file, for the suites' own paths
  std::string text;              ///< the whole as compact JSON
};

/// The `paper` of entries that no paper has: our own tables.
inline constexpr const char* own_tables = "own";

/// Of all that decides the entry's numbers but the build: its own text, and that of the entry whose suites it shares.
std::string fingerprint(const Entry& entry, const std::vector<Entry>& entries);

/// One entry, or a list of them; each is followed by its variants as entries of their own, "ID-VARIANT". Errors
/// (wrong_usage), in one line with `file` and the key's path: as those of suites, and those of the expressions.
Result<std::vector<Entry>> parse_entries(const std::string& text, const std::filesystem::path& file);
/// parse_entries of a file. Errors: bad_input where it can't be read.
Result<std::vector<Entry>> load_entries(const std::filesystem::path& file);

/// Those that are part of the executable, by id. Errors (internal): one of them is wrong.
Result<std::vector<Entry>> embedded_entries();

/// The entry's suites at a size; those of `entries` where it shares another's. `with_data`: on its data_problems.
/// Errors (wrong_usage): as parse_suite; no suite; the entry that it shares is not there.
Result<std::vector<Suite>> suites_of(const Entry& entry, Size size, bool with_data, const std::vector<Entry>& entries,
                                     std::span<const SampledScene> scenes = {});

}  // namespace conebench::papers
