#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

namespace conebench::testing {

/// A problem made from an answer: every third row of a block of its own has bounds, and every third contact has
/// torsion in one ellipsoid where `laws` are mixed.
struct MixedProblem {
  Index blocks = 12;
  double rank_share = 0.5;  ///< velocities over rows: below 1 the contacts are redundant
  double mass_ratio = 10.0;
  Index joints = 0;
  enum class Laws { coulomb, plane, orthotropic, mixed } laws = Laws::mixed;
};

namespace detail {

inline std::vector<Interval> some_intervals(Index count, RandomSource& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Interval> intervals;
  for (Index i = 0; i < count; ++i) {
    const double width = std::pow(10.0, random.uniform(-1.0, 1.0));
    switch (i % 5) {
      case 0: intervals.push_back({-infinity, 0.0}); break;
      case 1: intervals.push_back({width, width}); break;
      case 2: intervals.push_back({-1.0, infinity}); break;
      default: intervals.push_back({-width, width * random.uniform(0.5, 2.0)});
    }
  }
  return intervals;
}

inline FrictionLaw some_law(Index i, MixedProblem::Laws laws, RandomSource& random) {
  const double mu = random.uniform(0.1, 1.0);
  const double moment = random.uniform(0.02, 0.3);
  switch (laws) {
    case MixedProblem::Laws::plane: return FrictionLaw::coulomb(mu, 1);
    case MixedProblem::Laws::coulomb: return FrictionLaw::coulomb(mu);
    case MixedProblem::Laws::orthotropic: return {ConeShape::discs, {2}, {mu, 0.5 * mu}};
    case MixedProblem::Laws::mixed: break;
  }
  switch (i % 9) {
    case 1:
    case 4: return FrictionLaw::coulomb(mu);
    case 2: return FrictionLaw::rolling(mu, moment);
    case 5: return {ConeShape::discs, {2, 1}, {mu, 0.5 * mu, moment}};
    case 7: return {ConeShape::discs, {5}, {mu, mu, moment, 0.5 * moment, 0.5 * moment}};
    default: return {ConeShape::discs, {3}, {mu, mu, moment}};
  }
}

/// λ and σ of a contact that opens, sticks or slips, group by group.
inline void set_contact(const ConeProduct& cones, Index i, RandomSource& random, Vector& impulse, Vector& velocity) {
  const FrictionCone cone = cones.friction_cone(i);
  const Index row = cones.contact_row(i);
  const auto coefficients = cones.coefficients(i);
  const auto mu = [&](int k) {
    return coefficients.size() == 1 ? coefficients[0]
                                    : coefficients[static_cast<std::size_t>(k > cone.normal ? k - 1 : k)];
  };
  const bool opens = random.uniform(0.0, 1.0) < 0.25;
  (opens ? velocity : impulse)[row + cone.normal] = random.uniform(0.2, 3.0);
  for (const FrictionCone::Group& group : cone.groups()) {
    Vector direction = Vector::NullaryExpr(group.size, [&] { return random.normal(); });
    direction.normalize();
    const bool slips = !opens && random.uniform(0.0, 1.0) < 0.5;
    for (int k = group.first; k < group.first + group.size; ++k) {
      const double along = direction[k - group.first];
      if (!opens) {
        impulse[row + k] = -along * mu(k) * impulse[row + cone.normal] * (slips ? 1.0 : random.uniform(0.0, 0.9));
      }
      if (opens) velocity[row + k] = along;
      if (slips) velocity[row + k] = along / mu(k);
    }
  }
}

}  // namespace detail

inline ContactProblem mixed_problem(const MixedProblem& wanted, std::uint64_t seed) {
  RandomSource random(seed);
  const Index bounded = wanted.blocks / 3;
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < wanted.blocks - bounded; ++i) laws.push_back(detail::some_law(i, wanted.laws, random));
  const ConeProduct cones =
      ConeProduct::create(wanted.joints, 1, detail::some_intervals(bounded, random), laws).value();
  const Index bodies =
      std::max<Index>(1, static_cast<Index>(wanted.rank_share * static_cast<double>(cones.rows())) / 6);
  Matrix jacobian = Matrix::Zero(cones.rows(), 6 * bodies);
  Vector inverse_masses(6 * bodies);
  for (Index b = 0; b < bodies; ++b) {
    inverse_masses.segment<6>(6 * b).setConstant(std::pow(wanted.mass_ratio, random.uniform(-0.5, 0.5)));
  }
  const auto body = [&] { return static_cast<Index>(random.below(static_cast<std::size_t>(bodies))); };
  for (Index b = 0; b < cones.blocks(); ++b) {
    for (const Index at : {body(), body()}) {
      for (Index row = cones.block_row(b); row < cones.block_row(b) + cones.block_size(b); ++row) {
        for (Index k = 0; k < 6; ++k) jacobian(row, 6 * at + k) += random.normal();
      }
    }
  }
  Vector impulse = Vector::Zero(cones.rows());
  Vector velocity = impulse;
  for (Index row = 0; row < cones.first_contact_row(); ++row) {
    const Interval bounds = cones.bounds(row);
    const double where = random.uniform(0.0, 3.0);
    const double sign = where < 1.0 ? 1.0 : -1.0;
    const double bound = where < 1.0 ? bounds.lower : bounds.upper;
    if (where < 2.0 && std::isfinite(bound)) {
      impulse[row] = bound;
      velocity[row] = sign * random.uniform(0.1, 2.0);
    } else if (bounds.lower == bounds.upper) {
      impulse[row] = bounds.lower;
      velocity[row] = random.normal();
    } else {
      impulse[row] = bounds.project(0.3);
    }
  }
  for (Index i = 0; i < cones.contacts(); ++i) detail::set_contact(cones, i, random, impulse, velocity);
  ContactProblemData data;
  data.cones = cones;
  const Matrix delassus = jacobian * inverse_masses.asDiagonal() * jacobian.transpose();
  data.delassus = make_dense_delassus(delassus);
  data.free_term = velocity - delassus * impulse;
  data.compliance = Vector::Zero(cones.rows());
  data.provenance.name = "mixed";
  return ContactProblem::create(std::move(data)).value();
}

}  // namespace conebench::testing
