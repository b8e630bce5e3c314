#include "papers/trajectory_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "base/text_file.hpp"

namespace conebench::papers {

namespace {

constexpr std::uintmax_t largest_impulses = std::uintmax_t{4} << 30;
constexpr std::array<const char*, 3> force_columns = {"force_x", "force_y", "force_z"};

using Forces = std::map<long, std::array<double, 3>>;  ///< by step, largest |component| of a contact's force

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number_of(std::string_view text) {
  double number = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Forces> largest_forces(const std::filesystem::path& file) {
  CONEBENCH_TRY(const auto text, read_text_file(file, largest_impulses));
  const auto lines = split(text, '\n');
  const auto heading = split(lines.front(), ',');
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(heading.begin(), heading.end(), name) - heading.begin());
  };
  Forces forces;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto cells = split(lines[k], ',');
    if (cells.size() != heading.size()) continue;  // the end
    const auto step = number_of(cells[column("step")]);
    if (!step) return Error{ErrorCode::bad_input, fmt::format("{}: line {} has no step", file.string(), k + 1)};
    auto& most = forces.try_emplace(std::lround(*step), std::array<double, 3>{}).first->second;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t location = column(force_columns[axis]);
      if (location < cells.size())
        most[axis] = std::max(most[axis], std::abs(number_of(cells[location]).value_or(0.0)));
    }
  }
  return forces;
}

/// What all steps of the run share.
Sample sample_of_run(const TrajectorySource& source, const RunFacts& facts) {
  Sample sample;
  sample.subject.family = source.name;
  sample.subject.source = sample.subject.problem = source.text();
  sample.numbers["cells"] = 1.0;
  sample.numbers["run.finished"] = facts.finished ? 1.0 : 0.0;
  sample.numbers["scene.seed"] = static_cast<double>(source.seed);
  for (const auto& [name, value] : source.options) {
    if (name == "solver") sample.subject.solver = sample.subject.configuration = value;
    if (const auto number = number_of(value)) sample.numbers["scene." + name] = *number;
  }
  for (const auto& [name, number] : facts.numbers) sample.numbers["run." + name] = number;
  if (facts.error) {
    sample.numbers["run.error"] = facts.error->positions.integral;
    sample.numbers["run.largest"] = facts.error->positions.largest;
    if (facts.error->energy) sample.numbers["run.energy_error"] = facts.error->energy->integral;
  }
  return sample;
}

}  // namespace

Result<std::vector<Sample>> samples_of(const TrajectorySource& source, const Trajectory& trajectory,
                                       const std::filesystem::path& impulses, const RunFacts& facts) {
  Forces forces;
  if (source.impulses) {
    CONEBENCH_TRY(forces, largest_forces(impulses));
  }
  const Sample run = sample_of_run(source, facts);
  std::vector<Sample> samples;
  for (Index k = 0; k < trajectory.values.rows(); k += source.every) {
    Sample sample = run;
    for (std::size_t c = 0; c < trajectory.columns.size(); ++c) {
      const double value = trajectory.values(k, static_cast<Index>(c));
      if (std::isfinite(value)) sample.numbers["step." + trajectory.columns[c]] = value;
    }
    const auto found = forces.find(k + 1);
    if (source.impulses) {
      const auto most = found == forces.end() ? std::array<double, 3>{} : found->second;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sample.numbers[std::string("step.max_") + force_columns[axis]] = most[axis];
      }
    }
    samples.push_back(std::move(sample));
  }
  if (!facts.finished) samples.push_back(run);
  return samples;
}

}  // namespace conebench::papers
