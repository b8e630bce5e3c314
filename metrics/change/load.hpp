#pragma once

#include <cstddef>
#include <span>

namespace conebench {

/// Minimum and median time of one solved cell's runs [s].
struct CellTimes {
  double minimum = 0.0;
  double median = 0.0;
};

/// Whether other processes disturbed the cells, found from the cells' own times, since the load average does not show
/// it. Measured: of the cells of 5 ms or more 0–3 % scatter in a quiet sweep, and 61–78 % while another process runs.
struct Load {
  std::size_t cells = 0;      ///< of 5 ms or more
  std::size_t scattered = 0;  ///< of them: median above 1.1 times the minimum

  /// 0 without cells.
  double share() const { return cells > 0 ? static_cast<double>(scattered) / static_cast<double>(cells) : 0.0; }
  /// More than 15 % scatter, and more than one cell.
  bool loaded() const;
};

/// `times`: of solved cells that ran twice or more.
Load measure_load(std::span<const CellTimes> times);

}  // namespace conebench
