#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <concepts>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "reports/analysis_parts.hpp"
#include "reports/command.hpp"
#include "reports/formats.hpp"
#include "reports/table_layout.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::reports {

namespace {

template <class Value>
constexpr CsvKind kind_of() {
  if constexpr (std::same_as<Value, std::optional<bool>>) {
    return CsvKind::number;  // 1, 0 or nothing
  } else if constexpr (requires { typename Value::value_type; } && !std::convertible_to<Value, std::string>) {
    return kind_of<typename Value::value_type>();
  } else if constexpr (std::same_as<Value, bool>) {
    return CsvKind::flag;
  } else if constexpr (std::integral<Value>) {
    return CsvKind::count;
  } else if constexpr (std::floating_point<Value>) {
    return CsvKind::number;
  } else {
    static_assert(std::convertible_to<Value, std::string>);
    return CsvKind::text;
  }
}

/// Nothing for a negative count: it was not kept.
template <class Count>
std::optional<std::int64_t> known_count(Count count) {
  return count < 0 ? std::nullopt : std::optional<std::int64_t>(count);
}

/// Traces are stored in single precision: more digits say nothing.
std::optional<double> single(double value) {
  if (std::isnan(value)) return std::nullopt;
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

/// Calls `take(field, group, value)` for each field of a record that a row can show. Maps, lists of numbers and JSON
/// are none.
template <class Take>
class FieldVisitor {
 public:
  FieldVisitor(Take& take, const std::set<std::string_view>& left_out, const char* group = "")
      : take_(take), left_out_(left_out), group_(group) {}

  template <class Value>
  void operator()(const Field& field, const Value& value) {
    if (*group_ == '\0' && left_out_.contains(field.name)) return;
    if constexpr (std::same_as<Value, std::vector<std::string>>) {
      take_(field, group_, fmt::format("{}", fmt::join(value, " ")));
    } else if constexpr (std::is_enum_v<Value>) {
      take_(field, group_, std::string(to_string(value)));
    } else if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
      take_(field, group_, known_count(value));
    } else if constexpr (requires(const Value& shown) { Cell(shown); }) {
      take_(field, group_, value);
    }
  }
  template <class Visit>
  void group(const char* name, Visit visit) {
    FieldVisitor inner(take_, left_out_, name);
    visit(inner);
  }
  void json_text(const Field&, const std::string&) {}

 private:
  Take& take_;
  const std::set<std::string_view>& left_out_;
  const char* group_;
};

/// The columns of a table of `Row`s. Header, kinds and rows follow from what was added.
template <class Row>
class Columns {
 public:
  /// `get`: the value of a row, whose type says the kind of the column.
  template <class Get>
  void add(std::string name, Get get) {
    columns_.push_back({std::move(name), kind_of<std::remove_cvref_t<std::invoke_result_t<Get&, const Row&>>>()});
    cells_.push_back([get](const Row& row, std::vector<Cell>& line) { line.emplace_back(get(row)); });
  }
  /// A column for each field of the record that `get` returns a reference to, named as in SQL and JSON, but those
  /// `left_out`. `known`: whether the row has the field.
  template <class Get>
  void add_fields(Get get, std::set<std::string_view> left_out,
                  std::function<bool(const Row&, const Field&)> known = nullptr) {
    using Record = std::remove_cvref_t<std::invoke_result_t<Get&, const Row&>>;
    const auto visit = [left_out = std::move(left_out)](const Record& record, auto take) {
      FieldVisitor visitor(take, left_out);
      Record::fields(visitor, record);
    };
    visit(Record{}, [&](const Field& field, const std::string& group, const auto& value) {
      columns_.push_back(
          {group.empty() ? field.name : group + "_" + field.name, kind_of<std::remove_cvref_t<decltype(value)>>()});
    });
    cells_.push_back([get, visit, known = std::move(known)](const Row& row, std::vector<Cell>& line) {
      visit(get(row), [&](const Field& field, const char*, const auto& value) {
        line.push_back(known && !known(row, field) ? Cell() : Cell(value));
      });
    });
  }

  const std::vector<CsvColumn>& list() const { return columns_; }
  std::string header() const {
    std::vector<Cell> names;
    for (const CsvColumn& column : columns_) names.emplace_back(column.name);
    return csv_line(names);
  }
  std::string line(const Row& row) const {
    std::vector<Cell> cells;
    for (const auto& add_cells : cells_) add_cells(row, cells);
    return csv_line(cells);
  }

 private:
  std::vector<CsvColumn> columns_;
  std::vector<std::function<void(const Row&, std::vector<Cell>&)>> cells_;  // of one column or of a record's
};

/// `for_each(visit)` calls visit(row) for each row of the table.
template <class Row, class ForEach>
CsvFile csv_file(const char* name, Columns<Row> columns, ForEach for_each) {
  CsvFile file{{name, nullptr}, columns.list()};
  file.file.content = [columns = std::move(columns), for_each = std::move(for_each)](const ByteSink& sink) {
    sink(columns.header());
    for_each([&](const Row& row) { sink(columns.line(row)); });
  };
  return file;
}

template <class Row, class SliceOf>
void add_slice(Columns<Row>& columns, SliceOf slice_of) {
  columns.add("tolerance", [=](const Row& row) { return slice_of(row).tolerance; });
  columns.add("stop_by", [=](const Row& row) { return slice_of(row).stop_by; });
  columns.add("verdict", [=](const Row& row) { return slice_of(row).verdict; });
  columns.add("start", [=](const Row& row) { return slice_of(row).start; });
}

/// The solver, whose it is, and what its times have in them.
template <class Row, class SliceOf, class ColumnOf>
void add_configuration(Columns<Row>& columns, SliceOf slice_of, ColumnOf column_of) {
  columns.add("label", [=](const Row& row) { return column_of(row).label; });
  columns.add_fields([=](const Row& row) -> const ConfigurationRecord& { return *column_of(row).configuration; },
                     {"hash", "label", "changed_options"});
  columns.add("pays", [=](const Row& row) { return pays_for_tests(slice_of(row), *column_of(row).configuration); });
}

/// "clock=1 kept_answers=3"
std::string doubt_counts(const RankingRow& row) {
  std::vector<std::string> counts;
  for (const auto& [code, cells] : row.doubts) counts.push_back(fmt::format("{}={}", code, cells));
  return fmt::format("{}", fmt::join(counts, " "));
}

/// A ranked column with its terms in a scope.
struct Ranked {
  std::string label, origin;
  std::optional<bool> pays;
  std::string doubts;

  Ranked(const Analysis& analysis, std::size_t slice, const std::string& family, std::size_t column)
      : label(analysis.columns[column].label),
        origin(analysis.columns[column].configuration->origin),
        pays(pays_for_tests(analysis.slices[slice], *analysis.columns[column].configuration)),
        doubts(doubt_counts(analysis.ranking(slice, family).row(column))) {}
};
template <class Row, class RankedOf>
void add_ranked(Columns<Row>& columns, RankedOf ranked_of, const std::string& label = "label",
                const std::string& prefix = "") {
  columns.add(label, [=](const Row& row) { return ranked_of(row).label; });
  columns.add(prefix + "origin", [=](const Row& row) { return ranked_of(row).origin; });
  columns.add(prefix + "pays", [=](const Row& row) { return ranked_of(row).pays; });
  columns.add(prefix + "doubts", [=](const Row& row) { return ranked_of(row).doubts; });
}

std::string family_name(const std::string& family) { return family.empty() ? "(all)" : family; }

CsvFile cells_file(const Analysis& analysis) {
  struct Row {
    std::size_t slice_index;
    const Slice& slice;
    const Problem& problem;
    const Column& column;
    const CellRecord& cell;
  };
  Columns<Row> columns;
  add_slice(columns, [](const Row& row) -> const Slice& { return row.slice; });
  columns.add("problem", [](const Row& row) { return row.problem.name; });
  columns.add("family", [](const Row& row) { return row.problem.record->family; });
  columns.add("contacts", [](const Row& row) { return row.problem.record->contacts; });
  columns.add("headline", [](const Row& row) -> bool { return row.problem.counted[row.slice_index]; });
  add_configuration(
      columns, [](const Row& row) -> const Slice& { return row.slice; },
      [](const Row& row) -> const Column& { return row.column; });
  columns.add("outcome", [](const Row& row) { return id(outcome(&row.cell)); });
  columns.add("reason", [](const Row& row) { return whole_reason(row.cell); });
  columns.add("own_residual", [](const Row& row) {
    return row.cell.own_residual_known ? std::optional(row.cell.own_residual) : std::nullopt;
  });
  // What a cell was allowed and what judging took is known without any run.
  const auto known = [shown = analysis.times_shown](const Row& row, const Field& field) {
    const std::string_view name = field.name;
    const bool time = std::string_view(field.unit) == "s" && name != "limit_s" && name != "judge_s";
    return !time || (shown && row.cell.repeats > 0);
  };
  columns.add_fields([](const Row& row) -> const CellRecord& { return row.cell; },
                     {"problem", "configuration", "tolerance", "stop_by", "verdict", "start", "reason", "own_residual",
                      "own_residual_known"},
                     known);
  for (const std::string& name : analysis.residuals) {
    columns.add(name, [name](const Row& row) -> std::optional<double> {
      const auto residual = row.cell.residuals.find(name);
      if (!residual || !residual->missing.empty()) return std::nullopt;
      return residual->value.value_or(std::numeric_limits<double>::infinity());
    });
  }
  columns.add("command", [locations = repeat_locations(*analysis.contents)](const Row& row) {
    return repeat_command(*row.problem.record, *row.column.configuration, row.cell, locations);
  });
  return csv_file("cells.csv", std::move(columns), [&analysis](const auto& visit) {
    for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
      const Slice& slice = analysis.slices[s];
      for (std::size_t p = 0; p < analysis.problems.size(); ++p) {
        for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
          const CellRecord* cell = slice.grid[p][c];
          if (cell != nullptr) visit(Row{s, slice, analysis.problems[p], analysis.columns[c], *cell});
        }
      }
    }
  });
}

CsvFile ranking_file(const Analysis& analysis) {
  struct Row {
    const Ranking& ranking;
    const RankingRow& row;
    long rank;
  };
  const auto slice_of = [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.ranking.slice]; };
  Columns<Row> columns;
  add_slice(columns, slice_of);
  columns.add("family", [](const Row& row) { return family_name(row.ranking.family); });
  columns.add("rank", [](const Row& row) { return row.rank; });
  add_configuration(columns, slice_of,
                    [&analysis](const Row& row) -> const Column& { return analysis.columns[row.row.column]; });
  columns.add("doubts", [](const Row& row) { return doubt_counts(row.row); });
  columns.add("problems", [](const Row& row) { return row.ranking.problems; });
  columns.add("solved", [](const Row& row) { return row.row.tally.solved; });
  columns.add("false_claim", [](const Row& row) { return row.row.tally.false_claim; });
  columns.add("failed", [](const Row& row) { return row.row.tally.failed; });
  columns.add("unsupported", [](const Row& row) { return row.row.tally.unsupported; });
  columns.add("not_run", [](const Row& row) { return row.row.tally.not_run; });
  columns.add("solved_share", [](const Row& row) { return row.row.solved_share; });
  columns.add("supported_share", [](const Row& row) { return row.row.supported_share; });
  columns.add("claimed_solved", [](const Row& row) { return row.row.claims.claimed_solved; });
  columns.add("claimed_unsolved", [](const Row& row) { return row.row.claims.claimed_unsolved; });
  columns.add("silent_solved", [](const Row& row) { return row.row.claims.silent_solved; });
  columns.add("silent_unsolved", [](const Row& row) { return row.row.claims.silent_unsolved; });
  columns.add("passes_relative_only", [](const Row& row) { return row.row.passes_relative_only; });
  columns.add("with_compliance", [](const Row& row) { return row.row.added_compliance.cells; });
  columns.add("verdict_compliant_solved", [](const Row& row) { return row.row.added_compliance.verdict_solved; });
  columns.add("ccp_compliant_solved", [](const Row& row) { return row.row.added_compliance.ccp_solved; });
  columns.add("time_at_limit_s", [](const Row& row) { return row.row.means.at_limit; });
  columns.add("time_cold_s", [](const Row& row) { return row.row.means.cold; });
  columns.add("time_penalised_s", [](const Row& row) { return row.row.means.penalised; });
  columns.add("time_common_s", [](const Row& row) { return row.row.means.common; });
  columns.add("times_best", [](const Row& row) { return row.row.times_best; });
  columns.add("shift_s", [&analysis](const Row&) { return analysis.shift_s; });
  columns.add("common_problems", [](const Row& row) { return row.ranking.common_problems; });
  columns.add("time_mean_s", [](const Row& row) { return row.row.time_mean; });
  columns.add("time_std_s", [](const Row& row) { return row.row.time_deviation; });
  columns.add("rho_cost", [](const Row& row) { return id(row.ranking.cost); });
  columns.add("rho_1", [](const Row& row) { return row.row.rho_one; });
  columns.add("rho_inf", [](const Row& row) { return row.row.rho_infinity; });
  columns.add("median_iterations", [](const Row& row) { return row.row.median_iterations; });
  columns.add("mean_factorizations", [](const Row& row) { return row.row.mean_factorizations; });
  columns.add("mean_operator_products", [](const Row& row) { return row.row.mean_products; });
  return csv_file("ranking.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const Ranking& ranking : analysis.rankings) {
      long rank = 0;
      for (const RankingRow& row : ranking.rows) visit(Row{ranking, row, ++rank});
    }
  });
}

CsvFile profiles_file(const Analysis& analysis, const char* name, std::vector<Curve> Profile::*curves, const char* x,
                      const char* y) {
  struct Row {
    const Profile& profile;
    const Ranked& ranked;
    double x, y;
  };
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.profile.slice]; });
  columns.add("family", [](const Row& row) { return family_name(row.profile.family); });
  columns.add("cost", [](const Row& row) { return id(row.profile.cost); });
  add_ranked(columns, [](const Row& row) -> const Ranked& { return row.ranked; });
  columns.add(x, [](const Row& row) { return row.x; });
  columns.add(y, [](const Row& row) { return row.y; });
  return csv_file(name, std::move(columns), [&analysis, curves](const auto& visit) {
    for (const Profile& profile : analysis.profiles) {
      for (const Curve& curve : profile.*curves) {
        const Ranked ranked(analysis, profile.slice, profile.family, curve.column);
        for (std::size_t i = 0; i < curve.x.size(); ++i) visit(Row{profile, ranked, curve.x[i], curve.y[i]});
      }
    }
  });
}

CsvFile pairs_file(const Analysis& analysis) {
  struct Row {
    const Pair& pair;
    Ranked first, second;
  };
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.pair.slice]; });
  columns.add("cost", [](const Row& row) { return id(row.pair.cost); });
  add_ranked(
      columns, [](const Row& row) -> const Ranked& { return row.first; }, "first", "first_");
  add_ranked(
      columns, [](const Row& row) -> const Ranked& { return row.second; }, "second", "second_");
  columns.add("first_better", [](const Row& row) { return row.pair.first_better; });
  columns.add("ties", [](const Row& row) { return row.pair.ties; });
  columns.add("second_better", [](const Row& row) { return row.pair.second_better; });
  columns.add("neither", [](const Row& row) { return row.pair.neither; });
  return csv_file("pairs.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const Pair& pair : analysis.pairs) {
      visit(Row{pair, {analysis, pair.slice, {}, pair.first}, {analysis, pair.slice, {}, pair.second}});
    }
  });
}

CsvFile pair_profiles_file(const Analysis& analysis) {
  struct Row {
    const Pair& pair;
    const Ranked& ranked;
    double x, y;
  };
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.pair.slice]; });
  columns.add("cost", [](const Row& row) { return id(row.pair.cost); });
  columns.add("first", [&analysis](const Row& row) { return analysis.columns[row.pair.first].label; });
  columns.add("second", [&analysis](const Row& row) { return analysis.columns[row.pair.second].label; });
  add_ranked(columns, [](const Row& row) -> const Ranked& { return row.ranked; });
  columns.add("tau", [](const Row& row) { return row.x; });
  columns.add("rho", [](const Row& row) { return row.y; });
  return csv_file("pair_profiles.csv", std::move(columns), [&analysis](const auto& visit) {
    PairCurves curves(analysis);
    for (const Pair& pair : analysis.pairs) {
      if (pair.cost != shown_cost(analysis)) continue;  // the others follow from cells.csv, and would be many
      for (const Curve& curve : curves(pair)) {
        const Ranked ranked(analysis, pair.slice, {}, curve.column);
        for (std::size_t i = 0; i < curve.x.size(); ++i) visit(Row{pair, ranked, curve.x[i], curve.y[i]});
      }
    }
  });
}

CsvFile budgets_file(const Analysis& analysis) {
  struct Row {
    const BudgetErrors& table;
    const Ranked& ranked;
    double budget;
    std::optional<double> median, high;
  };
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.table.slice]; });
  columns.add("family", [](const Row& row) { return family_name(row.table.family); });
  columns.add("cost", [](const Row& row) { return id(row.table.cost); });
  add_ranked(columns, [](const Row& row) -> const Ranked& { return row.ranked; });
  columns.add("budget", [](const Row& row) { return row.budget; });
  columns.add("error_median", [](const Row& row) { return row.median; });
  columns.add("error_p90", [](const Row& row) { return row.high; });
  return csv_file("budgets.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const BudgetErrors& table : analysis.budgets) {
      for (const BudgetErrors::Row& row : table.rows) {
        const Ranked ranked(analysis, table.slice, table.family, row.column);
        for (std::size_t i = 0; i < table.budgets.size(); ++i) {
          visit(Row{table, ranked, table.budgets[i], row.median[i], row.high[i]});
        }
      }
    }
  });
}

CsvFile traces_file(const Analysis& analysis) {
  struct Row {
    const CellRecord& cell;
    const TracePoint& point;
  };
  std::map<std::string, std::string> problems, solvers;  // names by hash
  for (const Problem& problem : analysis.problems) problems[problem.record->hash] = problem.name;
  for (const Column& column : analysis.columns) solvers[column.configuration->hash] = column.label;
  Columns<Row> columns;
  columns.add("problem", [=](const Row& row) { return problems.at(row.cell.problem); });
  columns.add("label", [=](const Row& row) { return solvers.at(row.cell.configuration); });
  columns.add("tolerance", [](const Row& row) { return row.cell.tolerance; });
  columns.add("iteration", [](const Row& row) { return row.point.iteration; });
  columns.add("operator_products", [](const Row& row) {
    const bool counted = row.cell.operator_products >= 0;
    return counted ? std::optional(spent_at(row.cell, row.point, Cost::operator_products)) : std::nullopt;
  });
  columns.add("seconds",
              [&analysis](const Row& row) { return analysis.times_shown ? single(row.point.seconds) : std::nullopt; });
  columns.add("own_residual", [](const Row& row) { return single(row.point.own_residual); });
  columns.add("residual", [](const Row& row) { return single(row.point.residual); });
  columns.add("key", [](const Row& row) { return row.cell.key; });
  return csv_file("traces.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const CellRecord* cell : traced_cells(analysis)) {
      for (const TracePoint& point : cell->trace) visit(Row{*cell, point});
    }
  });
}

CsvFile problems_file(const Analysis& analysis) {
  using Row = ProblemRow;
  const auto problem_of = [&analysis](const Row& row) -> const Problem& { return analysis.problems[row.problem]; };
  const auto label = [&analysis](const std::optional<std::size_t>& column) {
    return column ? analysis.columns[*column].label : std::string();
  };
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.slice]; });
  columns.add("problem", [=](const Row& row) { return problem_of(row).name; });
  columns.add_fields([=](const Row& row) -> const ProblemRecord& { return *problem_of(row).record; },
                     {"name", "duplicate_of", "copies", "alias"});
  columns.add("headline", [=](const Row& row) -> bool { return problem_of(row).counted[row.slice]; });
  columns.add("left_out", [=](const Row& row) { return problem_of(row).left_out; });
  columns.add("tried_by", [](const Row& row) { return row.tried_by; });
  columns.add("solved_by", [](const Row& row) { return row.solved_by; });
  columns.add("fastest", [=](const Row& row) { return label(row.fastest); });
  columns.add("fastest_cost", [](const Row& row) { return row.fastest_cost; });
  columns.add("cost", [&analysis](const Row&) { return id(shown_cost(analysis)); });
  columns.add("best_verdict", [](const Row& row) { return row.best_verdict; });
  columns.add("best_verdict_by", [=](const Row& row) { return label(row.best_verdict_by); });
  return csv_file("problems.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const ProblemRow& row : analysis.problem_rows) visit(row);
  });
}

CsvFile statuses_file(const Analysis& analysis) {
  using Row = StatusRow;
  Columns<Row> columns;
  add_slice(columns, [&analysis](const Row& row) -> const Slice& { return analysis.slices[row.slice]; });
  columns.add("label", [&analysis](const Row& row) { return analysis.columns[row.column].label; });
  columns.add("status", [](const Row& row) { return std::string(to_string(row.status)); });
  columns.add("reason", [](const Row& row) { return row.reason; });
  columns.add("cells", [](const Row& row) { return row.cells; });
  return csv_file("statuses.csv", std::move(columns), [&analysis](const auto& visit) {
    for (const StatusRow& row : analysis.statuses) visit(row);
  });
}

}  // namespace

const char* to_string(CsvKind kind) {
  switch (kind) {
    case CsvKind::text: return "text";
    case CsvKind::count: return "count";
    case CsvKind::number: return "number";
    case CsvKind::flag: break;
  }
  return "flag";
}

std::vector<CsvFile> csv_files(const Analysis& analysis) {
  return {cells_file(analysis),
          ranking_file(analysis),
          profiles_file(analysis, "performance_profiles.csv", &Profile::performance, "tau", "rho"),
          profiles_file(analysis, "data_profiles.csv", &Profile::data, "budget", "share"),
          pairs_file(analysis),
          pair_profiles_file(analysis),
          budgets_file(analysis),
          traces_file(analysis),
          problems_file(analysis),
          statuses_file(analysis)};
}

}  // namespace conebench::reports
