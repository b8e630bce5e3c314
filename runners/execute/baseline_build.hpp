#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "runners/execute/build_protocol.hpp"

namespace conebench {

/// An executable of Conebench that solves cells for this one, each in a process of its own.
class BaselineBuild {
 public:
  /// Starts it and asks for its protocol and build. Errors (bad_input): it can't be started, or does not speak
  /// build_protocol.
  static Result<BaselineBuild> greet(const std::filesystem::path& executable,
                                     const std::atomic<bool>* interrupted = nullptr);

  const BuildRecord& build() const { return build_; }

  /// Starts a process that loads the problem and carries out the order. If it hangs, dies or writes garbled frames
  /// twice, the record is `timeout` or `crashed`, not an error. If it is terminated externally, it is started again;
  /// after several times the result is an error (killed). If `interrupted` becomes true, the record is unusable.
  BuildReply carry_out(const BuildOrder& order, const std::atomic<bool>* interrupted) const;

 private:
  BaselineBuild(std::filesystem::path executable, BuildRecord build);

  std::filesystem::path executable_;
  BuildRecord build_;
};

}  // namespace conebench
