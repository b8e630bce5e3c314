#include "runners/simulation/sample_folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "fclib_loader/fclib_file.hpp"

namespace conebench::simulation {

namespace fs = std::filesystem;

namespace {

/// Written last: the names of all samples.
constexpr const char* list_name = "samples.txt";

std::optional<std::vector<fs::path>> listed(const fs::path& folder) {
  std::ifstream list(folder / list_name);
  if (!list) return std::nullopt;
  std::vector<fs::path> files;
  for (std::string line; std::getline(list, line);) {
    files.push_back(folder / line);
    std::error_code ignored;
    if (!fs::exists(files.back(), ignored)) return std::nullopt;
  }
  return files;
}

Error unwritable(const fs::path& path, const std::string& why) {
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", path.string(), why)};
}

}  // namespace

std::string file_name(std::string name) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '=' || c == ',' || c == '+';
    if (!plain) c = '_';
  }
  return name + ".hdf5";
}

Result<fs::path> write_sample(const StepRecord& record, const fs::path& folder) {
  fs::path file = folder / file_name(record.problem.provenance().name);
  if (auto written = write_fclib(record.problem, file); !written) return written.error();
  return file;
}

Result<std::vector<fs::path>> samples_in(const fs::path& folder, const ScenePlan& plan, long steps) {
  if (auto known = listed(folder)) return std::move(*known);
  auto simulation = simulate(plan);
  if (!simulation) return simulation.error();
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return unwritable(folder, failed.message());
  std::vector<fs::path> files;
  const SamplingWatch watch{.sample = [&](const StepRecord& record) -> Result<std::monostate> {
                              auto file = write_sample(record, folder);
                              if (!file) return file.error();
                              files.push_back(std::move(*file));
                              return std::monostate{};
                            },
                            .step = {}};
  SamplingSummary summary;
  if (auto ran = sample(*simulation, steps, plan.options.tolerance, plan.sampling, watch, summary); !ran) {
    return ran.error();
  }
  const fs::path list = folder / list_name;
  const fs::path unfinished = folder / (std::string(list_name) + ".unfinished");
  std::ofstream stream(unfinished);
  for (const fs::path& file : files) stream << file.filename().string() << "\n";
  stream.close();
  if (stream) fs::rename(unfinished, list, failed);
  if (!stream || failed) return unwritable(list, "the disk may be full");
  return files;
}

}  // namespace conebench::simulation
