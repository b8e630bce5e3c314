#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "papers/source_options.hpp"

namespace conebench::papers {

/// A run of a command of `conebench` whose --json an entry measures.
struct CommandSource {
  std::string name;     ///< its sample's family
  std::string command;  ///< one of measuring_commands()
  std::string scene;
  SourceOptions options;  ///< of the scene; names that begin with -- are flags of the command
  long seed = 1;

  /// As source_text.
  std::string text() const;
  /// The arguments of "conebench", with --json.
  std::vector<std::string> arguments() const;
};

/// Commands that an entry can run: they take a scene and print numbers.
const std::vector<std::string>& measuring_commands();

/// An entry's list at `path`, every point of the grids and every seed spelled out. Errors go to `read`.
std::vector<CommandSource> read_commands(JsonReader& read, const nlohmann::json& list, const std::string& path);

}  // namespace conebench::papers
