#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "papers/source_options.hpp"

namespace conebench::papers {

/// A simulation whose steps an entry measures (docs/trajectories.md).
struct TrajectorySource {
  std::string name;  ///< its samples' family
  std::string scene;
  SourceOptions options;
  long seed = 1;
  long steps = 0;
  std::vector<std::string> bodies;  ///< whose poses and forces it has
  bool impulses = false;
  bool conditioning = false;
  long every = 1;         ///< one step of so many is a sample
  std::string reference;  ///< name of what it is compared with, of several that with its seed; empty: none

  /// As source_text.
  std::string text() const;
};

/// What it is compared with; null where that is none or several.
const TrajectorySource* reference_of(const TrajectorySource& source, const std::vector<TrajectorySource>& sources);

/// An entry's list at `path`, every point of the grids and every seed spelled out. Complaints go to `read`.
std::vector<TrajectorySource> read_trajectories(JsonReader& read, const nlohmann::json& list, const std::string& path);

}  // namespace conebench::papers
