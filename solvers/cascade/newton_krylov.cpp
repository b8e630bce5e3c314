#include "solvers/cascade/newton_krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conebench::cascade {

void declare_options(OptionBinder& bind, NewtonKrylovOptions& o) {
  bind.flag("gradient", o.gradient, "accelerated projected gradient first, for as long as it gains");
  bind.integer("sweeps", o.sweeps,
               {.minimum = 1, .maximum = 1e6, .doc = "Gauss-Seidel sweeps before a Newton step, at first"});
  bind.real("regularization", o.regularization,
            {.minimum = 1e-3,
             .maximum = 1e6,
             .scale = OptionScale::logarithmic,
             .doc = "alpha of a Newton step over the residual, in the scaled problem"});
  bind.real("inexactness", o.inexactness,
            {.minimum = 1e-12,
             .maximum = 0.5,
             .scale = OptionScale::logarithmic,
             .doc = "residual of a linear system, over its right side"});
  bind.integer("products", o.products, {.minimum = 2, .maximum = 1e6, .doc = "with G a linear system, at most"});
}

NewtonKrylov::NewtonKrylov(const ScaledProblem& problem, const ContactSweep& sweep, const NewtonKrylovOptions& options)
    : problem_(problem),
      sweep_(sweep),
      options_(options),
      linear_(problem, {.tolerance = options.inexactness, .max_products = static_cast<int>(options.products)}),
      newton_(problem, linear_),
      velocity_(problem.size()),
      impulse_(Vector::Zero(problem.given().rows())),
      trial_(problem.size()) {}

double NewtonKrylov::sweep(Search& search, Vector& r) {
  problem_.to_impulse(r, impulse_);
  double change = 0.0;
  for (long k = 0; k < options_.sweeps && !search.halted(); ++k) {
    change = sweep_.sweep(impulse_.tail(problem_.system().matrix.rows()));
    search.count_sweep();
  }
  problem_.from_impulse(impulse_, r);
  return change;
}

void NewtonKrylov::step(Search& search, Vector& r, double residual) {
  constexpr int attempts = 4;
  constexpr double solved = 0.5;  // of the right side: what is worse is noise along G's null space
  double alpha = std::min(tuned.max_shift, std::max(tuned.least, options_.regularization * residual));
  for (int k = 0; k < attempts && !search.halted(); ++k, alpha = std::min(tuned.max_shift, 4.0 * alpha)) {
    trial_ = r;
    newton_.step_from(trial_, velocity_, alpha);
    search.count_newton();
    if (linear_.relative_residual() > solved || !trial_.allFinite()) continue;
    std::swap(r, trial_);
    return;
  }
}

void NewtonKrylov::run(Search& search, Vector& r) {
  constexpr double gain = 0.7;   // of the best residual
  constexpr long patience = 25;  // Newton steps without; 10 take three times as long on one lattice in six
  constexpr double rounding = 1e-16;
  if (options_.gradient) {
    trial_ = r;  // where the gradient ends unsolved is no better a start than where it began
    if (AcceleratedGradient(problem_).run(search, trial_)) return;
  }
  double to_beat = std::numeric_limits<double>::infinity();
  for (long batches = 1, without = 0;;) {
    double residual = 0.0;
    for (long k = 0; k < batches; ++k) {
      const double change = sweep(search, r);
      problem_.velocity(r, velocity_);
      residual = problem_.residual(r, velocity_);
      if (search.offer(r, residual) || search.halted()) return;
      if (change <= rounding && batches > 1) return;
    }
    if (search.best() < gain * to_beat) {
      to_beat = search.best();
      without = 0;
      batches = std::max(1L, batches / 2);
    } else if (++without == patience || !std::isfinite(residual)) {
      without = 0;
      batches *= 2;
      r = search.best_point();
      continue;
    }
    step(search, r, residual);
  }
}

}  // namespace conebench::cascade
