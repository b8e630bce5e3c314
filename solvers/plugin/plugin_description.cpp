#include "solvers/plugin/plugin_description.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/child_process.hpp"
#include "base/utf8.hpp"
#include "solvers/plugin/plugin_file.hpp"
#include "solvers/shared_library.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds max_time_to_load{20};

constexpr std::uint32_t oldest_version = 1;
/// The first whose problems have intervals and any law of friction.
constexpr std::uint32_t version_with_cones = 2;

/// In front of a description and of a failure.
constexpr char described = '+';
constexpr char failed = '-';

constexpr std::array<std::pair<unsigned, const char*>, 3> uses_names = {
    {{CONEBENCH_BLOCKS, "blocks"}, {CONEBENCH_DENSE, "dense"}, {CONEBENCH_PRIMAL, "primal"}}};

std::string text(const char* bytes) { return bytes == nullptr ? std::string() : valid_utf8(bytes); }

Json option_json(const conebench_option& option) {
  Json json = {{"name", text(option.name)}, {"doc", text(option.doc)}};
  if (option.unit != nullptr) json["unit"] = text(option.unit);
  if (option.logarithmic != 0) json["logarithmic"] = true;
  const bool bounded = option.minimum != 0.0 || option.maximum != 0.0;
  switch (option.type) {
    case CONEBENCH_REAL: json["type"] = "real"; break;
    case CONEBENCH_INTEGER: json["type"] = "integer"; break;
    case CONEBENCH_FLAG: json["type"] = "flag"; break;
    case CONEBENCH_TEXT: json["type"] = "text"; break;
  }
  if (option.type == CONEBENCH_TEXT) {
    json["default"] = text(option.default_text);
    for (const char* const* choice = option.choices; choice != nullptr && *choice != nullptr; ++choice) {
      json["choices"].push_back(text(*choice));
    }
    return json;
  }
  json["default"] = option.default_number;
  if (option.type == CONEBENCH_FLAG) json["default"] = option.default_number != 0.0;
  if (option.type == CONEBENCH_INTEGER) json["default"] = static_cast<std::int64_t>(option.default_number);
  if (bounded && option.type != CONEBENCH_FLAG) {
    json["minimum"] = option.minimum;  // infinite: null, which is none
    json["maximum"] = option.maximum;
  }
  return json;
}

const char* word_of(conebench_formulation formulation) {
  switch (formulation) {
    case CONEBENCH_NCP: return "NCP";
    case CONEBENCH_CCP: return "CCP";
    case CONEBENCH_LCP: return "LCP";
    case CONEBENCH_MODEL: return "model";
  }
  return "unknown";
}

Json solver_json(const conebench_solver& solver, std::uint32_t version) {
  const auto takes = [&](unsigned flag) { return (solver.takes & flag) != 0; };
  const bool sees_cones = version >= version_with_cones;
  const auto trait = [&](unsigned flag) { return (solver.traits & flag) != 0; };
  Json json = {{"id", text(solver.id)},
               {"name", text(solver.name)},
               {"citation", text(solver.citation)},
               {"summary", text(solver.summary)},
               {"version", solver.version},
               {"formulation", word_of(solver.formulation)},
               {"joints", takes(CONEBENCH_JOINTS)},
               {"limits", takes(CONEBENCH_LIMITS)},
               {"compliance", takes(CONEBENCH_COMPLIANCE)},
               {"two_dimensional", takes(CONEBENCH_PLANE)},
               {"rolling", takes(CONEBENCH_ROLLING)},
               {"intervals", sees_cones && takes(CONEBENCH_INTERVALS)},
               {"friction_cones", sees_cones && takes(CONEBENCH_FRICTION_CONES)},
               {"needs_symmetry", trait(CONEBENCH_NEEDS_SYMMETRY)},
               {"rotation_invariant", trait(CONEBENCH_TURNS_WITH_FRAMES)},
               {"scale_invariant", trait(CONEBENCH_SCALES_WITH_UNITS)},
               {"observed_every_iteration", !trait(CONEBENCH_OBSERVED_IN_STEPS)},
               {"allocates", trait(CONEBENCH_ALLOCATES)             ? "yes"
                             : trait(CONEBENCH_ALLOCATES_TO_FACTOR) ? "refactor"
                                                                    : "no"},
               {"uses", Json::array()},
               {"options", Json::array()}};
  for (const auto& [flag, word] : uses_names) {
    if ((solver.uses & flag) != 0) json["uses"].push_back(word);
  }
  for (std::size_t k = 0; k < solver.option_count; ++k) json["options"].push_back(option_json(solver.options[k]));
  return json;
}

Json peer_json(const conebench_peer& peer) {
  return {{"version", text(peer.version)}, {"released", text(peer.released)}, {"build", text(peer.build)}};
}

std::string answer_of(const std::string& file) {
  const PluginFile library = open_plugin(file);
  if (!library.failure.empty()) return failed + library.failure;
  Json list = Json::array();
  for (std::size_t k = 0; k < library.plugin->solver_count; ++k) {
    const conebench_solver& solver = library.plugin->solvers[k];
    if (solver.prepare == nullptr || solver.solve == nullptr || solver.release == nullptr) {
      return fmt::format("{}its solver {} ('{}') lacks prepare, solve or release", failed, k + 1, text(solver.id));
    }
    list.push_back(solver_json(solver, library.plugin->interface_version));
    const conebench_peer* const peer = library.peer == nullptr ? nullptr : library.peer(k);
    if (peer != nullptr) list.back()["peer"] = peer_json(*peer);
    const conebench_many* const many = library.many == nullptr ? nullptr : library.many(k);
    if (many != nullptr && (many->prepare == nullptr || many->solve == nullptr || many->release == nullptr)) {
      return fmt::format("{}its solver {} ('{}') lacks prepare, solve or release of many problems", failed, k + 1,
                         text(solver.id));
    }
    list.back()["many"] = many != nullptr;
  }
  return described + list.dump();
}

}  // namespace

PluginFile open_plugin(const std::string& file) {
  const SharedLibrary library(file.c_str());
  if (!library.failure().empty()) return {nullptr, "can't be loaded: " + library.failure()};
  const conebench_plugin* (*entry)() = nullptr;
  SharedLibrary asked = library;
  asked.find(entry, "conebench_plugin_entry");
  if (entry == nullptr) {
    return {nullptr, "has no function conebench_plugin_entry; include conebench/solver_plugin.h and define it"};
  }
  const conebench_plugin* const plugin = entry();
  if (plugin == nullptr) return {nullptr, "its conebench_plugin_entry gave nothing"};
  if (plugin->interface_version < oldest_version || plugin->interface_version > CONEBENCH_PLUGIN_VERSION) {
    return {nullptr,
            fmt::format("is built for version {} of the plug-in interface, this Conebench takes {} to {}; build "
                        "it with this Conebench's solver_plugin.h",
                        plugin->interface_version, oldest_version, CONEBENCH_PLUGIN_VERSION)};
  }
  if (plugin->solver_count == 0 || plugin->solvers == nullptr) return {nullptr, "has no solver"};
  PluginFile found{.plugin = plugin};
  asked.find_optional(found.peer, "conebench_plugin_peer");
  asked.find_optional(found.many, "conebench_plugin_many");
  return found;
}

Result<std::string> describe_plugin(const std::filesystem::path& file) {
  const std::string name = one_line(file.string());
  const auto error = [&](const std::string& what) { return Error{ErrorCode::bad_input, name + ": " + what}; };
  std::error_code failure;
  // Without a '/' the system would look in its own folders.
  const std::filesystem::path whole = std::filesystem::absolute(file, failure);
  if (failure || !std::filesystem::is_regular_file(whole, failure)) return error("no such file");
  auto channel = make_channel();
  if (!channel) return Error{ErrorCode::internal, "the system gave no channel to a new process"};
  auto& [in, out] = *channel;
  const OutputCatcher output;
  const pid_t child = fork_process({.channel = out.number(), .output = output.descriptor()}, [&] {
    ProcessLimits limits;
    limits.cpu_s = std::chrono::duration<double>(max_time_to_load).count();
    limits.file_mb = 16.0;
    limit_this_process(limits);
    return write_all(child_channel, answer_of(whole.string())) ? 0 : 1;
  });
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  out.close();
  const auto until = Clock::now() + max_time_to_load;
  const auto answer = read_to_end(in.number(), [&] {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()),
                    std::chrono::milliseconds::zero());
  });
  ::kill(-child, SIGKILL);  // whatever it left behind; where it still runs, itself
  const int status = wait_for_end(child);
  if (!answer) return error(fmt::format("it was not loaded within {} s", max_time_to_load.count()));
  if (!answer->empty() && answer->front() == described) return answer->substr(1);
  if (!answer->empty() && answer->front() == failed) return error(one_line(answer->substr(1)));
  const std::string printed = output.last_output();
  return error(
      fmt::format("it ended while it was loaded, by {}{}", ending_text(status), printed.empty() ? "" : ": " + printed));
}

}  // namespace conebench
