#pragma once

#include <string>

#include "store/records.hpp"

namespace conebench {

/// Whether the answer passes, but does not count because it came after the time limit.
bool passes_too_late(const CellRecord& cell);

/// CellRecord::reason; for a late answer with that in front.
std::string whole_reason(const CellRecord& cell);

}  // namespace conebench
