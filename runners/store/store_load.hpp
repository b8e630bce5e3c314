#pragma once

#include <vector>

#include "metrics/load.hpp"
#include "runners/store/records.hpp"

namespace conebench {

/// Over the solved cells that ran twice or more.
Load load_of(const std::vector<CellRecord>& cells);

}  // namespace conebench
