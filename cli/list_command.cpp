#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/listing.hpp"
#include "cli/output.hpp"

namespace conebench::cli {

namespace {

constexpr const char* list_footer = R"(Examples:
  conebench list solvers
  conebench list solvers ADMM-NCP-SA
  conebench list scenes --json
  conebench list solvers --markdown > docs/options.md)";

Result<Listing> listing_of(const std::string& topic, const CLI::App& root) {
  if (topic == "commands") return list_commands(root);
  if (topic == "solvers") return list_solvers();
  if (topic == "suites") return list_suites();
  if (topic == "scenes") return list_scenes();
  if (topic == "metrics") return list_metrics();
  if (topic == "fields") return list_fields();
  if (topic == "sets") return list_sets();
  return list_tables();
}

}  // namespace

Command add_list(CLI::App& root) {
  struct ListArguments {
    std::string topic;
    std::string name;
    bool json = false;
    bool markdown = false;
    ForeignCode code;
  };
  auto arguments = std::make_shared<ListArguments>();
  CLI::App* app =
      root.add_subcommand("list", "Solvers, suites, scenes, metrics, paper tables or commands of this build");
  app->footer(list_footer);
  app->add_option("TOPIC", arguments->topic, fmt::format("What to list: {}", fmt::join(list_topics(), ", ")))
      ->required();
  app->add_option("NAME", arguments->name,
                  "A solver, scene or suite, listed alone with its options; a paper, author or entry of the tables");
  auto* json = app->add_flag("--json", arguments->json, "Print one JSON object");
  add_foreign_code(*app, arguments->code, false);
  app->add_flag("--markdown", arguments->markdown, "Print Markdown with every option")->excludes(json);
  return {app, [arguments, &root]() -> Result<int> {
            if (std::ranges::find(list_topics(), arguments->topic) == list_topics().end()) {
              return unknown_topic(arguments->topic);
            }
            if (arguments->topic == "solvers" || arguments->topic == "suites") {
              CONEBENCH_CHECK(load_foreign_code(arguments->code));
            }
            CONEBENCH_TRY(const auto listing, arguments->name.empty() ? listing_of(arguments->topic, root)
                                                                      : list_one(arguments->topic, arguments->name));
            if (arguments->json) {
              print_json("list", listing.json());
            } else {
              print_text(arguments->markdown ? listing.markdown : listing.text);
            }
            return done;
          }};
}

}  // namespace conebench::cli
