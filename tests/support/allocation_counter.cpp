#include "tests/support/allocation_counter.hpp"

#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
namespace conebench::testing {
long allocation_count() { return 0; }
double heap_bytes() { return 0.0; }
bool allocations_are_counted() { return false; }
}  // namespace conebench::testing
#else

#include <malloc.h>

namespace {
thread_local long count = 0;
}  // namespace

// glibc's own allocator under its internal names; defining malloc and its kin here replaces them for the whole program.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* pointer, std::size_t size) {
  ++count;
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, std::size_t alignment, std::size_t size) {
  ++count;
  *pointer = __libc_memalign(alignment, size);
  return *pointer == nullptr ? ENOMEM : 0;
}
}

namespace conebench::testing {
long allocation_count() { return count; }
double heap_bytes() {
  const auto now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}
bool allocations_are_counted() { return true; }
}  // namespace conebench::testing
#endif
