#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/folder.hpp"
#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/listing.hpp"
#include "cli/output.hpp"
#include "cli/paper_output.hpp"
#include "cli/paper_run.hpp"
#include "papers/paper_table.hpp"
#include "papers/render.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

namespace {

using papers::Entry;
using papers::EntryResult;
using papers::State;

constexpr const char* paper_footer =
    R"(WHAT is `all`, a paper (Carpentier24), an entry (Carpentier24-table-3), the beginning of either, an author or a
file of entries (docs/add_a_paper.md); case and punctuation do not matter. `list` lists all entries, or those that the words after it name. Cells that
the stores hold are not run again. A table has a published value below each measured one. Each claim of the paper
holds, fails, is not comparable or is undecided. Absolute times are printed, never checked.

Examples:
  conebench paper list
  conebench paper list --of carpentier
  conebench paper lelidec-fig-13
  conebench paper Carpentier24-table-3 --data problems --full --out tables
  conebench paper all --quick --require-checks
  conebench paper my-table.json)";

struct PaperArguments {
  std::vector<std::string> what;
  std::string out = "paper";
  std::string data;
  std::string stores;
  std::string variant;
  std::string author;
  bool quick = false, full = false;
  bool require_checks = false;
  bool json = false;
  long jobs = 1;
  bool allow_mixed = false;
  ForeignCode code;

  papers::Size size() const { return full ? papers::Size::full : papers::Size::quick; }
};

int list_entries(const PaperArguments& arguments, const Listing& listing) {
  if (arguments.json) {
    print_json("paper", listing.json());
  } else {
    print_text(listing.text);
  }
  return done;
}

/// Adds the entries of a user's file; one with the id of a built-in entry replaces it.
Result<std::vector<Entry>> with_file(const std::string& file, std::vector<Entry> entries,
                                     std::vector<std::string>& words) {
  CONEBENCH_TRY(auto loaded, papers::load_entries(file));
  for (Entry& entry : loaded) {
    if (entry.variant.empty()) words.push_back(entry.id);
    std::erase_if(entries, [&](const Entry& known) { return known.id == entry.id; });
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Ids of the entries that the words name: those of the variant where one is asked for.
Result<std::set<std::string>> chosen(const std::vector<std::string>& words, const std::string& variant,
                                     const std::vector<Entry>& entries) {
  std::set<std::string> ids;
  for (const std::string& word : words) {
    CONEBENCH_TRY(const auto named, papers::entries_named(word, entries));
    const bool alone = variant.empty() && named.size() == 1;  // perhaps a variant, by its own id
    for (const Entry* const entry : named) {
      if (alone || entry->variant == variant) ids.insert(entry->id);
    }
  }
  if (ids.empty()) {
    return Error{ErrorCode::wrong_usage, fmt::format("paper: none of these has a variant '{}'", variant)};
  }
  return ids;
}

/// How the entries ended, together.
struct Ended {
  std::vector<EntryResult> results;
  long ran = 0, left = 0;
  bool interrupted = false;
  std::optional<Error> first_error;
};

/// Nothing where the run was interrupted.
std::optional<EntryResult> run_entry(const Entry& entry, PaperRunner& runner, papers::Size size,
                                     std::set<std::string>& reported, Ended& ended) {
  if (entry.state != State::runs && entry.state != State::needs_data) {
    return papers::not_run(entry, to_string(entry.state) + (entry.reason.empty() ? "" : ": " + entry.reason));
  }
  auto run = runner.run(entry);
  if (!run) {
    print_error(run.error().message);
    if (!ended.first_error) ended.first_error = run.error();
    return papers::not_run(entry, run.error().message);
  }
  for (const std::string& note : run->notes) {
    if (reported.insert(note).second) print_note(note);
  }
  ended.left += run->left;
  ended.interrupted = run->interrupted;
  if (ended.interrupted) return std::nullopt;
  if (run->samples.empty()) return papers::not_run(entry, "no cell was measured");
  EntryResult result = evaluate_entry(entry, run->samples);
  result.problems = run->problems;
  result.criterion = run->criterion();
  result.made = fmt::format("{}{}, conebench paper {} --{}", run->made(),
                            result.criterion.empty() ? "" : ", " + result.criterion, entry.id, to_string(size));
  const bool undecided = std::any_of(result.checks.begin(), result.checks.end(),
                                     [](const auto& check) { return check.verdict == papers::Verdict::undecided; });
  if (undecided && !run->data_name.empty()) {
    print_note(fmt::format("{}: undecided claims need more problems: --data FOLDER has them ({}){}", entry.id,
                           run->data_name, size == papers::Size::quick ? "; --full may have them, too" : ""));
  }
  ++ended.ran;
  return result;
}

Ended run_entries(const std::vector<Entry>& entries, const std::set<std::string>& ids, PaperRunner& runner,
                  papers::Size size) {
  Ended ended;
  std::set<std::string> reported;
  for (const Entry& entry : entries) {
    if (!ids.contains(entry.id)) continue;
    auto result = run_entry(entry, runner, size, reported, ended);
    if (!result) break;
    ended.results.push_back(std::move(*result));
  }
  return ended;
}

/// Whether a check is not as expected; names each.
bool fails_checks(const std::vector<EntryResult>& results) {
  for (const EntryResult& result : results) {
    for (std::size_t i = 0; i < result.checks.size(); ++i) {
      if (result.checks[i].expected) continue;
      print_error(fmt::format("{}, check {}: {}; {}", result.entry->id, result.entry->checks[i].id,
                              to_string(result.checks[i].verdict), result.entry->checks[i].claim));
    }
  }
  return unexpected(results);
}

int ending_of(const PaperArguments& arguments, const Ended& ended) {
  if (ended.interrupted) {
    print_error("interrupted; the same command resumes");
    return interrupted;
  }
  if (ended.ran == 0) {
    if (ended.first_error) return exit_code(ended.first_error->code);
    print_error("paper: nothing was run: no entry of these runs; `conebench paper list` says why");
    return nothing_measured;
  }
  if (arguments.require_checks && fails_checks(ended.results)) return gate_failed;
  if (ended.left > 0) {
    print_error(fmt::format("{} were not run; the same command goes on with them", plural(ended.left, "cell")));
  }
  return ended.left > 0 || ended.first_error ? not_run : done;
}

void print_results(const std::vector<EntryResult>& results) {
  for (const EntryResult& result : results) {
    if (result.not_run.empty()) print_text(result_text(result));
  }
  for (const EntryResult& result : results) {
    if (!result.not_run.empty()) print_text(fmt::format("{}: not run: {}\n", result.entry->id, result.not_run));
  }
}

/// Notes the entries that ran into the folder before and are not on the pages that are written now.
void note_left_out(const papers::VerdictRecord& before, const std::vector<Entry>& entries, const Ended& ended) {
  std::map<std::string, std::string> left_out;  // by paper
  for (const Entry& entry : entries) {
    bool written = false, here = false;
    for (const EntryResult& result : ended.results) {
      written = written || (result.not_run.empty() && result.entry->paper == entry.paper);
      here = here || result.entry->id == entry.id;
    }
    if (!written || here || !before.contains(entry.id)) continue;
    std::string& ids = left_out[entry.paper];
    ids += (ids.empty() ? "" : ", ") + entry.id;
  }
  for (const auto& [paper, ids] : left_out) {
    print_note(fmt::format("paper-{}.html has this command's entries alone, without {}", paper, ids));
  }
}

Result<void> write(const PaperArguments& arguments, const std::vector<Entry>& entries, const Ended& ended) {
  papers::VerdictRecord verdicts = verdicts_in(arguments.out);
  note_left_out(verdicts, entries, ended);
  put(verdicts, ended.results, entries, to_string(arguments.size()), capture_build().commit);
  CONEBENCH_TRY(const auto no_pictures, write_results(arguments.out, ended.results, verdicts));
  if (no_pictures) print_note(*no_pictures);
  if (!arguments.json) print_text(fmt::format("written to {}\n", arguments.out));
  return {};
}

Result<int> run_paper(const PaperArguments& arguments) {
  if (arguments.what.front() == "list") {
    CONEBENCH_TRY(const auto listing,
                  list_tables({arguments.what.begin() + 1, arguments.what.end()}, arguments.out, arguments.author));
    return list_entries(arguments, listing);
  }
  if (!arguments.author.empty()) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("paper: --of belongs to list: `conebench paper list --of {}`", arguments.author)};
  }
  if (arguments.quick && arguments.full) {
    return Error{ErrorCode::wrong_usage, "paper: --quick and --full exclude each other"};
  }
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  auto entries = papers::embedded_entries();
  std::vector<std::string> words;
  for (const std::string& word : arguments.what) {
    if (!word.ends_with(".json")) {
      words.push_back(word);
    } else if (entries) {
      entries = with_file(word, std::move(*entries), words);
    }
  }
  CONEBENCH_CHECK(entries);
  CONEBENCH_TRY(const auto ids, chosen(words, arguments.variant, *entries));

  CONEBENCH_CHECK(make_folder(arguments.out));
  const InterruptGuard guard;
  ProgressPrinter progress = progress_on_stderr();
  const std::filesystem::path stores = arguments.stores;
  PaperRunner runner(*entries,
                     {.size = arguments.size(),
                      .data = arguments.data,
                      .stores = stores.empty() ? std::filesystem::path(arguments.out) / "stores" : stores,
                      .jobs = static_cast<int>(arguments.jobs),
                      .allow_mixed = arguments.allow_mixed,
                      .interrupted = &guard.flag()},
                     progress);
  const Ended ended = run_entries(*entries, ids, runner, arguments.size());
  if (arguments.json) {
    print_json("paper", nlohmann::json::parse(papers::results_json(ended.results)));
  } else {
    print_results(ended.results);
  }
  if (!ended.results.empty() && !ended.interrupted) CONEBENCH_CHECK(write(arguments, *entries, ended));
  return ending_of(arguments, ended);
}

}  // namespace

Command add_paper(CLI::App& root) {
  auto arguments = std::make_shared<PaperArguments>();
  CLI::App* app =
      root.add_subcommand("paper", "A paper's table or figure: measured and published values, and its claims");
  app->footer(paper_footer);
  app->add_option("WHAT", arguments->what, "`list`, `all`, papers, authors, entries, files of entries")->required();
  app->add_option("--out", arguments->out, "Folder for tables, figures and pages")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_flag("--quick", arguments->quick, "Few problems and single timings; the default");
  app->add_flag("--full", arguments->full, "As many problems as the paper has, or as there are");
  app->add_option(
         "--variant", arguments->variant,
         "`code`: with the parameters of the code that the authors published, where these differ from the text")
      ->type_name("NAME");
  app->add_option(
         "--data", arguments->data,
         "Folder with files of the collections that the papers use, or name of a data set; else CONEBENCH_DATA")
      ->type_name("DIR");
  app->add_option("--db", arguments->stores,
                  "One store (….sqlite), or a folder with a store for each suite; OUT/stores if not given")
      ->type_name("DIR");
  app->add_flag("--require-checks", arguments->require_checks,
                "Exit with 1 where a check fails that is not known to, or a known failure has changed");
  add_integer(*app, "--jobs", arguments->jobs, {.minimum = 1.0, .maximum = 1024.0},
              "Worker processes; with more than one the times are not comparable");
  app->add_flag("--allow-mixed", arguments->allow_mixed,
                "Take what the stores hold of other builds and machines, and add what is missing");
  app->add_option("--of", arguments->author,
                  "With list: entries of the papers that this author wrote, also with others")
      ->type_name("AUTHOR");
  app->add_flag("--json", arguments->json, "Print one JSON object instead of tables");
  add_foreign_code(*app, arguments->code, false);
  return {app, [arguments] { return run_paper(*arguments); }};
}

}  // namespace conebench::cli
