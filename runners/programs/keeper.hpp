#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace conebench {

/// Starts the process that keeps programs alive between requests, once in this process: a child that ends with it.
/// Whoever solves leases a program from it (KeptProgram) and may be killed at any time; what it was busy with is then
/// killed, too. Its socket is in `scratch`. Errors (killed): the system refuses.
Result<void> start_keeper(const std::filesystem::path& scratch);

/// A program that is kept alive, lent to this process and to no other until this goes.
class KeptProgram {
 public:
  /// One that waits for work, or else a new one; where `fresh`, always a new one, which ends with the lease. Errors
  /// (bad_input): the system refuses.
  static Result<KeptProgram> lease(const std::filesystem::path& scratch, const std::vector<std::string>& words,
                                   bool fresh = false);

  pid_t process() const { return process_; }
  bool fresh() const { return fresh_; }  ///< just started
  /// Its standard input and output, one socket.
  int talk() const { return talk_.number(); }
  /// A number that no request to the program has had.
  std::int64_t next_number() { return ++number_; }

  /// Between the two it runs, and is killed with whoever has the lease. Elsewhere it stands still, with all that it has
  /// started; processes whose parent has ended are ended then.
  void begins();
  void is_done();

  /// Waits a moment for its end, then ends it. How it ended and what it said last, on one line.
  std::string ending();

 private:
  Descriptor lease_, talk_;
  pid_t process_ = -1;
  bool fresh_ = false;
  std::int64_t number_ = 0;
};

}  // namespace conebench
