#include "runners/execute/claims.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.hpp"

namespace conebench {

namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0.0; }
bool is_time(const std::optional<double>& seconds) { return !seconds || is_time(*seconds); }
bool is_time(const TimingRecord& timing) {
  return is_time(timing.cold) && is_time(timing.minimum) && is_time(timing.median) && is_time(timing.deviation);
}

bool at_most(double small, double large) { return small <= large * (1.0 + 1e-9); }
bool equal(double one, double other) { return at_most(one, other) && at_most(other, one); }
bool is_ordered(const TimingRecord& timing, bool once) {
  return at_most(timing.minimum, timing.median) && (!once || equal(timing.cold, timing.median)) &&
         (!once || equal(timing.minimum, timing.median));
}

/// What holds for rounding, whatever the runs took and whichever of them count (RunTimes): the first is a sum, and so
/// is each of those that minimum and median are taken of. For the last bound: more than half of the runs have a set-up
/// of at most 2 median - minimum, and more than half such a solve, so some run has both.
bool are_of_runs(const CellClaims& claims) {
  const TimingRecord &setup = claims.setup, &solve = claims.solve, &total = claims.total;
  const bool once = claims.repeats <= 1;
  return is_ordered(setup, once) && is_ordered(solve, once) && is_ordered(total, once) &&
         equal(total.cold, setup.cold + solve.cold) && at_most(setup.minimum + solve.minimum, total.minimum) &&
         at_most(setup.median + solve.minimum, total.median) && at_most(setup.minimum + solve.median, total.median) &&
         at_most(total.minimum + setup.minimum + solve.minimum, 2.0 * (setup.median + solve.median)) &&
         at_most(claims.own_setup_s.value_or(0.0), claims.wall_s.value_or(0.0)) &&
         at_most(claims.own_solve_s.value_or(0.0), claims.wall_s.value_or(0.0));
}

bool is_count(std::int64_t count) { return count >= not_counted; }

/// What run_cell and trace_cell end with.
bool is_of_a_child(CellStatus status) {
  const StatusClass kind = class_of(status);
  return status == CellStatus::crashed || status == CellStatus::out_of_memory || status == CellStatus::flaky ||
         status == CellStatus::unsupported || status == CellStatus::time_limit || kind == StatusClass::answer;
}

bool came_back(CellStatus status) {
  return class_of(status) == StatusClass::answer || status == CellStatus::time_limit || status == CellStatus::flaky;
}

/// As long as any reason that is written here.
std::string line_of(const std::string& text) {
  constexpr std::size_t longest = 4000;
  return shorten(one_line(std::string_view(text).substr(0, 4 * longest)), longest);
}

}  // namespace

CellClaims claims_of(const CellRun& run) {
  const CellRecord& record = run.record;
  CellClaims claims;
  static_cast<CellClaim&>(claims) = record;
  static_cast<CellTiming&>(claims) = record;
  claims.status = record.status;
  claims.reason = record.reason;
  claims.used = record.used;
  claims.judge_s = record.judge_s;
  if (!record.timed_rounds.empty()) {
    claims.cpu_share = record.timed_rounds.front().cpu_share;
    claims.switches = record.timed_rounds.front().switches;
  }
  claims.busy_s = run.busy_s;
  claims.min_probe_s = run.min_probe_s;
  claims.decision = run.stops.decision;
  claims.stopped_at = run.stops.at;
  claims.checks = run.checks;
  claims.trace = run.trace;
  claims.points = values_of_trace(record.trace);
  claims.reaction = record.reaction;
  return claims;
}

std::optional<CellRun> run_of(const CellClaims& claims, const CellRequest& request, std::size_t rows) {
  const bool answered = claims.reaction.size() == rows;
  const bool plausible =
      is_of_a_child(claims.status) && (answered || (claims.reaction.empty() && !came_back(claims.status))) &&
      (claims.repeats > 0 || !came_back(claims.status)) && are_of_runs(claims) && is_time(claims.setup) &&
      is_time(claims.solve) && is_time(claims.total) && is_time(claims.wall_s) && is_time(claims.own_setup_s) &&
      is_time(claims.own_solve_s) && is_time(claims.judge_s) && is_time(claims.busy_s) && is_time(claims.min_probe_s) &&
      claims.iterations >= 0 && is_count(claims.factorizations) && is_count(claims.operator_products) &&
      claims.repeats >= 0 && claims.repeats <= 1'000'000'000 && std::isfinite(claims.compliance_share) &&
      claims.compliance_share >= 0.0 && claims.switches.value_or(0) >= 0 &&
      std::isfinite(claims.cpu_share.value_or(0.0)) && claims.used <= UsedParts::delassus &&
      claims.decision >= Decision::keep_going && claims.decision <= Decision::out_of_time && claims.checks >= 0;
  if (!plausible) return std::nullopt;

  CellRun run{blank_record(request), claims.busy_s};
  run.stops = {.at = static_cast<long>(claims.stopped_at), .decision = claims.decision};
  run.min_probe_s = claims.min_probe_s;
  run.checks = static_cast<long>(claims.checks);
  if (request.trace != TraceKind::none) run.trace = claims.trace;
  CellRecord& record = run.record;
  if (request.follow) record.trace = trace_of_values(claims.points).value_or(Trace{});
  static_cast<CellClaim&>(record) = claims;
  record.stage = line_of(claims.stage);
  record.own_residual_known = claims.own_residual_known && !std::isnan(claims.own_residual);
  if (!record.own_residual_known) record.own_residual = 0.0;
  static_cast<CellTiming&>(record) = claims;
  record.rounds = 1;
  record.doubts.clear();
  record.timed_rounds.clear();
  record.status = claims.status;
  record.reason = line_of(claims.reason);
  record.used = claims.used;
  record.judge_s = claims.judge_s;
  if (claims.repeats > 0 && rows > 0) {
    record.timed_rounds = {{.minimum = record.total.minimum,
                            .median = record.total.median,
                            .cpu_share = claims.cpu_share,
                            .switches = claims.switches}};
  }
  if (answered) record.reaction = claims.reaction;
  return run;
}

}  // namespace conebench
