#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::testing {

/// Problems side by side as one, which have nothing to do with each other.
struct SideBySide {
  ContactProblem whole;
  std::vector<std::vector<Index>> blocks;  ///< of each problem, ascending, in the whole
  std::vector<std::vector<Index>> rows;
};

namespace detail {

template <class Number>
SparseMatrix scattered(const std::vector<SparseMatrix>& parts, const std::vector<std::vector<Number>>& rows,
                       const std::vector<std::vector<Number>>& columns, Index row_count, Index column_count) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (Index j = 0; j < parts[p].outerSize(); ++j) {
      for (SparseMatrix::InnerIterator it(parts[p], j); it; ++it) {
        entries.emplace_back(rows[p][static_cast<std::size_t>(it.row())], columns[p][static_cast<std::size_t>(j)],
                             it.value());
      }
    }
  }
  SparseMatrix matrix(row_count, column_count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace detail

/// Blocks of each kind, and velocities, of all of them in a random order that keeps each problem's own. All with M, J
/// and v_free, or none; G (else null) in blocks, or dense.
inline SideBySide side_by_side(const std::vector<ContactProblem>& problems, unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t count = problems.size();
  /// One number a member: its problem.
  const auto shuffled = [&](auto members_of) {
    std::vector<std::size_t> owners;
    for (std::size_t p = 0; p < count; ++p) owners.insert(owners.end(), static_cast<std::size_t>(members_of(p)), p);
    std::shuffle(owners.begin(), owners.end(), random);
    return owners;
  };
  SideBySide result{problems[0], std::vector<std::vector<Index>>(count), std::vector<std::vector<Index>>(count)};
  Index joints = 0, limits = 0, row = 0, block = 0;
  std::vector<Interval> intervals;
  std::vector<FrictionLaw> laws;
  std::vector<Index> next(count, 0);
  const auto take = [&](std::size_t p) {
    const ConeProduct& cones = problems[p].cones();
    const Index own = next[p]++;
    result.blocks[p].push_back(block++);
    for (int k = 0; k < cones.block_size(own); ++k) result.rows[p].push_back(row++);
    return own;
  };
  for (const std::size_t p : shuffled([&](std::size_t i) { return problems[i].cones().joints(); })) take(p), ++joints;
  for (const std::size_t p : shuffled([&](std::size_t i) { return problems[i].cones().limits(); })) take(p), ++limits;
  for (const std::size_t p : shuffled([&](std::size_t i) { return problems[i].cones().intervals().size(); })) {
    intervals.push_back(problems[p].cones().bounds(take(p)));
  }
  for (const std::size_t p : shuffled([&](std::size_t i) { return problems[i].cones().contacts(); })) {
    laws.push_back(problems[p].cones().law(take(p) - problems[p].cones().first_contact_row()));
  }
  ContactProblemData data;
  data.cones = ConeProduct::create(joints, limits, intervals, laws).value();
  const auto rows_of = [&](auto part_of) {
    Vector all(row);
    for (std::size_t p = 0; p < count; ++p) {
      const Vector part = part_of(problems[p]);
      for (std::size_t k = 0; k < result.rows[p].size(); ++k) all[result.rows[p][k]] = part[static_cast<Index>(k)];
    }
    return all;
  };
  data.free_term = rows_of([](const ContactProblem& one) { return one.free_term(); });
  data.compliance = rows_of([](const ContactProblem& one) { return one.compliance(); });
  if (problems[0].primal()) {
    std::vector<std::vector<Index>> velocities(count);
    Index velocity = 0;
    for (const std::size_t p : shuffled([&](std::size_t i) { return problems[i].primal()->mass.rows(); })) {
      velocities[p].push_back(velocity++);
    }
    PrimalForm primal;
    std::vector<SparseMatrix> masses, jacobians;
    primal.free_velocity.resize(velocity);
    for (std::size_t p = 0; p < count; ++p) {
      const PrimalForm& own = *problems[p].primal();
      masses.push_back(own.mass);
      jacobians.push_back(own.jacobian);
      for (std::size_t k = 0; k < velocities[p].size(); ++k) {
        primal.free_velocity[velocities[p][k]] = own.free_velocity[static_cast<Index>(k)];
      }
    }
    primal.mass = detail::scattered(masses, velocities, velocities, velocity, velocity);
    primal.jacobian = detail::scattered(jacobians, result.rows, velocities, row, velocity);
    data.primal = std::move(primal);
    if (problems[0].bias()) data.bias = rows_of([](const ContactProblem& one) { return *one.bias(); });
  }
  if (!problems[0].given_as_primal()) {
    std::vector<SparseMatrix> matrices;
    for (const ContactProblem& one : problems) matrices.push_back(one.blocks().sparse());
    const SparseMatrix all = detail::scattered(matrices, result.rows, result.rows, row, row);
    data.delassus = problems[0].form() == DelassusForm::dense
                        ? make_dense_delassus(Matrix(all))
                        : make_block_sparse_delassus(BlockSparseMatrix::from_sparse(
                              Eigen::SparseMatrix<double, Eigen::RowMajor>(all), data.cones));
  }
  result.whole = ContactProblem::create(std::move(data)).value();
  return result;
}

/// The problem with its numbers alone, as side_by_side() keeps them.
inline ContactProblem bare(const ContactProblem& problem) {
  ContactProblemData data = problem.data();
  data.configuration.reset();
  data.guess.reset();
  data.reference.reset();
  data.given_rows.reset();
  return ContactProblem::create(std::move(data)).value();
}

}  // namespace conebench::testing
