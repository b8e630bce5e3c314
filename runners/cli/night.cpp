#include "runners/cli/night.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/folder.hpp"
#include "base/plural.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/history/history.hpp"
#include "reports/history/history_words.hpp"
#include "reports/text.hpp"
#include "reports/write_files.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/night_alarms.hpp"
#include "runners/cli/night_files.hpp"
#include "runners/cli/output.hpp"
#include "runners/cli/run_ending.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/gates.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/filter.hpp"
#include "runners/plan/suite.hpp"
#include "runners/store/night_folder.hpp"
#include "runners/store/store.hpp"
#include "runners/store/store_lock.hpp"
#include "runners/store/suite_scope.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using reports::Comparison;

/// Of two exit codes that which is told: something is worse, nothing was comparable, something broke.
int graver(int one, int other) {
  for (const int code : {gate_failed, nothing_measured, not_run}) {
    if (one == code || other == code) return code;
  }
  return done;
}

/// One night: what ran, what it is compared with, and how it ends.
class Night {
 public:
  explicit Night(const NightlyArguments& arguments) : arguments_(arguments), folder_(arguments.folder) {}

  Result<int> run() {
    if (auto error = load_foreign_code(arguments_.code)) return *error;
    auto suite = load_suite(arguments_.suite, arguments_.code.in_suite());
    if (!suite) return suite.error();
    suite_.emplace(std::move(*suite));
    auto filter = CellFilter::parse(arguments_.filter);
    if (!filter) return filter.error();
    filter_ = std::move(*filter);
    if (!arguments_.filter.empty()) suite_->name += " where " + one_line(arguments_.filter);
    const auto gate = reports::parse_gate(arguments_.fail_on);
    if (!gate) return gate.error();
    compare_.fail_on = *gate;
    as_text_ = arguments_.format.empty() ? isatty(STDOUT_FILENO) == 1 : arguments_.format == "text";
    if (const auto made = make_folder(folder_); !made) return made.error();
    if (!arguments_.pin.empty() && !fs::exists(arguments_.pin)) {
      return Error{ErrorCode::bad_input, fmt::format("--pin {}: no such store", arguments_.pin)};
    }
    const auto lock = StoreLock::acquire(folder_ / "nightly", {.break_lock = arguments_.break_lock});
    if (!lock) return lock.error();
    if (!lock->note().empty()) print_note(lock->note());
    return run_locked();
  }

 private:
  /// A store that tonight is compared with.
  struct Base {
    fs::path store;
    std::string name;  ///< with what is wrong with it
    std::string what;  ///< "last good night"
    fs::path pages;    ///< of tonight against it
    StoreContents contents;
  };
  struct Swept {
    Ending ending;
    bool whole = false;  ///< every cell was run: it can be judged
  };
  /// A comparison that is told, before its pages are written.
  struct Told {
    Comparison comparison;
    fs::path folder;
  };

  Result<int> run_locked() {
    if (!arguments_.pin.empty()) {
      auto pinned = read_present(arguments_.pin);
      if (!pinned) return pinned.error();
      if (!arguments_.filter.empty()) *pinned = filtered(std::move(*pinned), filter_, arguments_.filter);
      pin_ = Base{arguments_.pin, arguments_.pin, "pinned reference", {}, std::move(*pinned)};
    }
    remove_what_was_not_begun(folder_);
    const auto nights = read_night_folder(folder_, suite_->name);
    if (!nights) return nights.error();
    for (const std::string& note : nights->notes) print_note("left out: " + note);
    const std::string now = utc_now();
    store_ = store_of_tonight(folder_, *nights, now, {build_, capture_machine().cpu, hash_of_suite(suite_->text)});
    base_ = choose_base(*nights, now);
    if (pin_) pin_->pages = pages() / "pinned";
    std::error_code ignored;
    pin_is_base_ = pin_ && base_ && fs::equivalent(pin_->store, base_->store, ignored);
    if (pin_is_base_) base_->what += ", the pinned reference";
    const auto swept = sweep();
    if (!swept) return swept.error();
    if (swept->whole) return judge(swept->ending);
    for (const std::string& reason : swept->ending.reasons) print_error(reason);
    return swept->ending.code;
  }

  std::optional<Base> choose_base(const NightFolder& nights, const std::string& now) const {
    for (const NightSummary* const night : bases_of(nights, store_, now)) {
      auto contents = read_present(night->store);
      if (!contents) {
        print_note("left out: " + contents.error().message);
        continue;
      }
      const std::string name = night->store.filename().string();
      const std::string flaw = flaw_of(*night);
      if (flaw.empty()) return Base{night->store, name, "last good night", pages(), std::move(*contents)};
      return Base{night->store, fmt::format("{} ({}; no night is good)", name, flaw), "newest complete night", pages(),
                  std::move(*contents)};
    }
    return std::nullopt;
  }

  SweepOptions sweep_options() const {
    SweepOptions options;
    options.data = arguments_.data;
    options.filter = arguments_.filter;
    options.cache = fs::path(store_).replace_extension(".problems");
    if (!arguments_.survey.empty()) options.cache = arguments_.survey;
    return options;
  }
  fs::path pages() const { return night_pages(store_); }

  /// Tonight's store begins as a copy of what was measured elsewhere.
  Result<std::monostate> take_measured() const {
    std::error_code failed;
    if (arguments_.measured.empty() || fs::exists(store_, failed)) return std::monostate{};
    if (const auto readable = Store::open(arguments_.measured, Store::Mode::read_only); !readable) {
      return readable.error();
    }
    const fs::path beside = store_.string() + ".new";
    fs::copy_file(arguments_.measured, beside, fs::copy_options::overwrite_existing, failed);
    if (!failed) fs::rename(beside, store_, failed);
    if (failed) {
      return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", store_.string(), failed.message())};
    }
    return std::monostate{};
  }

  Result<Swept> sweep() {
    SweepOptions options = sweep_options();
    if (!arguments_.survey.empty()) begin_survey(options.cache);
    const auto count = count_cells(*suite_, options);
    if (!count) return count.error();
    if (count->left == 0)
      return Swept{{nothing_measured,
                    {arguments_.suite + ": nothing was measured: " +
                     (arguments_.filter.empty() ? "it has no cell" : "--filter leaves no cell")}},
                   false};
    const auto lock = StoreLock::acquire(store_, {.break_lock = arguments_.break_lock});
    if (!lock) return lock.error();
    if (!lock->note().empty()) print_note(lock->note());
    if (const auto taken = take_measured(); !taken) return taken.error();
    auto store = Store::open(store_, Store::Mode::read_write);
    if (!store) return store.error();
    ProgressPrinter progress = progress_on_stderr();
    const InterruptGuard guard;
    options.interrupted = &guard.flag();
    const auto outcome = run_sweep(*suite_, *store, options, progress);
    if (!outcome) return outcome.error();
    auto contents = store->read_outcomes();
    if (!contents && !outcome->stopped) return contents.error();
    EndedRun ended{.suite = arguments_.suite,
                   .store = store_.string(),
                   .base = base_ ? base_->name : std::string(),
                   .part = {},
                   .jobs = 1,
                   .outcome = *outcome,
                   .verdict = {}};
    if (contents) {
      ended.verdict = judge_sweep(*contents, outcome->keys, {}, base_ ? &base_->contents : nullptr);
      tonight_ = present_contents(std::move(*contents));
    }
    // What crashes on a first night is not new.
    if (!base_ && ended.verdict.answered > 0) {
      ended.verdict.ended_before += ended.verdict.ended;
      ended.verdict.ended = 0;
    }
    swept_ = ended.verdict;
    const bool whole = !outcome->stopped && !outcome->interrupted && outcome->left() == 0 && outcome->cells > 0;
    return Swept{ending_of(ended), whole};
  }

  /// The summary is printed before anything is written that may fail.
  Result<int> judge(const Ending& ending) {
    std::string text;
    NightResult result{.exit_code = ending.code,
                       .broke = ending.code == not_run,
                       .base = base_ ? base_->name : std::string(),
                       .headline = first_night_words()};
    for (const std::string& reason : ending.reasons) text += "- " + shown(reason) + "\n";
    if (!ending.reasons.empty()) text += "\n";
    tests_ = {{"the night", {test_of("it ran and nothing broke", ending.code, ending.reasons)}}};
    std::vector<Told> told;
    if (base_) {
      result.exit_code = graver(result.exit_code, compare_with(*base_, text, told));
      add_tests(told.back().comparison, "against the " + base_->what);
      result.headline = reports::headline(told.front().comparison);
    }
    if (pin_is_base_) {
      told.push_back({told.front().comparison, pin_->pages});
    } else if (pin_) {
      text += "\n";
      const int against_pin = compare_with(*pin_, text, told);
      // A night is no failure because its reference is of another suite, setting or limit: once and for all it says so.
      if (against_pin == nothing_measured) {
        text += fmt::format(
            "\nNothing of --pin {} can be compared with this night, which ends as it would without; give a reference "
            "of this suite.\n",
            shown(arguments_.pin));
      } else {
        result.exit_code = graver(result.exit_code, against_pin);
        add_tests(told.back().comparison, "against the " + pin_->what);
        if (against_pin == gate_failed) result.headline += "; worse than the pinned reference";
      }
    }
    auto history = reports::read_history({folder_});
    if (history) {
      const int together = judge_history(*history, history_before(), text);
      result.exit_code = graver(result.exit_code, together);
      if (together == gate_failed) result.headline += "; slower by the nights together";
    }
    print_bytes(head(result, !told.empty()) + text);
    for (const std::string& reason : ending.reasons) print_error(reason);
    if (!history) return history.error();
    if (interrupted_) {
      print_error("interrupted while alarms were run side by side; the same command goes on");
      return interrupted;
    }
    if (reports::HistoryNight* const night = reports::find_night(*history, store_)) {
      *night = {std::move(night->summary), night->segment, night->not_judged, result,
                told.empty() ? fs::path() : pages() / "index.html"};
    }
    if (const auto written = write_pages(told, *history); !written) return written.error();
    if (const auto copied = copy_pages(folder_, store_, arguments_.artifacts); !copied) return copied.error();
    if (const auto written = write_night_result(store_, result); !written) return written.error();
    prune_nights(folder_, suite_->name, arguments_.keep, {store_, base_ ? base_->store : fs::path(), arguments_.pin});
    keep_builds(folder_, build_.executable, arguments_.pin);
    return result.exit_code;
  }

  std::string first_night_words() const {
    std::string words = fmt::format("first night, {} of {} solved", swept_.solved, plural(swept_.cells, "cell"));
    if (swept_.solved == 0) words += fmt::format(" ({})", counts_text(swept_.statuses));
    if (swept_.ended_before > 0) words += fmt::format(", {} crashed or out of memory", swept_.ended_before);
    return words;
  }

  /// What a reader wants first: how it ended, and where the pages are.
  std::string head(const NightResult& result, bool compared) const {
    std::string text = fmt::format("{}{}: {}\n\n", as_text_ ? "" : "## ", shown(suite_->name), shown(result.headline));
    const char* const item = as_text_ ? "" : "- ";
    text += fmt::format("{}night: {}\n", item, shown(store_.string()));
    if (compared && !interrupted_) {
      text += fmt::format("{}page of it: {}\n", item, shown((pages() / "index.html").string()));
    } else if (!interrupted_) {
      const std::string command = fmt::format("conebench report {} --out report", reports::shell(store_.string()));
      text += fmt::format("{}page of it: {}\n", item, shown("run " + command));
    }
    if (!interrupted_)
      text += fmt::format("{}all nights: {}\n", item, shown((folder_ / "history/index.html").string()));
    return text + "\n";
  }

  /// A text from outside, as a part of the summary.
  std::string shown(const std::string& text) const { return as_text_ ? one_line(text) : reports::markdown(text); }

  std::string text_of(const Told& told, const std::string& against) const {
    const std::string title = fmt::format("Against the {}", against);
    if (!as_text_) return reports::comparison_markdown(told.comparison, title);
    const bool on_terminal = isatty(STDOUT_FILENO) == 1;
    constexpr std::size_t usual = 100;
    return title + "\n" +
           reports::comparison_terminal(told.comparison, on_terminal && std::getenv("NO_COLOR") == nullptr,
                                        on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : usual);
  }

  Result<std::monostate> write_pages(const std::vector<Told>& told, const reports::History& history) const {
    for (const auto& [comparison, folder] : told) {
      const auto written = write_files(folder, {{"index.html", reports::comparison_page(comparison)},
                                                {"comparison.md", reports::comparison_markdown(comparison)},
                                                {"comparison.json", reports::comparison_json(comparison)}});
      if (!written) return written.error();
    }
    const std::string name = fmt::format("{}: {}", suite_->name, store_.filename().string());
    if (const auto written = write_files(pages(), {{"night.xml", reports::junit_xml(name, tests_)}}); !written) {
      return written.error();
    }
    if (const auto written = reports::write_history(history, folder_ / "history"); !written) return written.error();
    return std::monostate{};
  }

  static reports::JunitCase test_of(std::string name, int code, const std::vector<std::string>& reasons) {
    if (code == done) return {std::move(name)};
    return {std::move(name), reports::JunitCase::End::failed, fmt::format("{}", fmt::join(reasons, "; "))};
  }

  void add_tests(const Comparison& comparison, const std::string& title) {
    for (reports::JunitSuite& suite : reports::comparison_tests(comparison)) {
      tests_.push_back({title + ", " + suite.name, std::move(suite.cases)});
    }
  }

  /// 0, 1 or 5, as compare ends; adds what it found to `text`.
  int compare_with(const Base& base, std::string& text, std::vector<Told>& told) {
    told.push_back({reports::compare(reports::make_side(base.name, base.contents),
                                     reports::make_side(store_.filename().string(), tonight_), compare_),
                    base.pages});
    Comparison& comparison = told.back().comparison;
    std::string found;
    if (comparison.compared > 0 && comparison.alarms.contains("slower") && compare_.fail_on.contains("slower")) {
      const SlowerSettings slower = slower_settings(comparison);
      const std::string executable = base.contents.runs.empty() ? "" : base.contents.runs.back().build.executable;
      const auto withdrawn =
          ask_again({base.name, executable, base.pages / "side-by-side.sqlite"}, slower.suspects, found);
      for (const std::size_t i : withdrawn) withdraw_slower(comparison, slower.places[i], compare_.fail_on);
      if (!slower.certain.empty()) {
        found += fmt::format("\nNot asked side by side, being slower by a family or by work: {}.\n",
                             shown(fmt::format("{}", fmt::join(slower.certain, ", "))));
      }
    }
    text += text_of(told.back(), base.what) + found;
    if (comparison.compared == 0) return nothing_measured;
    return comparison.failed ? gate_failed : done;
  }

  /// An earlier night whose executable may be at hand.
  struct Earlier {
    std::string name, executable;
    fs::path store;  ///< where suspects are run again
  };

  /// What all nights together show tonight; of one length.
  struct SlowerByNights {
    std::vector<Suspect> suspects;
    std::vector<std::string> words;
  };

  /// Which of the suspects a run side by side with the earlier night's executable withdraws; says what it found.
  std::vector<std::size_t> ask_again(const Earlier& earlier, const std::vector<Suspect>& suspects, std::string& text) {
    if (suspects.empty() || interrupted_) return {};
    const fs::path other = kept_build(folder_, earlier.executable);
    if (std::error_code ignored; other.empty() || !fs::exists(other, ignored)) {
      text += fmt::format("\nThe slower settings are *unconfirmed*: the executable of {} is not in {}.\n",
                          shown(earlier.name), shown((folder_ / "builds").string()));
      return {};
    }
    const InterruptGuard guard;
    BesideOptions options{.sweep = sweep_options(), .other = other};
    options.sweep.interrupted = &guard.flag();
    ProgressPrinter progress = progress_on_stderr();
    const auto found = confirm_beside(*suite_, earlier.store, suspects, options, progress);
    if (!found || found->interrupted) {
      interrupted_ = found && found->interrupted;
      text += fmt::format("\nThe slower settings are *unconfirmed*: {}.\n",
                          interrupted_ ? "interrupted" : shown(found.error().message));
      return {};
    }
    text += fmt::format("\nSide by side with the executable of {}, six replicates a side:\n\n", shown(earlier.name));
    for (const std::string& line : found->lines) text += "- " + shown(line) + "\n";
    std::vector<std::size_t> withdrawn;
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      if (found->verdicts[i] == Confirmation::Verdict::withdrawn) withdrawn.push_back(i);
    }
    if (!withdrawn.empty()) text += "\nWhat is withdrawn was the machine, not the build.\n";
    return withdrawn;
  }

  /// What all nights showed when the last one before tonight was judged.
  reports::SuiteHistory history_before() const {
    auto stores = read_store_folder(folder_);
    if (!stores) return {};
    auto& nights = stores->nights;
    std::erase_if(nights,
                  [&](const NightSummary& night) { return night.store == store_ || night.suite != suite_->name; });
    const auto judged = [](const NightSummary& night) { return read_night_result(night.store).has_value(); };
    nights.erase(std::find_if(nights.rbegin(), nights.rend(), judged).base(), nights.end());
    reports::History history = reports::make_history(std::move(nights));
    return history.suites.empty() ? reports::SuiteHistory{} : std::move(history.suites.front());
  }

  /// 1 where the nights together show that a setting became slower, and did not `before`.
  int judge_history(const reports::History& history, const reports::SuiteHistory& before, std::string& text) {
    int code = done;
    for (const reports::SuiteHistory& suite : history.suites) {
      const auto tonight = std::find_if(suite.nights.begin(), suite.nights.end(),
                                        [&](const auto& night) { return night.summary.store == store_; });
      if (suite.suite != suite_->name || tonight == suite.nights.end()) continue;
      std::map<std::size_t, SlowerByNights> slower;  // by the last night before
      for (const reports::TimeChange& change : reports::new_time_changes(suite, before)) {
        text += fmt::format("\n{}\n", shown(reports::change_words(suite, change)));
        if (change.change.effect > 0.0) add_suspects(suite, change, slower[change.change.last_before]);
      }
      if (!compare_.fail_on.contains("slower")) continue;
      for (const auto& [last_before, found] : slower) {
        const NightSummary& night = suite.nights[last_before].summary;
        const std::string name = night.store.filename().string();
        const fs::path store = pages() / ("side-by-side-" + name);
        const auto withdrawn = ask_again({name, night.executable, store}, found.suspects, text);
        if (withdrawn.size() < found.suspects.size()) code = gate_failed;
        for (std::size_t i = 0; i < found.suspects.size(); ++i) {
          const bool stands = std::find(withdrawn.begin(), withdrawn.end(), i) == withdrawn.end();
          tests_.front().cases.push_back(test_of(found.words[i], stands ? gate_failed : done, {found.words[i]}));
        }
      }
    }
    return code;
  }

  void add_suspects(const reports::SuiteHistory& suite, const reports::TimeChange& change, SlowerByNights& into) const {
    const reports::HistorySlice& slice = suite.slices[change.slice];
    for (const SettingRecord& setting : tonight_.settings) {
      if (setting.label == suite.settings[change.setting]) {
        into.suspects.push_back({setting.hash, slice.tolerance, slice.start, change.change.effect});
        into.words.push_back(reports::change_words(suite, change));
      }
    }
  }

  const NightlyArguments& arguments_;
  const BuildRecord build_ = capture_build();
  fs::path folder_, store_;
  std::optional<Suite> suite_;  ///< its name with the filter
  CellFilter filter_;
  reports::CompareOptions compare_;
  std::optional<Base> base_, pin_;
  bool pin_is_base_ = false;
  StoreContents tonight_;
  SweepVerdict swept_;
  std::vector<reports::JunitSuite> tests_;  ///< of tonight, one that fails for each reason of the exit code
  bool interrupted_ = false;
  bool as_text_ = false;  ///< the summary; else Markdown
};

}  // namespace

Result<int> run_night(const NightlyArguments& arguments) { return Night(arguments).run(); }

}  // namespace conebench::cli
