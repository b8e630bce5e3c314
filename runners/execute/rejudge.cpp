#include "runners/execute/rejudge.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "metrics/noise_level.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/certify.hpp"
#include "runners/execute/simulate.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/plan/suite.hpp"

namespace conebench {

namespace {

/// By the source that records name. Runs with other data folders may each have a file of that name.
using Sources = std::map<std::string, std::vector<ProblemSource>>;

/// Where the problems of all runs come from. A run whose data is gone costs no more than its own problems; the error is
/// that of the first one, where no run's data is there.
Result<Sources> sources_of(const std::vector<RunRecord>& runs, const RejudgeOptions& options) {
  Sources by_name;
  std::optional<Error> first_error;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const RunRecord& run : runs) {
    const std::string data = options.data.empty() ? run.data_folder : options.data.string();
    if (!seen.insert({run.suite_text, run.suite_folder, data}).second) continue;
    auto suite = parse_suite(run.suite_text, run.suite_name, CodeInSuite::leave_out, options.scenes);
    if (!suite) return suite.error();
    suite->folder = run.suite_folder;
    auto sources = list_sources(*suite, data, options.environment, options.cache,
                                {.make = isolated_samples(suite->limits, nullptr)});
    if (!sources) {
      if (!first_error) first_error = sources.error();
      continue;
    }
    for (auto& source : *sources) {
      // Samples were once named by their file.
      by_name[(source.file.parent_path().filename() / source.file.filename()).generic_string()].push_back(source);
      by_name[source.source].push_back(std::move(source));
    }
  }
  if (by_name.empty() && first_error) return *first_error;
  return by_name;
}

/// The problem of a record, or the members of a batch, or why they are not to be had.
Result<std::vector<ContactProblem>> load_again(const ProblemRecord& record, const Sources& sources,
                                               const RejudgeOptions& options) {
  std::vector<std::string> names = record.copies;
  names.insert(names.begin(), record.source);
  std::optional<Error> failed;
  for (const std::string& name : names) {
    const auto found = sources.find(name);
    if (found == sources.end()) continue;
    for (const ProblemSource& source : found->second) {
      auto members = load_members(source, options.cache, true);
      if (members && are_called(*members, record.hash)) return members;
      if (failed) continue;
      failed = members ? Error{ErrorCode::bad_input, name + " is another problem now than when it was solved"}
                       : members.error();
    }
  }
  if (failed) return *failed;
  return Error{ErrorCode::bad_input, record.source + " is not there; give its folder with --data"};
}

/// Whether the cell has an answer to judge: one of a problem without constraints has no rows.
bool answered(const CellRecord& cell, Index rows) {
  return rows == 0 ? cell.claimed : static_cast<Index>(cell.reaction.size()) == rows;
}

}  // namespace

Result<RejudgeOutcome> rejudge(Store& store, const RejudgeOptions& options) {
  const auto contents = store.read();
  if (!contents) return contents.error();
  const auto sources = sources_of(contents->runs, options);
  if (!sources) return sources.error();
  std::map<std::string, std::vector<const CellRecord*>> cells_of;
  for (const auto& cell : contents->cells) cells_of[cell.problem].push_back(&cell);

  RejudgeOutcome outcome;
  outcome.cells = static_cast<long>(contents->cells.size());
  long done = 0;
  for (const ProblemRecord& record : contents->problems) {
    const auto& cells = cells_of[record.hash];
    if (cells.empty()) continue;
    if (!record.error.empty()) {
      outcome.without_answer += static_cast<long>(cells.size());
      continue;
    }
    const auto members = load_again(record, *sources, options);
    if (!members) {
      outcome.unavailable += static_cast<long>(cells.size());
      outcome.notes.push_back(
          fmt::format("{}: {} cells left as they were: {}", record.name, cells.size(), members.error().message));
      continue;
    }
    ProblemRecord judged = record;
    if (!judged.noise_ratio && members->size() == 1) judged.noise_ratio = noise_ratio(members->front());
    const bool marked = record.infeasible() || record.feasibility.state == "refuted";
    if (marked) {
      const auto& z = record.feasibility.certificate;
      const Feasibility found =
          judge_certificate(members->front(), Eigen::Map<const Vector>(z.data(), static_cast<Index>(z.size())));
      const bool holds = found.state == FeasibilityState::infeasible;
      judged.feasibility = holds ? record_of(found) : FeasibilityRecord{};
      if (!holds) ++outcome.certificates_dropped;
    }
    if (marked || judged.noise_ratio != record.noise_ratio) CONEBENCH_CHECK(store.put_problem(judged));
    for (const CellRecord* stored : cells) {
      CellRecord cell = *stored;
      auto reaction = store.reaction(cell.key);
      if (!reaction) return reaction.error();
      if (*reaction) cell.reaction = std::move(**reaction);
      if (!answered(cell, rows_of(*members))) {
        // An older build may have stored that it is solved; it was read without that.
        if (const auto updated = store.update_judgement(cell); !updated) return updated.error();
        ++outcome.without_answer;
      } else {
        judge_cell(*members, cell);
        if (const auto updated = store.update_judgement(cell); !updated) return updated.error();
        ++outcome.judged;
        if (cell.solved && !stored->solved) ++outcome.newly_solved;
        if (!cell.solved && stored->solved) ++outcome.newly_unsolved;
      }
      if (options.progress) options.progress(++done, outcome.cells);
    }
  }
  return outcome;
}

}  // namespace conebench
