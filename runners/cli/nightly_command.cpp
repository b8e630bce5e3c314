#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "problems/plural.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/history/history.hpp"
#include "reports/history/history_words.hpp"
#include "reports/write_files.hpp"
#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/output.hpp"
#include "runners/cli/run_beside.hpp"
#include "runners/cli/run_ending.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/gates.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/suite.hpp"
#include "runners/store/night_folder.hpp"
#include "runners/store/store.hpp"
#include "runners/store/store_lock.hpp"
#include "runners/store/suite_scope.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using reports::Comparison;

constexpr const char* footer =
    R"(A night is a store in DIR by date and build. A night that broke off is resumed by the same build; a finished one is
compared with the last good night (complete, nothing broken) and with --pin. The summary goes to standard output as
Markdown, pages to DIR/NIGHT.comparison/ and, of all nights, to DIR/history/. A setting that is slower is run again side by side
with the executable of that night, which DIR/builds/ keeps. docs/nightly.md has recipes for cron, systemd and CI.

Examples:
  conebench nightly fclib --data problems --stores nights
  conebench nightly nightly.json --stores nights --keep 60 --pin nights/release-1.sqlite)";

struct NightlyArguments {
  std::string suite;
  std::string folder;
  std::string data;
  std::string pin;
  std::string fail_on = "lost,slower,less-accurate,missing,broke";
  long keep = 0;
  bool break_lock = false;
};

Result<StoreContents> read_present(const fs::path& file) {
  const auto store = Store::open(file, Store::Mode::read_only);
  if (!store) return store.error();
  auto contents = store->read_outcomes();
  if (!contents) return contents.error();
  return present_contents(std::move(*contents));
}

Result<std::monostate> write_pages(const Comparison& comparison, const fs::path& folder) {
  return write_files(folder, {{"index.html", reports::comparison_page(comparison)},
                              {"comparison.md", reports::comparison_markdown(comparison)},
                              {"comparison.json", reports::comparison_json(comparison)},
                              {"comparison.xml", reports::comparison_junit(comparison)}});
}

/// Of two exit codes that which is told: something is worse, nothing was comparable, something broke.
int graver(int one, int other) {
  for (const int code :
       {static_cast<int>(gate_failed), static_cast<int>(nothing_measured), static_cast<int>(not_run)}) {
    if (one == code || other == code) return code;
  }
  return done;
}

/// One night: what ran, what it is compared with, and how it ends.
class Nightly {
 public:
  explicit Nightly(const NightlyArguments& arguments) : arguments_(arguments), folder_(arguments.folder) {}

  Result<int> run() {
    auto suite = load_suite(arguments_.suite);
    if (!suite) return suite.error();
    suite_.emplace(std::move(*suite));
    const auto gate = reports::parse_gate(arguments_.fail_on);
    if (!gate) return gate.error();
    compare_.fail_on = *gate;
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) {
      return Error{ErrorCode::bad_input, fmt::format("{}: cannot be made: {}", folder_.string(), failure.message())};
    }
    if (!arguments_.pin.empty() && !fs::exists(arguments_.pin)) {
      return Error{ErrorCode::bad_input, fmt::format("--pin {}: no such store", arguments_.pin)};
    }
    const auto lock = StoreLock::acquire(folder_ / "nightly", {.break_lock = arguments_.break_lock});
    if (!lock) return lock.error();
    if (!lock->note().empty()) print_note(lock->note());
    return run_locked();
  }

 private:
  Result<int> run_locked() {
    auto nights = read_night_folder(folder_, suite_->name);
    if (!nights) return nights.error();
    for (const std::string& note : nights->notes) print_note("left out: " + note);
    const BuildRecord build = capture_build();
    store_ = store_of_tonight(folder_, *nights, utc_now().substr(0, 10), build.executable, hash_of_suite(suite_->text));
    const NightSummary* const good = last_good_night(*nights, store_);
    if (good != nullptr) {
      auto contents = read_present(good->store);
      if (!contents) return contents.error();
      base_name_ = good->store.filename().string();
      if (!is_good(*good)) base_name_ += " (something broke in it, as in all others)";
      base_ = std::move(*contents);
    }
    const auto ended = sweep();
    if (!ended) return ended.error();
    if (ended->code != done && ended->code != not_run) {
      // Nothing to compare: interrupted, stopped by a full disk, or nothing was measured.
      for (const std::string& reason : ended->reasons) print_error(reason);
      return ended->code;
    }
    return judge(*nights, *ended);
  }

  SweepOptions sweep_options() const {
    SweepOptions options;
    options.data = arguments_.data;
    options.cache = fs::path(store_).replace_extension(".problems");
    return options;
  }

  Result<Ending> sweep() {
    SweepOptions options = sweep_options();
    const auto count = count_cells(*suite_, options);
    if (!count) return count.error();
    if (count->left == 0)
      return Ending{nothing_measured, {arguments_.suite + ": nothing was measured: it has no cell"}};
    auto store = Store::open(store_, Store::Mode::read_write);
    if (!store) return store.error();
    const auto lock = StoreLock::acquire(store_, {.break_lock = arguments_.break_lock});
    if (!lock) return lock.error();
    ProgressPrinter progress = progress_on_stderr();
    const InterruptGuard guard;
    options.interrupted = &guard.flag();
    const auto outcome = run_sweep(*suite_, *store, options, progress);
    if (!outcome) return outcome.error();
    auto contents = store->read_outcomes();
    if (!contents && !outcome->stopped) return contents.error();
    EndedRun ended{.suite = arguments_.suite,
                   .store = store_.string(),
                   .base = base_name_,
                   .part = {},
                   .jobs = 1,
                   .outcome = *outcome,
                   .verdict = {}};
    if (contents) {
      ended.verdict = judge_sweep(*contents, outcome->keys, {}, base_ ? &*base_ : nullptr);
      tonight_ = present_contents(std::move(*contents));
    }
    return ending_of(ended);
  }

  Result<int> judge(const NightFolder& nights, const Ending& ended) {
    std::string text = fmt::format("## {}: {}\n\n", suite_->name, store_.filename().string());
    NightResult result{.exit_code = ended.code,
                       .broke = ended.code == not_run,
                       .base = base_name_,
                       .headline = "first night: nothing to compare with"};
    for (const std::string& reason : ended.reasons) text += "- " + reason + "\n";
    if (!ended.reasons.empty()) text += "\n";
    if (!base_) {
      text += "First night: nothing to compare with.\n";
    } else {
      const auto code =
          compare_with(base_name_, *base_, fs::path(store_).replace_extension(".comparison"), text, result);
      if (!code) return code.error();
      result.exit_code = graver(result.exit_code, *code);
    }
    if (!arguments_.pin.empty()) {
      const auto pinned = read_present(arguments_.pin);
      if (!pinned) return pinned.error();
      text += "\n#### Against the pinned reference\n\n";
      NightResult of_pin;
      const auto code = compare_with(arguments_.pin, *pinned,
                                     fs::path(store_).replace_extension(".comparison") / "pinned", text, of_pin);
      if (!code) return code.error();
      result.exit_code = graver(result.exit_code, *code);
    }
    const auto of_history = rewrite_history(text);
    if (!of_history) return of_history.error();
    result.exit_code = graver(result.exit_code, *of_history);
    print_text(text);
    for (const std::string& reason : ended.reasons) print_error(reason);
    if (const auto written = write_night_result(store_, result); !written) return written.error();
    prune(nights);
    keep_builds();
    return result.exit_code;
  }

  /// 0, 1 or 5, as compare ends; adds the Markdown to `text`.
  Result<int> compare_with(const std::string& name, const StoreContents& base, const fs::path& folder,
                           std::string& text, NightResult& result) const {
    const Comparison comparison = reports::compare(reports::make_side(name, base),
                                                   reports::make_side(store_.filename().string(), tonight_), compare_);
    if (const auto written = write_pages(comparison, folder); !written) return written.error();
    const std::string markdown = reports::comparison_markdown(comparison);
    result.headline = markdown.substr(0, markdown.find('\n'));
    text += markdown;
    if (comparison.compared == 0) return nothing_measured;
    if (!comparison.failed) return done;
    Alarm alarm{.base = name, .executable = {}, .settings = {}, .store = folder / "side-by-side.sqlite"};
    if (!base.runs.empty()) alarm.executable = base.runs.back().build.executable;
    bool others = false;
    for (const reports::TimeSlice& slice : comparison.slices) {
      for (const reports::SettingChange& change : slice.settings) {
        if (change.alarms.contains("slower")) alarm.settings.insert(comparison.settings[change.setting].new_hash);
      }
    }
    for (const auto& [word, count] : comparison.alarms) {
      others = others || (word != "slower" && count > 0 && compare_.fail_on.contains(word));
    }
    if (stands(alarm, text) || others) return gate_failed;
    result.headline += " (not confirmed side by side)";
    return done;
  }

  /// Settings that look slower than in another night.
  struct Alarm {
    std::string base, executable;    ///< that night's
    std::set<std::string> settings;  ///< hashes
    fs::path store;                  ///< where they are run again
  };

  /// False where a run side by side with that night's executable withdraws it. Adds what was found to `text`.
  bool stands(const Alarm& alarm, std::string& text) const {
    if (alarm.settings.empty() || !compare_.fail_on.contains("slower")) return false;
    const fs::path other = kept_build(folder_, alarm.executable);
    if (std::error_code ignored; !fs::exists(other, ignored)) {
      text += fmt::format("\nThe slower settings are *unconfirmed*: the executable of {} is not in {}.\n", alarm.base,
                          (folder_ / "builds").string());
      return true;
    }
    const InterruptGuard guard;
    BesideOptions options{.sweep = sweep_options(), .other = other, .settings = alarm.settings};
    options.sweep.interrupted = &guard.flag();
    ProgressPrinter progress = progress_on_stderr();
    const auto found = confirm_beside(*suite_, alarm.store, options, progress);
    if (!found) {
      text += fmt::format("\nThe slower settings are *unconfirmed*: {}.\n", found.error().message);
      return true;
    }
    text += fmt::format("\nSide by side with the executable of {}, six replicates a side:\n\n", alarm.base);
    for (const std::string& line : found->lines) text += "- " + line + "\n";
    if (found->verdict != Confirmation::Verdict::not_confirmed) return true;
    text += "\nThe build is not slower: the machine was.\n";
    return false;
  }

  /// The page of all nights in DIR/history; 1 where it shows tonight that a setting became slower.
  Result<int> rewrite_history(std::string& text) const {
    const auto history = reports::read_history({folder_});
    if (!history) return history.error();
    const fs::path page = folder_ / "history";
    if (const auto written = reports::write_history(*history, page); !written) return written.error();
    text += fmt::format("\nAll nights: {}\n", (page / "index.html").string());
    int code = done;
    for (const reports::SuiteHistory& suite : history->suites) {
      if (suite.suite != suite_->name || suite.nights.back().summary.store != store_) continue;
      for (const reports::TimeChange& change : suite.time_changes) {
        if (change.change.seen_at + 1 != suite.nights.size()) continue;
        text += fmt::format("- {}\n", reports::change_words(suite, change));
        if (change.change.effect > 0.0 && stands(alarm_of(suite, change), text)) code = gate_failed;
      }
    }
    return code;
  }

  Alarm alarm_of(const reports::SuiteHistory& suite, const reports::TimeChange& change) const {
    const NightSummary& before = suite.nights[change.change.last_before].summary;
    Alarm alarm{.base = before.store.filename().string(),
                .executable = before.executable,
                .settings = {},
                .store = fs::path(store_).replace_extension(".comparison") / "side-by-side-history.sqlite"};
    for (const SettingRecord& setting : tonight_.settings) {
      if (setting.label == suite.settings[change.setting]) alarm.settings.insert(setting.hash);
    }
    return alarm;
  }

  /// As far back as the rules of a history look for the night of a change, the last good one and the pinned one
  /// besides.
  void keep_builds() const {
    constexpr std::size_t newest = 8;
    if (const auto kept = keep_build(folder_, capture_build().executable); !kept)
      return print_note(kept.error().message);
    const auto nights = read_night_folder(folder_, "");
    if (!nights) return;
    std::set<std::string> executables = {capture_build().executable}, have_good;
    std::map<std::string, std::size_t> seen;  // suite → nights
    for (auto night = nights->nights.rbegin(); night != nights->nights.rend(); ++night) {
      const bool is_last_good = is_good(*night) && have_good.insert(night->suite).second;
      if (++seen[night->suite] <= newest || is_last_good) executables.insert(night->executable);
    }
    if (const auto pinned = read_night(arguments_.pin); pinned) executables.insert(pinned->executable);
    delete_builds_but(folder_, executables);
  }

  void prune(const NightFolder& nights) const {
    if (arguments_.keep == 0) return;
    const auto again = read_night_folder(folder_, suite_->name);
    const NightFolder& now = again ? *again : nights;
    for (const fs::path& old :
         nights_to_delete(now, static_cast<std::size_t>(arguments_.keep), store_, arguments_.pin)) {
      delete_night(old);
      print_note("deleted: " + old.string());
    }
  }

  const NightlyArguments& arguments_;
  fs::path folder_;
  std::optional<Suite> suite_;
  reports::CompareOptions compare_;
  fs::path store_;
  std::string base_name_;
  std::optional<StoreContents> base_;
  StoreContents tonight_;
};

}  // namespace

Command add_nightly(CLI::App& root) {
  auto arguments = std::make_shared<NightlyArguments>();
  CLI::App* app = root.add_subcommand("nightly", "Run a suite, compare with the last good night, one exit code");
  app->footer(footer);
  app->add_option("SUITE", arguments->suite, "Suite file (docs/suites.md) or the name of a built-in suite")->required();
  app->add_option("--stores", arguments->folder, "Folder of the nights, made where it is missing")
      ->required()
      ->type_name("DIR");
  app->add_option("--data", arguments->data, "Folder of the problems; else CONEBENCH_DATA, else the suite's own folder")
      ->type_name("DIR");
  app->add_option("--pin", arguments->pin, "A reference to compare with as well, against slow changes")
      ->type_name("STORE");
  app->add_option("--fail-on", arguments->fail_on, "What makes the exit code 1, as of compare")
      ->type_name("LIST")
      ->capture_default_str();
  add_integer(*app, "--keep", arguments->keep, {.minimum = 0.0, .maximum = 1e6},
              "Nights to keep, the last good and the pinned one besides; 0: all");
  app->add_flag("--break-lock", arguments->break_lock, "Take over a lock of another host or from before a restart");
  return {app, [arguments] { return Nightly(*arguments).run(); }};
}

}  // namespace conebench::cli
