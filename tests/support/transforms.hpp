#pragma once

#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

/// The same physical problem written down in another way, for tests of invariance.
namespace conebench::testing {

/// A rewritten problem and how its numbers follow from the old ones: λ' = impulse_scale Q λ, σ' = velocity_scale Q σ.
struct Transformed {
  ContactProblem problem;
  SparseMatrix map;  ///< Q, rows × rows, orthogonal
  double impulse_scale = 1.0;
  double velocity_scale = 1.0;

  Vector impulse(const Vector& old) const { return impulse_scale * (map * old); }
  Vector velocity(const Vector& old) const { return velocity_scale * (map * old); }
  /// λ of the old problem from one of this problem.
  Vector old_impulse(const Vector& transformed) const { return map.transpose() * transformed / impulse_scale; }
};

namespace detail {

inline std::shared_ptr<const DelassusOperator> transformed_delassus(const ContactProblem& problem,
                                                                    const ConeProduct& cones, const SparseMatrix& q,
                                                                    double scale,
                                                                    const std::optional<PrimalForm>& primal) {
  switch (problem.delassus().form()) {
    case DelassusForm::dense:
      return make_dense_delassus(scale * (q * problem.delassus().dense() * SparseMatrix(q.transpose())));
    case DelassusForm::factored:
      if (primal) {
        auto factored = make_factored_delassus(primal->mass, primal->jacobian);
        if (!factored) throw std::runtime_error(factored.error().message);
        return *factored;
      }
      [[fallthrough]];
    default: {
      const SparseMatrix matrix = problem.blocks().sparse();
      return make_block_sparse_delassus(
          BlockSparseMatrix::from_sparse(SparseMatrix(scale * (q * matrix * SparseMatrix(q.transpose()))), cones));
    }
  }
}

/// The product whose contact i is contact_source[i] of the old one.
inline ConeProduct permuted(const ConeProduct& old, const std::vector<Index>& contact_source) {
  std::vector<FrictionLaw> laws;
  for (const Index source : contact_source) laws.push_back(old.law(source));
  return ConeProduct::create(old.joints(), old.limits(), {old.intervals().begin(), old.intervals().end()}, laws)
      .value();
}

/// contact_source[i]: which old contact the new contact i is.
inline Transformed transform(const ContactProblem& problem, const SparseMatrix& q,
                             const std::vector<Index>& contact_source, double impulse_scale, double velocity_scale) {
  const ConeProduct cones = permuted(problem.cones(), contact_source).with_bounds_over(1.0 / impulse_scale);
  ContactProblemData data = problem.data();
  data.cones = cones;
  if (data.primal) {
    data.primal->mass *= impulse_scale / velocity_scale;
    data.primal->jacobian = SparseMatrix(q * data.primal->jacobian);
    data.primal->free_velocity *= velocity_scale;
  }
  data.delassus = transformed_delassus(problem, cones, q, velocity_scale / impulse_scale, data.primal);
  data.free_term = velocity_scale * (q * problem.free_term());
  const SparseMatrix compliance = q * SparseMatrix(problem.compliance().asDiagonal()) * SparseMatrix(q.transpose());
  data.compliance = velocity_scale / impulse_scale * Vector(compliance.diagonal());
  if ((Matrix(compliance) - Matrix(compliance.diagonal().asDiagonal())).norm() > 1e-12 * compliance.norm()) {
    throw std::invalid_argument("transform: the compliance is not diagonal in the new frame");
  }
  if (data.bias) data.bias = velocity_scale * (q * *problem.bias());
  if (data.guess) data.guess = impulse_scale * (q * *problem.guess());
  if (data.reference) data.reference->reaction = impulse_scale * (q * problem.reference()->reaction);
  if (data.configuration && data.configuration->gaps) {
    // Time keeps its unit, so that lengths scale as velocities do.
    for (std::size_t i = 0; i < contact_source.size(); ++i) {
      (*data.configuration->gaps)[static_cast<Index>(i)] =
          velocity_scale * (*problem.configuration()->gaps)[contact_source[i]];
    }
  }
  if (data.configuration) data.configuration->contact_frames.reset();
  if (data.configuration && data.configuration->contact_identities) {
    for (std::size_t i = 0; i < contact_source.size(); ++i) {
      (*data.configuration->contact_identities)[i] =
          (*problem.configuration()->contact_identities)[static_cast<std::size_t>(contact_source[i])];
    }
  }
  auto created = ContactProblem::create(std::move(data));
  if (!created) throw std::runtime_error("transform: " + created.error().message);
  return {*created, q, impulse_scale, velocity_scale};
}

inline std::vector<Index> identity_order(Index contacts) {
  std::vector<Index> order(static_cast<std::size_t>(contacts));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

inline SparseMatrix identity_matrix(Index rows) {
  SparseMatrix matrix(rows, rows);
  matrix.setIdentity();
  return matrix;
}

}  // namespace detail

/// Contact i of the result is contact order[i] of `problem`.
inline Transformed permute_contacts(const ContactProblem& problem, const std::vector<Index>& order) {
  const ConeProduct& cones = problem.cones();
  const ConeProduct moved = detail::permuted(cones, order);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < cones.first_contact_row(); ++i) entries.emplace_back(int(i), int(i), 1.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (int r = 0; r < cones.contact_rows(order[i]); ++r) {
      entries.emplace_back(int(moved.contact_row(static_cast<Index>(i)) + r), int(cones.contact_row(order[i]) + r),
                           1.0);
    }
  }
  SparseMatrix q(cones.rows(), cones.rows());
  q.setFromTriplets(entries.begin(), entries.end());
  return detail::transform(problem, q, order, 1.0, 1.0);
}

/// Turns the tangent frame of contact i by angles[i] [rad]; in 2D the tangent changes its sign where cos(angle) < 0.
/// Two tangents, or the moments about them, turn where they have one coefficient and share a disc; else they stay.
/// Throws std::invalid_argument where the compliance of a contact differs between its tangents.
inline Transformed rotate_tangents(const ContactProblem& problem, const std::vector<double>& angles) {
  const ConeProduct& cones = problem.cones();
  SparseMatrix q = detail::identity_matrix(cones.rows());
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const Index row = cones.contact_row(static_cast<Index>(i));
    const FrictionLaw law = cones.law(static_cast<Index>(i));
    const auto tangents = static_cast<int>(law.coefficients.size());
    const double c = std::cos(angles[i]);
    const double s = std::sin(angles[i]);
    if (law.shape == ConeShape::pyramid) continue;
    if (tangents == 1) {
      q.coeffRef(row, row) = c < 0.0 ? -1.0 : 1.0;
      continue;
    }
    const auto turn = [&](int k) {  // tangential rows k and k + 1
      const auto mu = std::span(law.coefficients).subspan(static_cast<std::size_t>(k), 2);
      const bool apart = k < law.groups[0] && k + 1 >= law.groups[0];
      if (mu[0] != mu[1] || apart) return;
      const Index first = row + k + (k < law.groups[0] ? 0 : 1);
      q.coeffRef(first, first) = c;
      q.coeffRef(first, first + 1) = s;
      q.coeffRef(first + 1, first) = -s;
      q.coeffRef(first + 1, first + 1) = c;
    };
    turn(0);
    if (tangents >= 4) turn(tangents - 2);  // behind the spin, where there is one
  }
  q.makeCompressed();
  return detail::transform(problem, q, detail::identity_order(cones.contacts()), 1.0, 1.0);
}

/// The numbers in other units: λ' = impulse_scale λ, velocities' = velocity_scale velocities; time keeps its unit.
inline Transformed change_units(const ContactProblem& problem, double impulse_scale, double velocity_scale) {
  return detail::transform(problem, detail::identity_matrix(problem.rows()),
                           detail::identity_order(problem.cones().contacts()), impulse_scale, velocity_scale);
}

/// All lengths counted in a unit that is `scale` times smaller, masses and times in the same: velocities and impulses
/// grow by `scale`, moments by its square, spins stay. In the block-sparse form, without a primal one.
inline ContactProblem in_smaller_length(const ContactProblem& problem, double scale) {
  const ConeProduct& cones = problem.cones();
  Vector rows = Vector::Ones(problem.rows());
  std::vector<FrictionLaw> laws;
  for (Index i = 0; i < cones.contacts(); ++i) {
    laws.push_back(cones.law(i));
    for (std::size_t k = 2; k < laws.back().coefficients.size(); ++k) {  // moments
      laws.back().coefficients[k] *= scale;
      rows[cones.contact_row(i) + static_cast<Index>(k) + (static_cast<int>(k) < cones.normal_of(i) ? 0 : 1)] =
          1.0 / scale;
    }
  }
  ContactProblemData data;
  data.cones =
      ConeProduct::create(cones.joints(), cones.limits(), {cones.intervals().begin(), cones.intervals().end()}, laws)
          .value()
          .with_bounds_over(1.0 / scale);
  const SparseMatrix matrix = problem.blocks().sparse();
  data.delassus = make_block_sparse_delassus(
      BlockSparseMatrix::from_sparse(SparseMatrix(rows.asDiagonal() * matrix * rows.asDiagonal()), data.cones));
  data.free_term = scale * rows.cwiseProduct(problem.free_term());
  data.compliance = rows.cwiseAbs2().cwiseProduct(problem.compliance());
  return ContactProblem::create(std::move(data)).value();
}

inline std::vector<Index> random_order(Index contacts, std::uint64_t seed) {
  std::vector<Index> order = detail::identity_order(contacts);
  RandomSource(seed).shuffle(order);
  return order;
}

inline std::vector<double> random_angles(Index contacts, std::uint64_t seed) {
  RandomSource random(seed);
  std::vector<double> angles(static_cast<std::size_t>(contacts));
  for (double& angle : angles) angle = random.uniform(-3.141592653589793, 3.141592653589793);
  return angles;
}

}  // namespace conebench::testing
