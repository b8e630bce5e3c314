#include "papers/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/plural.hpp"
#include "metrics/profiles.hpp"

namespace conebench::papers {

namespace {

Selection cells_of(const TableLine& line, const Selection& samples) {
  Selection selected = select(samples, line.part.where);
  if (!line.each.empty()) {
    std::erase_if(selected, [&](const Sample* sample) { return sample->group(line.each) != line.part.name; });
  }
  return selected;
}

TableCell table_cell(const Table& table, const TableLine& row, const TableLine& column, const Selection& samples) {
  const auto first = [](const auto& a, const auto& b, const auto& c) { return a ? &*a : b ? &*b : c ? &*c : nullptr; };
  const Selection selected = cells_of(column, cells_of(row, samples));
  TableCell cell;
  const auto is_unsupported = [](const Sample* sample) {
    return sample->subject.status == to_string(CellStatus::unsupported);
  };
  if (!selected.empty() && std::ranges::all_of(selected, is_unsupported)) {
    cell.value = {std::nullopt, Gap::not_comparable, "the solver does not take these problems (unsupported)"};
    return cell;
  }
  if (const Expression* const quantity = first(column.quantity, row.quantity, table.quantity)) {
    cell.value = evaluate(*quantity, selected).value;
  }
  if (const Expression* const spread = first(column.spread, row.spread, table.spread)) {
    cell.spread = evaluate(*spread, selected).value;
  }
  return cell;
}

/// With a line for each group instead of a line of groups.
std::vector<TableLine> written_out(const std::vector<TableLine>& lines, const Selection& samples) {
  std::vector<TableLine> out;
  for (const TableLine& line : lines) {
    if (line.each.empty()) {
      out.push_back(line);
      continue;
    }
    std::set<std::string> names;
    for (const Sample* const sample : select(samples, line.part.where)) names.insert(sample->group(line.each));
    for (const std::string& name : names) {
      out.push_back(line);
      out.back().part.name = name;
    }
  }
  return out;
}

using TableCells = std::vector<std::vector<TableCell>>;

/// By the table's column, largest first; rows without a value there last.
void sort_rows(Table& table, TableCells& cells) {
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](const TableLine& line) { return line.part.name == table.sort; });
  if (column == table.columns.end()) return;
  const auto c = column - table.columns.begin();
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t r) {
    return cells[r][static_cast<std::size_t>(c)].value.number.value_or(-std::numeric_limits<double>::infinity());
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  const Table unsorted = table;
  const TableCells as_evaluated = cells;
  for (std::size_t r = 0; r < order.size(); ++r) {
    table.rows[r] = unsorted.rows[order[r]];
    cells[r] = as_evaluated[order[r]];
  }
}

/// Rows and columns that no cell belongs to, as where --quick has fewer solvers or sizes; all stay where values were
/// published, or where none has a cell.
void leave_out_lines_without_cells(Table& table, const Selection& samples) {
  if (!table.published.empty()) return;
  const auto has_none = [&](const TableLine& line) { return cells_of(line, samples).empty(); };
  for (auto* const lines : {&table.rows, &table.columns}) {
    if (std::ranges::all_of(*lines, has_none)) continue;
    for (const TableLine& line : *lines) {
      if (has_none(line)) table.without_cells.push_back(line.part.name);
    }
    std::erase_if(*lines, has_none);
  }
}

void mark_own(std::vector<TableLine>& lines, const Selection& samples) {
  for (TableLine& line : lines) {
    line.own = std::ranges::any_of(samples, [&](const Sample* sample) {
      return sample->own &&
             (line.part.name == sample->group("configuration") || line.part.name == sample->group("solver"));
    });
  }
}

/// Writes the table's lines out and gives their cells.
TableCells evaluate_table(Table& table, const Selection& samples) {
  table.rows = written_out(table.rows, samples);
  table.columns = written_out(table.columns, samples);
  leave_out_lines_without_cells(table, samples);
  for (auto* const lines : {&table.rows, &table.columns}) mark_own(*lines, samples);
  TableCells cells;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    cells.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      cells[r].push_back(table_cell(table, table.rows[r], table.columns[c], samples));
      if (!table.published.empty()) cells[r][c].published = table.published[r][c];
    }
  }
  sort_rows(table, cells);
  return cells;
}

Curve points_of(const Figure& figure, const Part& series, const Selection& samples) {
  Curve curve{series.name, {}, {}};
  std::map<std::string, Selection> groups;
  for (const Sample* const sample : select(samples, series.where)) groups[sample->group(figure.key)].push_back(sample);
  if (groups.empty()) curve.missing = "no cell was measured";
  for (const auto& [name, members] : groups) {
    const Value x = evaluate(*figure.x, members).value, y = evaluate(*figure.y, members).value;
    if (x.known() && y.known()) {
      curve.points.push_back({*x.number, *y.number});
    } else {
      curve.missing = fmt::format("left out {}: {}", name, x.known() ? y.reason : x.reason);
    }
  }
  std::sort(curve.points.begin(), curve.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return curve;
}

/// The value of an expression of single cells.
Value of_sample(const Expression& expression, const Sample& sample) {
  Expression wrapped;
  wrapped.operation = Operation::reduction;
  wrapped.name = expression.kind == Kind::truth ? "count" : "max";
  wrapped.parts = {expression};
  return evaluate(wrapped, {&sample}).value;
}

Curve path_of(const Figure& figure, const Part& series, const Selection& samples) {
  Curve curve{series.name, {}, {}};
  const Selection selected = select(samples, series.where);
  if (selected.empty()) curve.missing = "no cell was measured";
  for (const Sample* const sample : selected) {
    const Value x = of_sample(*figure.x, *sample), y = of_sample(*figure.y, *sample);
    if (x.known() && y.known()) curve.points.push_back({*x.number, *y.number});
    if (!x.known() || !y.known()) curve.missing = "points are left out: " + (x.known() ? y.reason : x.reason);
  }
  return curve;
}

std::vector<Curve> profile_of(const Figure& figure, const Selection& samples) {
  std::map<std::string, std::size_t> problems;
  std::vector<Selection> parts;
  for (const Part& series : figure.series) {
    parts.push_back(select(samples, series.where));
    for (const Sample* const sample : parts.back()) problems.try_emplace(sample->group("problem"), problems.size());
  }
  CostTable costs(problems.size(), std::vector<std::optional<double>>(figure.series.size()));
  for (std::size_t s = 0; s < parts.size(); ++s) {
    for (const Sample* const sample : parts[s]) {
      if (!of_sample(*figure.counts, *sample).holds()) continue;
      costs[problems.at(sample->group("problem"))][s] = of_sample(*figure.cost, *sample).number;
    }
  }
  std::vector<Curve> curves;
  const auto profile = problems.empty() ? PerformanceProfile{} : performance_profile(costs);
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    Curve curve{figure.series[s].name, {}, problems.empty() ? "no cell was measured" : ""};
    if (s < profile.curves.size()) {
      const StepFunction& steps = profile.curves[s];
      for (std::size_t k = 0; k < steps.x.size(); ++k) curve.points.push_back({steps.x[k], steps.y[k]});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<Curve> evaluate_figure(const Figure& figure, const Selection& samples) {
  if (figure.form == Figure::Form::profile) return profile_of(figure, samples);
  std::vector<Curve> curves;
  for (const Part& series : figure.series) {
    curves.push_back(figure.form == Figure::Form::path ? path_of(figure, series, samples)
                                                       : points_of(figure, series, samples));
  }
  return curves;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

Verdict verdict_of(const Evaluation& evaluation) {
  if (evaluation.value.known()) return evaluation.value.holds() ? Verdict::holds : Verdict::fails;
  return evaluation.value.gap == Gap::not_run ? Verdict::undecided : Verdict::not_comparable;
}

/// One part of a check.
CheckResult evaluate_part(const Check& check, const Selection& samples) {
  const Evaluation evaluation = evaluate(check.holds, samples);
  CheckResult result;
  result.verdict = verdict_of(evaluation);
  result.reason = evaluation.value.reason;
  for (const Comparison& comparison : evaluation.comparisons) result.measured.push_back({"", comparison});
  const auto require = [&](long found, long wanted, const char* what) {
    if (found < 0 || found >= wanted || result.verdict == Verdict::undecided) return;
    result.verdict = Verdict::undecided;
    result.reason = fmt::format("measured on {}; a verdict takes {}", plural(found, what), wanted);
  };
  require(evaluation.min_problems, check.min_problems, "problem");
  require(evaluation.min_cells, check.min_cells, "cell");
  return result;
}

/// It holds where each part does; else the worst that happened: a failure, no comparison, no run.
CheckResult evaluate_parts(const Check& check, const Selection& samples) {
  if (check.each.empty()) return evaluate_part(check, samples);
  CheckResult whole;
  whole.verdict = Verdict::holds;
  std::vector<std::string> reasons;
  bool failed = false;
  for (const Part& part : check.each) {
    const CheckResult one = evaluate_part(check, select(samples, part.where));
    for (const auto& measured : one.measured) whole.measured.push_back({part.name, measured.comparison});
    if (!one.reason.empty()) reasons.push_back(part.name + ": " + one.reason);
    failed = failed || one.verdict == Verdict::fails;
    if (one.verdict != Verdict::holds) whole.verdict = std::max(whole.verdict, one.verdict);
  }
  if (failed) whole.verdict = Verdict::fails;
  whole.reason = joined(reasons);
  return whole;
}

void judge_known_failure(const KnownFailure& known, CheckResult& result) {
  if (result.verdict == Verdict::holds) result.expected = false;
  if (result.verdict != Verdict::fails) return;
  result.expected =
      result.measure.known() && *result.measure.number >= known.low && *result.measure.number <= known.high;
}

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::fails: return "fails";
    case Verdict::not_comparable: return "not comparable";
    case Verdict::undecided: break;
  }
  return "undecided";
}

CheckResult evaluate_check(const Check& check, const Selection& samples) {
  CheckResult result = evaluate_parts(check, samples);
  if (check.measure) result.measure = evaluate(*check.measure, samples).value;
  if (check.known_failure) {
    judge_known_failure(*check.known_failure, result);
  } else {
    result.expected = result.verdict != Verdict::fails;
  }
  return result;
}

Selection counted(const Entry& entry, const std::vector<Sample>& samples) {
  Selection all = select(samples);
  if (entry.only) std::erase_if(all, [&](const Sample* sample) { return !of_sample(*entry.only, *sample).holds(); });
  return all;
}

EntryResult evaluate_entry(const Entry& entry, const std::vector<Sample>& samples) {
  EntryResult result;
  result.entry = &entry;
  const Selection all = counted(entry, samples);
  result.layouts = entry.tables;
  for (Table& table : result.layouts) result.tables.push_back(evaluate_table(table, all));
  for (const Figure& figure : entry.figures) result.figures.push_back(evaluate_figure(figure, all));
  for (const Check& check : entry.checks) result.checks.push_back(evaluate_check(check, all));
  return result;
}

EntryResult not_run(const Entry& entry, const std::string& reason) {
  EntryResult result = evaluate_entry(entry, {});
  result.not_run = reason;
  for (CheckResult& check : result.checks) check.reason = reason;
  return result;
}

std::vector<Sample> mutated(std::vector<Sample> samples, const std::vector<Mutation>& mutations) {
  for (const Mutation& mutation : mutations) {
    for (Sample& sample : samples) {
      const auto found = sample.numbers.find(mutation.field);
      if (found == sample.numbers.end() || !mutation.where.holds(sample.subject)) continue;
      found->second = mutation.to ? *mutation.to : mutation.times * found->second;
    }
  }
  return samples;
}

bool unexpected(const std::vector<EntryResult>& results) {
  return std::any_of(results.begin(), results.end(), [](const EntryResult& result) {
    return std::any_of(result.checks.begin(), result.checks.end(), [](const CheckResult& c) { return !c.expected; });
  });
}

}  // namespace conebench::papers
