#pragma once

#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

/// Nesterov's projected gradient on the NCP: r⁺ = P(y − u(w(y))/L), y⁺ = r⁺ + β (r⁺ − r), with De Saxcé's term in
/// u(w) of every step and the momentum dropped where it points uphill (O'Donoghue and Candès' gradient rule).
///
/// Where nothing slides u(w) = w is the gradient of ½ rᵀ G̃ r + g̃ᵀ r, and n layers take some 12 n products. Where
/// contacts slide u is no gradient, and the momentum may keep the iterates from settling.
class AcceleratedGradient {
 public:
  explicit AcceleratedGradient(const ScaledProblem& problem);

  /// From r, for as long as the residual falls now and then; leaves the search's best point in r. One product a step.
  /// True: `search` accepted a point.
  bool run(Search& search, Vector& r);

 private:
  /// λ_max of G̃ by power iteration, from below.
  double largest_eigenvalue();
  /// next_ = P(y − u(w_y)/L).
  void step();

  const ScaledProblem& problem_;
  double lipschitz_ = 0.0;
  Vector next_, y_, velocity_, next_velocity_, velocity_y_;
};

}  // namespace conebench::cascade
