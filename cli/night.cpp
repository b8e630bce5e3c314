#include "cli/night.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/folder.hpp"
#include "base/plural.hpp"
#include "base/unfinished.hpp"
#include "cli/command.hpp"
#include "cli/night_alarms.hpp"
#include "cli/night_files.hpp"
#include "cli/output.hpp"
#include "cli/run_ending.hpp"
#include "reports/badge.hpp"
#include "reports/comparison/alarms.hpp"
#include "reports/comparison/comparison.hpp"
#include "reports/history/history.hpp"
#include "reports/history/history_describe.hpp"
#include "reports/text.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/gates.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/filter.hpp"
#include "runners/plan/suite.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/night_folder.hpp"
#include "store/sqlite.hpp"
#include "store/store.hpp"
#include "store/store_lock.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using reports::Comparison;

/// The graver of two exit codes: something is worse, nothing was comparable, something broke.
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
    if (arguments_.jobs > 1 && !arguments_.quick) {
      return Error{ErrorCode::wrong_usage,
                   "--jobs: needs --quick, since the times of workers side by side say nothing"};
    }
    CONEBENCH_CHECK(load_foreign_code(arguments_.code));
    CONEBENCH_TRY(auto suite, load_suite(arguments_.suite, arguments_.code.in_suite(), simulation::sampled_scenes()));
    suite_.emplace(std::move(suite));
    CONEBENCH_TRY(filter_, CellFilter::parse(arguments_.filter));
    if (!arguments_.filter.empty()) suite_->name += " where " + one_line(arguments_.filter);
    if (arguments_.quick) {
      suite_->name += " (quick)";
      suite_->repeats = quick_look;
    }
    CONEBENCH_TRY(compare_.fail_on, reports::parse_gate(arguments_.fail_on));
    as_text_ = arguments_.format.empty() ? isatty(STDOUT_FILENO) == 1 : arguments_.format == "text";
    CONEBENCH_CHECK(make_folder(folder_));
    if (!arguments_.pin.empty() && !fs::exists(arguments_.pin)) {
      return Error{ErrorCode::bad_input, fmt::format("--pin {}: no such store", arguments_.pin)};
    }
    CONEBENCH_TRY(const auto lock, StoreLock::acquire(folder_ / "nightly", {.break_lock = arguments_.break_lock}));
    if (!lock.note().empty()) print_note(lock.note());
    return run_locked();
  }

 private:
  /// A store that tonight is compared with.
  struct Baseline {
    fs::path store;
    std::string name;  ///< with what is wrong with it
    std::string what;  ///< "last good night"
    fs::path pages;    ///< of tonight against it
    StoreContents contents;
    std::string pinned_utc = {};  ///< Alarm::pinned_utc
  };
  struct Swept {
    Ending ending;
    bool whole = false;  ///< every cell was run: it can be judged
  };
  /// A comparison that is reported, before its pages are written.
  struct Reported {
    Comparison comparison;
    fs::path folder;
    std::string asked;             ///< what the A/B run found, for the summary
    std::vector<Alarm> withdrawn;  ///< by them
    std::string pinned_utc;        ///< Alarm::pinned_utc
  };

  Result<int> run_locked() {
    if (!arguments_.pin.empty()) {
      CONEBENCH_TRY(auto pinned, read_present(arguments_.pin));
      if (!arguments_.filter.empty()) pinned = filtered(std::move(pinned), filter_, arguments_.filter);
      pin_ = Baseline{arguments_.pin, arguments_.pin, "pinned reference", {}, std::move(pinned)};
      if (!pin_->contents.runs.empty()) pin_->pinned_utc = pin_->contents.runs.front().started_utc;
    }
    remove_what_was_not_begun(folder_);
    CONEBENCH_TRY(const auto nights, read_night_folder(folder_, suite_->name));
    for (const std::string& note : nights.notes) print_note("left out: " + note);
    const std::string now = utc_now();
    store_ = store_of_tonight(folder_, nights, now, {build_, capture_machine().cpu, hash_of_text(suite_->text)});
    before_ = last_alarms(nights, store_, now);
    baseline_ = choose_baseline(nights, now);
    last_judged_ = last_judged(nights, store_, now);
    if (pin_) pin_->pages = pages() / "pinned";
    std::error_code ignored;
    pin_is_baseline_ = pin_ && baseline_ && fs::equivalent(pin_->store, baseline_->store, ignored);
    if (pin_is_baseline_) baseline_->what += ", the pinned reference";
    CONEBENCH_TRY(const auto swept, sweep());
    if (swept.whole) return judge(swept.ending);
    for (const std::string& reason : swept.ending.reasons) print_error(reason);
    return swept.ending.code;
  }

  std::optional<Baseline> choose_baseline(const NightFolder& nights, const std::string& now) const {
    for (const NightSummary* const night : bases_of(nights, store_, now, before_)) {
      auto contents = read_present(night->store);
      if (!contents) {
        print_note("left out: " + contents.error().message);
        continue;
      }
      const std::string name = night->store.filename().string();
      const std::string flaw = flaw_of(*night);
      if (flaw.empty()) {
        const std::string since = alarmed_since(before_);
        const bool in_alarm = !since.empty() && night->started_utc >= since;
        return Baseline{night->store, name,
                        since.empty() ? "last good night"
                        : in_alarm    ? "last good night, though an alarm stands since then"
                                      : "last good night before the alarms",
                        pages(), std::move(*contents)};
      }
      return Baseline{night->store, fmt::format("{} ({}; no night is good)", name, flaw), "newest complete night",
                      pages(), std::move(*contents)};
    }
    return std::nullopt;
  }

  SweepOptions sweep_options() const {
    SweepOptions options;
    options.data = arguments_.data;
    options.filter = arguments_.filter;
    options.jobs = static_cast<int>(arguments_.jobs);
    options.cache = fs::path(store_).replace_extension(".problems");
    if (!arguments_.survey.empty()) options.cache = arguments_.survey;
    return options;
  }
  fs::path pages() const { return night_pages(store_); }

  /// Tonight's store begins as a copy of the store that was measured elsewhere, with the log that a killed run left.
  Result<void> take_measured() const {
    std::error_code failed;
    if (arguments_.measured.empty() || fs::exists(store_, failed)) return {};
    CONEBENCH_CHECK(Store::open(arguments_.measured, Store::Mode::read_only));
    for (const char* ending : {"-wal", "-shm", "-journal"}) fs::remove(store_.string() + ending, failed);
    const fs::path unfinished = unfinished_path(store_);
    const auto log = sqlite::log_beside(arguments_.measured);
    fs::copy_file(arguments_.measured, unfinished, fs::copy_options::overwrite_existing, failed);
    if (log && !failed) {
      const std::string ending = log->string().substr(arguments_.measured.size());
      fs::copy_file(*log, store_.string() + ending, fs::copy_options::overwrite_existing, failed);
    }
    if (!failed) fs::rename(unfinished, store_, failed);
    if (failed) {
      return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", store_.string(), failed.message())};
    }
    return {};
  }

  Result<Swept> sweep() {
    SweepOptions options = sweep_options();
    if (!arguments_.survey.empty()) begin_survey(options.cache);
    CONEBENCH_TRY(const auto count, count_cells(*suite_, options));
    if (count.left == 0)
      return Swept{{nothing_measured,
                    {arguments_.suite + ": nothing was measured: " +
                     (arguments_.filter.empty() ? "it has no cell" : "--filter leaves no cell")}},
                   false};
    CONEBENCH_TRY(const auto lock, StoreLock::acquire(store_, {.break_lock = arguments_.break_lock}));
    if (!lock.note().empty()) print_note(lock.note());
    CONEBENCH_CHECK(take_measured());
    CONEBENCH_TRY(auto store, Store::open(store_, Store::Mode::read_write));
    ProgressPrinter progress = progress_on_stderr();
    const InterruptGuard guard;
    options.interrupted = &guard.flag();
    CONEBENCH_TRY(const auto outcome, run_sweep(*suite_, store, options, progress));
    if (!last_judged_.empty()) {
      if (const auto copied = copy_acceptances(last_judged_, store); !copied) print_note(copied.error().message);
    }
    auto contents = store.read_outcomes();
    if (!contents && !outcome.stopped) return contents.error();
    EndedRun ended{.suite = arguments_.suite,
                   .store = store_.string(),
                   .baseline = baseline_ ? baseline_->name : std::string(),
                   .part = {},
                   .jobs = static_cast<int>(arguments_.jobs),
                   .outcome = outcome,
                   .verdict = {}};
    if (contents) {
      ended.verdict = judge_sweep(*contents, outcome.keys, {}, baseline_ ? &baseline_->contents : nullptr);
      tonight_ = present_contents(std::move(*contents));
    }
    // What crashes on a first night is not new.
    if (!baseline_ && ended.verdict.answered > 0) {
      ended.verdict.ended_before += ended.verdict.ended;
      ended.verdict.ended = 0;
    }
    swept_ = ended.verdict;
    const bool whole = !outcome.stopped && !outcome.interrupted && outcome.left() == 0 && outcome.cells > 0;
    return Swept{ending_of(ended), whole};
  }

  /// Findings about tonight.
  struct Judgement {
    NightResult result;
    std::vector<Reported> reported;  ///< against the baseline and the pinned reference, where there are these
    std::vector<Alarm> found;        ///< by tonight's comparisons and the nights together
    std::vector<Alarm> slower;       ///< by the nights together
    std::string text;                ///< the summary below its head
    std::string over_nights;         ///< its part on the nights together
  };

  /// The summary is printed before anything is written that may fail.
  Result<int> judge(const Ending& ending) {
    Judgement found = begin_judgement(ending);
    compare_with_baseline(found);
    compare_with_pin(found);
    auto history = reports::read_history({folder_});
    if (history) judge_nights_together(*history, found);
    const FollowedAlarms alarms = follow(history ? &*history : nullptr, found);
    report_baseline(found);
    if (!alarms.standing.empty()) found.result.exit_code = graver(found.result.exit_code, gate_failed);
    report_pin(found);
    found.text += found.over_nights;
    if (!found.slower.empty()) found.result.headline += "; slower by the nights together";
    report_alarms(alarms, found.result, found.text);
    print_bytes(head(found.result, !found.reported.empty()) + found.text);
    for (const std::string& reason : ending.reasons) print_error(reason);
    CONEBENCH_CHECK(history);
    if (interrupted_) {
      print_error("interrupted during the A/B run of alarms; the same command goes on");
      return interrupted;
    }
    CONEBENCH_CHECK(write_night(found, *history));
    return found.result.exit_code;
  }

  /// With what broke.
  Judgement begin_judgement(const Ending& ending) {
    Judgement found{.result = {.exit_code = ending.code,
                               .broke = ending.code == not_run,
                               .baseline = baseline_ ? baseline_->name : std::string(),
                               .headline = describe_first_night()},
                    .reported = {},
                    .found = {},
                    .slower = {},
                    .text = {},
                    .over_nights = {}};
    for (const std::string& reason : ending.reasons) found.text += "- " + shown(reason) + "\n";
    if (!ending.reasons.empty()) found.text += "\n";
    tests_ = {{"the night", {test_of("it ran and nothing broke", ending.code, ending.reasons)}}};
    return found;
  }

  void compare_with_baseline(Judgement& found) {
    if (!baseline_) return;
    compare_with(*baseline_, found.reported);
    found.result.withdrawn = found.reported.front().withdrawn;
    found.found = alarms_in(found.reported.front());
  }

  void compare_with_pin(Judgement& found) {
    if (pin_is_baseline_) {
      found.reported.push_back({found.reported.front().comparison, pin_->pages, {}, {}, pin_->pinned_utc});
    } else if (pin_) {
      compare_with(*pin_, found.reported);
      for (const Alarm& alarm : alarms_in(found.reported.back())) {
        // An alarm against the last night covers the one against the pinned night.
        const bool is_reported = reported_by(found.found, alarm, found.reported.back().pinned_utc) != nullptr &&
                                 !has_subject(before_, alarm);
        if (!is_reported) found.found.push_back(alarm);
      }
    }
  }

  void judge_nights_together(const reports::History& history, Judgement& found) {
    found.slower = judge_history(history, history_before(), found.over_nights);
    const std::vector<Alarm> accepted = accepted_alarms(tonight_.acceptances);
    for (const Alarm& alarm : found.slower) {
      const Alarm* const known = reported_by(accepted, alarm, {});
      const bool is_reported = std::any_of(found.found.begin(), found.found.end(), [&](const Alarm& one) {
        return one.same_subject(alarm) && (known != nullptr || !one.accepted);
      });
      if (!is_reported) found.found.push_back(known != nullptr ? *known : alarm);
    }
  }

  /// The part of an earlier alarm that is left tonight; nullopt: it is gone. Without a comparison nothing is gone.
  static std::optional<Alarm> rest_of(const Alarm& alarm, const std::vector<Reported>& reported,
                                      const reports::History* history) {
    std::optional<Alarm> left = alarm;
    const auto against = std::find_if(reported.begin(), reported.end(),
                                      [&](const Reported& one) { return one.pinned_utc == alarm.pinned_utc; });
    if (against != reported.end()) {
      left = reports::rest_of(against->comparison, alarm);
      // An A/B run with another night's build shows more than two nights do.
      for (const Alarm& one : against->withdrawn) {
        if (left && one.same_subject(alarm)) left = without_time(std::move(*left), one.effect);
      }
    }
    if (left && history != nullptr && is_over(*history, alarm)) left = without_time(std::move(*left), alarm.effect);
    return left && !left->empty() ? left : std::nullopt;
  }

  /// Tonight's alarms, and the state of earlier and accepted ones.
  FollowedAlarms follow(const reports::History* history, Judgement& found) const {
    const auto rest = [&](const Alarm& alarm) { return rest_of(alarm, found.reported, history); };
    FollowedAlarms alarms = follow_alarms(std::move(found.found), before_, rest);
    for (const Alarm& alarm : accepted_alarms(tonight_.acceptances)) {
      const bool is_shown = std::any_of(alarms.accepted.begin(), alarms.accepted.end(),
                                        [&](const Alarm& one) { return one.id() == alarm.id(); });
      if (is_shown) continue;
      if (rest(alarm)) {
        alarms.accepted.push_back(alarm);
        continue;
      }
      found.result.ended.insert(alarm.id());
      alarms.gone.push_back(alarm);
    }
    found.result.alarms = alarms.standing;
    found.result.alarms.insert(found.result.alarms.end(), alarms.accepted.begin(), alarms.accepted.end());
    return alarms;
  }

  void report_baseline(Judgement& found) {
    if (!baseline_) return;
    const Reported& reported = found.reported.front();
    found.text += text_of(reported, baseline_->what) + reported.asked;
    add_tests(reported.comparison, "against the " + baseline_->what);
    found.result.headline = reports::headline(reported.comparison);
    if (reported.comparison.compared == 0) found.result.exit_code = graver(found.result.exit_code, nothing_measured);
  }

  void report_pin(Judgement& found) {
    if (!pin_ || pin_is_baseline_) return;
    const Reported& reported = found.reported.back();
    found.text += "\n" + text_of(reported, pin_->what) + reported.asked;
    // A night does not fail because its reference has another suite, configuration or limit; the summary says so.
    if (reported.comparison.compared == 0) {
      found.text += fmt::format(
          "\nNothing of --pin {} can be compared with this night, which ends as it would without; give a reference "
          "of this suite.\n",
          shown(arguments_.pin));
      return;
    }
    add_tests(reported.comparison, "against the " + pin_->what);
    if (reported.comparison.failed) {
      found.result.exit_code = graver(found.result.exit_code, gate_failed);
      found.result.headline += "; worse than the pinned reference";
    }
  }

  /// Pages and the night's result; then old nights and builds are deleted.
  Result<void> write_night(const Judgement& found, reports::History& history) const {
    for (reports::SuiteHistory& suite : history.suites) {
      if (suite.suite != suite_->name || suite.nights.back().summary.store != store_) continue;
      suite.last.alarms = found.result.alarms;
      if (baseline_) reports::set_last_night(suite, found.reported.front().comparison);
    }
    if (reports::HistoryNight* const night = reports::find_night(history, store_)) {
      night->result = found.result;
      night->page = found.reported.empty() ? fs::path() : pages() / "index.html";
    }
    CONEBENCH_CHECK(write_pages(found, history));
    CONEBENCH_CHECK(copy_pages(folder_, store_, arguments_.artifacts));
    CONEBENCH_CHECK(write_night_result(store_, found.result));
    const std::vector<fs::path> spared = {store_, baseline_ ? baseline_->store : fs::path(), arguments_.pin};
    prune_nights(folder_, suite_->name, arguments_.keep, spared);
    prune_stores(folder_, suite_->name, arguments_.keep_stores, spared);
    // Quick nights have no times that an A/B run could confirm.
    if (!arguments_.quick) keep_builds(folder_, build_.executable, arguments_.pin);
    return {};
  }

  std::string describe_first_night() const {
    std::string text = fmt::format("first night, {} of {} solved", swept_.solved, plural(swept_.cells, "cell"));
    if (swept_.solved == 0) text += fmt::format(" ({})", counts_text(swept_.statuses));
    if (swept_.ended_before > 0) text += fmt::format(", {} crashed or out of memory", swept_.ended_before);
    return text;
  }

  /// Head of the summary: how the night ended, and where the pages are.
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

  /// Foreign text as part of the summary.
  std::string shown(const std::string& text) const { return as_text_ ? one_line(text) : reports::markdown(text); }

  std::string emphasised(const std::string& word) const { return as_text_ ? word : "*" + word + "*"; }

  std::string text_of(const Reported& reported, const std::string& against) const {
    const std::string title = fmt::format("Against the {}", against);
    // Two comparisons, the lists of alarms and the head are one comment.
    if (!as_text_) return reports::comparison_markdown(reported.comparison, title, reports::max_comment / 3);
    const bool on_terminal = isatty(STDOUT_FILENO) == 1;
    constexpr std::size_t usual = 100;
    return title + "\n" +
           reports::comparison_terminal(reported.comparison, on_terminal && std::getenv("NO_COLOR") == nullptr,
                                        on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : usual);
  }

  Result<void> write_pages(const Judgement& found, const reports::History& history) const {
    for (const auto& [comparison, folder, asked, withdrawn, pinned_utc] : found.reported) {
      CONEBENCH_CHECK(write_files(folder, {{"index.html", reports::comparison_page(comparison)},
                                           {"comparison.md", reports::comparison_markdown(comparison)},
                                           {"comparison.json", reports::comparison_json(comparison)}}));
    }
    const std::string name = fmt::format("{}: {}", suite_->name, store_.filename().string());
    CONEBENCH_CHECK(write_files(pages(), {{"night.xml", reports::junit_xml(name, tests_)}}));
    CONEBENCH_CHECK(reports::write_history(history, folder_ / "history"));
    const bool alarm = std::any_of(found.result.alarms.begin(), found.result.alarms.end(),
                                   [](const Alarm& one) { return !one.accepted; });
    const std::string badge = reports::badge_svg(reports::analyse(tonight_, false, suite_->name), alarm);
    CONEBENCH_CHECK(write_files(folder_ / "history", {{"badge.svg", badge}}));
    return {};
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

  Alarm alarm_of_tonight(const std::string& pinned_utc) const {
    Alarm alarm;
    alarm.suite = suite_->name;
    alarm.since = store_.filename().string();
    alarm.since_utc = tonight_.runs.front().started_utc;
    alarm.pinned_utc = pinned_utc;
    return alarm;
  }

  std::vector<Alarm> alarms_in(const Reported& reported) const {
    if (reported.comparison.compared == 0) return {};
    return reports::alarms_of(reported.comparison, compare_.fail_on, alarm_of_tonight(reported.pinned_utc));
  }

  static bool has_subject(const std::vector<Alarm>& alarms, const Alarm& alarm) {
    return std::any_of(alarms.begin(), alarms.end(), [&](const Alarm& one) { return one.same_subject(alarm); });
  }

  /// Adds the comparison of tonight, less the alarms that an A/B run withdraws.
  void compare_with(const Baseline& baseline, std::vector<Reported>& reported) {
    reported.push_back({reports::compare(reports::make_side(baseline.name, baseline.contents),
                                         reports::make_side(store_.filename().string(), tonight_), compare_),
                        baseline.pages,
                        {},
                        {},
                        baseline.pinned_utc});
    auto& [comparison, pages, asked, withdrawn, pinned_utc] = reported.back();
    if (comparison.compared == 0 || !comparison.alarms.contains("slower") || !compare_.fail_on.contains("slower")) {
      return;
    }
    const SlowerConfigurations slower = slower_configurations(comparison, alarm_of_tonight(pinned_utc));
    const std::string executable = baseline.contents.runs.empty() ? "" : baseline.contents.runs.back().build.executable;
    for (const std::size_t i :
         ask_again({baseline.name, executable, baseline.pages / "side-by-side.sqlite"}, slower.suspects, asked)) {
      reports::withdraw(comparison, slower.alarms[i]);
      withdrawn.push_back(slower.alarms[i]);
    }
    reports::count_alarms(comparison, compare_.fail_on);
    if (!slower.certain.empty()) {
      asked += fmt::format("\nNot in the A/B run, being slower by a family or by work: {}.\n",
                           shown(fmt::format("{}", fmt::join(slower.certain, ", "))));
    }
  }

  /// The summary's list of alarms, and a failing test for each that the comparison does not show.
  void report_alarms(const FollowedAlarms& alarms, NightResult& result, std::string& text) {
    constexpr std::size_t max_listed = 30;  // of each kind
    std::string lines;
    for (std::size_t i = 0; i < alarms.standing.size(); ++i) {
      const std::string text_of_alarm = reports::describe_alarm(alarms.standing[i]);
      const bool seen = i < alarms.seen;
      if (i < max_listed) {
        lines += fmt::format("- alarm {}{}\n", shown(text_of_alarm), seen ? "" : " (stands: not cleared tonight)");
      }
      if (!seen || alarms.standing[i].source == ChangeSource::nights) {
        tests_.front().cases.push_back(test_of("alarm " + text_of_alarm, gate_failed, {text_of_alarm}));
      }
    }
    const auto list = [&](const std::vector<Alarm>& some, const char* what) {
      for (const Alarm& alarm : std::span(some).first(std::min(some.size(), max_listed))) {
        lines += fmt::format("- {}{}\n", what, shown(reports::describe_alarm(alarm)));
      }
    };
    list(alarms.accepted, "");
    list(alarms.gone, "gone: ");
    const auto all = {alarms.standing.size(), alarms.accepted.size(), alarms.gone.size()};
    const std::size_t left =
        std::accumulate(all.begin(), all.end(), std::size_t{0},
                        [&](std::size_t sum, std::size_t size) { return sum + size - std::min(size, max_listed); });
    if (left > 0) lines += fmt::format("- and {} more: conebench history has all\n", left);
    if (!lines.empty()) text += "\nAlarms:\n\n" + lines;
    if (!alarms.standing.empty()) {
      const std::string command = fmt::format("conebench accept {} --why TEXT --stores {}",
                                              alarms.standing.front().id(), reports::shell(folder_.string()));
      text += fmt::format("\nAn alarm stands until it is gone or accepted: {}\n", shown(command));
    }
    if (const auto old = alarms.standing.size() - alarms.seen; old > 0) {
      result.headline += "; " + plural(static_cast<long>(old), "earlier alarm") + " not cleared";
    }
  }

  /// An earlier night whose executable may have been kept.
  struct Earlier {
    std::string name, executable;
    fs::path store;  ///< where suspects are run again
  };

  /// Findings of tonight over many nights; the lists have the same length.
  struct SlowerByNights {
    std::vector<Suspect> suspects;
    std::vector<std::string> descriptions;
    std::vector<Alarm> alarms;
  };

  /// Which of the suspects an A/B run with the earlier night's executable withdraws; prints what it found.
  std::vector<std::size_t> ask_again(const Earlier& earlier, const std::vector<Suspect>& suspects, std::string& text) {
    if (suspects.empty() || interrupted_) return {};
    const fs::path other = kept_build(folder_, earlier.executable);
    if (std::error_code ignored; other.empty() || !fs::exists(other, ignored)) {
      text += fmt::format("\nThe slower configurations are {}: the executable of {} is not in {}.\n",
                          emphasised("unconfirmed"), shown(earlier.name), shown((folder_ / "builds").string()));
      return {};
    }
    const InterruptGuard guard;
    AbRunOptions options{.sweep = sweep_options(), .other = other};
    options.sweep.interrupted = &guard.flag();
    ProgressPrinter progress = progress_on_stderr();
    const auto found = confirm_ab(*suite_, earlier.store, suspects, options, progress);
    if (!found || found->interrupted) {
      interrupted_ = found && found->interrupted;
      text += fmt::format("\nThe slower configurations are {}: {}.\n", emphasised("unconfirmed"),
                          interrupted_ ? "interrupted" : shown(found.error().message));
      return {};
    }
    text += fmt::format("\nA/B run with the executable of {}, six rounds a side:\n\n", shown(earlier.name));
    for (const std::string& line : found->lines) text += "- " + shown(line) + "\n";
    std::vector<std::size_t> withdrawn;
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      if (found->verdicts[i] == Confirmation::Verdict::withdrawn) withdrawn.push_back(i);
    }
    if (!withdrawn.empty()) text += "\nWhat is withdrawn was the machine, not the build.\n";
    return withdrawn;
  }

  /// The history as of the last judged night before tonight.
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

  /// Alarms of configurations that are slower over many nights, and were not in `before`.
  std::vector<Alarm> judge_history(const reports::History& history, const reports::SuiteHistory& before,
                                   std::string& text) {
    std::vector<Alarm> alarms;
    for (const reports::SuiteHistory& suite : history.suites) {
      const auto tonight = std::find_if(suite.nights.begin(), suite.nights.end(),
                                        [&](const auto& night) { return night.summary.store == store_; });
      if (suite.suite != suite_->name || tonight == suite.nights.end()) continue;
      std::map<std::size_t, SlowerByNights> slower;  // by the last night before
      for (const reports::TimeChange& change : reports::new_time_changes(suite, before)) {
        text += fmt::format("\n{}\n", shown(reports::describe_change(suite, change)));
        if (change.change.effect > 0.0) add_suspects(suite, change, slower[change.change.last_before]);
      }
      if (!compare_.fail_on.contains("slower")) continue;
      for (const auto& [last_before, found] : slower) {
        const NightSummary& night = suite.nights[last_before].summary;
        const std::string name = night.store.filename().string();
        const fs::path store = pages() / ("side-by-side-" + name);
        const auto withdrawn = ask_again({name, night.executable, store}, found.suspects, text);
        for (std::size_t i = 0; i < found.suspects.size(); ++i) {
          const bool stands = std::find(withdrawn.begin(), withdrawn.end(), i) == withdrawn.end();
          if (stands) {
            alarms.push_back(found.alarms[i]);
          } else {
            tests_.front().cases.push_back({found.descriptions[i]});
          }
        }
      }
    }
    return alarms;
  }

  void add_suspects(const reports::SuiteHistory& suite, const reports::TimeChange& change, SlowerByNights& into) const {
    const reports::HistorySlice& slice = suite.slices[change.slice];
    for (const ConfigurationRecord& configuration : tonight_.configurations) {
      if (configuration.label == suite.configurations[change.configuration]) {
        into.suspects.push_back(
            {configuration.hash, slice.tolerance, slice.start, change.change.effect, configuration.label});
        into.descriptions.push_back(reports::describe_change(suite, change));
        const NightSummary& first = suite.nights[change.change.first_after].summary;
        into.alarms.push_back({.suite = suite_->name,
                               .kind = "slower",
                               .configuration = configuration.label,
                               .tolerance = slice.tolerance,
                               .stop_by = slice.stop_by,
                               .verdict = slice.verdict,
                               .start = slice.start,
                               .source = ChangeSource::nights,
                               .since = first.store.filename().string(),
                               .since_utc = first.started_utc,
                               .effect = change.change.effect,
                               .by_time = true,
                               .cells = 1});
      }
    }
  }

  const NightlyArguments& arguments_;
  const BuildRecord build_ = capture_build();
  fs::path folder_, store_;
  std::optional<Suite> suite_;  ///< its name with the filter
  CellFilter filter_;
  reports::CompareOptions compare_;
  std::optional<Baseline> baseline_, pin_;
  std::vector<Alarm> before_;  ///< of the last judged night
  fs::path last_judged_;       ///< its store; empty: there is none
  bool pin_is_baseline_ = false;
  StoreContents tonight_;
  SweepVerdict swept_;
  std::vector<reports::JunitSuite> tests_;  ///< of tonight, one that fails for each reason of the exit code
  bool interrupted_ = false;
  bool as_text_ = false;  ///< the summary; else Markdown
};

}  // namespace

Result<int> run_night(const NightlyArguments& arguments) { return Night(arguments).run(); }

}  // namespace conebench::cli
