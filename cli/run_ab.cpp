#include "cli/run_ab.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "metrics/change/configuration_times.hpp"
#include "store/suite_scope.hpp"

namespace conebench::cli {

namespace {

Result<reports::Comparison> compare_sides(const Store& store, const std::string& name,
                                          const reports::CompareOptions& options) {
  CONEBENCH_TRY(auto contents, store.read_outcomes());
  auto [baseline, candidate] = reports::split_side_by_side(name, present_contents(std::move(contents)));
  return reports::compare(std::move(baseline), std::move(candidate), options);
}

void print_outcome(const AbRunOutcome& outcome, const std::string& store) {
  print_note(fmt::format("{}: {} of {} run side by side in {}", store, outcome.done, plural(outcome.cells, "cell"),
                         duration_text(outcome.wall_s)));
}

}  // namespace

Result<int> run_and_compare(const Suite& suite, Store& store, const std::filesystem::path& file,
                            const AbRunOptions& options, const AbRunOutput& output, Progress& progress) {
  reports::CompareOptions compared;
  CONEBENCH_TRY(compared.fail_on, reports::parse_gate(output.fail_on));
  CONEBENCH_TRY(const auto outcome, ab_run(suite, store, options, progress));
  print_outcome(outcome, file.string());
  if (outcome.stopped) return *outcome.stopped;
  if (outcome.interrupted) {
    print_error("interrupted; the same command resumes");
    return interrupted;
  }
  CONEBENCH_TRY(const auto comparison, compare_sides(store, file.string(), compared));
  if (output.json) {
    print_bytes(reports::comparison_json(comparison));
  } else {
    print_bytes(
        reports::comparison_terminal(comparison, isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr));
  }
  const int ending = comparison_ending(comparison, compared.fail_on);
  if (outcome.all_done()) return ending;
  std::string left = plural(outcome.left, "cell");
  if (outcome.killed_problems > 0) left += " and those of " + plural(outcome.killed_problems, "problem");
  print_error(fmt::format("{}: {} left, because a process was terminated externally; the same command goes on",
                          file.string(), left));
  return ending == gate_failed ? gate_failed : not_run;
}

namespace {

/// The suspect's configuration in the comparison; null: it has no cell there.
const reports::ConfigurationChange* find_suspect(const reports::Comparison& comparison, const Suspect& suspect) {
  for (const reports::TimeSlice& slice : comparison.slices) {
    if (slice.request.tolerance != suspect.tolerance || slice.request.start != suspect.start) continue;
    for (const reports::ConfigurationChange& change : slice.configurations) {
      if (comparison.configurations[change.configuration].candidate_hash == suspect.configuration) return &change;
    }
  }
  return nullptr;
}

Confirmation::Verdict verdict_on(const reports::ConfigurationChange& change, double effect) {
  if (change.assessment == reports::Assessment::worse) return Confirmation::Verdict::confirmed;
  return rules_out(change.times.judged(), effect) ? Confirmation::Verdict::withdrawn : Confirmation::Verdict::undecided;
}

std::string line_of(const reports::Comparison& comparison, const Suspect& suspect,
                    const reports::ConfigurationChange* change, Confirmation::Verdict verdict) {
  if (change == nullptr) {
    return fmt::format("{} at {:g}: undecided: it was not run", suspect.label, suspect.tolerance);
  }
  const char* const word = verdict == Confirmation::Verdict::confirmed   ? "confirmed"
                           : verdict == Confirmation::Verdict::withdrawn ? "withdrawn"
                                                                         : "undecided";
  const ChangeEvidence seen = evidence_of(change->times, ChangeSource::side_by_side);
  std::string why =
      fmt::format("{:+.1f} % ± {:.1f} %", 100.0 * std::expm1(seen.estimate), 100.0 * (seen.high - seen.estimate));
  if (verdict == Confirmation::Verdict::confirmed) why = fmt::format("{}", fmt::join(change->reasons, ", "));
  if (change->times.verdict == ChangeState::none && verdict == Confirmation::Verdict::undecided)
    why = change->times.reason;
  return fmt::format("{} at {:g}: {}: {}, where {:+.1f} % was reported",
                     comparison.configurations[change->configuration].label, suspect.tolerance, word, why,
                     100.0 * std::expm1(suspect.effect));
}

}  // namespace

Confirmation judge_suspects(const reports::Comparison& comparison, const std::vector<Suspect>& suspects) {
  Confirmation found;
  for (const Suspect& suspect : suspects) {
    const reports::ConfigurationChange* const change = find_suspect(comparison, suspect);
    found.verdicts.push_back(change == nullptr ? Confirmation::Verdict::undecided
                                               : verdict_on(*change, suspect.effect));
    found.lines.push_back(line_of(comparison, suspect, change, found.verdicts.back()));
  }
  return found;
}

Result<Confirmation> confirm_ab(const Suite& suite, const std::filesystem::path& file,
                                const std::vector<Suspect>& suspects, AbRunOptions options, Progress& progress) {
  std::error_code ignored;
  for (const char* rest : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + rest, ignored);
  std::filesystem::create_directories(file.parent_path(), ignored);
  CONEBENCH_TRY(auto store, Store::open(file, Store::Mode::read_write));
  options.rounds = 6;
  for (const Suspect& suspect : suspects) options.configurations.insert(suspect.configuration);
  CONEBENCH_TRY(const auto outcome, ab_run(suite, store, options, progress));
  if (outcome.stopped) return *outcome.stopped;
  if (outcome.interrupted) return Confirmation{.verdicts = {}, .lines = {}, .interrupted = true};
  CONEBENCH_TRY(const auto comparison, compare_sides(store, file.string(), {}));
  Confirmation found = judge_suspects(comparison, suspects);
  const auto keep = [&](const std::string& why) {
    for (Confirmation::Verdict& verdict : found.verdicts) {
      if (verdict == Confirmation::Verdict::withdrawn) verdict = Confirmation::Verdict::undecided;
    }
    found.lines.push_back("nothing is withdrawn: " + why);
  };
  if (!outcome.all_done()) {
    keep(fmt::format("{} of {} were run", outcome.done, plural(outcome.cells, "cell")));
  }
  return found;
}

}  // namespace conebench::cli
