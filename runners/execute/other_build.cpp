#include "runners/execute/other_build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "base/content_address.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/watched_worker.hpp"
#include "runners/plan/cell_plan.hpp"

namespace conebench {

namespace {

constexpr double greeting_s = 20.0;
constexpr int max_external_kills = 10;

struct Launch {
  std::vector<std::string> words;     ///< of the command line, the executable first
  std::filesystem::path output = {};  ///< file that gets standard output; empty: the catcher
  ProcessLimits limits = {};
};

/// Forks and becomes the executable, with the channel as child_channel.
std::optional<Worker> start_executable(const Launch& launch, const OutputCatcher& output) {
  auto channel = make_channel();
  if (!channel) return std::nullopt;
  std::vector<char*> words;
  for (const std::string& word : launch.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Worker worker;
  worker.process = fork_process({channel->second.number(), output.descriptor()}, [&] {
    fcntl(child_channel, F_SETFD, 0);
    if (!launch.output.empty()) {
      const int file = open(launch.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      if (file < 0 || dup2(file, STDOUT_FILENO) < 0) return 126;
    }
    limit_this_process(launch.limits);
    execv(words[0], words.data());
    return 127;
  });
  if (worker.process < 0) return std::nullopt;
  worker.channel = std::move(channel->first);
  return worker;
}

/// How a process ended, with the frame that it sent.
struct Ended {
  std::optional<Frame> frame;
  WorkerEnd end;
  bool late = false;
  bool started = true;
};

/// `limit_s`: of the process's own processor time. `request`: sent first, where not empty. Ends with the first frame,
/// or where `whole`, with the process.
Ended follow(const Launch& launch, const std::string& request, double limit_s, bool whole,
             const std::atomic<bool>* interrupted) {
  Ended ended;
  WatchedWorker process;
  ended.started = process.start([&](const OutputCatcher& output) { return start_executable(launch, output); });
  if (!ended.started) return ended;
  process.limit_processor(limit_s, fmt::format("killed after {:g} s of the processor", limit_s), true);
  if (!request.empty()) write_all(process.channel(), request);  // where it is gone, its end says so
  for (;;) {
    wait_for_any({&process});
    const bool alive = process.read();
    if (!ended.frame) ended.frame = process.next_frame();
    if ((ended.frame && !whole) || (interrupted != nullptr && *interrupted)) process.kill_now("done");
    if (!process.running()) return ended;
    ended.late = process.enforce(monotonic_seconds(), 0) || ended.late;
    if (alive && !process.spoilt()) continue;
    ended.end = process.reap();
    ended.late = ended.late && !ended.end.starved;
    return ended;
  }
}

BuildReply without_answer(const BuildOrder& order, CellStatus status, std::string reason) {
  BuildReply reply{std::nullopt, blank_record(order.request)};
  reply.record.status = status;
  reply.record.reason = std::move(reason);
  return reply;
}

/// Runs `attempt` until it replies: a kill from outside is forgiven, a crash once.
BuildReply insist(const BuildOrder& order, const std::atomic<bool>* interrupted,
                  const std::function<std::pair<Ended, std::optional<BuildReply>>()>& attempt) {
  int outside_kills = 0;
  for (int crashes = 0;;) {
    auto [ended, reply] = attempt();
    if (reply) return std::move(*reply);
    if (interrupted != nullptr && *interrupted) return without_answer(order, CellStatus::skipped, "interrupted");
    if (ended.late) return without_answer(order, CellStatus::timeout, ended.end.why);
    if (ended.end.starved) return {Error{ErrorCode::killed, "its process: " + ended.end.why}, {}};
    if (!ended.started || ended.end.from_outside) {
      if (++outside_kills < max_external_kills) continue;
      if (!ended.started) return {Error{ErrorCode::killed, "the system refused a new process"}, {}};
      return {Error{ErrorCode::killed, "its process was killed from outside: " + ended.end.why}, {}};
    }
    if (++crashes < 2) continue;
    return without_answer(order, CellStatus::crashed, "the build's process ended without a reply: " + ended.end.why);
  }
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// "conebench 0.1.0 (c9b21183d3c8, GNU 12.2.0, Release, native)" → the same in a record; nullopt for other programs.
std::optional<BuildRecord> parse_version_line(const std::string& line) {
  const auto open = line.find(" (");
  const auto close = line.rfind(')');
  const std::string name = "conebench ";
  if (!line.starts_with(name) || open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  BuildRecord build;
  build.version = line.substr(name.size(), open - name.size());
  std::istringstream parts(line.substr(open + 2, close - open - 2));
  std::vector<std::string> words;
  for (std::string word; std::getline(parts, word, ',');) words.push_back(word.substr(word.find_first_not_of(' ')));
  words.resize(std::max<std::size_t>(words.size(), 3));
  build.commit = words[0];
  build.compiler = words[1];
  build.build_type = words[2];
  build.native = words.size() > 3 && words[3] == "native";
  return build;
}

void take_counter(const nlohmann::json& object, const char* key, std::int64_t& into) {
  into = object.contains(key) && object[key].is_number() ? object[key].get<std::int64_t>() : -1;
}

/// What `solve --json` of any build since the first prints.
std::optional<BuildReply> parse_solve(const BuildOrder& order, const std::string& text) {
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("status") || !object["status"].is_string()) return std::nullopt;
  const auto real = [&](const char* key) {
    return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
  };
  const auto yes = [&](const char* key) { return object.contains(key) && object[key] == true; };
  BuildReply reply{std::nullopt, blank_record(order.request)};
  CellRecord& record = reply.record;
  record.status = cell_status(object["status"].get<std::string>());
  if (record.status == CellStatus::unknown) return std::nullopt;
  if (object.contains("reason") && object["reason"].is_string()) record.reason = object["reason"].get<std::string>();
  record.claimed = yes("claimed");
  if (object.contains("stage") && object["stage"].is_string()) record.stage = object["stage"].get<std::string>();
  record.solved_symmetrised = yes("solved_symmetrised");
  record.compliance_share = real("compliance_share");
  record.own_residual_known = object.contains("own_residual") && object["own_residual"].is_number();
  record.own_residual = real("own_residual");
  take_counter(object, "iterations", record.iterations);
  take_counter(object, "factorizations", record.factorizations);
  take_counter(object, "operator_products", record.operator_products);
  if (object.contains("options") && object["options"].is_object()) {
    // Of its version it says nothing.
    reply.setting = setting_record(*find_solver(order.request.solver), options_from_json(object["options"].dump()));
  }
  const auto once = [](double seconds) { return TimingRecord{seconds, seconds, seconds, 0.0}; };
  record.setup = once(real("setup_s"));
  record.solve = once(real("solve_s"));
  record.total = once(real("setup_s") + real("solve_s"));
  if (record.total.cold > 0.0) {
    record.repeats = 1;
    RoundRecord& round = record.timed_rounds.emplace_back();
    round.minimum = round.median = record.total.minimum;
  }
  return reply;
}

std::vector<std::string> solve_words(const std::filesystem::path& executable, const BuildOrder& order,
                                     const std::filesystem::path& problem) {
  const CellRequest& request = order.request;
  std::vector<std::string> words = {executable.string(),
                                    "solve",
                                    problem.string(),
                                    "--solver",
                                    request.solver,
                                    "--tolerance",
                                    exact_text(request.tolerance),
                                    "--max-iterations",
                                    std::to_string(request.max_iterations),
                                    "--time-limit",
                                    exact_text(request.seconds),
                                    "--criterion",
                                    to_string(request.criterion),
                                    "--verdict",
                                    request.verdict,
                                    "--start",
                                    to_string(request.start),
                                    "--json",
                                    "--write-solution",
                                    order.solution.string()};
  for (const auto& [name, value] : request.options) {
    words.emplace_back("--set");
    words.push_back(name + "=" + to_text(value));
  }
  return words;
}

constexpr int wrong_usage_code = 2;
std::string code_text(int code) { return fmt::format("exit code {}", code); }

}  // namespace

OtherBuild::OtherBuild(std::filesystem::path executable, BuildRecord build, bool speaks, bool probes)
    : executable_(std::move(executable)), build_(std::move(build)), speaks_(speaks), probes_(probes) {}

Result<OtherBuild> OtherBuild::greet(const std::filesystem::path& executable, const std::atomic<bool>* interrupted) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {}", executable.string(), why)};
  };
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(executable, ignored) || access(executable.c_str(), X_OK) != 0) {
    return refused("no executable file; give the path of another conebench");
  }
  const auto path = std::filesystem::absolute(executable);
  const Ended asked = follow({{path.string(), "worker", "--protocol", std::to_string(build_protocol)}},
                             encode_frame(FrameKind::greeting, {}), greeting_s, false, interrupted);
  if (asked.frame) {
    const auto greeting = decode_build_greeting(asked.frame->payload);
    if (!greeting) return refused("its greeting makes no sense");
    if (greeting->protocol != build_protocol) {
      return refused(fmt::format("speaks protocol {}, this build {}; run the newer of the two with --beside the older",
                                 greeting->protocol, build_protocol));
    }
    return OtherBuild(path, greeting->build, true, greeting->probes);
  }
  std::string name = (std::filesystem::temp_directory_path(ignored) / "conebench-version-XXXXXX").string();
  const Descriptor file(mkstemp(name.data()));
  follow({{path.string(), "--version"}, name}, {}, greeting_s, true, interrupted);
  auto build = parse_version_line(text_of(name));
  std::filesystem::remove(name, ignored);
  if (!build) return refused(fmt::format("is no conebench that runs here ({})", asked.end.why));
  build->executable = file_address(path);
  return OtherBuild(path, std::move(*build), false, false);
}

BuildReply OtherBuild::carry_out(const BuildOrder& order, const std::atomic<bool>* interrupted) const {
  const Launch launch{{executable_.string(), "worker", "--protocol", std::to_string(build_protocol)}};
  const std::string request = encode_frame(FrameKind::build_order, encode(order));
  // The worker keeps the limits itself; this is for one that hangs.
  const double limit_s = CellTime(order.request.seconds).hang_s();
  return insist(order, interrupted, [&]() -> std::pair<Ended, std::optional<BuildReply>> {
    Ended ended = follow(launch, request, limit_s, false, interrupted);
    auto reply = ended.frame ? decode_build_reply(ended.frame->payload) : std::nullopt;
    return {std::move(ended), std::move(reply)};
  });
}

BuildReply OtherBuild::solve_by_command(const BuildOrder& order, const std::filesystem::path& problem,
                                        const std::atomic<bool>* interrupted) const {
  Launch launch{solve_words(executable_, order, problem), order.solution.string() + ".json"};
  const double limit_s = CellTime(order.request.seconds).command_s();
  launch.limits.cpu_s = limit_s;
  launch.limits.address_mb = 1.25 * static_cast<double>(order.memory_mb) + 256.0;
  launch.limits.oom_score = 1000;
  launch.limits.pinned_processor = order.pinned_processor;
  return insist(order, interrupted, [&]() -> std::pair<Ended, std::optional<BuildReply>> {
    std::error_code ignored;
    std::filesystem::remove(order.solution, ignored);
    Ended ended = follow(launch, {}, limit_s, true, interrupted);
    const std::string& why = ended.end.why;
    if (why.starts_with(code_text(wrong_usage_code))) {
      return {std::move(ended), BuildReply{Error{ErrorCode::wrong_usage, why}, {}}};
    }
    return {std::move(ended), parse_solve(order, text_of(launch.output))};
  });
}

}  // namespace conebench
