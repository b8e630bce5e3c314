#include "runners/programs/run_once.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "base/child_process.hpp"
#include "base/text_file.hpp"
#include "runners/programs/reply.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

RequestFolder::RequestFolder(const std::filesystem::path& scratch) {
  std::string pattern = (scratch / "run-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": no folder could be made");
  path_ = pattern;
}

RequestFolder::~RequestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<ProgramReply> run_once(const SolverProgram& program, Json request, const RequestFolder& folder,
                              const ProgramLimits& limits, const TakeAnswer& take) {
  const std::filesystem::path request_file = folder / "request.json", reply_file = folder / "reply.json";
  request["reply"] = reply_file.string();
  std::ofstream(request_file) << request.dump() << "\n";
  std::vector<std::string> command = program.command;
  command.push_back(request_file.string());
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const OutputCatcher output;
  // Orphans outside the program's process group become children of this process.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto children = children_of(::getpid());
  const auto begin = Clock::now();
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    ProcessLimits own;
    own.cpu_s = limits.cpu_s;
    own.file_mb = limits.file_mb;
    limit_this_process(own);
    ::execvp(arguments.front(), arguments.data());
    return 127;
  });
  const auto error = [&](const std::string& what) {
    const std::string last = output.last_output();
    const bool no_package = last.find("No module named conebench") != std::string::npos ||
                            last.find("No module named 'conebench'") != std::string::npos;
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: {}{}{}", program.command.front(), what, last.empty() ? "" : ": " + last,
                             no_package ? "; set PYTHONPATH to the build's folder python (docs/python.md)" : "")};
  };
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  const bool in_time = limits.wall_s <= 0.0 || ends_within(child, limits.wall_s);
  if (!in_time) ::kill(-child, SIGKILL);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) continue;
  ::kill(-child, SIGKILL);  // its orphans
  if (in_time && status == 0 && take) take();
  ProgramReply reply;
  reply.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  reply.processor_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  end_children({children.begin(), children.end()});
  if (!in_time) return error(fmt::format("it did not end within {:g} s", limits.wall_s));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    const std::string& file = program.command.front();
    const bool script = std::filesystem::is_regular_file(file) && ::access(file.c_str(), X_OK) != 0;
    return error(script
                     ? "can't be started: not executable; name its interpreter before it (\"python3 FILE\") or chmod +x"
                     : "can't be started");
  }
  if (status != 0) return error("ended by " + ending_text(status));
  std::error_code none;
  if (const auto bytes = std::filesystem::file_size(reply_file, none); !none && bytes > largest_reply) {
    return error(too_long);
  }
  const auto text = read_text_file(reply_file, largest_reply);
  if (!text) return error("wrote no reply");
  reply.object = parse_reply(*text);
  if (!reply.object.is_object()) return error("its reply is no JSON object");
  return reply;
}

}  // namespace conebench
