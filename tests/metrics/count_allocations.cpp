#include "count_allocations.hpp"

#include <atomic>

namespace {
std::atomic<std::size_t> calls{0};
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CONEBENCH_COUNTS_ALLOCATIONS 1
// Definitions in the executable take the place of the C library's, whose own entry points stay reachable.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c)

void* malloc(std::size_t size) {
  ++calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++calls;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++calls;
  return __libc_memalign(alignment, size);
}
}
#else
#define CONEBENCH_COUNTS_ALLOCATIONS 0
#endif

namespace conebench::testing {

std::size_t allocations() { return calls.load(); }
bool allocations_are_counted() { return CONEBENCH_COUNTS_ALLOCATIONS != 0; }

}  // namespace conebench::testing
