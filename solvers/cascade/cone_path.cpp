#include "solvers/cascade/cone_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/scaled_natural_map.hpp"
#include "solvers/cascade/constants.hpp"

namespace conebench::cascade {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Inner problems after which Newton's steps are tried although the residual does not fall.
constexpr int try_every = 25;

Vector row_means(const ContactProblem& problem) {
  const BlockSparseMatrix& matrix = problem.blocks();
  Vector means(matrix.block_rows()), rows(matrix.rows());
  mean_diagonals(matrix, problem.compliance(), means);
  for (Index i = 0; i < matrix.block_rows(); ++i) {
    rows.segment(matrix.block_offset(i), matrix.block_size(i)).setConstant(means[i]);
  }
  return rows;
}

}  // namespace

ConePath::ConePath(const ContactProblem& problem)
    : problem_(problem),
      equation_(problem, newton::ContactFunction::natural_map, "trace"),
      matrix_(problem.blocks(), problem.compliance(), newton::Storage::automatic),
      mean_diagonal_(row_means(problem)) {
  for (Vector* buffer : {&point_, &lambda_, &sigma_, &f_, &d_, &center_, &start_}) buffer->setZero(problem.rows());
}

bool ConePath::run(double shift, const Vector& center, double tolerance, const Budget& budget, Observer& observer,
                   SolveSummary& counts) {
  lambda_ = point_;
  double best = infinity;
  double best_to_beat = infinity;
  int without_progress = 0;
  for (int k = 0;; ++k) {
    problem_.velocity(lambda_, sigma_);
    ++counts.operator_products;
    if (shift > 0.0) sigma_ += shift * mean_diagonal_.cwiseProduct(lambda_ - center);
    equation_.linearise(lambda_, sigma_, f_);
    const double residual = equation_.residual(f_);
    if (!std::isfinite(residual)) return false;
    if (residual < best) {
      best = residual;
      point_ = lambda_;
    }
    without_progress = residual < tuned.progress * best_to_beat ? 0 : without_progress + 1;
    best_to_beat = std::min(best_to_beat, residual);
    if (shift == 0.0) observer.see(lambda_);
    if (residual <= tolerance) return true;
    if (observer.over() || k >= budget.steps || without_progress >= budget.stall_window) return false;
    const double epsilon = std::min(budget.largest, std::max(tuned.least, budget.relative * residual));
    ++counts.iterations;
    ++counts.factorizations;
    if (!matrix_.factor(equation_.by_impulse(), equation_.by_velocity(), shift + epsilon)) return false;
    f_ = -f_;
    matrix_.solve(f_, d_);
    lambda_ += d_;
  }
}

void ConePath::newton(ConstVectorRef from, const Budget& budget, Observer& observer, SolveSummary& counts) {
  point_ = from;
  run(0.0, center_, 0.0, budget, observer, counts);
}

void ConePath::follow(ConstVectorRef from, double shift, long newton_steps, Observer& observer, SolveSummary& counts) {
  start_ = center_ = from;
  double last = observer.see(start_);
  double best = infinity;
  double last_finish = infinity;
  int successes = 0;
  int failures = 0;
  bool strongly = true;
  const long end = counts.iterations + newton_steps;
  for (long k = 1; counts.iterations < end && !observer.over(); ++k) {
    const long steps_before = counts.iterations;
    // A larger ε would damp the drift along G's null space that the path is made of.
    Budget inner = near;
    inner.largest = std::min(inner.largest, tuned.negligible * shift);
    point_ = start_;
    if (!run(shift, center_, tuned.inner * std::min(last, best), inner, observer, counts)) {
      successes = 0;
      if (++failures > tuned.failures) return;
      shift = std::min(tuned.max_shift, 2.0 * shift);
      center_ = start_;
      continue;
    }
    failures = 0;
    start_ = point_;
    const double residual = observer.see(point_);
    if (observer.over()) return;
    best = std::min(best, residual);
    const bool falls = residual < tuned.progress * last_finish;
    const bool due = k % tuned.finish_every == 0 && (falls || k % try_every == 0);
    // An inner problem that takes no step must not repeat for ever.
    if ((best < tuned.near && due) || counts.iterations == steps_before) {
      last_finish = residual;
      run(0.0, center_, 0.0, strongly ? strong : near, observer, counts);
      strongly = !strongly;
      if (observer.over()) return;
    }
    last = residual;
    if (++successes >= tuned.successes) {
      shift = std::max(tuned.least, tuned.shift_falls * shift);
      successes = 0;
    }
    center_ = start_ + tuned.over_relaxation * (start_ - center_);
  }
}

}  // namespace conebench::cascade
