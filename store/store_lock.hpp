#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// Keeps a second process from writing what this one writes: a file beside it, `path` + ".lock", that says in JSON who
/// holds it (process, its start, host, boot, since when). It goes with the object; what a killed process leaves is
/// taken over. Where the file system has them a POSIX record lock on that file tells the living from the dead; where it
/// has none, that JSON alone. A forked child may destroy its copy: it changes nothing.
class StoreLock {
 public:
  struct Options {
    bool break_lock = false;  ///< take over the lock of another host or boot, whose process cannot be seen from here
  };
  /// Errors (bad_input): another process holds it, or may hold it; the file can't be written.
  static Result<StoreLock> acquire(const std::filesystem::path& path, Options options);
  static Result<StoreLock> acquire(const std::filesystem::path& path) { return acquire(path, Options{}); }
  ~StoreLock();
  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&& other) noexcept;

  /// Whose lock was taken over, a line for people; empty where there was none.
  const std::string& note() const { return note_; }

 private:
  StoreLock() = default;
  void release();

  std::filesystem::path file_;
  std::string note_;
  int descriptor_ = -1;  ///< holds the record lock; -1: nothing is held
  pid_t owner_ = 0;
};

}  // namespace conebench
