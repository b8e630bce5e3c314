#include "cli/run_self.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/child_process.hpp"
#include "cli/command.hpp"

namespace conebench::cli {

namespace {

constexpr unsigned look_us = 20'000;
constexpr mode_t readable = 0644;
constexpr int not_found = 127;  // as of a shell

/// `program`: a file; null: the first argument, looked up in PATH.
Result<ChildEnding> run_arguments(const char* program, const std::vector<std::string>& line,
                                  const std::atomic<bool>* stop, const std::filesystem::path& printed) {
  std::vector<std::string> copies = line;
  std::vector<char*> arguments;
  for (std::string& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  OutputCatcher output;
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    if (!printed.empty()) {
      const int file = ::open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable);
      if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0) return 1;
    }
    if (program == nullptr) {
      execvp(arguments.front(), arguments.data());
      return not_found;
    }
    execv(program, arguments.data());
    return 1;
  });
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    if (stop != nullptr && *stop) {
      kill(-child, SIGKILL);
      wait_for_end(child);
      return ChildEnding{.interrupted = true, .last_output = {}};
    }
    usleep(look_us);
  }
  const bool by_itself = ended == child && WIFEXITED(status);
  return ChildEnding{.code = by_itself ? WEXITSTATUS(status) : exit_code(ErrorCode::internal),
                     .last_output = output.last_output()};
}

}  // namespace

Result<ChildEnding> run_self(const std::vector<std::string>& arguments, const std::atomic<bool>* stop,
                             const std::filesystem::path& printed) {
  return run_arguments("/proc/self/exe", arguments, stop, printed);
}

Result<ChildEnding> run_program(const std::vector<std::string>& arguments, const std::atomic<bool>* stop) {
  return run_arguments(nullptr, arguments, stop, {});
}

}  // namespace conebench::cli
