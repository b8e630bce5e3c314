#include "runners/cli/run_beside.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "problems/plural.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/output.hpp"
#include "runners/store/suite_scope.hpp"

namespace conebench::cli {

namespace {

Result<reports::Comparison> compare_sides(const Store& store, const std::string& name,
                                          const reports::CompareOptions& options) {
  auto contents = store.read_outcomes();
  if (!contents) return contents.error();
  const StoreContents present = present_contents(std::move(*contents));
  const auto side = [&](const char* which) {
    return reports::make_side(name + " " + which, present, [&](const RunRecord& run) { return run.side == which; });
  };
  return reports::compare(side("base"), side("new"), options);
}

void print_outcome(const BesideOutcome& outcome, const std::string& store) {
  print_note(fmt::format("{}: {} of {} run side by side in {}", store, outcome.done, plural(outcome.cells, "cell"),
                         duration_text(outcome.wall_s)));
  if (outcome.base_by_command) {
    print_note(
        "the base is older than the protocol of --beside: both builds were driven by `solve`, one cold run a process; "
        "cells below 1 ms say little");
  }
}

}  // namespace

Result<int> run_and_compare(const Suite& suite, Store& store, const std::filesystem::path& file,
                            const BesideOptions& options, const BesideOutput& output, Progress& progress) {
  reports::CompareOptions compared;
  const auto gate = reports::parse_gate(output.fail_on);
  if (!gate) return gate.error();
  compared.fail_on = *gate;
  const auto outcome = run_beside(suite, store, options, progress);
  if (!outcome) return outcome.error();
  print_outcome(*outcome, file.string());
  if (outcome->stopped) return *outcome->stopped;
  if (outcome->interrupted) {
    print_error("interrupted; the same command resumes");
    return interrupted;
  }
  const auto comparison = compare_sides(store, file.string(), compared);
  if (!comparison) return comparison.error();
  if (output.json) {
    print_text(reports::comparison_json(*comparison));
  } else {
    print_text(
        reports::comparison_terminal(*comparison, isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr));
  }
  const int ending = comparison_ending(*comparison, compared.fail_on);
  if (outcome->all_done()) return ending;
  std::string left = plural(outcome->left, "cell");
  if (outcome->killed_problems > 0) left += " and those of " + plural(outcome->killed_problems, "problem");
  print_error(fmt::format("{}: {} left, since something outside killed what ran them; the same command goes on",
                          file.string(), left));
  return ending == gate_failed ? gate_failed : not_run;
}

Result<Confirmation> confirm_beside(const Suite& suite, const std::filesystem::path& file, BesideOptions options,
                                    Progress& progress) {
  std::error_code ignored;
  for (const char* rest : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + rest, ignored);
  auto store = Store::open(file, Store::Mode::read_write);
  if (!store) return store.error();
  options.passes = 3;
  const auto outcome = run_beside(suite, *store, options, progress);
  if (!outcome) return outcome.error();
  Confirmation confirmation;
  if (outcome->stopped) return *outcome->stopped;
  if (outcome->interrupted) {
    confirmation.lines.emplace_back("interrupted before the alarm was confirmed");
    return confirmation;
  }
  const auto comparison = compare_sides(*store, file.string(), {});
  if (!comparison) return comparison.error();
  long worse = 0, settled = 0, all = 0;
  for (const reports::TimeSlice& slice : comparison->slices) {
    for (const reports::SettingChange& change : slice.settings) {
      const bool confirmed = change.outlook == reports::Outlook::worse;
      const bool undecided = change.outlook == reports::Outlook::undecided;
      ++all;
      worse += confirmed ? 1 : 0;
      settled += undecided ? 0 : 1;
      confirmation.lines.push_back(fmt::format("{} at {:g}: {}, {:+.1f} %", comparison->settings[change.setting].label,
                                               slice.request.tolerance,
                                               confirmed   ? "confirmed"
                                               : undecided ? "undecided"
                                                           : "not confirmed",
                                               100.0 * std::expm1(change.times.corrected)));
    }
  }
  if (worse > 0) {
    confirmation.verdict = Confirmation::Verdict::confirmed;
  } else if (all > 0 && settled == all) {
    confirmation.verdict = Confirmation::Verdict::not_confirmed;
  }
  return confirmation;
}

}  // namespace conebench::cli
