#include "metrics/change/load.hpp"

namespace conebench {

Load measure_load(std::span<const CellTimes> times) {
  constexpr double long_s = 5e-3;
  constexpr double scatter = 1.1;
  Load load;
  for (const CellTimes& cell : times) {
    if (!(cell.minimum >= long_s)) continue;
    ++load.cells;
    if (cell.median > scatter * cell.minimum) ++load.scattered;
  }
  return load;
}

bool Load::loaded() const {
  constexpr double most = 0.15;
  // One of a few cells is chance: three in a hundred scatter in quiet stores.
  return scattered > 1 && share() > most;
}

}  // namespace conebench
