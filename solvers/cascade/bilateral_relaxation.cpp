#include "solvers/cascade/bilateral_relaxation.hpp"

#include <cmath>
#include <utility>

namespace conebench::cascade {

namespace {

/// λ_j along the impulses that jam: what still grows when α shrinks. Empty where α cannot shrink.
Vector jamming_impulses(Parts& parts, Search& search) {
  const ScaledProblem& problem = parts.problem();
  ScaledProblem& shifted = parts.proximal_point().shifted();
  SemismoothNewton newton(shifted, parts.lu());
  const double residual = search.best();
  Vector r = Vector::Zero(problem.size());
  Vector impulse = Vector::Zero(parts.problem().given().rows());
  Vector last = impulse;
  int solved = 0;
  for (double shift = tuned.jamming_shift * residual; shift > 0.5 * residual; shift *= 0.5) {
    shifted.become_shifted(problem, shift, Vector::Zero(problem.size()));
    Search inner(shifted, tuned.negligible * search.tolerance(), search);
    if (!newton.run(inner, r, {})) break;
    r = inner.best_point();
    last = impulse;
    problem.to_impulse(r, impulse);
    ++solved;
  }
  if (solved < 2) return {};
  return (impulse - last).head(parts.problem().given().cones().joints());
}

/// The problem in which joint row j is to move at σ_j = −velocity sign λ_j.
Result<ContactProblem> moving_joints(const ContactProblem& problem, const Vector& jamming, double velocity) {
  ContactProblemData data = problem.data();
  data.bias.reset();
  data.primal.reset();
  data.guess.reset();
  data.reference.reset();
  const double least = tuned.negligible * jamming.lpNorm<Eigen::Infinity>();
  for (Index j = 0; j < jamming.size(); ++j) {
    if (std::abs(jamming[j]) > least) data.free_term[j] += std::copysign(velocity, jamming[j]);
  }
  return ContactProblem::create(std::move(data));
}

}  // namespace

bool relax_joints(Parts& parts, Search& search) {
  const ContactProblem& source = parts.problem().given();
  if (source.cones().joints() == 0 || !(search.best() <= tuned.near_tolerances * search.tolerance())) return false;
  const Vector jamming = jamming_impulses(parts, search);
  if (search.accepted()) return true;
  if (jamming.size() == 0 || !jamming.allFinite()) return search.halted();
  Vector impulse(source.rows());
  // What joints are let move at is in a loop's next problem, for which they would have to move further.
  for (double share = tuned.first_share; share <= 1.0; share *= 2.0) {
    const double velocity = share * tuned.admissible * search.tolerance() * parts.problem().reference_velocity();
    const auto problem = moving_joints(source, jamming, velocity);
    if (!problem.ok() || search.halted()) break;
    auto joints = eliminate_joints(*problem, 0.5 * parts.max_bytes());
    if (!joints.ok()) break;
    // Only g is another, so that the analysis holds.
    const ScaledProblem moving(*problem, std::move(joints).value());
    SemismoothNewton newton(moving, parts.lu());
    Search inner(moving, tuned.negligible * search.tolerance(), search);
    if (!newton.run(inner, search.best_point(), {}) && !search.halted()) {
      InteriorPoint(moving, parts.lu(), newton).run(inner);
    }
    moving.to_impulse(inner.best_point(), impulse);
    if (search.propose(impulse, search.residual_of(impulse))) return true;
  }
  return search.halted();
}

}  // namespace conebench::cascade
