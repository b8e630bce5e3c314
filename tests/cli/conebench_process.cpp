#include "tests/cli/conebench_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <stdexcept>

extern char** environ;

namespace conebench::testing {

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
};

/// Both streams to their ends, whichever has something.
void drain(int out, std::string& out_text, int err, std::string& err_text) {
  std::array<pollfd, 2> watched = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&out_text, &err_text};
  std::array<char, 65536> buffer{};
  int open = 2;
  while (open > 0) {
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      const ssize_t got = read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        close(watched[i].fd);
        watched[i].fd = -1;
        --open;
      }
    }
  }
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string entry = *one;
    const std::string name = entry.substr(0, entry.find('=') + 1);
    const bool replaced =
        std::any_of(added.begin(), added.end(), [&](const std::string& a) { return a.starts_with(name); });
    if (!replaced) all.push_back(entry);
  }
  return all;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& words, const RunOptions& options) {
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.out_to.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.out_to.c_str(), O_WRONLY | O_CREAT, 0644);
  }
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = environment_with(options.environment);
  auto argument_pointers = pointers(arguments);
  auto environment_pointers = pointers(environment);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words.front().c_str(), &actions, nullptr, argument_pointers.data(),
                                  environment_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  close(out.write_end);
  close(err.write_end);
  Outcome outcome;
  if (failed != 0) {
    close(out.read_end);
    close(err.read_end);
    outcome.err = std::strerror(failed);
    return outcome;
  }
  drain(out.read_end, outcome.out, err.read_end, outcome.err);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::filesystem::path executable() { return CONEBENCH_EXECUTABLE; }

Outcome conebench(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> words = {(options.executable.empty() ? executable() : options.executable).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words, options);
}

Outcome python(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"/usr/bin/python3", "-c", script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

bool python_has(const std::string& modules) { return python("import " + modules, {}).code == 0; }

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string generate(const ScratchFolder& folder, const std::vector<std::string>& scene_and_options) {
  std::vector<std::string> arguments = {"generate"};
  arguments.insert(arguments.end(), scene_and_options.begin(), scene_and_options.end());
  arguments.insert(arguments.end(), {"--out", folder.path().string()});
  const Outcome outcome = conebench(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out.substr(0, outcome.out.find('\n'));
}

void expect_failure(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.substr(0, 11), "conebench: ") << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with('\n'));
  for (const auto& part : parts) EXPECT_THAT(outcome.err, ::testing::HasSubstr(part));
}

}  // namespace conebench::testing
