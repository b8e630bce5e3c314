#pragma once

namespace conebench::testing {

/// Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign and so of operator new since the program's start, by
/// this thread. Link allocation_counter.cpp.
long allocation_count();

/// What the program holds on the heap, by glibc's count.
double heap_bytes();

/// False where a sanitizer owns the allocator, so that nothing is counted.
bool allocations_are_counted();

}  // namespace conebench::testing
