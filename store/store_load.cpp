#include "store/store_load.hpp"

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

std::optional<NoiseRecord> noise_of_load(const RunRecord& run, const std::vector<CellRecord>& cells) {
  if (run.jobs > 1) return std::nullopt;
  const Load load = load_where(cells, [&](const CellRecord& cell) { return cell.run_id == run.id; });
  if (!load.loaded()) return std::nullopt;
  return NoiseRecord{NoiseKind::loaded, load.share()};
}

}  // namespace conebench
