#pragma once

#include <cmath>
#include <numbers>

namespace conebench::gauss_seidel {

/// f(θ) = e⊥·(p + M e) or the like, e = (cos θ, sin θ): zero where a contact may slip along −e.
struct SlipAngle {
  double c0, c1, s1, c2, s2;  ///< f = c0 + c1 cos θ + s1 sin θ + c2 cos 2θ + s2 sin 2θ

  double operator()(double angle) const {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    return c0 + c1 * c + s1 * s + c2 * (c * c - s * s) + s2 * 2.0 * c * s;
  }
  double root(double low, double high, double at_low) const {
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      const double value = (*this)(middle);
      if ((value < 0.0) == (at_low < 0.0)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return 0.5 * (low + high);
  }
};

/// Calls `visit` with every root of f on the circle, and with its extrema that lie near zero.
template <class Visit>
void for_each_root(const SlipAngle& f, Visit visit) {
  constexpr int samples = 128;  // f has at most four roots; those nearer than a step are caught at the extremum
  constexpr double step = 2.0 * std::numbers::pi / samples;
  double before = f(-step);
  double here = f(0.0);
  for (int k = 0; k < samples; ++k) {
    const double angle = k * step;
    const double after = f(angle + step);
    if (here == 0.0) {
      visit(angle);
    } else if ((here < 0.0) != (after < 0.0) && after != 0.0) {
      visit(f.root(angle, angle + step, here));
    } else if ((before < 0.0) == (here < 0.0) && std::abs(here) <= std::abs(before) &&
               std::abs(here) <= std::abs(after)) {
      const double curvature = before - 2.0 * here + after;
      const double extremum = curvature != 0.0 ? angle + 0.5 * step * (before - after) / curvature : angle;
      const double value = f(extremum);
      if ((value < 0.0) != (here < 0.0)) {
        visit(f.root(angle - step, extremum, before));
        visit(f.root(extremum, angle + step, value));
      } else {
        visit(extremum);
      }
    }
    before = here;
    here = after;
  }
}

}  // namespace conebench::gauss_seidel
