#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenes/micro_problems.hpp"
#include "solvers/registry.hpp"

/// Small problems with intervals and contacts of different laws, for the solvers that take any.
namespace conebench::testing {

inline ContactProblem problem_of(const Matrix& delassus, const Vector& free_term, std::vector<Interval> intervals,
                                 const std::vector<FrictionLaw>& contacts, Index joints = 0, Index limits = 0,
                                 const Vector& compliance = {}) {
  return closed_form::micro(delassus, free_term,
                            ConeProduct::create(joints, limits, std::move(intervals), contacts).value(), compliance);
}

/// A joint of inertia 2 kg m² with friction 0.3 N m under a torque, over 0.01 s.
struct JointFriction {
  static constexpr double inertia = 2.0, friction = 0.3, time_step = 0.01;
  double torque = 0.0;

  ContactProblem problem() const {
    const double bound = friction * time_step;
    return problem_of(Matrix::Constant(1, 1, 1.0 / inertia), Vector::Constant(1, torque * time_step / inertia),
                      {{-bound, bound}}, {});
  }
  double impulse() const { return std::clamp(-torque, -friction, friction) * time_step; }
  double velocity() const {
    return std::copysign(std::max(std::abs(torque) - friction, 0.0), torque) * time_step / inertia;
  }
};

/// A joint, a limit, intervals (one of each kind), and contacts: Coulomb's in space, condim 4, rolling, torsion apart,
/// Coulomb's in space. J has full rank.
inline ContactProblem mixed_laws(double mu = 0.4) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<FrictionLaw> contacts = {FrictionLaw::coulomb(mu),
                                             {ConeShape::discs, {3}, {mu, mu, mu}},
                                             FrictionLaw::rolling(mu, 0.2),
                                             {ConeShape::discs, {2, 1}, {mu, mu, 0.1}},
                                             FrictionLaw::coulomb(0.7 * mu)};
  const std::vector<Interval> intervals = {{-0.05, 0.05}, {-infinity, 0.0}, {-50.0, 50.0}, {0.1, 0.1}};
  const ConeProduct cones = ConeProduct::create(1, 1, intervals, contacts).value();
  const Index rows = cones.rows();
  const Matrix jacobian = Matrix::NullaryExpr(rows, rows + 4, [](Index i, Index j) {
    return std::sin(static_cast<double>(7 * i * i + 13 * j + 3 * i * j)) + (i == j ? 2.0 : 0.0);
  });
  Vector free_term = Vector::NullaryExpr(rows, [](Index i) { return std::cos(static_cast<double>(5 * i + 1)); });
  for (Index i = 0; i < cones.contacts(); ++i) free_term[cones.contact_row(i) + cones.normal_of(i)] -= 2.0;
  return closed_form::micro(jacobian * jacobian.transpose(), free_term, cones);
}

/// max |λ − P_K(λ − r v̂)| / r, r = rows / trace(G + R): from the problem alone.
inline double dense_natural_map(const ContactProblem& problem, const Vector& impulse, bool de_saxce = true) {
  Matrix all = problem.delassus().dense();
  all.diagonal() += problem.compliance();
  const double r = static_cast<double>(problem.rows()) / all.trace();
  Vector velocity = all * impulse + problem.free_term();
  if (de_saxce) add_de_saxce(problem.cones(), velocity, velocity);
  Vector projected = impulse - r * velocity;
  project_cone(problem.cones(), projected, projected);
  return (impulse - projected).lpNorm<Eigen::Infinity>() / r;
}

struct Solved {
  Vector impulse;
  SolveSummary summary;
};

/// Until the solver's own residual is at most `tolerance`.
inline Solved solved(const std::string& id, const ContactProblem& problem, double tolerance = 1e-11,
                     const OptionValues& options = {}) {
  const auto solver = require_solver(id).value()->make(options).value();
  if (const auto ready = solver->prepare(problem); !ready) throw std::runtime_error(ready.error().message);
  Solved result{Vector::Zero(problem.rows()), {}};
  SilentMonitor silent;
  const StopRule stop{.tolerance = tolerance, .max_iterations = 50000, .stop_by = StopBy::solver};
  result.summary = solver->solve(Vector::Zero(problem.rows()), stop, silent, result.impulse);
  return result;
}

}  // namespace conebench::testing
