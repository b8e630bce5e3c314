#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json_reader.hpp"

namespace conebench::papers {

/// Names and values, as on the command line.
using SourceOptions = std::vector<std::pair<std::string, std::string>>;

/// "options" of an entry's simulation or command at `path`. Complaints go to `read`, here and below.
SourceOptions read_options(JsonReader& read, const nlohmann::json& item, const std::string& path);
/// The options with every point of its "grid".
std::vector<SourceOptions> read_grid(JsonReader& read, const nlohmann::json& item, const std::string& path,
                                     const SourceOptions& options);
/// Its "seeds"; 1 where it has none.
std::vector<long> read_seeds(JsonReader& read, const nlohmann::json& item, const std::string& path);

/// "cube-sliding direction=22.5 solver=PGS-LCP", with "seed=2" where it is not 1.
std::string source_text(const std::string& scene, const SourceOptions& options, long seed);

}  // namespace conebench::papers
