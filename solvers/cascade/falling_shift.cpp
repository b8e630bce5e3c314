#include "solvers/cascade/falling_shift.hpp"

#include <algorithm>
#include <optional>

namespace conebench::cascade {

namespace {

/// The last α with a solution. Less than that: `search` accepted a point, is halted, or no α had one.
std::optional<double> fall(Parts& parts, Search& search, double factor) {
  const ScaledProblem& problem = parts.problem();
  ShiftedProblem& shifted = parts.shifted();
  NewtonBudget& finish = shifted.interior_point.finish;
  finish = {};
  const Vector zero = Vector::Zero(problem.size());
  Vector w(problem.size());
  std::optional<double> last;
  int misses = 0;
  for (double shift = 1e-6; shift > 1e-12 && misses < 2; shift *= factor) {
    shifted.problem.become_shifted(problem, shift, zero);
    Search inner(shifted.problem, 0.1 * search.tolerance(), search);
    finish.largest = std::min(1e-4, 0.01 * shift);
    const bool solved = shifted.interior_point.run(inner, 1.0, 1.0, 100);
    problem.velocity(inner.best_point(), w);
    if (search.offer(inner.best_point(), problem.residual(inner.best_point(), w)) || search.halted()) return {};
    misses = solved ? 0 : misses + 1;
    if (solved) last = shift;
  }
  return last;
}

}  // namespace

bool solve_with_falling_shift(Parts& parts, Search& search) {
  for (const double factor : {0.1, 0.3}) {
    const auto shift = fall(parts, search, factor);
    if (search.accepted() || search.halted()) return true;
    if (!shift) continue;
    const ProximalPoint::Limits walk{.shift = *shift,
                                     .newton_steps = 1200,
                                     .longer = 1200,
                                     .successes = 3,
                                     .from = &search.best_point(),
                                     .tolerated = tolerable};
    if (parts.proximal_point().run(search, walk) || search.halted()) return true;
  }
  return false;
}

}  // namespace conebench::cascade
