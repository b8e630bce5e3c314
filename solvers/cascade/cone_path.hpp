#pragma once

#include "problems/contact_problem.hpp"
#include "solvers/newton/newton_matrix.hpp"
#include "solvers/newton/nonsmooth_equation.hpp"
#include "solvers/solver.hpp"

namespace conebench::cascade {

/// Semi-smooth Newton and the proximal path for blocks of any size and intervals, by the rules of SemismoothNewton and
/// ProximalPoint, whose blocks have three rows.
///
///     symbol    meaning                                                                    unit
///     F         natural map of all rows over V (newton::NonsmoothEquation)                 1
///     X, Y      element of its generalised Jacobian, dF = X dλ + Y dσ
///     E         diagonal, mean of (G + R)_ii over each block                               m/s per N s
///     α, c      shift, and centre: λ(c) solves the problem with σ + α E (λ − c) for σ      1, N s
///     ε         regularisation of a step, (X + Y (G + R + (α + ε) E)) d = −F               1
class ConePath {
 public:
  explicit ConePath(const ContactProblem& problem);

  /// What the owner of a search makes of points.
  class Observer {
   public:
    virtual ~Observer() = default;
    /// Takes note of a point of the problem itself; its scaled natural map.
    virtual double see(ConstVectorRef impulse) = 0;
    virtual bool over() const = 0;
  };

  /// ε = min(largest, max(1e-12, relative · residual)).
  struct Budget {
    int steps, stall_window;
    double relative, largest;
  };
  static constexpr Budget first{30, 10, 2.0, 1e-2}, near{40, 10, 10.0, 1e-3}, strong{40, 10, 1e3, 1e-2};

  /// Newton's steps on the problem itself until the observer has enough.
  void newton(ConstVectorRef from, const Budget& budget, Observer& observer, SolveSummary& counts);
  /// c ← λ + 0.9 (λ − c), α from `shift` on: 0.7 of it after three inner problems, twice of it after one that fails.
  void follow(ConstVectorRef from, double shift, long newton_steps, Observer& observer, SolveSummary& counts);

 private:
  /// Newton's steps with α and c from point_, which becomes the best point. With an observer on the problem itself,
  /// α = 0. True: to `tolerance`.
  bool run(double shift, const Vector& center, double tolerance, const Budget& budget, Observer& observer,
           SolveSummary& counts);

  ContactProblem problem_;
  newton::NonsmoothEquation equation_;
  newton::NewtonMatrix matrix_;
  Vector mean_diagonal_;  ///< E
  Vector point_, lambda_, sigma_, f_, d_, center_, start_;
};

}  // namespace conebench::cascade
