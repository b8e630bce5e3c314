#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/contact_vector.hpp"

namespace conebench {

/// A row with bounds, {l ≤ λ ≤ u} [N s]: dry friction of a joint, an effort limit, a motor. Either bound may be
/// infinite, and l = u is a given impulse. λ solves the row where λ = P(λ − r σ): σ > 0 only at l, σ < 0 only at u.
struct Interval {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  using Block = ContactVector<1>;

  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool operator==(const Interval&) const = default;

  static constexpr int size() { return 1; }
  double project(double x) const { return std::min(upper, std::max(lower, x)); }
  Block project(const Block& x) const { return Block(project(x[0])); }
  /// Onto the velocities that are allowed at some impulse: σ ≥ 0 where u is infinite, σ ≤ 0 where l is.
  Block project_dual(const Block& x) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return Block(std::min(lower > -infinity ? infinity : 0.0, std::max(upper < infinity ? -infinity : 0.0, x[0])));
  }
  double de_saxce(const Block&) const { return 0.0; }
  /// |σ⁺ (λ − l)| or |σ⁻ (u − λ)|, 0 where that bound is infinite.
  double complementarity(double impulse, double velocity) const {
    const double bound = velocity > 0.0 ? lower : upper;
    return std::isinf(bound) ? 0.0 : std::abs(velocity * (impulse - bound));
  }
  /// λ − P(λ − s), s itself where P leaves λ − s alone, so that a small s keeps its digits.
  double natural_map(double impulse, double s) const {
    const double y = impulse - s;
    if (y < lower) return impulse - lower;
    return y > upper ? impulse - upper : s;
  }
  Block natural_map(const Block& impulse, const Block& s) const { return Block(natural_map(impulse[0], s[0])); }
};

}  // namespace conebench
