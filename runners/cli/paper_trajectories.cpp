#include "runners/cli/paper_trajectories.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>

#include "problems/text_file.hpp"
#include "reports/paper/trajectory_samples.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/plan/content_address.hpp"
#include "runners/simulation/trajectory.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using paper::TrajectorySource;

constexpr unsigned look_us = 20'000;
constexpr long most_samples = 10;
constexpr const char* maker_name = "made_by";  ///< file with the hash of the executable that made the folder
constexpr std::uintmax_t longest_maker = 1000;

std::vector<std::string> command_of(const TrajectorySource& source, const fs::path& out) {
  // Few samples: only the trajectory counts. One at least, though steps without a contact give none.
  const long every = std::max(1L, source.steps / most_samples);
  std::vector<std::string> words = {"conebench",  "generate",
                                    source.scene, "--out",
                                    out.string(), "--state",
                                    "--steps",    std::to_string(source.steps),
                                    "--set",      fmt::format("every={}", every)};
  for (const auto& [name, value] : source.options) words.insert(words.end(), {"--set", name + "=" + value});
  for (const std::string& body : source.bodies) words.insert(words.end(), {"--body", body});
  if (source.impulses) words.emplace_back("--impulses");
  return words;
}

/// Runs this executable with the words. False where it was interrupted.
Result<bool> run_self(const std::vector<std::string>& words, const std::atomic<bool>* interrupted) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  OutputCatcher output;
  const pid_t child = fork_process({.channel = -1, .output = output.descriptor()}, [&] {
    execv("/proc/self/exe", arguments.data());
    return 1;
  });
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    if (interrupted != nullptr && *interrupted) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    usleep(look_us);
  }
  if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  return Error{ErrorCode::bad_input, output.last_words()};
}

fs::path place_of(const TrajectorySource& source, const fs::path& folder) {
  std::string words;
  for (const std::string& word : command_of(source, "")) words += word + "\n";
  return folder / content_address({words});
}

/// Makes the source's folder where this executable has not. False where that was interrupted.
Result<bool> make(const TrajectorySource& source, const fs::path& folder, const std::string& executable,
                  const std::atomic<bool>* interrupted, Progress& progress) {
  const fs::path place = place_of(source, folder);
  const auto maker = read_text_file(place / maker_name, longest_maker);
  if (maker && *maker == executable) return true;
  std::error_code failed;
  const fs::path unfinished = place.string() + ".unfinished";
  fs::remove_all(place, failed);
  fs::remove_all(unfinished, failed);
  fs::create_directories(folder, failed);
  progress.note(fmt::format("simulating {}, {} steps", source.words(), source.steps));
  const auto ran = run_self(command_of(source, unfinished), interrupted);
  if (!ran) return Error{ran.error().code, fmt::format("{}: {}", source.words(), ran.error().message)};
  if (!*ran) return false;
  if (const auto written = write_files(unfinished, {{maker_name, executable}}); !written) return written.error();
  fs::rename(unfinished, place, failed);
  if (failed) return Error{ErrorCode::bad_input, fmt::format("{}: {}", place.string(), failed.message())};
  return true;
}

Result<Trajectory> read(const TrajectorySource& source, const fs::path& folder) {
  return read_trajectory(place_of(source, folder) / simulation::trajectory_name);
}

/// Of all sources that another one is compared with, by name.
Result<std::map<std::string, Trajectory>> read_references(const std::vector<TrajectorySource>& sources,
                                                          const fs::path& folder) {
  std::map<std::string, Trajectory> references;
  for (const TrajectorySource& source : sources) {
    const auto is_compared = [&](const TrajectorySource& other) { return other.reference == source.name; };
    if (!std::any_of(sources.begin(), sources.end(), is_compared)) continue;
    auto trajectory = read(source, folder);
    if (!trajectory) return trajectory.error();
    references.emplace(source.name, std::move(*trajectory));
  }
  return references;
}

}  // namespace

Result<bool> make_trajectories(const std::vector<TrajectorySource>& sources, const fs::path& folder,
                               const std::atomic<bool>* interrupted, Progress& progress) {
  const std::string executable = capture_build().executable;
  for (const TrajectorySource& source : sources) {
    const auto made = make(source, folder, executable, interrupted, progress);
    if (!made || !*made) return made;
  }
  return true;
}

Result<std::vector<paper::Sample>> trajectory_samples(const std::vector<TrajectorySource>& sources,
                                                      const fs::path& folder) {
  const auto references = read_references(sources, folder);
  if (!references) return references.error();
  std::vector<paper::Sample> all;
  for (const TrajectorySource& source : sources) {
    const auto trajectory = read(source, folder);
    if (!trajectory) return trajectory.error();
    std::optional<TrajectoryError> error;
    if (!source.reference.empty()) {
      auto compared = trajectory_error(*trajectory, references->at(source.reference));
      if (!compared) return Error{compared.error().code, source.words() + ": " + compared.error().message};
      error = std::move(*compared);
    }
    auto samples = samples_of(source, *trajectory, place_of(source, folder) / "impulses.csv", error);
    if (!samples) return samples.error();
    std::move(samples->begin(), samples->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace conebench::cli
