#pragma once

#include <optional>
#include <vector>

#include "metrics/change/load.hpp"
#include "store/records.hpp"

namespace conebench {

/// Over the solved cells that ran twice or more.
Load load_of(const std::vector<CellRecord>& cells);

/// Whether the run's times can tell: with fewer than two cells of 5 ms or more, or workers side by side, they cannot.
bool load_is_known(const RunRecord& run, const std::vector<CellRecord>& cells);

/// NoiseKind::loaded where the run's own times say so. `cells`: with others' among them. Workers that ran side by side
/// disturbed each other: nothing is reported of them.
std::optional<NoiseRecord> noise_of_load(const RunRecord& run, const std::vector<CellRecord>& cells);

}  // namespace conebench
