#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "runners/execute/build_protocol.hpp"

namespace conebench {

/// An executable of Conebench that solves cells for this one, each in a process of its own.
class OtherBuild {
 public:
  /// Starts it and asks for its protocol and build. One that has no such command is taken for an older build, which
  /// solve_by_command() drives. Errors (bad_input): it can't be started, is no Conebench, or speaks a newer protocol.
  static Result<OtherBuild> greet(const std::filesystem::path& executable,
                                  const std::atomic<bool>* interrupted = nullptr);

  const BuildRecord& build() const { return build_; }
  bool speaks_protocol() const { return speaks_; }
  bool probes() const { return probes_; }  ///< see BuildGreeting

  /// One process from start to end: it loads the problem and does what the order says. A process that hangs, dies or
  /// writes nonsense twice gives a record `timeout` or `crashed`, never an error; a kill -9 from outside is tried
  /// again, and an error (killed) at last. `interrupted`: gives up; the record is then of no use.
  BuildReply carry_out(const BuildOrder& order, const std::atomic<bool>* interrupted) const;

  /// The same by `solve FILE --json --write-solution`, for builds without the protocol: `problem` is an FCLIB file, the
  /// answer is left in `order.solution`. Set-up and solve run once, cold; nothing is told of processor time.
  BuildReply solve_by_command(const BuildOrder& order, const std::filesystem::path& problem,
                              const std::atomic<bool>* interrupted) const;

 private:
  OtherBuild(std::filesystem::path executable, BuildRecord build, bool speaks, bool probes);

  std::filesystem::path executable_;
  BuildRecord build_;
  bool speaks_ = false;
  bool probes_ = false;
};

}  // namespace conebench
