#include "runners/execute/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/plural.hpp"
#include "metrics/linear_program.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/watched_worker.hpp"
#include "store/cell_status.hpp"
#include "store/certificates.hpp"

namespace conebench {

namespace {

/// Of no state where nothing was found out: there was no process or it was ended from outside, the machine kept it
/// waiting, or the file is another one now.
FeasibilityRecord certify(const ProblemSource& source, const ProblemRecord& problem, const std::filesystem::path& cache,
                          double max_seconds, const std::atomic<bool>* interrupted) {
  WatchedWorker worker;
  const bool started = worker.start([&](const OutputCatcher& output) {
    return start_certifier(cache, source, problem.hash, problem.feasibility.certificate, max_seconds, output);
  });
  if (!started) return {};
  // The search takes 1.5 max_seconds; what it finds comes at its end.
  worker.limit_processor(3.0 * max_seconds, "the search for a certificate took too long");
  for (;;) {
    wait_for_any({&worker});
    if (interrupted != nullptr && *interrupted) return {};
    const bool alive = worker.read();
    if (const auto frame = worker.next_frame()) {
      const auto report = decode_certificate_report(frame->payload);
      return report && report->hash == problem.hash ? report->found : FeasibilityRecord{};
    }
    worker.enforce(monotonic_seconds(), 0);
    if (alive) continue;
    const WorkerEnd end = worker.reap();
    return end.starved || end.terminated_externally ? FeasibilityRecord{} : FeasibilityRecord{"undecided", {}, {}, {}};
  }
}

bool was_tried(const CellRecord& cell) {
  const StatusClass kind = class_of(cell.status);
  return kind != StatusClass::unsupported && kind != StatusClass::not_run && kind != StatusClass::unreadable;
}

/// Problems that the store's cells leave open: tried, and not solved at the tightest tolerance that was tried.
std::set<std::string> unsolved_problems(const std::vector<CellRecord>& cells) {
  std::map<std::string, double> tightest;
  for (const CellRecord& cell : cells) {
    if (!was_tried(cell)) continue;
    const auto [known, is_new] = tightest.emplace(cell.problem, cell.tolerance);
    if (!is_new) known->second = std::min(known->second, cell.tolerance);
  }
  std::set<std::string> open;
  for (const auto& [problem, tolerance] : tightest) open.insert(problem);
  for (const CellRecord& cell : cells) {
    const auto tried = tightest.find(cell.problem);
    if (cell.solved && tried != tightest.end() && cell.tolerance <= tried->second) open.erase(cell.problem);
  }
  return open;
}

/// A mark of an older Conebench has no bound on the verdict yet.
bool was_searched(const FeasibilityRecord& found) {
  const bool marked = found.state == "infeasible" || found.state == "refuted";
  return marked ? found.verdict_bound.has_value() : !found.state.empty();
}

}  // namespace

FeasibilityRecord record_of(const Feasibility& found) {
  switch (found.state) {
    case FeasibilityState::infeasible:
      return {"infeasible",
              found.margin,
              found.worst_block,
              {found.certificate.begin(), found.certificate.end()},
              found.verdict_bound};
    case FeasibilityState::not_excluded: return {"not_excluded", {}, {}, {}};
    case FeasibilityState::undecided: return {"undecided", {}, {}, {}};
    case FeasibilityState::no_library: break;
  }
  return {};
}

Result<void> certify_unsolved(Store& store, const ProblemSet& set, const std::set<std::size_t>& problems,
                              const std::filesystem::path& cache, const std::atomic<bool>* interrupted,
                              Progress& progress, const CertifyBudget& budget) {
  CONEBENCH_TRY(const auto contents, store.read_outcomes());
  const std::set<std::string> unsolved = unsolved_problems(contents.cells);
  std::map<std::string, const ProblemRecord*> records;
  for (const ProblemRecord& record : contents.problems) records[record.hash] = &record;
  std::vector<std::size_t> open;
  for (const std::size_t p : problems) {
    const std::string& hash = set.problems[p].record.hash;
    const auto record = records.find(hash);
    if (record == records.end() || record->second->members > 1 || !unsolved.contains(hash)) continue;
    if (!was_searched(record->second->feasibility)) open.push_back(p);
  }
  if (open.empty()) return {};
  const auto count = [](std::size_t number) { return plural(static_cast<long>(number), "problem"); };
  if (linear_program_library().empty()) {
    const auto no_certificate = [&](std::size_t p) {
      return records.at(set.problems[p].record.hash)->feasibility.certificate.empty();
    };
    if (const std::size_t left = std::erase_if(open, no_certificate); left > 0) {
      progress.note(
          fmt::format("no certificate was searched for {} that no solver solved at the tightest tolerance: "
                      "this build is without CLP",
                      count(left)));
    }
    if (open.empty()) return {};
  }
  progress.note(fmt::format(
      "searching for a proof that {} which no solver solved at the tightest tolerance {} no solution: at most "
      "{:g} s each, {:g} s in all",
      count(open.size()), open.size() == 1 ? "has" : "have", budget.problem_s, budget.total_s));
  const double began = monotonic_seconds();
  std::size_t undecided = 0, done = 0, unknown = 0;
  for (const std::size_t p : open) {
    if (interrupted != nullptr && *interrupted) return {};
    if (monotonic_seconds() - began >= budget.total_s) break;
    ++done;
    ProblemRecord record = *records.at(set.problems[p].record.hash);
    FeasibilityRecord found = certify(set.sources[p], record, cache, budget.problem_s, interrupted);
    if (interrupted != nullptr && *interrupted) return {};
    undecided += found.state == "undecided" ? 1 : 0;
    unknown += found.state.empty() ? 1 : 0;
    if (!knows_more(found, record.feasibility)) continue;
    record.feasibility = std::move(found);
    CONEBENCH_CHECK(store.put_problem(record));
    CONEBENCH_CHECK(store.commit());  // the next one may take long
  }
  if (undecided > 0) {
    progress.note(fmt::format("undecided whether {} a solution: CLP did not end",
                              undecided == 1 ? "1 problem has" : fmt::format("{} problems have", undecided)));
  }
  if (unknown > 0) {
    progress.note(fmt::format("{} not searched to the end; the next run tries again",
                              unknown == 1 ? "1 problem was" : fmt::format("{} problems were", unknown)));
  }
  if (done < open.size()) {
    progress.note(
        fmt::format("{} not tried: the budget of {:g} s was spent; the next run goes on",
                    open.size() - done == 1 ? "1 problem was" : fmt::format("{} problems were", open.size() - done),
                    budget.total_s));
  }
  return {};
}

}  // namespace conebench
