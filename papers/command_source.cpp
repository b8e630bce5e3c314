#include "papers/command_source.hpp"

#include <nlohmann/json.hpp>

namespace conebench::papers {

namespace {

using Json = nlohmann::json;

/// An entry is data: it may not name code to run, nor add another option through a value.
bool is_harmless(const std::string& name, const std::string& value) {
  if (!name.starts_with("--")) return true;
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  return plain && name != "--plugin" && name != "--program" && !value.starts_with("--");
}

void read_one(JsonReader& read, const Json& item, const std::string& path, std::vector<CommandSource>& sources) {
  if (!read.is_object(item, path, {"name", "command", "scene", "options", "grid", "seeds"})) return;
  for (const char* const key : {"name", "command", "scene"}) {
    if (!item.contains(key)) return read.fail(child_path(path, key), "is missing");
  }
  CommandSource source;
  source.name = read.text(item["name"], child_path(path, "name"));
  source.command = read.choice(item["command"], child_path(path, "command"), measuring_commands());
  source.scene = read.text(item["scene"], child_path(path, "scene"));
  if (source.scene.starts_with("-")) read.fail(child_path(path, "scene"), "must be a scene or a file, not an option");
  const SourceOptions options = read_options(read, item, path);
  const auto seeds = read_seeds(read, item, path);
  for (const SourceOptions& point : read_grid(read, item, path, options)) {
    for (const long seed : seeds) {
      for (const auto& [name, value] : point) {
        if (is_harmless(name, value)) continue;
        read.fail(child_path(path, "options"),
                  "'" + name + "' with '" + value + "' is no option that an entry may give");
      }
      if (read.error()) return;
      sources.push_back(source);
      sources.back().options = point;
      sources.back().seed = seed;
    }
  }
}

}  // namespace

std::string CommandSource::text() const { return source_text(scene, options, seed); }

std::vector<std::string> CommandSource::arguments() const {
  std::vector<std::string> line = {command, scene, "--json"};
  for (const auto& [option, value] : options) {
    if (!option.starts_with("--")) {
      line.insert(line.end(), {"--set", option + "=" + value});
    } else if (value == "true") {
      line.push_back(option);
    } else if (value != "false") {
      line.insert(line.end(), {option, value});
    }
  }
  if (seed != 1) line.insert(line.end(), {"--seed", std::to_string(seed)});
  return line;
}

const std::vector<std::string>& measuring_commands() {
  static const std::vector<std::string> commands = {"inverse-dynamics", "loop"};
  return commands;
}

std::vector<CommandSource> read_commands(JsonReader& read, const Json& list, const std::string& path) {
  std::vector<CommandSource> sources;
  if (!list.is_array() || list.empty()) {
    read.fail(path, "must be a list of commands");
    return sources;
  }
  for (std::size_t i = 0; i < list.size() && !read.error(); ++i) read_one(read, list[i], child_path(path, i), sources);
  return sources;
}

}  // namespace conebench::papers
