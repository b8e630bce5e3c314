#include "papers/trajectory_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

namespace conebench::papers {

namespace {

using Json = nlohmann::json;
using Options = SourceOptions;

constexpr long max_steps = 10'000'000;
constexpr double default_step_s = 1e-3;

double time_step_of(const Options& options) {
  const auto found = std::find_if(options.begin(), options.end(), [](const auto& o) { return o.first == "time_step"; });
  return found == options.end() ? default_step_s : std::strtod(found->second.c_str(), nullptr);
}

/// "steps", or "seconds" by the time step of each point.
long steps_of(JsonReader& read, const Json& item, const std::string& path, const Options& options) {
  if (item.contains("steps") == item.contains("seconds")) {
    read.fail(path, "must have either \"steps\" or \"seconds\"");
    return 0;
  }
  if (item.contains("steps")) return read.integer(item["steps"], child_path(path, "steps"), 1, max_steps);
  const double seconds = read.number(item["seconds"], child_path(path, "seconds"), 0.0, 1e6);
  const double steps = std::round(seconds / time_step_of(options));
  if (!(steps >= 1.0 && steps <= static_cast<double>(max_steps))) {
    read.fail(path, fmt::format("makes {:g} steps; 1 to {} are possible", steps, max_steps));
    return 0;
  }
  return std::lround(steps);
}

void read_one(JsonReader& read, const Json& item, const std::string& path, std::vector<TrajectorySource>& sources) {
  if (!read.is_object(item, path,
                      {"name", "scene", "options", "grid", "seeds", "steps", "seconds", "bodies", "impulses",
                       "conditioning", "every", "reference"})) {
    return;
  }
  for (const char* const key : {"name", "scene"}) {
    if (!item.contains(key)) return read.fail(child_path(path, key), "is missing");
  }
  TrajectorySource source;
  source.name = read.text(item["name"], child_path(path, "name"));
  source.scene = read.text(item["scene"], child_path(path, "scene"));
  if (item.contains("impulses")) source.impulses = read.flag(item["impulses"], child_path(path, "impulses"));
  if (item.contains("conditioning")) {
    source.conditioning = read.flag(item["conditioning"], child_path(path, "conditioning"));
  }
  if (item.contains("every")) source.every = read.integer(item["every"], child_path(path, "every"), 1, max_steps);
  if (item.contains("reference")) source.reference = read.text(item["reference"], child_path(path, "reference"));
  for (const Json& body : item.value("bodies", Json::array())) {
    source.bodies.push_back(read.text(body, child_path(path, "bodies")));
  }
  const Options options = read_options(read, item, path);
  const auto seeds = read_seeds(read, item, path);
  for (const Options& point : read_grid(read, item, path, options)) {
    for (const long seed : seeds) {
      if (read.error()) return;
      sources.push_back(source);
      sources.back().options = point;
      sources.back().seed = seed;
      sources.back().steps = steps_of(read, item, path, point);
    }
  }
}

}  // namespace

std::string TrajectorySource::text() const { return source_text(scene, options, seed); }

const TrajectorySource* reference_of(const TrajectorySource& source, const std::vector<TrajectorySource>& sources) {
  std::vector<const TrajectorySource*> named, seeded;
  for (const TrajectorySource& other : sources) {
    if (other.name != source.reference) continue;
    named.push_back(&other);
    if (other.seed == source.seed) seeded.push_back(&other);
  }
  const auto& fitting = named.size() == 1 ? named : seeded;
  return fitting.size() == 1 ? fitting.front() : nullptr;
}

std::vector<TrajectorySource> read_trajectories(JsonReader& read, const Json& list, const std::string& path) {
  std::vector<TrajectorySource> sources;
  if (!list.is_array() || list.empty()) {
    read.fail(path, "must be a list of simulations");
    return sources;
  }
  for (std::size_t i = 0; i < list.size() && !read.error(); ++i) read_one(read, list[i], child_path(path, i), sources);
  for (const TrajectorySource& source : sources) {
    if (source.reference.empty() || reference_of(source, sources) != nullptr) continue;
    read.fail(
        path,
        fmt::format(
            "the reference '{}' of '{}' is the name of no simulation, or of several, and not of one with its seed",
            source.reference, source.name));
  }
  return sources;
}

}  // namespace conebench::papers
