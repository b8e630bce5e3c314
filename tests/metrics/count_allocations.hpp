#pragma once

#include <cstddef>

namespace conebench::testing {

/// Calls of malloc, calloc, realloc and aligned_alloc by this program so far: every allocation, Eigen's too.
std::size_t allocations();

/// False under the address sanitizer, which owns malloc.
bool allocations_are_counted();

}  // namespace conebench::testing
