#include "metrics/course.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "metrics/residual_formulas.hpp"
#include "metrics/residuals.hpp"
#include "metrics/statistics.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr long first_iterates = 10;
constexpr long between_iterates = 256;

/// Medians of the residual over the last four eighths of the iterations, and of the iterations that were seen there:
/// the last ones are seen more densely.
struct Eighths {
  std::array<double, 4> residual{}, iteration{};

  /// Of the residual from one eighth to the next, an iteration, as logarithms.
  std::array<double, 3> log_factors() const {
    std::array<double, 3> factors{};
    for (std::size_t k = 0; k < factors.size(); ++k)
      factors[k] = std::log(residual[k + 1] / residual[k]) / (iteration[k + 1] - iteration[k]);
    return factors;
  }
};

/// Nothing where one was not seen.
std::optional<Eighths> eighths(const SeenIterates& seen) {
  std::array<std::vector<double>, 4> values, iterations;
  const auto end = static_cast<double>(seen.list.back().iteration);
  for (const SeenIterate& one : seen.list) {
    const double place = 8.0 * static_cast<double>(one.iteration) / end;  // 0 … 8
    if (place <= 4.0) continue;
    const std::size_t eighth = std::min<std::size_t>(3, static_cast<std::size_t>(place - 4.0));
    values[eighth].push_back(one.verdict);
    iterations[eighth].push_back(static_cast<double>(one.iteration));
  }
  Eighths medians;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k].size() < 2) return std::nullopt;
    medians.residual[k] = *median(values[k]);
    medians.iteration[k] = *median(iterations[k]);
  }
  return medians;
}

/// Of the residual, an iteration, as logarithm: the line of least squares through its logarithms over the last `share`
/// of the iterations. Each iterate stands for those since the one before it. Nothing where fewer than two are positive.
std::optional<double> fitted_log_factor(const SeenIterates& seen, double share) {
  struct Point {
    double x, y, weight;
  };
  std::vector<Point> points;
  const auto end = static_cast<double>(seen.list.back().iteration);
  double before = 0.0;
  for (const SeenIterate& one : seen.list) {
    const auto iteration = static_cast<double>(one.iteration);
    const double weight = iteration - before;
    before = iteration;
    if (iteration <= (1.0 - share) * end || !std::isfinite(one.verdict) || one.verdict <= 0.0) continue;
    points.push_back({iteration - end, std::log(one.verdict), weight});
  }
  double weights = 0.0, mean_x = 0.0, mean_y = 0.0;
  for (const Point& point : points) {
    weights += point.weight;
    mean_x += point.weight * point.x;
    mean_y += point.weight * point.y;
  }
  if (points.size() < 2 || !(weights > 0.0)) return std::nullopt;
  mean_x /= weights;
  mean_y /= weights;
  double products = 0.0, squares = 0.0;
  for (const Point& point : points) {
    products += point.weight * (point.x - mean_x) * (point.y - mean_y);
    squares += point.weight * (point.x - mean_x) * (point.x - mean_x);
  }
  return squares > 0.0 ? std::optional(products / squares) : std::nullopt;
}

/// Of a residual that falls from each eighth to the next.
Course::Estimate estimate_of(const Eighths& medians) {
  const auto [first, second, third] = medians.log_factors();  // all below 0
  if (std::min({first, second, third}) >= 2.0 * std::max({first, second, third})) return Course::Estimate::about;
  return first <= second && second <= third ? Course::Estimate::at_least : Course::Estimate::none;
}

/// The iterations after which the last iterate comes again: nearer by a factor of a thousand than any that lies
/// between.
std::optional<long> period_of(const std::vector<double>& returns) {
  double farthest = 0.0;
  for (std::size_t k = 0; k < returns.size(); ++k) {
    if (k > 0 && returns[k] <= 1e-3 * farthest) return static_cast<long>(k) + 1;
    farthest = std::max(farthest, returns[k]);
  }
  return std::nullopt;
}

Trend trend_of(const SeenIterates& seen, double tolerance, Course& course) {
  if (!std::isfinite(course.last)) return Trend::grows;
  if (course.last <= tolerance) return Trend::reached;
  const auto medians = eighths(seen);
  if (!medians) return Trend::few;
  const auto& [a, b, c, d] = medians->residual;
  const bool steadily = a > b && b > c && c > d;
  const bool at_the_end = d < std::min({a, b, c}) && 8 * course.best_iteration > 7 * course.iterations;
  const auto log_factor =
      steadily || at_the_end ? fitted_log_factor(seen, steadily ? 0.5 : 0.25) : std::optional<double>();
  if (log_factor && *log_factor < 0.0) {
    course.factor = std::exp(*log_factor);
    course.at_the_end = !steadily;
    if (steadily) course.estimate = estimate_of(*medians);
    if (tolerance > 0.0) course.to_tolerance = std::log(tolerance / course.last) / *log_factor;
    return Trend::falls;
  }
  if (a < b && b < c && c < d && course.last >= 10.0 * course.best) return Trend::grows;
  if (course.last_step && *course.last_step * static_cast<double>(course.iterations) <= 1e-3 * course.last)
    return Trend::rests;
  course.period = period_of(seen.returns);
  return course.period ? Trend::cycles : Trend::wanders;
}

std::vector<Course::Share> worst_blocks(const SeenIterates& seen) {
  constexpr std::size_t few = 3;
  std::map<Index, double> counts;
  double all = 0.0;
  for (const SeenIterate& one : seen.list) {
    if (2 * one.iteration < seen.list.back().iteration || one.worst_block < 0) continue;
    ++counts[one.worst_block];
    ++all;
  }
  std::vector<Course::Share> shares;
  for (const auto& [block, count] : counts) shares.push_back({block, count / all});
  std::ranges::stable_sort(shares, [](const auto& x, const auto& y) { return x.share > y.share; });
  shares.resize(std::min(shares.size(), few));
  return shares;
}

/// The iterates at the end that follow one another and have modes.
std::vector<const SeenIterate*> last_consecutive(const SeenIterates& seen) {
  std::vector<const SeenIterate*> last;
  for (auto one = seen.list.rbegin(); one != seen.list.rend(); ++one) {
    if (one->modes.empty() || (!last.empty() && last.back()->iteration != one->iteration + 1)) break;
    last.push_back(&*one);
  }
  std::ranges::reverse(last);
  return last;
}

std::vector<Course::Flapping> flapping_of(const std::vector<const SeenIterate*>& last) {
  std::vector<Course::Flapping> flapping;
  const std::size_t contacts = last.empty() ? 0 : last.front()->modes.size();
  for (std::size_t i = 0; i < contacts; ++i) {
    Course::Flapping one{static_cast<Index>(i), 0, {}};
    bool came_back = false;
    char before = 0;
    for (const SeenIterate* const iterate : last) {
      const char mode = iterate->modes[i];
      if (mode == before) continue;
      const bool known = std::ranges::find(one.modes, static_cast<ContactMode>(mode)) != one.modes.end();
      came_back = came_back || known;
      if (!known) one.modes.push_back(static_cast<ContactMode>(mode));
      one.changes += before != 0 ? 1 : 0;
      before = mode;
    }
    if (came_back) flapping.push_back(std::move(one));
  }
  std::ranges::stable_sort(flapping, [](const auto& x, const auto& y) { return x.changes > y.changes; });
  return flapping;
}

}  // namespace

Result<IterateWatch> IterateWatch::create(const std::string& verdict, const ContactProblem& problem,
                                          long last_iteration) {
  CONEBENCH_CHECK(Verdict::create(verdict, problem));
  const auto definitions = residual_definitions();
  return IterateWatch(*std::ranges::find_if(definitions, [&](const auto& one) { return one.info.name == verdict; }),
                      problem, last_iteration);
}

IterateWatch::IterateWatch(const ResidualDefinition& verdict, const ContactProblem& problem, long last_iteration)
    : verdict_(&verdict),
      evaluation_(problem),
      last_iteration_(last_iteration),
      stride_(std::max(1L, last_iteration / between_iterates)),
      last_(static_cast<std::size_t>(max_last_iterates), Vector()) {}

double IterateWatch::distance(const Vector& one, const Vector& other) const {
  double largest = 0.0;
  const auto& blocks = evaluation_.blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Index size = (b + 1 < blocks.size() ? blocks[b + 1].row : one.size()) - blocks[b].row;
    const double moved = (one.segment(blocks[b].row, size) - other.segment(blocks[b].row, size)).norm();
    largest = std::max(largest, moved * blocks[b].inverse_step);
  }
  return largest / evaluation_.velocity_scale();
}

void IterateWatch::take(long iteration, ConstVectorRef impulse) {
  evaluation_.set_impulse(impulse);
  SeenIterate one{.iteration = iteration, .step = std::nullopt, .modes = {}};
  const bool finite = evaluation_.finite();
  const WorstBlock worst =
      finite ? verdict_->formula(evaluation_) : WorstBlock{infinity, evaluation_.first_bad_block()};
  one.verdict = std::isnan(worst.value) ? infinity : worst.value;
  one.worst_block = worst.block;
  const bool follows = !seen_.list.empty() && seen_.list.back().iteration + 1 == iteration;
  if (!follows) kept_ = 0;
  if (finite) {
    if (kept_ > 0) one.step = distance(evaluation_.impulse(), last_[newest_]);
    newest_ = (newest_ + 1) % last_.size();
    last_[newest_] = evaluation_.impulse();
    kept_ = std::min(kept_ + 1, last_.size());
  } else {
    kept_ = 0;
  }
  const long tail = last_iteration_ - max_last_iterates;
  if (iteration > tail) {
    for (const ContactMode mode : contact_modes(evaluation_, mode_tolerance)) one.modes += static_cast<char>(mode);
  }
  // Odd and even strides in turn, so that an oscillation is not seen in one phase alone.
  const long between = stride_ + (seen_.list.size() % 2 == 0 ? 0 : stride_ > 1 ? 1 : 0);
  next_ = iteration + 1;
  if (iteration >= first_iterates && iteration <= tail) next_ = std::min(iteration + between, tail + 1);
  seen_.list.push_back(std::move(one));
}

SeenIterates IterateWatch::finish() {
  for (std::size_t back = 1; back < kept_; ++back) {
    seen_.returns.push_back(distance(last_[newest_], last_[(newest_ + last_.size() - back) % last_.size()]));
  }
  return std::move(seen_);
}

std::string to_string(Trend trend) {
  switch (trend) {
    case Trend::unseen: return "unseen";
    case Trend::few: return "few";
    case Trend::reached: return "reached";
    case Trend::falls: return "falls";
    case Trend::rests: return "rests";
    case Trend::cycles: return "cycles";
    case Trend::wanders: return "wanders";
    case Trend::grows: return "grows";
  }
  throw std::logic_error("unknown trend");
}

Course analyse_course(const SeenIterates& seen, double tolerance) {
  Course course;
  if (seen.list.empty()) return course;
  course.iterations = seen.list.back().iteration;
  course.seen = static_cast<long>(seen.list.size());
  course.first = seen.list.front().verdict;
  course.last = seen.list.back().verdict;
  course.last_step = seen.list.back().step;
  course.best = course.low = infinity;
  course.best_iteration = seen.list.front().iteration;
  for (const SeenIterate& one : seen.list) {
    if (one.verdict < course.best) {
      course.best = one.verdict;
      course.best_iteration = one.iteration;
    }
    if (2 * one.iteration < course.iterations) continue;
    course.low = std::min(course.low, one.verdict);
    course.high = std::max(course.high, one.verdict);
  }
  course.trend = trend_of(seen, tolerance, course);
  course.worst = worst_blocks(seen);
  const auto last = last_consecutive(seen);
  course.compared = static_cast<long>(last.size());
  course.flapping = flapping_of(last);
  return course;
}

}  // namespace conebench
