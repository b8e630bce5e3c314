#include "solvers/cascade/bilateral_relaxation.hpp"

#include <cmath>
#include <utility>

namespace conebench::cascade {

namespace {

/// Of the joint that bears most.
constexpr double negligible = 0.02;

/// λ_j along the impulses that jam: what still grows when α shrinks. Empty where α cannot shrink.
Vector jamming_impulses(Parts& parts, Search& search) {
  const ScaledProblem& problem = parts.problem();
  ShiftedProblem& shifted = parts.shifted();
  const double residual = search.best();
  Vector r = Vector::Zero(problem.size());
  Vector impulse = Vector::Zero(parts.source().rows());
  Vector last = impulse;
  int solved = 0;
  for (double shift = 100.0 * residual; shift > 0.1 * residual; shift /= 3.0) {
    shifted.problem.become_shifted(problem, shift, Vector::Zero(problem.size()));
    Search inner(shifted.problem, 1e-2 * search.tolerance(), search);
    Vector next = r;
    if (!shifted.newton.run(inner, next, {.steps = 40, .stall_window = 10})) break;
    r = inner.best_point();
    last = impulse;
    problem.to_impulse(r, impulse);
    ++solved;
  }
  if (solved < 2) return {};
  return (impulse - last).head(parts.source().cones().joints());
}

/// The problem in which joint row j is to move at σ_j = −velocity sign λ_j.
Result<ContactProblem> moving_joints(const ContactProblem& problem, const Vector& jamming, double velocity) {
  ContactProblemData data = problem.data();
  data.bias.reset();
  data.primal.reset();
  data.guess.reset();
  data.reference.reset();
  const double least = negligible * jamming.lpNorm<Eigen::Infinity>();
  for (Index j = 0; j < jamming.size(); ++j) {
    if (std::abs(jamming[j]) > least) data.free_term[j] += std::copysign(velocity, jamming[j]);
  }
  return ContactProblem::create(std::move(data));
}

}  // namespace

bool relax_joints(Parts& parts, Search& search) {
  const ContactProblem& source = parts.source();
  if (source.cones().joints() == 0 || !(search.best() <= 10.0 * search.tolerance())) return false;
  const Vector jamming = jamming_impulses(parts, search);
  if (search.accepted()) return true;
  if (jamming.size() == 0 || !jamming.allFinite()) return search.halted();
  Vector impulse(source.rows());
  // What joints are let move at is in a loop's next problem, for which they would have to move further.
  for (const double share : {0.125, 0.25, 0.5, 0.75, 0.95}) {
    const double velocity = share * search.tolerance() * parts.problem().reference_velocity();
    const auto problem = moving_joints(source, jamming, velocity);
    if (!problem.ok() || search.halted()) break;
    auto joints = eliminate_joints(*problem, most_bytes_of_elimination(source, 0.5 * parts.most_bytes()));
    if (!joints.ok()) break;
    // Only g is another, so that the analysis holds.
    const ScaledProblem moving(*problem, std::move(joints).value());
    SemismoothNewton newton(moving, parts.lu());
    Search inner(moving, 0.02 * search.tolerance(), search);
    Vector r = search.best_point();
    if (!newton.run(inner, r, {.steps = 40, .stall_window = 10}) && !search.halted()) {
      InteriorPoint(moving, parts.lu(), newton).run(inner, 1.0, 1.0, 60);
    }
    moving.to_impulse(inner.best_point(), impulse);
    if (search.offer_impulse(impulse)) return true;
  }
  return search.halted();
}

}  // namespace conebench::cascade
