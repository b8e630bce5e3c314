#include "cli/paper_trajectories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/measured_folder.hpp"
#include "cli/run_self.hpp"
#include "papers/trajectory_samples.hpp"
#include "runners/execute/environment.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/trajectory.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using papers::TrajectorySource;

constexpr long max_samples = 10;
constexpr const char* failure_name = "ended_early";  ///< file with the reason, where the simulation blew up
constexpr std::uintmax_t max_note = 10'000;

std::vector<std::string> command_of(const TrajectorySource& source, const fs::path& out) {
  // Few samples: only the trajectory counts. One at least, though steps without a contact give none.
  const long every = std::max(1L, source.steps / max_samples);
  std::vector<std::string> arguments = {"conebench",  "generate",
                                        source.scene, "--out",
                                        out.string(), "--state",
                                        "--steps",    std::to_string(source.steps),
                                        "--set",      fmt::format("every={}", every)};
  for (const auto& [name, value] : source.options) arguments.insert(arguments.end(), {"--set", name + "=" + value});
  if (source.seed != 1) arguments.insert(arguments.end(), {"--seed", std::to_string(source.seed)});
  for (const std::string& body : source.bodies) arguments.insert(arguments.end(), {"--body", body});
  if (source.impulses) arguments.emplace_back("--impulses");
  if (source.conditioning) arguments.emplace_back("--conditioning");
  return arguments;
}

fs::path target_of(const TrajectorySource& source, const fs::path& folder) {
  return folder / folder_name(command_of(source, ""));
}

/// Simulates into the folder; nothing where that was interrupted.
Result<std::optional<std::vector<ReportFile>>> make(const TrajectorySource& source, const fs::path& folder,
                                                    const std::atomic<bool>* stop, Progress& progress) {
  progress.note(fmt::format("simulating {}, {} steps", source.text(), source.steps));
  CONEBENCH_TRY(const auto ran, run_self(command_of(source, folder), stop).within(source.text()));
  if (ran.interrupted) return std::optional<std::vector<ReportFile>>();
  std::vector<ReportFile> notes;
  if (ran.code != 0) {
    std::error_code failed;
    const bool began = fs::exists(folder / simulation::trajectory_name, failed);
    if (!began || ran.code != exit_code(ErrorCode::bad_input)) {
      return Error{ErrorCode::bad_input, fmt::format("{}: {}", source.text(), ran.last_output)};
    }
    // Its last output names the folder of the samples, which is renamed.
    const auto list = simulation::read_list(folder);
    notes.push_back({failure_name, list && !list->failure.empty() ? list->failure : ran.last_output});
  }
  return std::optional(std::move(notes));
}

/// Why it ended early.
std::optional<std::string> failure_of(const TrajectorySource& source, const fs::path& folder) {
  auto text = read_text_file(target_of(source, folder) / failure_name, max_note);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

Result<Trajectory> read(const TrajectorySource& source, const fs::path& folder) {
  auto trajectory = read_trajectory(target_of(source, folder) / simulation::trajectory_name);
  if (!trajectory && failure_of(source, folder)) return Trajectory{};  // no two steps
  return trajectory;
}

/// The numbers of samples.json.
std::map<std::string, double> run_numbers(const fs::path& target) {
  const auto list = simulation::read_list(target);
  if (!list) return {};
  std::map<std::string, double> numbers = list->sizes;
  numbers["blew_up"] = list->blown_up ? 1.0 : 0.0;
  numbers["failed"] = list->complete || list->blown_up ? 0.0 : 1.0;
  numbers["steps"] = static_cast<double>(list->summary.steps);
  return numbers;
}

using References = std::map<const TrajectorySource*, Trajectory>;

/// Of all sources that another one is compared with and that came to their end.
Result<References> read_references(const std::vector<TrajectorySource>& sources, const fs::path& folder) {
  References references;
  for (const TrajectorySource& source : sources) {
    const TrajectorySource* const reference = papers::reference_of(source, sources);
    if (reference == nullptr || references.contains(reference) || failure_of(*reference, folder)) continue;
    CONEBENCH_TRY(auto trajectory, read(*reference, folder));
    references.emplace(reference, std::move(trajectory));
  }
  return references;
}

}  // namespace

Result<bool> make_trajectories(const std::vector<TrajectorySource>& sources, const fs::path& folder,
                               const std::atomic<bool>* stop, Progress& progress) {
  const std::string executable = capture_build().executable;
  for (const TrajectorySource& source : sources) {
    const auto made = fill_once(target_of(source, folder), executable,
                                [&](const fs::path& unfinished) { return make(source, unfinished, stop, progress); });
    if (!made || !*made) return made;
  }
  return true;
}

std::vector<std::string> trajectory_failures(const std::vector<TrajectorySource>& sources, const fs::path& folder) {
  std::vector<std::string> lines;
  for (const TrajectorySource& source : sources) {
    if (const auto failure = failure_of(source, folder)) lines.push_back("ended early: " + *failure);
  }
  return lines;
}

Result<std::vector<papers::Sample>> trajectory_samples(const std::vector<TrajectorySource>& sources,
                                                       const fs::path& folder) {
  CONEBENCH_TRY(const auto references, read_references(sources, folder));
  std::vector<papers::Sample> all;
  for (const TrajectorySource& source : sources) {
    CONEBENCH_TRY(const auto trajectory, read(source, folder));
    papers::RunFacts facts{.finished = !failure_of(source, folder), .numbers = run_numbers(target_of(source, folder))};
    if (const auto reference = references.find(papers::reference_of(source, sources));
        facts.finished && reference != references.end()) {
      CONEBENCH_TRY(facts.error, trajectory_error(trajectory, reference->second).within(source.text()));
    }
    CONEBENCH_TRY(auto samples, samples_of(source, trajectory, target_of(source, folder) / "impulses.csv", facts));
    std::move(samples.begin(), samples.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace conebench::cli
