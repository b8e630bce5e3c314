#include "solvers/shared_library.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace conebench {

namespace fs = std::filesystem;

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

std::string peer_library(const std::string& built_with) {
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path packed = executable.parent_path().parent_path() / "lib" / fs::path(built_with).filename();
  return !executable.empty() && fs::exists(packed, ignored) ? packed.string() : built_with;
}

std::optional<std::string> missing_peer_library(const std::string& built_with, const std::string& package) {
  std::error_code ignored;
  if (fs::exists(peer_library(built_with), ignored)) return std::nullopt;
  return built_with + " is not on this machine: install " + package;
}

void* SharedLibrary::needed(const char* name) {
  void* const found = address(name);
  if (found == nullptr && failure_.empty()) failure_ = last_error();
  return found;
}

}  // namespace conebench
