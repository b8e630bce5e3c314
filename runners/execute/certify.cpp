#include "runners/execute/certify.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "base/plural.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/execute/watched_worker.hpp"
#include "store/cell_status.hpp"

namespace conebench {

namespace {

/// Thousands of contacts take a second or two; what takes longer costs a sweep more than it gains.
constexpr double max_problem_s = 10.0;
constexpr double max_total_s = 60.0;

/// nullopt where its process gave no answer.
std::optional<CertificateReport> certify(const ProblemSource& source, const std::string& hash,
                                         const std::filesystem::path& cache, const std::atomic<bool>* interrupted) {
  WatchedWorker worker;
  const bool started = worker.start(
      [&](const OutputCatcher& output) { return start_certifier(cache, source, hash, max_problem_s, output); });
  if (!started) return std::nullopt;
  worker.limit_processor(2.0 * max_problem_s, "looking for a certificate took too long");
  for (;;) {
    wait_for_any({&worker});
    if (interrupted != nullptr && *interrupted) return std::nullopt;
    const bool alive = worker.read();
    if (const auto frame = worker.next_frame()) return decode_certificate_report(frame->payload);
    worker.enforce(monotonic_seconds(), 0);
    if (!alive) return std::nullopt;
  }
}

bool was_tried(const CellRecord& cell) {
  const StatusClass kind = class_of(cell.status);
  return kind != StatusClass::unsupported && kind != StatusClass::not_run && kind != StatusClass::unreadable;
}

}  // namespace

FeasibilityRecord record_of(const Feasibility& found) {
  if (found.state != FeasibilityState::infeasible) return {};
  return {"infeasible", found.margin, found.worst_block, {found.certificate.begin(), found.certificate.end()}};
}

Result<std::monostate> certify_unsolved(Store& store, const ProblemSet& set, const std::set<std::size_t>& problems,
                                        const std::filesystem::path& cache, const std::atomic<bool>* interrupted,
                                        Progress& progress) {
  const auto contents = store.read();
  if (!contents) return contents.error();
  std::set<std::string> tried, solved;
  for (const CellRecord& cell : contents->cells) {
    if (cell.solved) solved.insert(cell.problem);
    if (was_tried(cell)) tried.insert(cell.problem);
  }
  std::map<std::string, const ProblemRecord*> records;
  for (const ProblemRecord& record : contents->problems) records[record.hash] = &record;
  std::vector<std::size_t> open;
  for (const std::size_t p : problems) {
    const std::string& hash = set.problems[p].record.hash;
    const auto record = records.find(hash);
    if (record == records.end() || !tried.contains(hash) || solved.contains(hash)) continue;
    if (record->second->feasibility.certificate.empty()) open.push_back(p);
  }
  if (open.empty()) return std::monostate{};
  progress.note(
      fmt::format("looking whether {} that no solver solved {} a solution: at most {:g} s each, {:g} s in all",
                  plural(static_cast<long>(open.size()), "problem"), open.size() == 1 ? "has" : "have", max_problem_s,
                  max_total_s));
  const double began = monotonic_seconds();
  long undecided = 0;
  for (const std::size_t p : open) {
    if (interrupted != nullptr && *interrupted) return std::monostate{};
    const std::string& hash = set.problems[p].record.hash;
    const bool late = monotonic_seconds() - began > max_total_s;
    auto report = late ? std::nullopt : certify(set.sources[p], hash, cache, interrupted);
    if (!report || report->hash != hash || !report->decided) {
      ++undecided;
      continue;
    }
    if (report->found.certificate.empty()) continue;
    ProblemRecord record = *records.at(hash);
    record.feasibility = std::move(report->found);
    if (auto put = store.put_problem(record); !put) return put.error();
  }
  if (undecided > 0) {
    progress.note(fmt::format("whether {} a solution could not be told: CLP did not end, or this build is without it",
                              undecided == 1 ? "1 problem has" : fmt::format("{} problems have", undecided)));
  }
  return std::monostate{};
}

}  // namespace conebench
