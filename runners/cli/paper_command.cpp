#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "problems/plural.hpp"
#include "problems/suggestion.hpp"
#include "problems/text_file.hpp"
#include "reports/paper/render.hpp"
#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/output.hpp"
#include "runners/cli/paper_run.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

namespace {

using paper::Entry;
using paper::EntryResult;
using paper::State;

constexpr const char* footer =
    R"(WHAT is `list`, `all`, a paper (000), an entry (000-table-3) or a file of one (docs/add_a_paper.md).
What the stores hold is not run again. Published values stand beside the measured ones; each claim of
the paper holds, fails, is not comparable or was not run. Absolute times are printed, never checked.

Examples:
  conebench paper list
  conebench paper 002-fig-13
  conebench paper 000-table-3 --data problems --full --out tables
  conebench paper all --quick --require-checks
  conebench paper my-table.json)";

struct PaperArguments {
  std::vector<std::string> what;
  std::string out = "paper";
  std::string data;
  std::string stores;
  bool quick = false, full = false;
  bool require_checks = false;
  bool json = false;
  long jobs = 1;
};

constexpr std::uintmax_t largest_verdicts = 16 << 20;

/// {entry: {check: verdict}}, of the runs into this folder so far.
nlohmann::json last_verdicts(const std::filesystem::path& out) {
  const auto text = read_text_file(out / "verdicts.json", largest_verdicts);
  auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json::object();
  return json.is_object() ? json : nlohmann::json::object();
}

nlohmann::json with_verdicts(nlohmann::json verdicts, const std::vector<EntryResult>& results) {
  for (const EntryResult& result : results) {
    if (!result.not_run.empty()) continue;
    auto& of_entry = verdicts[result.entry->id] = nlohmann::json::object();
    for (std::size_t i = 0; i < result.checks.size(); ++i) {
      of_entry[result.entry->checks[i].id] = verdict_text(result.entry->checks[i], result.checks[i]);
    }
  }
  return verdicts;
}

/// "a holds, b fails (known)".
std::string verdict_line(const nlohmann::json& verdicts, const std::string& id) {
  std::string text;
  if (!verdicts.contains(id) || !verdicts[id].is_object()) return text;
  for (const auto& item : verdicts[id].items()) {
    if (item.value().is_string())
      text += (text.empty() ? "" : ", ") + item.key() + " " + item.value().get<std::string>();
  }
  return text;
}

int list_entries(const PaperArguments& arguments, const std::vector<Entry>& entries) {
  const auto verdicts = last_verdicts(arguments.out);
  std::vector<std::vector<std::string>> rows = {{"entry", "state", "quick", "full", "what", "last verdicts"}};
  auto json = nlohmann::json::array();
  for (const Entry& entry : entries) {
    const bool timed = entry.quick_s > 0.0;
    rows.push_back({entry.id, to_string(entry.state), timed ? duration_text(entry.quick_s) : "",
                    timed ? duration_text(entry.full_s) : "",
                    entry.title + (entry.reason.empty() ? "" : " (" + entry.reason + ")"),
                    verdict_line(verdicts, entry.id)});
    json.push_back({{"id", entry.id},
                    {"paper", entry.paper},
                    {"place", entry.place},
                    {"title", entry.title},
                    {"shows", entry.shows},
                    {"state", to_string(entry.state)},
                    {"reason", entry.reason},
                    {"quick_s", timed ? number(entry.quick_s) : nlohmann::json(nullptr)},
                    {"full_s", timed ? number(entry.full_s) : nlohmann::json(nullptr)},
                    {"checks", entry.checks.size()},
                    {"last_verdicts", verdicts.value(entry.id, nlohmann::json(nullptr))}});
  }
  if (arguments.json) {
    print_json("paper", {{"entries", std::move(json)}});
  } else {
    print_text(align_columns(rows));
  }
  return done;
}

/// Adds the entries of a user's file; one of a built-in's id takes its place.
Result<std::vector<std::string>> add_file(const std::string& file, std::vector<Entry>& entries) {
  auto loaded = paper::load_entries(file);
  if (!loaded) return loaded.error();
  std::vector<std::string> ids;
  for (Entry& entry : *loaded) {
    ids.push_back(entry.id);
    std::erase_if(entries, [&](const Entry& known) { return known.id == entry.id; });
    entries.push_back(std::move(entry));
  }
  return ids;
}

Error unknown_entry(const std::string& word, const std::vector<Entry>& entries) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) ids.push_back(entry.id);
  return {ErrorCode::wrong_usage,
          fmt::format("paper: no entry, paper or file is called '{}'; {}`conebench paper list` has them", word,
                      did_you_mean(word, ids))};
}

/// The ids that the words stand for, in the order of the entries.
Result<std::set<std::string>> chosen(const std::vector<std::string>& words, std::vector<Entry>& entries) {
  std::set<std::string> ids;
  for (const std::string& word : words) {
    if (word.ends_with(".json")) {
      auto added = add_file(word, entries);
      if (!added) return added.error();
      ids.insert(added->begin(), added->end());
      continue;
    }
    const std::size_t before = ids.size();
    for (const Entry& entry : entries) {
      if (word == "all" || word == entry.paper || word == entry.id) ids.insert(entry.id);
    }
    const bool known = ids.size() > before || std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
                         return word == entry.paper || word == entry.id;
                       });
    if (!known) return unknown_entry(word, entries);
  }
  return ids;
}

void print_result(const EntryResult& result) {
  const Entry& entry = *result.entry;
  print_text(fmt::format("{}: {} (paper {}, {})\n", entry.id, entry.title, entry.paper, entry.place));
  if (!result.not_run.empty()) {
    print_text("not run: " + result.not_run + "\n\n");
    return;
  }
  print_text("measured on " + result.problems + "\n");
  for (std::size_t t = 0; t < entry.tables.size(); ++t) {
    const paper::Table& table = entry.tables[t];
    print_text(fmt::format("\n{}{}\n", table.title, table.unit.empty() ? "" : ", " + table.unit));
    print_text(align_columns(table_texts(table, result.tables[t])));
    for (const std::string& gap : gaps_of(table, result.tables[t])) print_text("  – " + gap + "\n");
  }
  if (!entry.checks.empty()) print_text("\n");
  for (std::size_t i = 0; i < entry.checks.size(); ++i) {
    const paper::CheckResult& found = result.checks[i];
    print_text(fmt::format("{}: {}: {}{}{}\n", entry.checks[i].id, verdict_text(entry.checks[i], found),
                           entry.checks[i].claim, found.measured.empty() ? "" : " [" + found.measured + "]",
                           found.reason.empty() ? "" : "; " + found.reason));
  }
  print_text("\n");
}

std::vector<ReportFile> files_of(const std::vector<EntryResult>& results) {
  std::vector<ReportFile> files;
  std::map<std::string, std::vector<EntryResult>> papers;
  for (const EntryResult& result : results) {
    papers[result.entry->paper].push_back(result);
    if (!result.not_run.empty()) continue;
    const std::string& id = result.entry->id;
    files.push_back({id + ".md", entry_markdown(result)});
    files.push_back({id + ".csv", entry_csv(result)});
    if (!result.tables.empty()) files.push_back({id + ".tex", entry_latex(result)});
    auto figures = figure_files(result);
    std::move(figures.begin(), figures.end(), std::back_inserter(files));
  }
  for (const auto& [number, of_paper] : papers) {
    files.push_back({"paper-" + number + ".html", paper::paper_page("Paper " + number, of_paper)});
  }
  return files;
}

std::optional<Error> write_all(const std::filesystem::path& out, const std::vector<EntryResult>& results) {
  std::vector<ReportFile> files = files_of(results);
  files.push_back({"verdicts.json", with_verdicts(last_verdicts(out), results).dump(1) + "\n"});
  if (const auto written = write_files(out, files); !written) return written.error();
  for (const ReportFile& file : files) {
    if (file.path.extension() != ".gp") continue;
    const auto why = run_gnuplot(out, file.path.string());
    if (!why) continue;
    print_note(*why);
    break;
  }
  return std::nullopt;
}

/// How the entries ended, together.
struct Ended {
  std::vector<EntryResult> results;
  long ran = 0, left = 0;
  bool interrupted = false;
  std::optional<Error> first_error;
};

Ended run_entries(const std::vector<Entry>& entries, const std::set<std::string>& ids, PaperRunner& runner) {
  Ended ended;
  std::set<std::string> told;
  for (const Entry& entry : entries) {
    if (!ids.contains(entry.id)) continue;
    if (entry.state != State::runs && entry.state != State::needs_data) {
      ended.results.push_back(
          paper::not_run(entry, to_string(entry.state) + (entry.reason.empty() ? "" : ": " + entry.reason)));
      continue;
    }
    auto run = runner.run(entry);
    if (!run) {
      print_error(run.error().message);
      if (!ended.first_error) ended.first_error = run.error();
      ended.results.push_back(paper::not_run(entry, run.error().message));
      continue;
    }
    for (const std::string& note : run->notes) {
      if (told.insert(note).second) print_note(note);
    }
    ended.left += run->left;
    if (run->interrupted) {
      ended.interrupted = true;
      break;
    }
    ended.results.push_back(run->samples.empty() ? paper::not_run(entry, "no cell was measured")
                                                 : evaluate_entry(entry, run->samples));
    ended.results.back().problems = run->problems;
    ended.ran += run->samples.empty() ? 0 : 1;
  }
  return ended;
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
  if (arguments.require_checks && unexpected(ended.results)) {
    for (const EntryResult& result : ended.results) {
      for (std::size_t i = 0; i < result.checks.size(); ++i) {
        if (result.checks[i].expected) continue;
        print_error(fmt::format("{}, check {}: {}; {}", result.entry->id, result.entry->checks[i].id,
                                to_string(result.checks[i].verdict), result.entry->checks[i].claim));
      }
    }
    return gate_failed;
  }
  if (ended.left > 0) {
    print_error(fmt::format("{} were not run; the same command goes on with them", plural(ended.left, "cell")));
  }
  return ended.left > 0 || ended.first_error ? not_run : done;
}

Result<int> run_paper(const PaperArguments& arguments) {
  auto entries = paper::embedded_entries();
  if (!entries) return entries.error();
  if (arguments.what == std::vector<std::string>{"list"}) return list_entries(arguments, *entries);
  if (arguments.quick && arguments.full) {
    return Error{ErrorCode::wrong_usage, "paper: --quick and --full exclude each other"};
  }
  const auto ids = chosen(arguments.what, *entries);
  if (!ids) return ids.error();
  const InterruptGuard guard;
  ProgressPrinter progress = progress_on_stderr();
  PaperRunOptions options;
  options.size = arguments.full ? paper::Size::full : paper::Size::quick;
  options.data = arguments.data;
  options.stores = arguments.stores.empty() ? std::filesystem::path(arguments.out) / "stores"
                                            : std::filesystem::path(arguments.stores);
  options.jobs = static_cast<int>(arguments.jobs);
  options.interrupted = &guard.flag();
  PaperRunner runner(*entries, options, progress);
  const Ended ended = run_entries(*entries, *ids, runner);
  if (arguments.json) {
    print_json("paper", nlohmann::json::parse(paper::results_json(ended.results)));
  } else {
    for (const EntryResult& result : ended.results) print_result(result);
  }
  if (!ended.results.empty() && !ended.interrupted) {
    if (auto error = write_all(arguments.out, ended.results)) return *error;
    if (!arguments.json) print_text(fmt::format("written to {}\n", arguments.out));
  }
  return ending_of(arguments, ended);
}

}  // namespace

Command add_paper(CLI::App& root) {
  auto arguments = std::make_shared<PaperArguments>();
  CLI::App* app = root.add_subcommand("paper", "A paper's table or figure, published values beside the measured ones");
  app->footer(footer);
  app->add_option("WHAT", arguments->what, "`list`, `all`, papers, entries, files of entries")->required();
  app->add_option("--out", arguments->out, "Folder for tables, figures and pages")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_flag("--quick", arguments->quick, "Few problems and single timings; the default");
  app->add_flag("--full", arguments->full, "As many problems as the paper has, or as there are");
  app->add_option("--data", arguments->data,
                  "Folder with files of the collections that the papers use; else CONEBENCH_DATA")
      ->type_name("DIR");
  app->add_option("--db", arguments->stores, "Folder of the stores, one a suite; OUT/stores if not given")
      ->type_name("DIR");
  app->add_flag("--require-checks", arguments->require_checks,
                "Exit with 1 where a check fails that is not known to, or a known failure has changed");
  add_integer(*app, "--jobs", arguments->jobs, {.minimum = 1.0, .maximum = 1024.0},
              "Workers; more than one spoils times");
  app->add_flag("--json", arguments->json, "Print one JSON object instead of tables");
  return {app, [arguments] { return run_paper(*arguments); }};
}

}  // namespace conebench::cli
