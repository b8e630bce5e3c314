#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "runners/execute/solve_cell.hpp"
#include "runners/plan/problem_source.hpp"
#include "store/records.hpp"

namespace conebench {

/// The protocol between two builds of Conebench (`conebench worker`, docs/side_by_side.md): frames of wire.hpp on
/// descriptor 3, each with a CBOR object as payload. The records of the builds may differ: the reader skips fields that
/// it does not know, and a missing field keeps its default.
inline constexpr int build_protocol = 2;

/// A build's answer to a greeting. Its frame and the key `protocol` are the same in every protocol.
struct BuildGreeting {
  int protocol = 0;
  BuildRecord build;
};

/// Either one round of a cell (load the problem, solve and time it in a process of its own), or an answer to judge.
struct BuildOrder {
  ProblemSource source;
  std::filesystem::path cache;  ///< of scenes that are written as FCLIB
  std::string problem_hash;     ///< what the loaded problem must have
  CellRequest request;
  long memory_mb = 4000;
  int pinned_processor = -1;
  std::optional<CellRecord> answered;  ///< an answer to judge; then nothing is solved
};

struct BuildReply {
  /// Nothing was solved. wrong_usage: the build lacks the solver, an option or the verdict; bad_input: the problem;
  /// killed: its process was terminated externally.
  std::optional<Error> error;
  CellRecord record;  ///< judged by the build that replies; without key, run and configuration
  /// The configuration that it solved with: its own version and defaults. nullopt: nothing was solved.
  std::optional<ConfigurationRecord> configuration = std::nullopt;
  double min_probe_s = 0.0;  ///< see CellRun
};

std::string encode(const BuildGreeting& greeting);
std::string encode(const BuildOrder& order);
std::string encode(const BuildReply& reply);
/// nullopt: the bytes are not such an object.
std::optional<BuildGreeting> decode_build_greeting(std::string_view bytes);
std::optional<BuildOrder> decode_build_order(std::string_view bytes);
std::optional<BuildReply> decode_build_reply(std::string_view bytes);

/// Answers greetings and orders on child_channel until it is closed. `conebench worker` calls this.
int serve_orders();

}  // namespace conebench
