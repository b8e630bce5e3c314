#include "problems/mass_solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace conebench {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// An elimination that leaves less than this share of a diagonal entry has cancelled it to rounding.
constexpr double smallest_pivot_share = 64.0 * epsilon;
constexpr double largest_condition = 1e15;
/// Blocks up to this size are inverted; six suffice for a rigid body, more for bodies joined by springs.
constexpr std::size_t small_block = 32;

bool symmetric(const SparseMatrix& matrix) {
  const SparseMatrix transposed = matrix.transpose();
  return SparseMatrix(matrix - transposed).norm() <= 1e-12 * matrix.norm();
}

/// M⁻¹ right by L D Lᵀ, or nothing where M is not (numerically) positive definite: where elimination cancels a diagonal
/// entry to rounding, d_i ≤ 64 ε m_ii. That ratio does not change with the units of single velocities.
std::optional<SparseMatrix> solve_positive_definite(const SparseMatrix& mass, const SparseMatrix& right) {
  const Eigen::SimplicialLDLT<SparseMatrix> ldlt(mass);
  if (ldlt.info() != Eigen::Success) return std::nullopt;
  const Vector diagonal = mass.diagonal();
  const Vector permuted = ldlt.permutationP().size() > 0 ? Vector(ldlt.permutationP() * diagonal) : diagonal;
  const Vector pivots = ldlt.vectorD();
  for (Index i = 0; i < pivots.size(); ++i) {
    if (!(pivots[i] > smallest_pivot_share * permuted[i])) return std::nullopt;
  }
  return SparseMatrix(ldlt.solve(right));
}

/// S M S with the largest entry of every row and column near 1, so that its conditioning does not hang on units.
Vector equilibration(const SparseMatrix& mass) {
  Vector largest = Vector::Zero(mass.rows());
  for (Index j = 0; j < mass.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(mass, j); it; ++it) {
      largest[it.row()] = std::max(largest[it.row()], std::abs(it.value()));
      largest[it.col()] = std::max(largest[it.col()], std::abs(it.value()));
    }
  }
  for (double& value : largest) value = value > 0.0 ? 1.0 / std::sqrt(value) : 1.0;
  return largest;
}

/// Lower bound of ‖A⁻¹‖_1, nearly always within a factor of three (Hager 1984).
double inverse_norm_estimate(Eigen::SparseLU<SparseMatrix>& lu, Index size) {
  Vector x = Vector::Constant(size, 1.0 / double(size));
  double estimate = 0.0;
  for (int step = 0; step < 5; ++step) {
    const Vector y = lu.solve(x);
    const double norm = y.lpNorm<1>();
    if (!std::isfinite(norm)) return norm;
    if (step > 0 && norm <= estimate) break;
    estimate = norm;
    const Vector signs = y.unaryExpr([](double value) { return value < 0.0 ? -1.0 : 1.0; });
    const Vector z = lu.transpose().solve(signs);
    Index worst = 0;
    z.cwiseAbs().maxCoeff(&worst);
    if (std::abs(z[worst]) <= z.dot(x)) break;
    x = Vector::Unit(size, worst);
  }
  return estimate;
}

/// M⁻¹ right by LU, or nothing where M is singular to working precision.
std::optional<SparseMatrix> solve_general(const SparseMatrix& mass, const SparseMatrix& right) {
  const Vector scale = equilibration(mass);
  const SparseMatrix scaled = scale.asDiagonal() * mass * scale.asDiagonal();
  Eigen::SparseLU<SparseMatrix> lu(scaled);
  if (lu.info() != Eigen::Success) return std::nullopt;
  double norm = 0.0;
  for (Index j = 0; j < scaled.cols(); ++j) norm = std::max(norm, Vector(scaled.col(j)).lpNorm<1>());
  if (!(norm * inverse_norm_estimate(lu, mass.rows()) < largest_condition)) return std::nullopt;
  const SparseMatrix solution = lu.solve(SparseMatrix(scale.asDiagonal() * right));
  return SparseMatrix(scale.asDiagonal() * solution);
}

/// Rows of M grouped so that no entry couples two groups; each group ascends.
std::vector<std::vector<Index>> independent_blocks(const SparseMatrix& mass) {
  std::vector<Index> parent(static_cast<std::size_t>(mass.rows()));
  std::iota(parent.begin(), parent.end(), Index{0});
  const auto root = [&](Index i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      Index& next = parent[static_cast<std::size_t>(i)];
      next = parent[static_cast<std::size_t>(next)];
      i = next;
    }
    return i;
  };
  for (Index j = 0; j < mass.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(mass, j); it; ++it) {
      if (it.value() != 0.0) parent[static_cast<std::size_t>(root(it.row()))] = root(it.col());
    }
  }
  std::vector<Index> block_of_root(parent.size(), -1);
  std::vector<std::vector<Index>> blocks;
  for (Index i = 0; i < mass.rows(); ++i) {
    Index& block = block_of_root[static_cast<std::size_t>(root(i))];
    if (block < 0) {
      block = static_cast<Index>(blocks.size());
      blocks.emplace_back();
    }
    blocks[static_cast<std::size_t>(block)].push_back(i);
  }
  return blocks;
}

/// Inverse of one small block by the same tests as the sparse factorizations.
std::optional<Matrix> invert_block(const Matrix& block) {
  const Vector diagonal = block.diagonal();
  if ((diagonal.array() > 0.0).all() && (block - block.transpose()).norm() <= 1e-12 * block.norm()) {
    const Vector scale = diagonal.cwiseSqrt().cwiseInverse();
    const Eigen::LLT<Matrix> cholesky(scale.asDiagonal() * block * scale.asDiagonal());
    const bool definite = cholesky.info() == Eigen::Success &&
                          cholesky.matrixLLT().diagonal().cwiseAbs2().minCoeff() > smallest_pivot_share;
    if (definite) {
      const Matrix inverse = cholesky.solve(Matrix::Identity(block.rows(), block.cols()));
      return Matrix(scale.asDiagonal() * inverse * scale.asDiagonal());
    }
  }
  const Vector scale = equilibration(block.sparseView());
  const Eigen::FullPivLU<Matrix> lu(scale.asDiagonal() * block * scale.asDiagonal());
  // rcond() looks at the part that can be inverted alone.
  if (!lu.isInvertible() || !(lu.rcond() * largest_condition > 1.0)) return std::nullopt;
  return Matrix(scale.asDiagonal() * lu.inverse() * scale.asDiagonal());
}

std::optional<SparseMatrix> invert_blocks(const SparseMatrix& mass, const std::vector<std::vector<Index>>& blocks) {
  std::vector<int> place(static_cast<std::size_t>(mass.rows()));
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& block : blocks) {
    for (std::size_t i = 0; i < block.size(); ++i) place[static_cast<std::size_t>(block[i])] = static_cast<int>(i);
    const auto size = static_cast<Index>(block.size());
    Matrix dense = Matrix::Zero(size, size);
    for (Index j = 0; j < size; ++j) {
      for (SparseMatrix::InnerIterator it(mass, block[static_cast<std::size_t>(j)]); it; ++it) {
        if (it.value() != 0.0) dense(place[static_cast<std::size_t>(it.row())], j) += it.value();
      }
    }
    const auto inverse = invert_block(dense);
    if (!inverse) return std::nullopt;
    for (Index j = 0; j < size; ++j) {
      for (Index i = 0; i < size; ++i) {
        entries.emplace_back(static_cast<int>(block[static_cast<std::size_t>(i)]),
                             static_cast<int>(block[static_cast<std::size_t>(j)]), (*inverse)(i, j));
      }
    }
  }
  SparseMatrix result(mass.rows(), mass.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

std::optional<SparseMatrix> solve_mass(const SparseMatrix& mass, const SparseMatrix& right) {
  if (mass.rows() == 0) return SparseMatrix(0, right.cols());
  const auto blocks = independent_blocks(mass);
  const bool small = std::all_of(blocks.begin(), blocks.end(),
                                 [](const std::vector<Index>& block) { return block.size() <= small_block; });
  if (small) {
    const auto inverse = invert_blocks(mass, blocks);
    if (!inverse) return std::nullopt;
    return SparseMatrix(*inverse * right);
  }
  SparseMatrix compressed = mass;
  compressed.makeCompressed();
  if (symmetric(compressed)) {
    if (auto solution = solve_positive_definite(compressed, right)) return solution;
  }
  return solve_general(compressed, right);
}

}  // namespace conebench
