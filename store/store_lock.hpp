#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// Keeps other processes from writing the same file. The lock is the file `path` + ".lock", which names its holder in
/// JSON: process, its start, host, boot, and since when. The destructor removes it. The lock of a killed process is
/// taken over. A POSIX record lock on the file shows whether its process lives; on file systems without such locks the
/// JSON decides. Destroying the copy in a forked child has no effect.
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

  /// The former holder whose lock was taken over, as a line for people; empty: none.
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
