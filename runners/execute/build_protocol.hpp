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

/// What one build of Conebench asks of another (`conebench worker --protocol 1`, docs/side_by_side.md): frames of
/// wire.hpp on descriptor 3 whose payload is an object in CBOR, so that builds with other fields understand each other:
/// what one does not know it leaves out, what is missing keeps its default.
inline constexpr int build_protocol = 1;

/// What a build says of itself when it is greeted.
struct BuildGreeting {
  int protocol = 0;
  BuildRecord build;
  bool probes = false;  ///< knows CellRequest::Repeats::probe; builds of the first days do not tell
};

/// One replicate: a problem to be loaded and, in a process of its own, solved and timed; or an answer to be judged.
struct BuildOrder {
  ProblemSource source;
  std::filesystem::path cache;  ///< of scenes that are written as FCLIB
  std::string problem_hash;     ///< what the loaded problem must have
  CellRequest request;
  long memory_mb = 4000;
  int pinned_processor = -1;
  std::optional<CellRecord> answered;   ///< to be judged, nothing is solved
  std::filesystem::path solution = {};  ///< FCLIB file with the answer to be judged, where the record has none
};

struct BuildReply {
  /// Nothing was solved. wrong_usage: the build lacks the solver, an option or the verdict; bad_input: the problem;
  /// killed: something outside ended its process, which says nothing.
  std::optional<Error> error;
  CellRecord record;  ///< judged by the build that replies; without key, run and setting
  /// What it solved with: its own version and defaults. Builds of the first days do not tell.
  std::optional<SettingRecord> setting = std::nullopt;
  double min_probe_s = 0.0;  ///< see CellRun
};

std::string encode(const BuildGreeting& greeting);
std::string encode(const BuildOrder& order);
std::string encode(const BuildReply& reply);
/// nullopt for bytes that are no such object.
std::optional<BuildGreeting> decode_build_greeting(std::string_view bytes);
std::optional<BuildOrder> decode_build_order(std::string_view bytes);
std::optional<BuildReply> decode_build_reply(std::string_view bytes);

/// Options from a JSON object; empty for anything else.
OptionValues options_from_json(const std::string& text);

/// The other end: answers greetings and orders on child_channel until it is closed. What `conebench worker` runs.
int serve_orders();

}  // namespace conebench
