#include "store/store_load.hpp"

#include <fmt/format.h>

namespace conebench {

namespace {

template <class Condition>
Load load_where(const std::vector<CellRecord>& cells, Condition counts) {
  std::vector<CellTimes> times;
  for (const CellRecord& cell : cells) {
    if (cell.solved && cell.repeats > 1 && counts(cell)) times.push_back({cell.total.minimum, cell.total.median});
  }
  return measure_load(times);
}

}  // namespace

Load load_of(const std::vector<CellRecord>& cells) {
  return load_where(cells, [](const CellRecord&) { return true; });
}

bool load_is_known(const RunRecord& run, const std::vector<CellRecord>& cells) {
  return run.jobs == 1 && load_where(cells, [&](const CellRecord& cell) { return cell.run_id == run.id; }).cells > 1;
}

std::string loaded_text(const RunRecord& run, const std::vector<CellRecord>& cells) {
  if (run.jobs > 1) return {};
  const Load load = load_where(cells, [&](const CellRecord& cell) { return cell.run_id == run.id; });
  if (!load.loaded()) return {};
  return fmt::format(
      "loaded ({:.0f} % of the cells of 5 ms or more took over a tenth longer in the median than at best): other "
      "processes ran meanwhile",
      100.0 * load.share());
}

}  // namespace conebench
