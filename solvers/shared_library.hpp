#pragma once

#include <optional>
#include <string>

namespace conebench {

/// A shared library that is loaded when it is first wanted, and then stays.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* file);

  /// Sets a pointer to the function of that name; null, and a failure, where the library lacks it.
  template <class Pointer>
  void find(Pointer& function, const char* name) {
    function = reinterpret_cast<Pointer>(needed(name));
  }
  /// As find, but the library may lack it.
  template <class Pointer>
  void find_optional(Pointer& function, const char* name) const {
    function = reinterpret_cast<Pointer>(address(name));
  }

  /// Why it could not be loaded, or what it lacks first; empty where all is well.
  const std::string& failure() const { return failure_; }

 private:
  void* address(const char* name) const;
  void* needed(const char* name);

  void* handle_;
  std::string failure_;
};

/// Where a peer's library is: in ../lib of this executable, where a package with peers has it; else `built_with`, the
/// file that the build found.
std::string peer_library(const std::string& built_with);

/// Why the peer can't be run here: its file is in neither place. nullopt: it is there.
std::optional<std::string> missing_peer_library(const std::string& built_with, const std::string& package);

}  // namespace conebench
