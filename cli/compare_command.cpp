#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.hpp"
#include "base/text_file.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/run_ab.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/write_files.hpp"
#include "store/store.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

using reports::CompareOptions;
using reports::Comparison;
using reports::Side;

constexpr const char* compare_footer =
    R"(BASELINE and CANDIDATE are stores of two runs of a suite. BASELINE alone: a store of `run --ab`, or one that holds two builds.
--fail-on takes lost, slower, less-accurate, missing, broke, at-limit, flaky, undecided; or none.
docs/compare.md says how each is decided and how often it errs.

Examples:
  conebench compare monday.sqlite tuesday.sqlite
  conebench compare main.sqlite branch.sqlite --format md > comment.md
  conebench compare main.sqlite branch.sqlite --out comparison --fail-on lost,broke
  conebench compare mixed.sqlite --builds 1f3a9c,77b0e2
  conebench compare --calibrate quiet-*.sqlite --json > machine.json
  conebench compare monday.sqlite tuesday.sqlite --calibration machine.json)";

struct CompareArguments {
  std::vector<std::string> stores;
  std::string out;
  std::string formats;
  std::string fail_on = default_gate;
  std::string min_change;
  std::string builds;
  std::string calibration;
  bool force = false;
  bool json = false;
  bool calibrate = false;
};

Error usage(std::string message) { return {ErrorCode::wrong_usage, std::move(message)}; }

/// "2%", "2 %" or "0.02" → 0.02.
Result<double> parse_change(const std::string& text) {
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string rest(parsed.ptr, text.data() + text.size());
  std::erase(rest, ' ');
  if (rest == "%") value /= 100.0;
  constexpr double least = 0.001;
  constexpr double most = 1.0;
  if (parsed.ec != std::errc{} || (!rest.empty() && rest != "%") || !(value >= least && value <= most)) {
    return usage(fmt::format("--min-change {}: must be 0.1% to 100%, as in 2%", text));
  }
  return value;
}

/// What `--builds` calls a build: the beginning of its commit or executable.
bool is_build(const RunRecord& run, const std::string& word) {
  return run.build.commit.starts_with(word) || run.build.executable.starts_with(word);
}

std::string build_word(const RunRecord& run) {
  constexpr std::size_t digits = 8;
  const std::string& word = run.build.executable.empty() ? run.build.commit : run.build.executable;
  return word.substr(0, digits);
}

/// The two sides of one store.
Result<std::pair<Side, Side>> split_store(const CompareArguments& arguments) {
  const std::string& file = arguments.stores.front();
  CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
  CONEBENCH_TRY(auto contents, store.read_outcomes());
  const auto builds_of = [&](const std::string& baseline, const std::string& candidate) {
    return reports::split_builds(
        std::move(contents), {file + " " + baseline, [&](const RunRecord& run) { return is_build(run, baseline); }},
        {file + " " + candidate, [&](const RunRecord& run) { return is_build(run, candidate); }});
  };
  if (!arguments.builds.empty()) {
    const auto comma = arguments.builds.find(',');
    if (comma == std::string::npos || comma == 0 || comma + 1 == arguments.builds.size()) {
      return usage(fmt::format("--builds {}: must be BASELINE,CANDIDATE, each the beginning of a commit or executable",
                               arguments.builds));
    }
    return builds_of(arguments.builds.substr(0, comma), arguments.builds.substr(comma + 1));
  }
  std::set<std::string> sides_there;
  std::vector<std::string> builds;
  for (const RunRecord& run : contents.runs) {
    sides_there.insert(run.side);
    if (std::find(builds.begin(), builds.end(), build_word(run)) == builds.end()) builds.push_back(build_word(run));
  }
  if (sides_there.contains("baseline") && sides_there.contains("candidate")) {
    return reports::split_side_by_side(file, present_contents(std::move(contents)));
  }
  if (builds.size() == 2) return builds_of(builds[0], builds[1]);
  return usage(
      fmt::format("{}: one store of {} to compare; give a second store, or two of its builds with --builds: {}", file,
                  builds.size() == 1 ? "one build" : fmt::format("{} builds", builds.size()), fmt::join(builds, ", ")));
}

Result<std::pair<Side, Side>> read_sides(const CompareArguments& arguments) {
  if (arguments.stores.size() == 1) return split_store(arguments);
  if (!arguments.builds.empty()) return usage("--builds is for one store");
  std::vector<Side> sides;
  for (const auto& file : arguments.stores) {
    CONEBENCH_TRY(const auto contents, read_present(file));
    sides.push_back(reports::make_side(file, contents));
  }
  return std::pair{std::move(sides[0]), std::move(sides[1])};
}

struct Format {
  const char* name;
  const char* file;
  std::string (*render)(const Comparison&);
};
std::string markdown_text(const Comparison& comparison) { return reports::comparison_markdown(comparison); }
std::string plain_text(const Comparison& comparison) { return reports::comparison_terminal(comparison, false); }
constexpr Format formats[] = {{"html", "index.html", reports::comparison_page},
                              {"md", "comparison.md", markdown_text},
                              {"json", "comparison.json", reports::comparison_json},
                              {"junit", "comparison.xml", reports::comparison_junit},
                              {"text", "comparison.txt", plain_text}};

Result<std::vector<const Format*>> parse_formats(const std::string& list) {
  std::vector<const Format*> chosen;
  std::string known;
  for (const Format& format : formats) known += (known.empty() ? "" : ", ") + std::string(format.name);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    begin = end + 1;
    const auto* const found =
        std::find_if(std::begin(formats), std::end(formats), [&](const Format& format) { return format.name == name; });
    if (found == std::end(formats)) return usage(fmt::format("--format: unknown '{}'; known: {}", name, known));
    chosen.push_back(found);
  }
  return chosen;
}

Result<void> write_all(const Comparison& comparison, const std::string& folder,
                       const std::vector<const Format*>& chosen) {
  std::vector<ReportFile> files;
  for (const Format* format : chosen) files.push_back({format->file, format->render(comparison)});
  CONEBENCH_CHECK(write_files(folder, files));
  for (const ReportFile& file : files) print_note((std::filesystem::path(folder) / file.path).string());
  return {};
}

Result<void> read_calibration(const std::string& file, TimeRules& rules) {
  CONEBENCH_TRY(const auto text, read_text_file(file, 1 << 20));
  const auto json = parse_json(text, file);
  if (!json) return Error{ErrorCode::bad_input, json.error().message};
  const auto take = [&](const char* key, double& into) {
    if (!json->is_object() || !json->contains(key) || !(*json)[key].is_number()) return false;
    const double value = (*json)[key].get<double>();
    if (!(value >= 0.0 && value < 100.0)) return false;
    into = value;
    return true;
  };
  // A machine that six stores show as quieter than the measured one may have been lucky.
  TimeRules measured;
  if (!take("night_deviation", measured.night_deviation) || !take("inflation", measured.inflation)) {
    return Error{ErrorCode::bad_input, file + ": not what `conebench compare --calibrate … --json` wrote"};
  }
  rules.night_deviation = std::max(rules.night_deviation, measured.night_deviation);
  rules.inflation = std::max(rules.inflation, measured.inflation);
  return {};
}

Result<int> run_calibration(const CompareArguments& arguments) {
  std::vector<Side> sides;
  for (const auto& file : arguments.stores) {
    CONEBENCH_TRY(const auto contents, read_present(file));
    sides.push_back(reports::make_side(file, contents));
  }
  CONEBENCH_TRY(const auto measured, reports::calibrate(sides));
  if (arguments.json) {
    print_json("calibration", {{"night_deviation", measured.night_deviation},
                               {"inflation", measured.inflation},
                               {"comparisons", measured.comparisons},
                               {"configurations", measured.configurations}});
    return done;
  }
  const TimeRules usual;
  print_text(fmt::format(
      "{} comparisons of one build with itself, {} configurations in all\n"
      "night_deviation  {:.4f}  (a configuration's corrected effect from store to store; used: at least {:.4f})\n"
      "inflation        {:.2f}    (of T/u over the normal distribution; used: at least {:.2f})\n"
      "keep it with --json > machine.json and give it to compare with --calibration machine.json\n",
      measured.comparisons, measured.configurations, measured.night_deviation, usual.night_deviation,
      measured.inflation, usual.inflation));
  return done;
}

Result<int> run_compare(const CompareArguments& arguments) {
  if (arguments.calibrate) return run_calibration(arguments);
  if (arguments.stores.size() > 2)
    return usage("compare takes BASELINE and CANDIDATE; `conebench history` takes more stores");
  CompareOptions options;
  options.force = arguments.force;
  if (!arguments.min_change.empty()) {
    CONEBENCH_TRY(options.min_change, parse_change(arguments.min_change));
  }
  CONEBENCH_TRY(options.fail_on, reports::parse_gate(arguments.fail_on));
  const bool to_folder = !arguments.out.empty();
  CONEBENCH_TRY(const auto chosen,
                parse_formats(arguments.formats.empty() && to_folder ? "html,md,json,junit" : arguments.formats));
  if (!to_folder && chosen.size() > 1) return usage("--format: several need --out DIR");
  if (arguments.json && !to_folder && !chosen.empty()) return usage("--json and --format both ask for standard output");
  if (!arguments.calibration.empty()) CONEBENCH_CHECK(read_calibration(arguments.calibration, options.rules));
  CONEBENCH_TRY(auto sides, read_sides(arguments));
  const Comparison comparison = reports::compare(std::move(sides.first), std::move(sides.second), options);
  if (to_folder) CONEBENCH_CHECK(write_all(comparison, arguments.out, chosen));
  if (arguments.json) {
    print_bytes(reports::comparison_json(comparison));
  } else if (!to_folder && !chosen.empty()) {
    print_text(chosen.front()->render(comparison));
  } else {
    const bool on_terminal = isatty(STDOUT_FILENO) == 1;
    constexpr std::size_t usual = 100;
    const std::size_t width = on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : usual;
    print_bytes(reports::comparison_terminal(comparison, on_terminal && std::getenv("NO_COLOR") == nullptr, width));
  }
  return comparison_ending(comparison, options.fail_on);
}

}  // namespace

int comparison_ending(const reports::Comparison& comparison, const std::set<std::string>& fail_on) {
  if (comparison.compared == 0) {
    print_error(fmt::format(
        "{} and {}: nothing to compare: no cell of one problem, configuration, tolerance and limits is in both",
        comparison.baseline.name, comparison.candidate.name));
    return nothing_measured;
  }
  if (!comparison.failed) return done;
  std::string found;
  for (const auto& [word, count] : comparison.alarms) {
    if (fail_on.contains(word)) found += fmt::format("{}{} {}", found.empty() ? "" : ", ", count, word);
  }
  print_error(fmt::format("gate failed: {} (--fail-on {})", found, fmt::join(fail_on, ",")));
  return gate_failed;
}

Command add_compare(CLI::App& root) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* app =
      root.add_subcommand("compare", "Differences between two runs of a suite: lost and won, slower and faster");
  app->footer(compare_footer);
  app->add_option("STORE", arguments->stores, "BASELINE and CANDIDATE, or one store of two builds")
      ->required()
      ->type_name("DB");
  app->add_option("--out", arguments->out, "Folder for the formats, made where it is missing")->type_name("DIR");
  app->add_option("--format", arguments->formats,
                  "html, md, json, junit, text (comma-separated); one without --out goes to standard output")
      ->type_name("LIST");
  app->add_option("--fail-on", arguments->fail_on, "What makes the exit code 1 (comma-separated), or none")
      ->type_name("LIST")
      ->capture_default_str();
  app->add_option("--min-change", arguments->min_change,
                  "Smallest change of time or work that counts (2%; side by side 1%)")
      ->type_name("SHARE");
  app->add_option("--builds", arguments->builds, "Two builds of one store, by the beginning of commit or executable")
      ->type_name("BASELINE,CANDIDATE");
  app->add_flag("--force", arguments->force, "Compare times of other machines, builds or limits, labelled");
  app->add_flag("--json", arguments->json, "One JSON object on standard output");
  app->add_flag("--calibrate", arguments->calibrate,
                "Measure this machine's noise from six or more stores of one build");
  app->add_option("--calibration", arguments->calibration, "Output of --calibrate --json")->type_name("FILE");
  return {app, [arguments] { return run_compare(*arguments); }};
}

}  // namespace conebench::cli
