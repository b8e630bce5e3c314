#include "store/merge.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace conebench::cli {

namespace {

constexpr const char* merge_footer = R"(Examples:
  conebench merge shard-*.sqlite --out all.sqlite
  conebench merge old.sqlite retried.sqlite --out all.sqlite --on-conflict last
  conebench merge damaged.sqlite --salvage --out saved.sqlite)";

struct MergeArguments {
  std::vector<std::string> stores;
  std::string out;
  std::string on_conflict = "refuse";
  bool allow_mixed = false;
  bool salvage = false;
  bool break_lock = false;
};

MergeConflict conflict_of(const std::string& name) {
  if (name == "first") return MergeConflict::first;
  return name == "last" ? MergeConflict::last : MergeConflict::refuse;
}

Result<int> run_merge(const MergeArguments& arguments) {
  const std::vector<std::filesystem::path> stores(arguments.stores.begin(), arguments.stores.end());
  CONEBENCH_TRY(const auto merged, merge_stores(stores, arguments.out,
                                                {.allow_mixed = arguments.allow_mixed,
                                                 .conflict = conflict_of(arguments.on_conflict),
                                                 .salvage = arguments.salvage,
                                                 .break_lock = arguments.break_lock}));
  if (!merged.lock_note.empty()) print_note(merged.lock_note);
  print_text(fmt::format("{}: {} of {} from {}", arguments.out, plural(merged.cells, "cell"),
                         plural(merged.runs, "run"), plural(static_cast<long>(stores.size()), "store")));
  if (merged.repeated > 0) print_text(fmt::format(", {} met twice with the same answer", merged.repeated));
  if (merged.conflicting > 0) {
    print_text(fmt::format(", {} with another answer ({} kept)", merged.conflicting, arguments.on_conflict));
  }
  print_text("\n");
  if (merged.damaged > 0 || merged.more_may_be_lost) {
    print_text(fmt::format("{}{} damaged and left out: run the suite into {} again to measure what is missing\n",
                           merged.more_may_be_lost ? "at least " : "", plural(merged.damaged, "cell"), arguments.out));
  }
  for (const auto& line : merged.mixed) print_text("mixed: " + line + "\n");
  return done;
}

}  // namespace

Command add_merge(CLI::App& root) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* app = root.add_subcommand("merge", "Join the stores of shards");
  app->footer(merge_footer);
  app->add_option("DB", arguments->stores, "Stores to join")->required();
  app->add_option("--out", arguments->out, "The joined store, a new file")->required()->type_name("DB");
  app->add_option("--on-conflict", arguments->on_conflict,
                  "What to do with a cell that has different answers: refuse, or keep the first or last store's")
      ->check(CLI::IsMember({"refuse", "first", "last"}))
      ->capture_default_str();
  app->add_flag("--allow-mixed", arguments->allow_mixed,
                "Join other machines, builds, modes or limits too; the joined runs are marked");
  app->add_flag("--salvage", arguments->salvage, "Take the undamaged cells of one damaged store");
  add_break_lock(*app, arguments->break_lock);
  return {app, [arguments] { return run_merge(*arguments); }};
}

}  // namespace conebench::cli
