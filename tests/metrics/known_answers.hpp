#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "metrics/residuals.hpp"
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

/// Sliding in the plane and in space, equal or not in its two directions, with torsion and rolling in one ellipsoid or
/// apart, in pyramids, and without friction. `unit`: of length, in which moments' coefficients are.
inline std::vector<FrictionLaw> all_laws(double unit = 1.0) {
  using enum ConeShape;
  const double spin = 0.02 * unit, roll = 0.005 * unit;
  return {FrictionLaw::coulomb(0.6),
          FrictionLaw::coulomb(0.4, 1),
          FrictionLaw::coulomb(0.0),
          FrictionLaw::rolling(0.5, roll),
          FrictionLaw::rolling(0.5, 0.0),
          {discs, {2}, {0.7, 0.3}},
          {discs, {2, 1}, {0.5, 0.5, spin}},
          {discs, {2, 1, 2}, {0.5, 0.2, spin, roll, 2.0 * roll}},
          {discs, {3}, {0.5, 0.5, spin}},
          {discs, {5}, {0.9, 0.9, spin, roll, roll}},
          {pyramid, {1}, {0.4}},
          {pyramid, {2}, {0.5, 0.3}},
          {pyramid, {5}, {0.5, 0.5, spin, roll, roll}},
          {pyramid, {2}, {0.0, 0.0}}};
}
/// Whether a contact's row bears a moment, of laws as in all_laws().
inline bool is_moment(const FrictionLaw& law, int row) {
  return row != law.groups[0] && (row > law.groups[0] || row > 1);
}

struct KnownModes {
  ContactProblem problem;
  Vector impulse;  ///< λ*
  ContactModes modes;
};

/// Gives λ and σ of a group that slips with σ_g drawn: −λ_N D² σ_g / ‖D σ_g‖, of a pyramid at the corner that most
/// opposes it.
inline void slide(RandomSource& random, const FrictionLaw& law, std::size_t first, double normal, VectorRef impulse,
                  VectorRef sigma) {
  Vector weighted(impulse.size());
  for (Index k = 0; k < weighted.size(); ++k) {
    sigma[k] = random.normal();
    weighted[k] = law.coefficients[first + static_cast<std::size_t>(k)] * sigma[k];
  }
  const double size = weighted.norm();
  if (size == 0.0) return;
  Index corner = 0;
  weighted.cwiseAbs().maxCoeff(&corner);
  for (Index k = 0; k < weighted.size(); ++k) {
    const double mu = law.coefficients[first + static_cast<std::size_t>(k)];
    if (law.shape == ConeShape::discs) impulse[k] = -normal * mu * weighted[k] / size;
    if (law.shape == ConeShape::pyramid && k == corner) impulse[k] = std::copysign(normal * mu, -sigma[k]);
  }
}

/// A problem of these cones with a drawn G, not of full rank and with lever arms of some 0.1 `unit` for moments, whose
/// NCP a drawn λ* solves: groups stick or slip apart from each other, intervals are inside or at a bound.
inline KnownModes problem_with_known_modes(const ConeProduct& cones, std::uint64_t seed, bool primal = false) {
  RandomSource random(seed);
  const Index n = cones.rows(), velocities = std::max<Index>(1, n - 2);
  Matrix jacobian(n, velocities);
  for (Index i = 0; i < jacobian.size(); ++i) jacobian.data()[i] = random.normal();
  Vector impulse = Vector::Zero(n), sigma = Vector::Zero(n);
  ContactModes modes;
  for (Index i = 0; i < cones.joints(); ++i) impulse[i] = random.normal();
  for (Index i = cones.first_limit_row(); i < cones.first_interval_row(); ++i) {
    (random.uniform(0.0, 1.0) < 0.5 ? impulse : sigma)[i] = random.uniform(0.1, 2.0);
  }
  for (Index i = cones.first_interval_row(); i < cones.first_contact_row(); ++i) {
    const auto [lower, upper] = cones.bounds(i);
    const double kind = random.uniform(0.0, lower == upper ? 2.0 : 3.0);
    if (kind < 1.0 && std::isfinite(lower)) {
      impulse[i] = lower;
      sigma[i] = random.uniform(0.1, 2.0);
      ++modes.at_lower;
    } else if (kind < 2.0 && std::isfinite(upper)) {
      impulse[i] = upper;
      sigma[i] = -random.uniform(0.1, 2.0);
      ++modes.at_upper;
    } else {
      const double low = std::isfinite(lower) ? lower : std::isfinite(upper) ? upper - 2.0 : -1.0;
      const double high = std::isfinite(upper) ? upper : low + 2.0;
      impulse[i] = low + random.uniform(0.2, 0.8) * (high - low);
      ++modes.inside;
    }
  }
  for (Index i = 0; i < cones.contacts(); ++i) {
    const FrictionLaw law = cones.law(i);
    const Index row = cones.contact_row(i), normal_row = row + cones.normal_of(i);
    for (int k = 0; k < law.rows(); ++k) {
      if (is_moment(law, k)) jacobian.row(row + k) *= 10.0;
    }
    if (random.uniform(0.0, 3.0) < 1.0) {
      for (int k = 0; k < law.rows(); ++k) sigma[row + k] = random.normal();
      sigma[normal_row] = random.uniform(0.1, 1.0);
      ++modes.open;
      continue;
    }
    const double normal = random.uniform(0.1, 2.0);
    impulse[normal_row] = normal;
    bool any = false;
    std::size_t first = 0;
    for (std::size_t g = 0; g < law.groups.size(); ++g) {
      const Index begin = row + static_cast<Index>(first) + (g == 0 ? 0 : 1);
      const Index size = law.groups[g];
      const bool slips = random.uniform(0.0, 1.0) < 0.5;
      slide(random, law, first, normal, impulse.segment(begin, size), sigma.segment(begin, size));
      if (!slips) {
        impulse.segment(begin, size) *= random.uniform(0.0, 0.9);
        sigma.segment(begin, size).setZero();
      }
      any = any || slips;
      if (g > 0) ++(slips ? modes.moment_slip : modes.moment_stick);
      first += static_cast<std::size_t>(size);
    }
    ++(any ? modes.slip : modes.stick);
  }
  ContactProblemData data;
  data.cones = cones;
  const Matrix delassus = jacobian * jacobian.transpose();
  if (primal) {
    SparseMatrix mass(velocities, velocities);
    mass.setIdentity();
    data.primal = PrimalForm{mass, jacobian.sparseView(), Vector::Zero(velocities)};
  } else {
    data.delassus = make_dense_delassus(delassus);
  }
  data.free_term = sigma - delassus * impulse;
  return {*ContactProblem::create(std::move(data)), impulse, modes};
}

/// Two joints, a limit, intervals of every kind and contacts of `laws`.
inline ConeProduct with_intervals(const std::vector<FrictionLaw>& laws) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return *ConeProduct::create(
      2, 1, {{-1.0, 2.0}, {-infinity, 0.0}, {0.5, infinity}, {0.25, 0.25}, {-infinity, infinity}, {-3.0, -1.0}}, laws);
}
/// The same with `count` laws drawn from all_laws().
inline ConeProduct drawn_cones(std::uint64_t seed, int count) {
  RandomSource random(seed);
  const std::vector<FrictionLaw> all = all_laws();
  std::vector<FrictionLaw> laws;
  for (int i = 0; i < count; ++i) {
    laws.push_back(all[static_cast<std::size_t>(random.uniform(0.0, static_cast<double>(all.size()) - 1e-9))]);
  }
  return with_intervals(laws);
}

}  // namespace conebench::testing
