#pragma once

#include <limits>
#include <memory>

#include "problems/types.hpp"
#include "solvers/cascade/body_lu.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/sparse_lu.hpp"

namespace conebench::cascade {

/// The linear systems of all parts. One symbolic analysis, then as many numeric factorizations as wanted, of the matrix
/// itself (SparseLu) or, where M and J are known and that counts far fewer operations, in the space of the bodies'
/// velocities (BodyLu).
class BlockLu {
 public:
  enum class Space { automatic, contacts, bodies };

  /// Counts what `problem`'s pattern fills; the rest of the analysis waits for the first factorization. `bodies` is
  /// taken where there are any. Factors of more than `most_bytes` are never made.
  void analyse(const ScaledProblem& problem, Space space = Space::automatic,
               double most_bytes = std::numeric_limits<double>::infinity());
  /// Goes on with another problem of the analysed pattern. Its bodies may be others, or none.
  void take(const ScaledProblem& problem);

  /// Factors `system` with the values of `problem`, which has the analysed pattern; among bodies single components are
  /// kept. False where a pivot was singular and had to be perturbed, and where the factor would take more than it may:
  /// solutions are then zero.
  bool factor(const ScaledProblem& problem, const BlockSystem& system);

  /// solution = matrix⁻¹ right_side.
  void solve(const Vector& right_side, Vector& solution);

  struct Estimate {
    double flops = 0.0;
    double bytes = 0.0;
  };
  /// What analyse() and take() counted, the same whatever was factored since: for decisions that must not depend on it.
  const Estimate& estimate() const { return bodies_ ? bodies_estimate_ : contacts_estimate_; }
  /// Whether a factor may be made.
  bool fits() const { return estimate().bytes <= most_bytes_; }
  /// Where the last matrix was factored.
  Space space() const { return in_bodies_ ? Space::bodies : Space::contacts; }

 private:
  bool contacts_fit() const { return contacts_estimate_.bytes <= most_bytes_; }

  SparseLu contacts_;
  std::shared_ptr<const ContactProblem> source_;  ///< of bodies_
  std::unique_ptr<BodyLu> bodies_;                ///< null: not worth it, or not known
  Estimate contacts_estimate_, bodies_estimate_;  ///< of each as it is before its first factorization
  double most_flops_ = 0.0;                       ///< that bodies may take
  double most_bytes_ = std::numeric_limits<double>::infinity();
  bool in_bodies_ = false;
  bool refused_ = false;  ///< the last factor
};

}  // namespace conebench::cascade
