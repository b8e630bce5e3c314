#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace conebench {

/// Starts the keeper, a child process that keeps programs alive between requests. It is started once in this process
/// and ends with it. A solving process leases a program from it (KeptProgram). If that process is killed during a
/// request, the program is killed, too. The keeper's socket is in `scratch`. Errors (killed): the system refuses.
Result<void> start_keeper(const std::filesystem::path& scratch);

/// A kept program, leased to this process alone for the object's lifetime.
class KeptProgram {
 public:
  /// Leases a waiting program, or else starts one. With `fresh` it starts one in any case, which ends with the lease.
  /// Errors (bad_input): the system refuses.
  static Result<KeptProgram> lease(const std::filesystem::path& scratch, const std::vector<std::string>& command,
                                   bool fresh = false);

  pid_t process() const { return process_; }
  bool fresh() const { return fresh_; }  ///< just started
  /// Its standard input and output, one socket.
  int talk() const { return talk_.number(); }
  /// A number that no request to the program has had.
  std::int64_t next_number() { return ++number_; }

  /// The program runs between these two calls, and is killed if its leaseholder is. At other times it is stopped with
  /// its descendants; orphans among them are killed.
  void begins();
  void is_done();

  /// Waits a moment for its end, then kills it. Returns how it ended and its last output, on one line.
  std::string ending();

 private:
  Descriptor lease_, talk_;
  pid_t process_ = -1;
  bool fresh_ = false;
  std::int64_t number_ = 0;
};

}  // namespace conebench
