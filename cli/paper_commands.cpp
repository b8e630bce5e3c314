#include "cli/paper_commands.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/text_file.hpp"
#include "cli/command.hpp"
#include "cli/measured_folder.hpp"
#include "cli/run_self.hpp"
#include "papers/command_samples.hpp"
#include "runners/execute/environment.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using papers::CommandSource;

constexpr const char* printed_name = "printed.json";
constexpr std::uintmax_t max_output = std::uintmax_t{16} << 20;

fs::path target_of(const CommandSource& source, const fs::path& folder) {
  return folder / folder_name(source.arguments());
}

/// Nothing where it was interrupted.
Result<std::optional<std::vector<ReportFile>>> run(const CommandSource& source, const fs::path& folder,
                                                   const std::atomic<bool>* stop, Progress& progress) {
  progress.note(fmt::format("running {} {}", source.command, source.text()));
  const auto wrong = [&](const std::string& what) {
    return Error{ErrorCode::bad_input, fmt::format("{} {}: {}", source.command, source.text(), what)};
  };
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return wrong(failed.message());
  std::vector<std::string> arguments = source.arguments();
  arguments.insert(arguments.begin(), "conebench");
  const auto ran = run_self(arguments, stop, folder / printed_name);
  if (!ran) return wrong(ran.error().message);
  if (ran->interrupted) return std::optional<std::vector<ReportFile>>();
  if (ran->code != done && ran->code != gate_failed) return wrong(ran->last_output);
  return std::optional(std::vector<ReportFile>());
}

}  // namespace

Result<bool> run_commands(const std::vector<CommandSource>& sources, const fs::path& folder,
                          const std::atomic<bool>* stop, Progress& progress) {
  const std::string executable = capture_build().executable;
  for (const CommandSource& source : sources) {
    const auto ran = fill_once(target_of(source, folder), executable,
                               [&](const fs::path& unfinished) { return run(source, unfinished, stop, progress); });
    if (!ran || !*ran) return ran;
  }
  return true;
}

Result<std::vector<papers::Sample>> command_samples(const std::vector<CommandSource>& sources, const fs::path& folder) {
  std::vector<papers::Sample> samples;
  for (const CommandSource& source : sources) {
    CONEBENCH_TRY(const auto text, read_text_file(target_of(source, folder) / printed_name, max_output));
    CONEBENCH_TRY(auto sample, sample_of(source, text));
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace conebench::cli
