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
/// docs/scenes.md, docs/command_line.md and docs/papers.md, of fields docs/fields.md.
struct Listing {
  std::string topic;
  std::string text;
  std::string markdown;
  std::function<nlohmann::json()> json;  ///< {"solvers": […]}
};

Listing list_solvers();
Listing list_scenes();
Listing list_metrics();
/// Fields of the records of a store: what its columns, JSON, CSV and Python call them.
Listing list_fields();
/// Which solver takes which rows and cones, and why not: docs/supported_sets.md.
Listing list_sets();
Listing list_suites();
/// Tables, figures and numbers of papers with their last verdicts: those in the folder
/// `results` that `paper` wrote, or else the built-in ones. `names`: of entries, papers or authors; with the entries of
/// all papers of `author`; both empty: all. Errors: wrong_usage for an unknown name; internal where a built-in entry is
/// wrong.
Result<Listing> list_tables(const std::vector<std::string>& names = {}, const std::filesystem::path& results = {},
                            const std::string& author = {});
/// One solver, scene or suite with its options, or the entries of that name. Errors (wrong_usage): an unknown name;
/// a topic without names.
Result<Listing> list_one(const std::string& topic, const std::string& name);
/// Values of TOPIC in `list TOPIC`.
const std::vector<std::string>& list_topics();
/// Error for an unknown topic: lists the known ones and suggests one.
Error unknown_topic(const std::string& word);
/// Every command of `root` with its help.
Listing list_commands(const CLI::App& root);

}  // namespace conebench::cli
