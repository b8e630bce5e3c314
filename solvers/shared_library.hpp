#pragma once

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

}  // namespace conebench
