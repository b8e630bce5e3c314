#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}

namespace conebench::cli {

/// One topic of `list` in its three forms. The Markdown of solvers, scenes, commands and tables is docs/options.md,
/// docs/scenes.md, docs/command_line.md and docs/papers.md.
struct Listing {
  std::string topic;
  std::string text;
  std::string markdown;
  std::function<nlohmann::json()> json;  ///< {"solvers": […]}
};

Listing list_solvers();
Listing list_scenes();
Listing list_metrics();
Listing list_suites();
/// Tables, figures and numbers of papers with their last verdicts: of `results`, a folder that `paper` wrote, else
/// those that come along. Errors (internal): a built-in entry is wrong.
Result<Listing> list_tables(const std::filesystem::path& results = {});
/// One solver, scene or suite with its options. Errors (wrong_usage): an unknown name; a topic without names.
Result<Listing> list_one(const std::string& topic, const std::string& name);
/// What `list` takes as its first word.
const std::vector<std::string>& list_topics();
/// Of a word that is none: what is listed, and what was probably meant.
Error unknown_topic(const std::string& word);
/// Every command of `root` with its help.
Listing list_commands(const CLI::App& root);

}  // namespace conebench::cli
