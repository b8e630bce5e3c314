#pragma once

#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

namespace conebench::testing {

struct KnownAnswer {
  ContactProblem problem;
  Vector impulse;          ///< λ*
  std::vector<int> modes;  ///< 0 open, 1 stick, 2 slip, one a contact
};

/// Gives `problem` another g, such that a drawn λ* solves its NCP: joints at rest, limits active or not, contacts open,
/// sticking or sliding. A third of the contacts loses its friction where `some_frictionless`.
inline KnownAnswer with_known_answer(const ContactProblem& problem, std::uint64_t seed,
                                     bool some_frictionless = false) {
  RandomSource random(seed);
  ContactProblemData data = problem.data();
  const ConeProduct& old = problem.cones();
  std::vector<double> friction(old.friction().begin(), old.friction().end());
  if (some_frictionless) {
    for (std::size_t i = 0; i < friction.size(); i += 3) friction[i] = 0.0;
  }
  data.cones = *ConeProduct::create(old.joints(), old.limits(), friction, old.contact_dimension());
  const ConeProduct& cones = data.cones;
  Vector impulse = Vector::Zero(cones.rows());
  Vector sigma = Vector::Zero(cones.rows());
  for (Index i = 0; i < cones.joints(); ++i) impulse[i] = random.normal();
  for (Index i = 0; i < cones.limits(); ++i) {
    const double value = random.uniform(0.1, 2.0);
    (random.uniform(0.0, 1.0) < 0.5 ? impulse : sigma)[cones.first_limit_row() + i] = value;
  }
  std::vector<int> modes;
  const int tangents = cones.contact_dimension() - 1;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const double mu = friction[static_cast<std::size_t>(i)];
    Vector direction(tangents);
    for (int k = 0; k < tangents; ++k) direction[k] = random.normal();
    direction.normalize();
    const double kind = random.uniform(0.0, 3.0);
    modes.push_back(static_cast<int>(kind));
    if (kind < 1.0) {
      sigma.segment(row, tangents) = direction;
      sigma[row + tangents] = random.uniform(0.1, 1.0);
      continue;
    }
    const double normal = random.uniform(0.1, 2.0);
    impulse[row + tangents] = normal;
    if (kind < 2.0) {
      impulse.segment(row, tangents) = random.uniform(0.0, 0.9) * mu * normal * direction;
    } else {
      impulse.segment(row, tangents) = -mu * normal * direction;
      sigma.segment(row, tangents) = random.uniform(0.1, 2.0) * direction;
    }
  }
  Vector product(cones.rows());
  problem.delassus().apply(impulse, product);
  data.free_term = sigma - product - problem.compliance().cwiseProduct(impulse);
  data.primal.reset();
  data.bias.reset();
  return {*ContactProblem::create(std::move(data)), impulse, modes};
}

}  // namespace conebench::testing
