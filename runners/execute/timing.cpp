#include "runners/execute/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "runners/execute/cell_clock.hpp"

namespace conebench {

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

rusage usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}
double processor_seconds(const rusage& used) { return seconds(used.ru_utime) + seconds(used.ru_stime); }

}  // namespace

TimingRecord summarise_times(const std::vector<double>& seconds) {
  TimingRecord timing;
  if (seconds.empty()) return timing;
  timing.cold = seconds.front();
  timing.minimum = *std::min_element(seconds.begin(), seconds.end());
  timing.median = median_of(seconds);
  std::vector<double> distances;
  distances.reserve(seconds.size());
  for (const double value : seconds) distances.push_back(std::abs(value - timing.median));
  timing.deviation = median_of(std::move(distances));
  return timing;
}

TimingRecord summarise_times(const std::vector<double>& seconds, const std::vector<bool>& count) {
  std::vector<double> kept;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (count[i]) kept.push_back(seconds[i]);
  }
  if (kept.empty()) return summarise_times(seconds);
  TimingRecord timing = summarise_times(kept);
  timing.cold = seconds.front();
  return timing;
}

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

bool had_its_processor(double processor_s, double passed_s) {
  constexpr double min_share = 0.98;
  constexpr double clock_s = 1e-6;
  return processor_s + clock_s >= min_share * passed_s;
}

ProcessorUse::ProcessorUse() : passed_s_(monotonic_seconds()), used_s_(0.0), switches_(0) {
  const rusage used = usage();
  used_s_ = processor_seconds(used);
  switches_ = used.ru_nivcsw;
}

double ProcessorUse::share() const {
  // Asked in this order, what passed is at least what was used.
  const double used = processor_seconds(usage()) - used_s_;
  const double passed = monotonic_seconds() - passed_s_;
  return passed > 0.0 ? used / passed : 0.0;
}

std::int64_t ProcessorUse::switches() const { return usage().ru_nivcsw - switches_; }

void RunTimes::add(const RunTime& run) {
  runs_.push_back(run);
  spent_s_ += run.total();
  max_s_ = std::max(max_s_, run.total());
  const auto count = [&](const RunTime& one) {
    was_shared_ = was_shared_ || shared(one);
    if (!counts(one)) return;
    ++counted_;
    counted_s_ += one.total();
  };
  if (run.probe_s <= 0.0 || (min_probe_s_ > 0.0 && run.probe_s >= min_probe_s_)) return count(run);
  min_probe_s_ = run.probe_s;
  was_shared_ = false;
  counted_ = next_look_ = 0;
  counted_s_ = 0.0;
  for (const RunTime& one : runs_) count(one);
}

bool RunTimes::shared(const RunTime& run) const {
  // With another thread on the core the probe takes 1.3 to 1.5 times as long; the clock moves by 3 %.
  constexpr double slower = 1.1;
  return run.probe_s > slower * min_probe_s_;
}

bool RunTimes::another(const CellRequest::Repeats& repeats, double budget, double passed_s) {
  // Within half a second there was a quiet moment in 95 of 100 cases, within 50 ms in 72
  // (docs/experiments/performance.md, Runs beside others).
  constexpr double max_wait = 10.0;  // minimum_ms
  const auto runs = static_cast<int>(runs_.size());
  if (counted_ >= repeats.maximum || spent_s_ + max_s_ > budget) return false;
  // Probes and waiting for the processor are not in what was spent; an answer is not to be lost for them.
  if (passed_s > budget) return false;
  if (runs < repeats.minimum) return true;
  if (counted_ >= repeats.minimum && counted_s_ * 1e3 >= repeats.minimum_ms) return false;
  if (settled(repeats)) return false;
  return spent_s_ * 1e3 < repeats.minimum_ms || (was_shared_ && passed_s * 1e3 < max_wait * repeats.minimum_ms);
}

/// Whether the runs that count, in their first half and in their second, have the same minimum and the same median
/// within the precision. It looks when their number has grown by a quarter, since each look is a chance to agree by
/// accident.
bool RunTimes::settled(const CellRequest::Repeats& repeats) {
  // Of minimum_ms: the caches are warm then, and the clock's steps are below a percent.
  constexpr double min_share = 0.02;
  if (repeats.precision <= 0.0 || counted_s_ * 1e3 < min_share * repeats.minimum_ms) return false;
  if (counted_ < std::max(next_look_, std::max(repeats.minimum, 2))) return false;
  next_look_ = counted_ + counted_ / 4;
  std::vector<double> first, second;
  for (const RunTime& run : runs_) {
    if (!counts(run)) continue;
    const auto half = static_cast<std::size_t>(counted_ / 2);
    (first.size() < half ? first : second).push_back(run.total());
  }
  const auto agree = [&](double a, double b) { return std::abs(a - b) <= repeats.precision * std::min(a, b); };
  return agree(*std::min_element(first.begin(), first.end()), *std::min_element(second.begin(), second.end())) &&
         agree(median_of(std::move(first)), median_of(std::move(second)));
}

template <class Seconds>
TimingRecord RunTimes::summary(Seconds seconds) const {
  std::vector<double> all;
  std::vector<bool> count;
  for (const RunTime& run : runs_) {
    all.push_back(seconds(run));
    count.push_back(counts(run));
  }
  return summarise_times(all, count);
}

TimingRecord RunTimes::setup() const {
  return summary([](const RunTime& run) { return run.setup_s; });
}
TimingRecord RunTimes::solve() const {
  return summary([](const RunTime& run) { return run.solve_s; });
}
TimingRecord RunTimes::total() const {
  return summary([](const RunTime& run) { return run.total(); });
}

std::optional<double> RunTimes::outside(std::optional<double> (*seconds)(const OutsideTime&)) const {
  const auto known = [&](const RunTime& run) { return run.outside && seconds(*run.outside); };
  if (!std::all_of(runs_.begin(), runs_.end(), known)) return std::nullopt;
  return summary([&](const RunTime& run) { return *seconds(*run.outside); }).median;
}

}  // namespace conebench
