#include "runners/execute/sweep_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

namespace conebench {

namespace {

constexpr long never = std::numeric_limits<long>::max();
/// Solve time that may pass between two readings of the clock.
constexpr double clock_quantum = 0.005;
/// Where a trace has so many points, every second one goes. The schedule gives 94 in 20,000 iterations.
constexpr std::size_t max_points = 256;

}  // namespace

long scheduled_checks(long iterations) {
  const long last = std::min(iterations, never / 2);  // foreign code may report any number
  long checks = 0;
  for (long k = 1; k <= last; k = next_check(k)) ++checks;
  return checks;
}

SweepMonitor::SweepMonitor(Verdict* verdict, double tolerance, double budget, bool paid, long last_iteration,
                           Clock clock)
    : verdict_(verdict),
      tolerance_(tolerance),
      budget_(budget),
      paid_(paid),
      last_allowed_(last_iteration),
      clock_(clock),
      next_verdict_(verdict == nullptr ? never : 1) {}

void SweepMonitor::start() { started_ = now(); }

void SweepMonitor::follow() {
  follows_ = true;
  trace_.reserve(max_points);  // nothing is allocated while the solver runs
}

void SweepMonitor::write_down(const TracePoint& point) {
  if (trace_.size() == max_points) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < trace_.size(); i += 2) trace_[kept++] = trace_[i];
    trace_.resize(kept);
  }
  trace_.push_back(point);
}

void SweepMonitor::start_over() {
  if (new_attempt_) new_attempt_();
  const double time = now();
  thrown_away_seconds_ += time - started_;
  judge_seconds_before_ = judge_seconds_;
  started_ = time;
  last_elapsed_ = 0.0;
  checks_ = 0;
  trace_.clear();
  ++attempts_;
}

double SweepMonitor::now() {
  ++clock_reads_;
  return clock_();
}

Decision SweepMonitor::stop(long iteration, Decision decision) {
  stops_.decision = decision;
  stops_.at = iteration;
  next_ = iteration;
  return decision;
}

Decision SweepMonitor::accept(long iteration) {
  if (!in_part_) return stop(iteration, Decision::accept);
  stops_.accepted_parts.push_back(iteration);
  next_ = iteration;
  return Decision::accept;
}

void SweepMonitor::turn_to(const ProblemPart* part, long begun) {
  in_part_ = part != nullptr;
  begun_ = begun;
  // Iterations of this part may take any time.
  next_clock_ = begun + 1;
  last_iteration_ = begun;
  if (verdict_ != nullptr) {
    const double time = now();
    verdict_->restrict_to(part);
    judge_seconds_ += now() - time;
    next_verdict_ = scheduled_ ? begun + 1 : never;
  }
  next_ = std::min(next_verdict_, next_clock_);
}

Decision SweepMonitor::check_iterate(long iteration, ConstVectorRef impulse, double own_residual, bool proposed) {
  double time = now();
  bool passed = false;
  double residual = TracePoint::unknown;
  if (iteration >= next_verdict_) {
    residual = (*verdict_)(impulse);
    const double judged = now();
    judge_seconds_ += judged - time;
    ++checks_;
    verdict_ratio_ = residual / tolerance_;
    time = judged;
    passed = residual <= tolerance_;
    if (!passed && proposed && resolve_ && residual <= open_verdict * tolerance_) {
      passed = resolve_(impulse);
      time = now();
      resolving_seconds_ += time - judged;
      exclude_time(time - judged);
    }
    next_verdict_ = scheduled_ ? begun_ + next_check(iteration - begun_) : never;
    const long last = begun_ + last_allowed_;
    if (scheduled_ && iteration < last) next_verdict_ = std::min(next_verdict_, last);
  }
  const double elapsed = time - started_ - (paid_ ? 0.0 : judge_seconds_ - judge_seconds_before_);
  if (follows_ && verdict_ != nullptr && !in_part_ && (!std::isnan(residual) || !scheduled_)) {
    write_down({static_cast<double>(iteration), elapsed, own_residual, residual});
  }
  if (elapsed >= budget_) return stop(iteration, Decision::out_of_time);
  if (passed) return accept(iteration);
  if (iteration >= next_clock_) {
    const double window = std::min(clock_quantum, budget_ - elapsed);
    const double each = (elapsed - last_elapsed_) / static_cast<double>(std::max(1L, iteration - last_iteration_));
    const double affordable = each > 0.0 ? window / each : 1e9;
    // At most doubled, so that iterations which get slower are noticed.
    const double step = std::clamp(affordable, 1.0, static_cast<double>(std::max(1L, iteration - begun_)));
    next_clock_ = iteration + static_cast<long>(step);
    last_elapsed_ = elapsed;
    last_iteration_ = iteration;
  }
  next_ = std::min(next_verdict_, next_clock_);
  return Decision::keep_going;
}

Decision SweepMonitor::propose(long iteration, ConstVectorRef impulse, double own_residual) {
  if (verdict_ != nullptr) next_verdict_ = std::min(next_verdict_, iteration);
  return check_iterate(iteration, impulse, own_residual, true);
}

Decision Stops::on(long iteration) const {
  if (decision != Decision::keep_going && iteration >= at) return decision;
  const bool part = std::ranges::binary_search(accepted_parts, iteration);
  return part ? Decision::accept : Decision::keep_going;
}

long Stops::next(long iteration) const {
  const auto part = std::ranges::lower_bound(accepted_parts, iteration);
  if (part != accepted_parts.end()) return *part;
  return decision == Decision::keep_going ? never : at;
}

ReplayMonitor::ReplayMonitor(Stops stops) : stops_(std::move(stops)) { next_ = stops_.next(1); }

Decision ReplayMonitor::propose(long iteration, ConstVectorRef impulse, double own_residual) {
  return should_check(iteration) ? check(iteration, impulse, own_residual) : Decision::keep_going;
}

Decision ReplayMonitor::check(long iteration, ConstVectorRef, double) {
  const Decision decision = stops_.on(iteration);
  next_ = stops_.next(iteration + 1);
  return decision;
}

TraceMonitor::TraceMonitor(const ContactProblem& problem, Stops stops, Clock clock)
    : problem_(problem), stops_(std::move(stops)), clock_(clock), csv_("iteration,seconds,own_residual") {
  for (const ResidualInfo& residual : residual_table()) csv_ += "," + residual.name;
  csv_ += "\n";
}

void TraceMonitor::start() { resumed_ = clock_(); }

Decision TraceMonitor::check(long iteration, ConstVectorRef impulse, double own_residual) {
  elapsed_ += clock_() - resumed_;
  auto out = std::back_inserter(csv_);
  fmt::format_to(out, "{},{:.9f},", iteration, elapsed_);
  if (!std::isnan(own_residual)) fmt::format_to(out, "{}", own_residual);
  for (const Residual& residual : judge(problem_, impulse).residuals) {
    csv_ += ",";
    if (residual.known()) fmt::format_to(out, "{}", residual.value);
  }
  csv_ += "\n";
  next_ = iteration + 1;
  resumed_ = clock_();
  return stops_.on(iteration);
}

Decision CourseMonitor::check(long iteration, ConstVectorRef impulse, double) {
  if (iteration >= watch_.next()) watch_.take(iteration, impulse);
  next_ = std::min(watch_.next(), stops_.next(iteration + 1));
  return stops_.on(iteration);
}

std::string to_text(const SeenIterates& seen) {
  nlohmann::json out = {{"returns", seen.returns}, {"iterates", nlohmann::json::array()}};
  for (const SeenIterate& one : seen.list) {
    out["iterates"].push_back({one.iteration, one.verdict, one.worst_block,
                               one.step ? nlohmann::json(*one.step) : nlohmann::json(nullptr), one.modes});
  }
  return out.dump();
}

std::optional<SeenIterates> read_seen_iterates(const std::string& text) {
  const auto read = nlohmann::json::parse(text, nullptr, false);
  if (!read.is_object()) return std::nullopt;
  // What is not finite is null.
  const auto real = [](const nlohmann::json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
  };
  SeenIterates seen;
  try {
    for (const auto& value : read.at("returns")) seen.returns.push_back(real(value));
    for (const auto& one : read.at("iterates")) {
      seen.list.push_back({one.at(0).get<long>(), real(one.at(1)), one.at(2).get<Index>(),
                           one.at(3).is_null() ? std::nullopt : std::optional(real(one.at(3))),
                           one.at(4).get<std::string>()});
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return seen;
}

}  // namespace conebench
