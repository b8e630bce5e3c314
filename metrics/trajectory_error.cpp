#include "metrics/trajectory_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/text_file.hpp"

namespace conebench {

namespace {

/// Bytes; a million steps of a cube are some hundred megabytes.
constexpr std::uintmax_t max_file_bytes = std::uintmax_t{4} << 30;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

double number(std::string_view cell) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = failed == std::errc{} && end == cell.data() + cell.size();
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

/// Columns of either trajectory that belong together.
struct Pairs {
  std::vector<Index> first, second;
  void add(Index a, Index b) {
    first.push_back(a);
    second.push_back(b);
  }
};

std::vector<Index> position_columns(const Trajectory& trajectory) {
  std::vector<Index> columns;
  while (const auto found = trajectory.find(fmt::format("q{}", columns.size() + 1))) columns.push_back(*found);
  return columns;
}

/// The bodies whose poses both have: the columns of their x, y and z, by name.
std::map<std::string, Pairs> common_bodies(const Trajectory& first, const Trajectory& second) {
  constexpr std::string_view ending = "_qw";
  std::map<std::string, Pairs> bodies;
  for (const std::string& column : first.columns) {
    if (!column.ends_with(ending)) continue;
    const std::string body = column.substr(0, column.size() - ending.size());
    Pairs position;
    for (const char* axis : {"_x", "_y", "_z"}) {
      const auto a = first.find(body + axis), b = second.find(body + axis);
      if (a && b) position.add(*a, *b);
    }
    if (position.first.size() == 3) bodies[body] = position;
  }
  return bodies;
}

/// A line of `fine` at a time between its first and last.
Vector line_at(const Trajectory& fine, double time) {
  const auto* const begin = fine.times.data();
  const auto* const end = begin + fine.times.size();
  const Index after = std::clamp<Index>(std::lower_bound(begin, end, time) - begin, 1, fine.times.size() - 1);
  const double t0 = fine.times[after - 1], t1 = fine.times[after];
  const double share = std::clamp((time - t0) / (t1 - t0), 0.0, 1.0);
  if (share == 0.0 || share == 1.0) return fine.values.row(share == 0.0 ? after - 1 : after);
  return (1.0 - share) * fine.values.row(after - 1) + share * fine.values.row(after);
}

void add_error(SeriesError& error, double distance, double time, double time_step) {
  error.integral += distance * time_step;
  if (std::isnan(error.largest) || distance <= error.largest) return;
  error.largest = distance;
  error.largest_at = time;
}

double distance(const Vector& first, const Vector& second, const Pairs& columns) {
  double squares = 0.0;
  for (std::size_t k = 0; k < columns.first.size(); ++k) {
    squares += std::pow(first[columns.first[k]] - second[columns.second[k]], 2);
  }
  return std::sqrt(squares);
}

}  // namespace

std::optional<Index> Trajectory::find(const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? std::nullopt : std::optional<Index>(found - columns.begin());
}

Result<Trajectory> read_trajectory(const std::filesystem::path& file) {
  const auto text = read_text_file(file, max_file_bytes);
  if (!text) return text.error();
  const auto wrong = [&](const std::string& what) {
    return Error{ErrorCode::bad_input, fmt::format("{}: {}", file.string(), what)};
  };
  auto lines = split(*text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return wrong("is empty; take the trajectory.csv of `conebench generate`");
  Trajectory trajectory;
  for (const std::string_view name : split(lines.front(), ',')) trajectory.columns.emplace_back(name);
  const auto time = trajectory.find("state_time_s");
  if (!time) return wrong("has no column state_time_s; take the trajectory.csv of `conebench generate` of this build");
  if (lines.size() < 3) return wrong("has fewer than two steps");
  const auto count = Index(lines.size()) - 1, width = Index(trajectory.columns.size());
  trajectory.values.resize(count, width);
  for (Index k = 0; k < count; ++k) {
    const auto cells = split(lines[std::size_t(k) + 1], ',');
    if (Index(cells.size()) != width) {
      return wrong(fmt::format("line {} has {} cells, the heading {}", k + 2, cells.size(), width));
    }
    for (Index c = 0; c < width; ++c) trajectory.values(k, c) = number(cells[std::size_t(c)]);
  }
  trajectory.times = trajectory.values.col(*time);
  for (Index k = 0; k < count; ++k) {
    if (k == 0 ? std::isfinite(trajectory.times[k]) : trajectory.times[k] > trajectory.times[k - 1]) continue;
    return wrong(fmt::format("line {}: state_time_s does not ascend", k + 2));
  }
  return trajectory;
}

Result<TrajectoryError> trajectory_error(const Trajectory& first, const Trajectory& second) {
  const auto incomparable = [](std::string what) { return Error{ErrorCode::bad_input, std::move(what)}; };
  Pairs positions{position_columns(first), position_columns(second)};
  if (!positions.first.empty() && !positions.second.empty() && positions.first.size() != positions.second.size()) {
    return incomparable(fmt::format("the first has {} positions, the second {}: they are of different models",
                                    positions.first.size(), positions.second.size()));
  }
  const auto bodies = common_bodies(first, second);
  TrajectoryError error;
  error.of_bodies = positions.first.empty() || positions.second.empty();
  if (error.of_bodies) {
    positions = {};
    for (const auto& [name, position] : bodies) {
      for (std::size_t k = 0; k < 3; ++k) positions.add(position.first[k], position.second[k]);
    }
    if (bodies.empty()) return incomparable("no positions in both; make them with --state, or --body NAME");
  }
  const auto k1 = first.find("kinetic_J"), k2 = second.find("kinetic_J");
  const auto p1 = first.find("potential_J"), p2 = second.find("potential_J");
  const bool energies = k1 && k2 && p1 && p2;

  const bool first_is_coarse = first.time_step() >= second.time_step();
  const Trajectory& coarse = first_is_coarse ? first : second;
  const Trajectory& fine = first_is_coarse ? second : first;
  error.time_step = coarse.time_step();
  // Sums of many steps are off by rounding.
  const double slack = 1e-6 * fine.time_step();
  if (energies) error.energy.emplace();
  for (Index k = 0; k < coarse.times.size(); ++k) {
    const double time = coarse.times[k];
    if (time < fine.times[0] - slack || time > fine.times[fine.times.size() - 1] + slack) continue;
    const Vector here = coarse.values.row(k), there = line_at(fine, time);
    const Vector& a = first_is_coarse ? here : there;
    const Vector& b = first_is_coarse ? there : here;
    ++error.times;
    error.until = time;
    add_error(error.positions, distance(a, b, positions), time, error.time_step);
    if (energies) {
      const double apart = a[*k1] + a[*p1] - b[*k2] - b[*p2];
      add_error(*error.energy, std::abs(apart), time, error.time_step);
    }
    for (const auto& [name, position] : bodies) {
      const double apart = a[position.first[2]] - b[position.second[2]];
      add_error(error.body_heights[name], std::abs(apart), time, error.time_step);
    }
  }
  if (error.times == 0) return incomparable("no time in common");
  return error;
}

}  // namespace conebench
