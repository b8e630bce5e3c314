#include "cli/run_ending.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "reports/text.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

namespace {

/// What broke, joined: "1 of 2 problems could not be loaded; 2 cells crashed or ran out of memory".
std::string what_broke(const EndedRun& run) {
  std::vector<std::string> parts;
  const SweepVerdict& verdict = run.verdict;
  if (verdict.unreadable > 0) {
    parts.push_back(
        fmt::format("{} of {} could not be loaded", verdict.unreadable, plural(run.outcome.problems, "problem")));
  }
  if (verdict.ended > 0) {
    parts.push_back(fmt::format("{} crashed or ran out of memory{}", plural(verdict.ended, "cell"),
                                run.baseline.empty() ? "" : fmt::format(" and did not in {}", run.baseline)));
  }
  if (verdict.skipped > 0) parts.push_back(plural(verdict.skipped, "cell") + " got no process");
  const auto left = [&](long count, const char* what, const char* not_done) {
    if (count > 0)
      parts.push_back(fmt::format("{} {} not {}", plural(count, what), count == 1 ? "was" : "were", not_done));
  };
  left(run.outcome.killed_problems, "problem", "read, because its reader was terminated externally");
  left(run.outcome.not_run(), "cell", "run");
  left(run.outcome.not_retimed, "cell", "timed again");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

/// "3 problems have no solution (certified), 1 is at noise level: left out of all shares; 1 problem has no solution
/// (certified) at 1e-8: left out there"; empty where all count.
std::string left_out_text(const SweepVerdict& verdict) {
  const auto without = [](long count) {
    return fmt::format("{} {} no solution (certified)", plural(count, "problem"), count == 1 ? "has" : "have");
  };
  long everywhere = verdict.infeasible;
  std::vector<std::string> partly;
  for (const auto& [tolerances, count] : verdict.infeasible_in_part) {
    everywhere -= count;
    std::vector<std::string> at;
    for (const double tolerance : tolerances) at.insert(at.begin(), reports::human_tolerance(tolerance));
    partly.push_back(fmt::format("{} at {}: left out there", without(count), fmt::join(at, ", ")));
  }
  std::vector<std::string> parts;
  if (everywhere > 0) parts.push_back(without(everywhere));
  if (const long noise = verdict.noise_level; noise > 0) {
    const std::string count = parts.empty() ? plural(noise, "problem") : std::to_string(noise);
    parts.push_back(fmt::format("{} {} at noise level", count, noise == 1 ? "is" : "are"));
  }
  if (!parts.empty()) partly.insert(partly.begin(), fmt::format("{}: left out of all shares", fmt::join(parts, ", ")));
  return fmt::format("{}", fmt::join(partly, "; "));
}

nlohmann::json to_json(const GateOutcome& gate) {
  return {{"gate", gate.gate.text},
          {"solver", gate.gate.solver.empty() ? nlohmann::json(nullptr) : nlohmann::json(gate.gate.solver)},
          {"over", gate.gate.supported_only ? "supported" : "all"},
          {"asked", gate.gate.share},
          {"found", gate.cells > 0 ? number(gate.share()) : nlohmann::json(nullptr)},
          {"solved", gate.solved},
          {"cells", gate.cells},
          {"supported", gate.supported},
          {"baseline_supported",
           gate.baseline_supported ? nlohmann::json(*gate.baseline_supported) : nlohmann::json(nullptr)},
          {"passed", gate.failure().empty()}};
}

}  // namespace

Ending ending_of(const EndedRun& run) {
  const SweepOutcome& outcome = run.outcome;
  if (outcome.stopped) return {exit_code(outcome.stopped->code), {outcome.stopped->message}};
  if (outcome.interrupted) {
    std::string left = "while solved cells were timed again";
    if (outcome.not_run() > 0) left = fmt::format("with {} to run", plural(outcome.not_run(), "cell"));
    if (outcome.cells == 0) left = "while the problems were read";
    return {interrupted, {fmt::format("interrupted {}; the same command resumes", left)}};
  }
  if (outcome.cells == 0 && outcome.killed_problems == 0) {
    return {nothing_measured, {fmt::format("{}: nothing was measured: {} leaves no cell", run.suite, run.part)}};
  }
  const std::string no_answer = fmt::format("no solver answered in any of {} ({})", plural(outcome.cells, "cell"),
                                            counts_text(run.verdict.statuses));
  const bool answered = run.verdict.answered > 0 || outcome.left() > 0;
  if (!answered && !run.verdict.broke()) {
    return {nothing_measured, {fmt::format("{}: nothing was measured: {}; the report says why", run.suite, no_answer)}};
  }
  Ending ending;
  for (const GateOutcome& gate : run.verdict.gates) {
    if (const std::string failure = gate.failure(); !failure.empty()) ending.reasons.push_back(failure);
  }
  if (!ending.reasons.empty()) {
    ending.code = gate_failed;
  } else if (run.verdict.broke() || outcome.left() > 0) {
    const char* const next = outcome.left() > 0 ? "the same command goes on with what was left" : "the report says why";
    ending = {not_run,
              {fmt::format("{}: {}; {}{}", run.suite, what_broke(run), answered ? "" : no_answer + "; ", next)}};
  }
  return ending;
}

void print_ended(const EndedRun& run) {
  const SweepOutcome& outcome = run.outcome;
  const std::string flaky = outcome.flaky > 0 ? fmt::format(" ({} of them flaky)", outcome.flaky) : std::string();
  const std::string retimed =
      outcome.retimed > 0 ? fmt::format(" and {} timed again{}", outcome.retimed, flaky) : std::string();
  print_text(fmt::format("{}: {} of {} cells solved; {} run now{} in {}, {} stored before\n", run.store, outcome.solved,
                         outcome.cells, outcome.run, retimed, duration_text(outcome.wall_s), outcome.resumed));
  if (outcome.measured > 0) {
    const double sweep_s = outcome.wall_s - outcome.survey_s;
    print_text(fmt::format(
        "{} to read and check the problems; of the time after that, {:.1f} % went to starting processes and writing "
        "the store, the rest to solving and judging\n",
        duration_text(outcome.survey_s), 100.0 * (1.0 - outcome.busy_s / (static_cast<double>(run.jobs) * sweep_s))));
  }
  if (!outcome.statuses.empty()) print_text("run now: " + counts_text(outcome.statuses) + "\n");
  const long unsupported = run.verdict.cells - run.verdict.supported;
  if (unsupported > 0) {
    print_text(fmt::format("not supported, which is no failure: {} of {}; of {} {}\n", unsupported,
                           plural(run.verdict.cells, "cell"), plural(outcome.problems, "problem"), left_out(outcome)));
  }
  if (const std::string left = left_out_text(run.verdict); !left.empty()) print_text(left + "\n");
  if (run.verdict.ended_before > 0) {
    print_text(fmt::format("{} crashed or ran out of memory as in {}\n", plural(run.verdict.ended_before, "cell"),
                           run.baseline));
  }
  if (outcome.cells > 0) {
    print_text(fmt::format("page and tables as files: conebench report {} --out DIR\n", reports::shell(run.store)));
  }
  for (const NoiseRecord& noise : outcome.noise) print_note("noise: " + reports::noise_text(noise));
}

nlohmann::json to_json(const EndedRun& run, const Ending& ending) {
  const SweepOutcome& outcome = run.outcome;
  nlohmann::json out = {{"suite", run.suite},
                        {"store", run.store},
                        {"baseline", run.baseline.empty() ? nlohmann::json(nullptr) : nlohmann::json(run.baseline)},
                        {"exit_code", ending.code},
                        {"reasons", ending.reasons},
                        {"interrupted", outcome.interrupted},
                        {"problems", outcome.problems},
                        {"problems_not_loaded", outcome.bad_problems},
                        {"problems_taken_by_none", outcome.untaken_problems},
                        {"problems_infeasible", run.verdict.infeasible},
                        {"problems_noise_level", run.verdict.noise_level},
                        {"cells", outcome.cells},
                        {"cells_solved", outcome.solved},
                        {"cells_supported", run.verdict.supported},
                        {"cells_stored_before", outcome.resumed},
                        {"cells_run_now", outcome.run},
                        {"cells_not_run", outcome.not_run()},
                        {"cells_timed_again", outcome.retimed},
                        {"cells_not_timed_again", outcome.not_retimed},
                        {"problems_killed", outcome.killed_problems},
                        {"cells_flaky", outcome.flaky},
                        {"cells_ended", run.verdict.ended},
                        {"cells_ended_in_baseline_too", run.verdict.ended_before},
                        {"statuses", run.verdict.statuses},
                        {"statuses_run_now", outcome.statuses},
                        {"gates", nlohmann::json::array()},
                        {"wall_s", number(outcome.wall_s)},
                        {"survey_s", number(outcome.survey_s)},
                        {"busy_s", number(outcome.busy_s)},
                        {"noise", reports::noise_texts(outcome.noise)}};
  for (const GateOutcome& gate : run.verdict.gates) out["gates"].push_back(to_json(gate));
  return out;
}

}  // namespace conebench::cli
