#pragma once

#include <string>

#include "store/records.hpp"

namespace conebench {

/// Whether the answer passes and does not count, because it came after the time limit.
bool passes_too_late(const CellRecord& cell);

/// CellRecord::reason, behind that where it is so.
std::string whole_reason(const CellRecord& cell);

}  // namespace conebench
