#include "cli/drawings.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"

namespace conebench::cli {

namespace {

constexpr int no_program = 127;

/// gnuplot on `script` in `folder`. Nothing where it went well; else why there is no picture.
std::optional<std::string> run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  OutputCatcher output;
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    if (chdir(folder.c_str()) != 0) return 1;
    execlp("gnuplot", "gnuplot", script.c_str(), nullptr);
    return no_program;
  });
  if (child < 0) return "the system refused a new process";
  const int status = wait_for_end(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_program) {
    return "gnuplot is not installed (Debian: gnuplot-nox), so figures are left as .gp and .tex";
  }
  return fmt::format("gnuplot {}: {}", script, output.last_output());
}

}  // namespace

std::optional<std::string> draw_figures(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    if (file.extension() != ".gp") continue;
    if (auto why = run_gnuplot(file.parent_path(), file.filename().string())) return why;
  }
  return std::nullopt;
}

}  // namespace conebench::cli
