#include "reports/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/terms.hpp"

namespace conebench::reports {

namespace {

/// A cell of a batch.
struct Row {
  const ProblemRecord* batch;
  std::size_t column;
  const CellRecord* cell;

  double solved() const { return static_cast<double>(cell->members_solved.value_or(0)); }
  double rate() const { return cell->total.median > 0.0 ? solved() / cell->total.median : 0.0; }
};

std::vector<Row> rows_of(const Analysis& analysis, std::size_t slice) {
  std::vector<Row> rows;
  const auto& grid = analysis.slices[slice].grid;
  for (std::size_t p = 0; p < grid.size(); ++p) {
    const ProblemRecord* const record = analysis.problems[p].record;
    if (record->members <= 1) continue;
    const std::size_t first = rows.size();
    for (std::size_t c = 0; c < grid[p].size(); ++c) {
      if (grid[p][c] != nullptr && grid[p][c]->members_solved) rows.push_back({record, c, grid[p][c]});
    }
    std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                     [](const Row& a, const Row& b) { return a.rate() > b.rate(); });
  }
  return rows;
}

}  // namespace

Table batch_table(const Analysis& analysis, std::size_t slice, const std::function<std::string(std::size_t)>& label) {
  const std::vector<Row> rows = rows_of(analysis, slice);
  const bool several = std::ranges::any_of(rows, [&](const Row& row) { return row.batch != rows.front().batch; });
  TableOf<Row> table;
  if (several) {
    table.add({.heading = "batch", .breaks = TableColumn::Breaks::in_column},
              [](const Row& row) { return Cell(row.batch->name); });
  }
  table.add({.heading = "solver", .breaks = TableColumn::Breaks::in_column}, [&](const Row& row) {
    const bool doubtful = !row.cell->doubts.empty();
    return Cell(label(row.column) + (doubtful ? std::string(" ") + doubt_mark : ""), Tone::strong);
  });
  table.add({"solved", Format::text_right},
            [](const Row& row) { return Cell(fmt::format("{}/{}", *row.cell->members_solved, row.batch->members)); });
  if (analysis.times_shown) {
    table.add({"solved/s", Format::number}, [](const Row& row) { return Cell(row.rate()); });
    table.add({.heading = "a contact", .format = Format::time, .leaves = 3}, [](const Row& row) {
      const bool all_ran = row.batch->contacts > 0 && class_of(row.cell->status) == StatusClass::answer;
      return all_ran ? Cell(row.cell->total.median / static_cast<double>(row.batch->contacts)) : Cell();
    });
    table.add({.heading = "median", .format = Format::time, .leaves = 2},
              [](const Row& row) { return Cell(row.cell->member_median_s); });
    table.add({"p95", Format::time}, [](const Row& row) { return Cell(row.cell->member_p95_s); });
    table.add({"worst", Format::time}, [](const Row& row) { return Cell(row.cell->member_worst_s); });
  }
  table.add({.heading = "residual p95", .format = Format::residual, .leaves = 1},
            [](const Row& row) { return Cell(row.cell->verdict_p95); });
  table.add({"worst residual", Format::residual}, [](const Row& row) { return Cell(row.cell->verdict_value); });
  return table.of(rows);
}

}  // namespace conebench::reports
