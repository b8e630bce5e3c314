#include "runners/execute/batch_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/plural.hpp"
#include "metrics/statistics.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/timing.hpp"
#include "store/unanswered.hpp"

namespace conebench {

namespace {

/// Of two members, the one whose ending is the batch's: an answer before none, a better status before a worse one.
int rank_of(CellStatus status) {
  switch (status) {
    case CellStatus::converged: return 0;
    case CellStatus::max_iterations: return 1;
    case CellStatus::stalled: return 2;
    case CellStatus::breakdown: return 4;
    case CellStatus::diverged: return 5;
    case CellStatus::time_limit: return 6;
    default: return 7;
  }
}

/// The time of a member that did not converge: above all others.
constexpr double never = std::numeric_limits<double>::infinity();

std::int64_t sum_of_counts(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? -1 : a + b; }

/// Of a residual that one member does not have there is none.
void take_worst(const CellJudgement& one, Index first_block, CellJudgement& all) {
  const bool first = all.residuals.empty();
  for (auto [name, residual] : one.residuals) {
    if (residual.worst_block >= 0) residual.worst_block += first_block;
    const auto before = first ? std::nullopt : all.residuals.find(name);
    const bool keeps = before && (!before->value || (residual.value && *residual.value <= *before->value));
    if (!keeps) all.residuals.set(name, residual);
  }
  const auto take_larger = [first](std::optional<double> value, std::optional<double>& largest) {
    largest = first || (value && largest && *value > *largest) ? value : value ? largest : std::nullopt;
  };
  take_larger(one.verdict_value, all.verdict_value);
  take_larger(one.verdict_symmetrised, all.verdict_symmetrised);
  take_larger(one.verdict_compliant, all.verdict_compliant);
  take_larger(one.ccp_compliant, all.ccp_compliant);
  all.verdict_version = one.verdict_version;
  all.open += one.open;
  all.stick += one.stick;
  all.slip += one.slip;
  all.moment_stick += one.moment_stick;
  all.moment_slip += one.moment_slip;
  all.inside += one.inside;
  all.at_lower += one.at_lower;
  all.at_upper += one.at_upper;
}

/// The members of one cell, and what became of each.
class BatchTrial {
 public:
  BatchTrial(std::span<const ContactProblem> members, const CellRequest& request, const PhaseCallback& phase)
      : members_(members), request_(request), phase_(phase), times_(request.repeats.min_probe_s) {}

  Result<CellRun> run() {
    const ProcessorUse use;
    const double began = monotonic_seconds();
    seconds_.resize(members_.size());
    CONEBENCH_CHECK(pass());
    if (!refused_.empty()) {
      result_.record = blank_record(request_);
      result_.record.status = CellStatus::unsupported;
      result_.record.reason = refused_;
      return std::move(result_);
    }
    merge();
    CellRecord& record = result_.record;
    while (differs_.empty() && !cut_ && record.status != CellStatus::time_limit &&
           times_.another(request_.repeats, request_.seconds, monotonic_seconds() - began)) {
      CONEBENCH_CHECK(pass());
    }
    if (!differs_.empty()) {
      record.status = CellStatus::flaky;
      record.reason = differs_;
    }
    write_times();
    record.timed_rounds[0].cpu_share = use.share();
    record.timed_rounds[0].switches = use.switches();
    result_.busy_s = monotonic_seconds() - began;
    return std::move(result_);
  }

 private:
  /// All members once.
  Result<void> pass() {
    const double used = processor_seconds(), began = monotonic_seconds();
    RunTime time;
    for (std::size_t k = 0; k < members_.size() && differs_.empty() && refused_.empty(); ++k) {
      CellRequest once = request_;
      once.repeats = {.minimum = 1, .minimum_ms = 0.0, .maximum = 1};
      once.seconds = request_.seconds - time.total();
      const bool again = k < first_.size();
      if (once.seconds <= 0.0) {
        cut_ = again;
        if (cut_) return {};
        first_.push_back(out_of_time(once));
        seconds_[k].push_back(never);
        continue;
      }
      CONEBENCH_TRY(CellRun run, run_cell(members_[k], once, phase_));
      cut_ = again && run.record.status == CellStatus::time_limit;
      if (cut_) return {};
      if (run.record.status == CellStatus::unsupported) {
        refused_ = fmt::format("{}: {}", name_of(k), run.record.reason);
        return {};
      }
      time.setup_s += run.record.setup.cold;
      time.solve_s += run.record.solve.cold;
      seconds_[k].push_back(run.record.status == CellStatus::converged ? run.record.total.cold : never);
      if (!again) {
        first_.push_back(std::move(run.record));
        continue;
      }
      const std::string difference = conebench::difference(first_[k].reaction, run.record.reaction);
      if (!difference.empty()) differs_ = fmt::format("run {} of {} {}", times_.size() + 1, name_of(k), difference);
    }
    time.had_processor = had_its_processor(processor_seconds() - used, monotonic_seconds() - began);
    if (differs_.empty()) times_.add(time);
    return {};
  }

  static CellRecord out_of_time(const CellRequest& request) {
    CellRecord record = blank_record(request);
    record.status = CellStatus::time_limit;
    record.reason = "the batch's time was up before";
    return record;
  }

  std::string name_of(std::size_t k) const {
    return fmt::format("member {} ({})", k + 1, members_[k].provenance().name);
  }

  void merge() {
    CellRecord& all = result_.record;
    all = blank_record(request_);
    all.status = CellStatus::converged;
    all.claimed = true;
    all.used = first_.front().used;
    all.own_residual_known = true;
    std::size_t worst = 0;
    for (std::size_t k = 0; k < first_.size(); ++k) {
      CellRecord& one = first_[k];
      if (rank_of(one.status) > rank_of(all.status)) {
        all.status = one.status;
        worst = k;
      }
      all.claimed = all.claimed && one.claimed;
      all.solved_symmetrised = all.solved_symmetrised || one.solved_symmetrised;
      all.compliance_share = std::max(all.compliance_share, one.compliance_share);
      all.own_residual_known = all.own_residual_known && one.own_residual_known;
      all.own_residual = std::max(all.own_residual, one.own_residual);
      all.iterations = sum_of_counts(all.iterations, one.iterations);
      all.factorizations = sum_of_counts(all.factorizations, one.factorizations);
      all.operator_products = sum_of_counts(all.operator_products, one.operator_products);
      all.judge_s += one.judge_s;
      if (one.used != all.used) all.used = UsedParts::unknown;
      // Who had no time, or broke, has no answer, which no judge takes for one.
      if (one.status == CellStatus::time_limit) one.reaction.clear();
      one.reaction.resize(static_cast<std::size_t>(members_[k].rows()), std::numeric_limits<double>::quiet_NaN());
      all.reaction.insert(all.reaction.end(), one.reaction.begin(), one.reaction.end());
    }
    if (!all.own_residual_known) all.own_residual = 0.0;
    if (all.status == CellStatus::converged) return;
    const auto ended =
        std::ranges::count_if(first_, [](const CellRecord& one) { return one.status != CellStatus::converged; });
    all.reason = fmt::format("{} of {} did not converge, {}{}{}", ended, plural(size(), "problem"), name_of(worst),
                             first_[worst].reason.empty() ? "" : ": ", first_[worst].reason);
  }

  void write_times() {
    CellRecord& record = result_.record;
    record.setup = times_.setup();
    record.solve = times_.solve();
    record.total = times_.total();
    record.repeats = static_cast<int>(times_.size());
    record.timed_rounds = {{.minimum = record.total.minimum, .median = record.total.median}};
    std::vector<double> of_members;
    for (const std::vector<double>& seconds : seconds_) of_members.push_back(*median(seconds));
    const auto finite = [](double seconds) { return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt; };
    record.member_median_s = finite(*quantile(of_members, 0.5));
    record.member_p95_s = finite(*quantile(of_members, 0.95));
    record.member_worst_s = finite(std::ranges::max(of_members));
  }

  long size() const { return static_cast<long>(members_.size()); }

  std::span<const ContactProblem> members_;
  const CellRequest& request_;
  const PhaseCallback& phase_;
  RunTimes times_;
  std::vector<CellRecord> first_;             ///< of the first pass, a member each
  std::vector<std::vector<double>> seconds_;  ///< of each member, a run each
  bool cut_ = false;                          ///< a later pass was not finished, and so has no time
  std::string refused_;                       ///< which member the solver does not take, and why
  std::string differs_;                       ///< how a later run's answer differs from the first
  CellRun result_;
};

}  // namespace

Result<CellRun> run_batch(std::span<const ContactProblem> members, const CellRequest& request,
                          const PhaseCallback& phase) {
  for (const ContactProblem& member : members) CONEBENCH_CHECK(check_request(member, request));
  return BatchTrial(members, request, phase).run();
}

void judge_batch(std::span<const ContactProblem> members, CellRecord& record) {
  clear_judgement(record);
  if (static_cast<Index>(record.reaction.size()) != rows_of(members) || record.status == CellStatus::unknown) return;
  std::vector<double> verdicts;
  std::int64_t solved = 0;
  Index first_row = 0, first_block = 0;
  CellJudgement all;
  for (const ContactProblem& member : members) {
    CellRecord one = record;
    const auto begin = record.reaction.begin() + first_row;
    one.reaction.assign(begin, begin + member.rows());
    one.claimed = record.claimed || member.rows() == 0;
    one.judge_s = 0.0;
    one.total = {};  // the whole is late, or is not
    judge_cell(member, one);
    record.judge_s += one.judge_s;
    take_worst(one, first_block, all);
    solved += one.solved ? 1 : 0;
    verdicts.push_back(one.verdict_value.value_or(std::numeric_limits<double>::infinity()));
    first_row += member.rows();
    first_block += member.cones().blocks();
  }
  static_cast<CellJudgement&>(record) = all;
  record.members_solved = solved;
  const bool late = record.limit_s > 0.0 && CellTime(record.limit_s).is_late(record.total.cold);
  record.solved = solved == static_cast<std::int64_t>(members.size()) && !late;
  const double p95 = *quantile(verdicts, 0.95);
  if (std::isfinite(p95)) record.verdict_p95 = p95;
}

}  // namespace conebench
