#pragma once

#include "base/options.hpp"
#include "solvers/cascade/accelerated_gradient.hpp"
#include "solvers/cascade/block_krylov.hpp"
#include "solvers/cascade/contact_sweep.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

struct NewtonKrylovOptions {
  bool gradient = true;
  long sweeps = 30;
  double regularization = 3.0;
  double inexactness = 1e-2;
  long products = 200;
};
void declare_options(OptionBinder& bind, NewtonKrylovOptions& options);

/// Sweeps and semi-smooth Newton steps in turn, whose linear systems BlockKrylov solves inexactly. A step moves what
/// couples over long distances, the sweeps after it put right the contacts whose mode it guessed wrong.
///
/// Safeguard: after 25 steps that do not lower the best residual to 0.7 the run goes on from the best point, with twice
/// as many sweeps before each step. A gain halves them again. So steps that lead nowhere take an ever smaller part of
/// the work, and what is left is block Gauss-Seidel. It ends unsolved where sweeps change nothing any more.
class NewtonKrylov {
 public:
  /// Both must outlive this object.
  NewtonKrylov(const ScaledProblem& problem, const ContactSweep& sweep, const NewtonKrylovOptions& options);

  /// From r, until `search` accepts a point or halts.
  void run(Search& search, Vector& r);

 private:
  /// A batch of sweeps. Returns what the last one changed, relative to the impulses.
  double sweep(Search& search, Vector& r);
  /// One Newton step from r at velocity_, with α = regularization × residual; four times that where the linear
  /// system is not solved.
  void step(Search& search, Vector& r, double residual);

  const ScaledProblem& problem_;
  const ContactSweep& sweep_;
  NewtonKrylovOptions options_;
  BlockKrylov linear_;
  SemismoothNewton newton_;
  Vector velocity_, impulse_, trial_;
};

}  // namespace conebench::cascade
