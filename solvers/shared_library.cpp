#include "solvers/shared_library.hpp"

#include <dlfcn.h>

namespace conebench {

namespace {

std::string last_error() {
  const char* const why = dlerror();
  return why != nullptr ? why : "unknown error of the loader";
}

}  // namespace

SharedLibrary::SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) failure_ = last_error();
}

void* SharedLibrary::address(const char* name) const { return handle_ != nullptr ? dlsym(handle_, name) : nullptr; }

void* SharedLibrary::needed(const char* name) {
  void* const found = address(name);
  if (found == nullptr && failure_.empty()) failure_ = last_error();
  return found;
}

}  // namespace conebench
