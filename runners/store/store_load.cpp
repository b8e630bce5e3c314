#include "runners/store/store_load.hpp"

namespace conebench {

Load load_of(const std::vector<CellRecord>& cells) {
  std::vector<CellTimes> times;
  for (const CellRecord& cell : cells) {
    if (cell.solved && cell.repeats > 1) times.push_back({cell.total.minimum, cell.total.median});
  }
  return measure_load(times);
}

}  // namespace conebench
