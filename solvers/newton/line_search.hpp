#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/options.hpp"

namespace conebench::newton {

/// How far to go along a Newton direction: the one globalisation of this folder's solvers.
///
///     symbol    meaning
///     φ(t)      merit at the point plus t times the direction
///     φ_0, φ'   merit and its slope at t = 0
///     φ_ref     the largest of the last `memory` merits; φ_0 where memory = 1
struct LineSearchOptions {
  std::string rule = "armijo";  ///< none | armijo | goldstein-price | exact
  double decrease = 1e-4;       ///< c: φ(t) ≤ φ_ref + c t φ'
  double curvature = 0.9;       ///< m: φ(t) ≥ φ_0 + m t φ', Goldstein and Price's second test
  double shrink = 0.5;          ///< t ← shrink t where Armijo's test fails
  long trials = 30;
  long memory = 1;  ///< 1: monotone
};

void declare_options(OptionBinder& bind, LineSearchOptions& options, const std::vector<std::string>& rules);

struct LineSearchStep {
  double t = 1.0;
  bool found = true;  ///< false: no trial passed; t is the last one
  long evaluations = 0;
};

/// Value and the first two derivatives along the direction.
struct MeritAlong {
  double slope = 0.0;
  double curvature = 0.0;
};

class LineSearch {
 public:
  static constexpr long max_memory = 32;
  explicit LineSearch(const LineSearchOptions& options) : options_(options) {}

  void reset() { remembered_ = 0; }

  /// `merit`, `slope` at t = 0, slope < 0; `at(t)` gives φ(t).
  template <class Merit>
  LineSearchStep search(double merit, double slope, const Merit& at) {
    const double reference = remember(merit);
    if (options_.rule == "none") return {1.0, true, 0};
    return options_.rule == "armijo" ? armijo(reference, slope, at) : goldstein_price(reference, merit, slope, at);
  }

  /// The minimum of a convex φ: a root of φ' by Newton's method between bisections, until φ' is a millionth of its
  /// start. `along(t)` gives φ' and φ''.
  template <class Along>
  static LineSearchStep exact(double slope, const Along& along, long trials) {
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    LineSearchStep step;
    for (step.evaluations = 1;; ++step.evaluations) {
      const MeritAlong at = along(step.t);
      if (std::abs(at.slope) <= 1e-6 * std::abs(slope) || step.evaluations >= trials) return step;
      (at.slope < 0.0 ? low : high) = step.t;
      const double newton = step.t - at.slope / at.curvature;
      const double most = std::isinf(high) ? 10.0 * step.t : high;
      step.t = newton > low && newton < most ? newton : (std::isinf(high) ? most : 0.5 * (low + high));
    }
  }

 private:
  double remember(double merit) {
    const long memory = std::clamp(options_.memory, 1L, max_memory);
    merits_[static_cast<std::size_t>(remembered_++ % memory)] = merit;
    const auto end = merits_.begin() + std::min(remembered_, memory);
    return *std::max_element(merits_.begin(), end);
  }

  template <class Merit>
  LineSearchStep armijo(double reference, double slope, const Merit& at) const {
    LineSearchStep step;
    for (step.evaluations = 1;; ++step.evaluations) {
      if (at(step.t) <= reference + options_.decrease * step.t * slope) return step;
      if (step.evaluations >= options_.trials) break;
      step.t *= options_.shrink;
    }
    step.found = false;
    return step;
  }

  template <class Merit>
  LineSearchStep goldstein_price(double reference, double merit, double slope, const Merit& at) const {
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    LineSearchStep step;
    for (step.evaluations = 1;; ++step.evaluations) {
      const double value = at(step.t);
      const bool low_enough = value <= reference + options_.decrease * step.t * slope;
      if (low_enough && value >= merit + options_.curvature * step.t * slope) return step;
      if (step.evaluations >= options_.trials) {
        step.found = low_enough;
        return step;
      }
      (low_enough ? low : high) = step.t;
      step.t = std::isinf(high) ? 10.0 * step.t : 0.5 * (low + high);
    }
  }

  LineSearchOptions options_;
  std::array<double, max_memory> merits_{};
  long remembered_ = 0;
};

}  // namespace conebench::newton
