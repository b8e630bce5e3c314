#include "fclib_loader/condensation.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "problems/mass_solve.hpp"

namespace conebench {

struct MassFactor::State {
  Eigen::SimplicialLDLT<SparseMatrix> cholesky;
  Eigen::SparseLU<SparseMatrix> lu;
  bool symmetric = false;
  std::optional<FactoredMass> large;  ///< in place of the others where M is no product of small blocks
};

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Each pivot against the diagonal entry that it came from: a test that no scaling of rows and columns changes.
bool positive_definite(const Eigen::SimplicialLDLT<SparseMatrix>& factor, const SparseMatrix& mass) {
  if (factor.info() != Eigen::Success) return false;
  const Vector diagonal = factor.permutationP() * Vector(mass.diagonal());
  const Vector pivots = factor.vectorD();
  const double smallest = epsilon * static_cast<double>(mass.rows());
  for (Index k = 0; k < pivots.size(); ++k) {
    if (!(pivots[k] > smallest * diagonal[k])) return false;
  }
  return true;
}

/// ‖(R⁻¹ M C⁻¹)⁻¹ z‖ / ‖z‖ for a vector z without pattern, R and C the largest entries of the rows and columns: no
/// scaling changes it, and it explodes where M is singular but for rounding.
double inverse_growth(const Eigen::SparseLU<SparseMatrix>& factor, const SparseMatrix& mass) {
  Vector row_scale = Vector::Zero(mass.rows());
  for (Index col = 0; col < mass.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(mass, col); it; ++it) {
      row_scale[it.row()] = std::max(row_scale[it.row()], std::abs(it.value()));
    }
  }
  Vector col_scale = Vector::Zero(mass.cols());
  for (Index col = 0; col < mass.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(mass, col); it; ++it) {
      col_scale[col] = std::max(col_scale[col], std::abs(it.value()) / row_scale[it.row()]);
    }
  }
  Vector z(mass.rows());
  for (Index k = 0; k < z.size(); ++k) z[k] = std::cos(1.0 + 2.0 * static_cast<double>(k));
  const Vector solution = factor.solve(Vector(row_scale.cwiseProduct(z)));
  const double growth = col_scale.cwiseProduct(solution).norm() / z.norm();
  return std::isfinite(growth) ? growth : std::numeric_limits<double>::infinity();
}

Index root_of(std::vector<Index>& parent, Index k) {
  auto at = [&](Index j) -> Index& { return parent[static_cast<std::size_t>(j)]; };
  while (at(k) != k) k = at(k) = at(at(k));
  return k;
}

}  // namespace

Result<MassFactor> MassFactor::create(const SparseMatrix& mass) {
  const Error singular{ErrorCode::bad_input, "the mass matrix M is singular, so the problem can't be condensed"};
  auto state = std::make_shared<State>();
  if (mass.rows() == 0) {
    state->symmetric = true;
    return MassFactor(std::move(state));
  }
  if (!in_small_blocks(mass)) {
    state->large = FactoredMass::create(mass);
    if (!state->large) return singular;
    return MassFactor(std::move(state));
  }
  state->symmetric = nearly_symmetric(mass);
  if (state->symmetric) {
    state->cholesky.compute(mass);
    state->symmetric = positive_definite(state->cholesky, mass);
  }
  if (!state->symmetric) {
    state->lu.compute(mass);
    if (state->lu.info() != Eigen::Success) return singular;
    if (inverse_growth(state->lu, mass) > 1e13) return singular;
  }
  return MassFactor(std::move(state));
}

Vector MassFactor::solve(const Vector& right_side) const {
  if (right_side.size() == 0) return right_side;
  if (state_->large) return state_->large->solve(right_side);
  return state_->symmetric ? Vector(state_->cholesky.solve(right_side)) : Vector(state_->lu.solve(right_side));
}

SparseMatrix MassFactor::solve(const SparseMatrix& right_side) const {
  if (right_side.rows() == 0 || right_side.cols() == 0) return right_side;
  if (state_->large) return state_->large->solve(right_side);
  if (state_->symmetric) return state_->cholesky.solve(right_side);
  return state_->lu.solve(right_side);
}

double entries_of_solution(const SparseMatrix& mass, const SparseMatrix& jacobian_transposed) {
  std::vector<Index> parent(static_cast<std::size_t>(mass.rows()));
  std::iota(parent.begin(), parent.end(), Index{0});
  for (Index col = 0; col < mass.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(mass, col); it; ++it) {
      parent[static_cast<std::size_t>(root_of(parent, it.row()))] = root_of(parent, col);
    }
  }
  std::vector<double> size(parent.size(), 0.0);
  for (Index k = 0; k < mass.rows(); ++k) size[static_cast<std::size_t>(root_of(parent, k))] += 1.0;
  std::vector<Index> last_column(parent.size(), -1);
  double entries = 0.0;
  for (Index col = 0; col < jacobian_transposed.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(jacobian_transposed, col); it; ++it) {
      const auto part = static_cast<std::size_t>(root_of(parent, it.row()));
      if (last_column[part] == col) continue;
      last_column[part] = col;
      entries += size[part];
    }
  }
  return entries;
}

}  // namespace conebench
