#include "problems/mass_solve.hpp"

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "problems/linear/shifted_factor.hpp"

namespace conebench {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// An elimination that leaves less than this share of a diagonal entry has cancelled it to rounding.
constexpr double min_pivot_share = 64.0 * epsilon;
constexpr double max_condition = 1e15;
/// Blocks up to this size are inverted: six suffice for a rigid body, whole mechanisms and bodies joined by springs
/// need more. Eigen's sparse solves take twice as long for a mechanism of 81 velocities.
constexpr std::size_t small_block = 256;

/// Velocities by threes, as points of elastic bodies have them, where that is possible.
ConeProduct by_points(Index velocities) {
  const bool threes = velocities % 3 == 0;
  const std::vector<double> points(static_cast<std::size_t>(threes ? velocities / 3 : 0), 0.0);
  return ConeProduct::create(threes ? 0 : velocities, 0, points).value();
}

/// L Lᵀ, or null where M is not (numerically) positive definite: where elimination cancels a diagonal entry to
/// rounding, l_ii² ≤ 64 ε m_ii. That ratio does not change with the units of single velocities.
std::unique_ptr<ShiftedFactor> factor_positive_definite(const SparseMatrix& mass) {
  const BlockSparseMatrix blocks = BlockSparseMatrix::from_sparse(mass, by_points(mass.rows()));
  auto cholesky = std::make_unique<ShiftedFactor>(blocks, Vector::Ones(mass.rows()), Vector::Zero(mass.rows()),
                                                  Factorization::cholesky);
  if (!cholesky->factor_once(min_pivot_share)) return nullptr;
  return cholesky;
}

/// Of each thread, for all factors.
ShiftedFactor::Workspace& workspace() {
  thread_local ShiftedFactor::Workspace work;
  return work;
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

/// M by LU of its equilibrated form.
struct GeneralFactor {
  Vector scale;
  Eigen::SparseLU<SparseMatrix> lu;
};

/// Null where M is singular to working precision.
std::unique_ptr<GeneralFactor> factor_general(const SparseMatrix& mass) {
  auto factor = std::make_unique<GeneralFactor>();
  factor->scale = equilibration(mass);
  const SparseMatrix scaled = factor->scale.asDiagonal() * mass * factor->scale.asDiagonal();
  factor->lu.compute(scaled);
  if (factor->lu.info() != Eigen::Success) return nullptr;
  double norm = 0.0;
  for (Index j = 0; j < scaled.cols(); ++j) norm = std::max(norm, Vector(scaled.col(j)).lpNorm<1>());
  if (!(norm * inverse_norm_estimate(factor->lu, mass.rows()) < max_condition)) return nullptr;
  return factor;
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

bool all_small(const std::vector<std::vector<Index>>& blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [](const auto& block) { return block.size() <= small_block; });
}

/// Inverse of a symmetric block by M = Lᵀ D L, from its last row up and past zeros: in a mechanism's M, whose rows
/// follow its tree, row k of L has entries at the ancestors of k only, and so has L⁻¹. Nothing where M is not
/// (numerically) positive definite: d_k ≤ 64 ε m_kk.
std::optional<Matrix> invert_definite(const Matrix& block) {
  const Index size = block.rows();
  Matrix upper = block;  // becomes D and, above it, Lᵀ
  for (Index k = size - 1; k >= 0; --k) {
    const double pivot = upper(k, k);
    if (!(pivot > min_pivot_share * block(k, k))) return std::nullopt;
    for (Index j = 0; j < k; ++j) {
      if (upper(j, k) == 0.0) continue;
      const double entry = upper(j, k) / pivot;
      upper.col(j).head(j + 1) -= entry * upper.col(k).head(j + 1);
    }
    upper.col(k).head(k) /= pivot;
  }
  // D^(-1/2) L⁻ᵀ transposed; its unscaled columns take the place of Lᵀ's.
  Matrix lower = Matrix::Zero(size, size);
  for (Index k = 0; k < size; ++k) {
    auto column = upper.col(k).head(k);
    for (Index j = 0; j < k; ++j) {
      if (column[j] != 0.0) column.head(j) += column[j] * upper.col(j).head(j);
    }
    column = -column;
    for (Index j = 0; j < k; ++j) lower(k, j) = column[j] / std::sqrt(upper(j, j));
    lower(k, k) = 1.0 / std::sqrt(upper(k, k));
  }
  Matrix inverse = Matrix::Zero(size, size);
  for (Index j = 0; j < size; ++j) {
    for (Index k = 0; k <= j; ++k) {
      if (lower(j, k) != 0.0) inverse.col(j).tail(size - k) += lower(j, k) * lower.col(k).tail(size - k);
    }
  }
  return inverse;
}

/// Inverse of one small block by the same tests as the sparse factorizations.
std::optional<Matrix> invert_block(const Matrix& block) {
  if ((block.diagonal().array() > 0.0).all() && (block - block.transpose()).norm() <= 1e-12 * block.norm()) {
    if (auto inverse = invert_definite(block)) return inverse;
  }
  const Vector scale = equilibration(block.sparseView());
  const Eigen::FullPivLU<Matrix> lu(scale.asDiagonal() * block * scale.asDiagonal());
  // rcond() covers only the part that can be inverted.
  if (!lu.isInvertible() || !(lu.rcond() * max_condition > 1.0)) return std::nullopt;
  return Matrix(scale.asDiagonal() * lu.inverse() * scale.asDiagonal());
}

/// The inverses of independent blocks, one after the other.
struct BlockInverses {
  std::vector<Index> members;      ///< rows of M, block by block, ascending in each
  std::vector<std::size_t> first;  ///< of a block's members; one more at the end
  std::vector<std::size_t> block_of_row;
  std::vector<Index> index_of_row;  ///< in its block
  std::vector<Matrix> inverses;
  bool in_order = true;  ///< the members ascend from block to block, too
};

std::unique_ptr<BlockInverses> invert_blocks(const SparseMatrix& mass, const std::vector<std::vector<Index>>& blocks) {
  auto result = std::make_unique<BlockInverses>();
  const auto rows = static_cast<std::size_t>(mass.rows());
  result->members.reserve(rows);
  result->first.reserve(blocks.size() + 1);
  result->inverses.reserve(blocks.size());
  result->block_of_row.resize(rows);
  result->index_of_row.resize(rows);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    result->first.push_back(result->members.size());
    for (std::size_t i = 0; i < blocks[b].size(); ++i) {
      const auto row = static_cast<std::size_t>(blocks[b][i]);
      result->block_of_row[row] = b;
      result->index_of_row[row] = static_cast<Index>(i);
      result->in_order = result->in_order && row == result->members.size();
      result->members.push_back(blocks[b][i]);
    }
  }
  result->first.push_back(rows);
  Matrix dense;
  for (const auto& block : blocks) {
    const auto size = static_cast<Index>(block.size());
    dense.setZero(size, size);
    for (Index j = 0; j < size; ++j) {
      for (SparseMatrix::InnerIterator it(mass, block[static_cast<std::size_t>(j)]); it; ++it) {
        if (it.value() != 0.0) dense(result->index_of_row[static_cast<std::size_t>(it.row())], j) += it.value();
      }
    }
    auto inverse = invert_block(dense);
    if (!inverse) return nullptr;
    result->inverses.push_back(std::move(*inverse));
  }
  return result;
}

/// Column by column; each holds all rows of the blocks that the column of `right` touches.
SparseMatrix solve_blocks(const BlockInverses& blocks, const SparseMatrix& right) {
  const auto rows = static_cast<Index>(blocks.members.size());
  SparseMatrix result(rows, right.cols());
  result.reserve(right.nonZeros() * 6);
  Vector sums = Vector::Zero(rows);
  std::vector<std::size_t> touched;
  std::vector<Index> touched_by(blocks.inverses.size(), -1);  // the last column that touches a block
  std::vector<std::pair<Index, double>> entries;              // of a column, where they have to be sorted
  for (Index c = 0; c < right.cols(); ++c) {
    touched.clear();
    for (SparseMatrix::InnerIterator it(right, c); it; ++it) {
      const auto row = static_cast<std::size_t>(it.row());
      const std::size_t block = blocks.block_of_row[row];
      const Matrix& inverse = blocks.inverses[block];
      const auto part = inverse.col(blocks.index_of_row[row]);
      const auto first = static_cast<Index>(blocks.first[block]);
      if (touched_by[block] != c) {
        touched_by[block] = c;
        touched.push_back(block);
        sums.segment(first, inverse.rows()) = part * it.value();
      } else {
        sums.segment(first, inverse.rows()) += part * it.value();
      }
    }
    result.startVec(c);
    if (blocks.in_order) {
      std::sort(touched.begin(), touched.end());
      for (const std::size_t b : touched) {
        for (std::size_t k = blocks.first[b]; k < blocks.first[b + 1]; ++k) {
          result.insertBackByOuterInner(c, static_cast<Index>(k)) = sums[static_cast<Index>(k)];
        }
      }
      continue;
    }
    entries.clear();
    for (const std::size_t b : touched) {
      for (std::size_t k = blocks.first[b]; k < blocks.first[b + 1]; ++k) {
        entries.emplace_back(blocks.members[k], sums[static_cast<Index>(k)]);
      }
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& [row, value] : entries) result.insertBackByOuterInner(c, row) = value;
  }
  result.finalize();
  return result;
}

Vector solve_blocks(const BlockInverses& blocks, const Vector& right) {
  Vector result(right.size());
  Vector part, product;
  for (std::size_t b = 0; b < blocks.inverses.size(); ++b) {
    const Matrix& inverse = blocks.inverses[b];
    const std::size_t first = blocks.first[b];
    part.resize(inverse.rows());
    for (Index i = 0; i < part.size(); ++i) part[i] = right[blocks.members[first + static_cast<std::size_t>(i)]];
    product.setZero(part.size());
    for (Index k = 0; k < part.size(); ++k) product += inverse.col(k) * part[k];
    for (Index i = 0; i < part.size(); ++i) result[blocks.members[first + static_cast<std::size_t>(i)]] = product[i];
  }
  return result;
}

}  // namespace

/// One of the three, or none where M has no rows.
struct FactoredMass::Data {
  Index size = 0;
  std::unique_ptr<const BlockInverses> blocks;
  std::unique_ptr<const ShiftedFactor> cholesky;
  std::unique_ptr<const GeneralFactor> general;
};

double asymmetry(const SparseMatrix& matrix) {
  SparseMatrix scaled = matrix;
  scaled.makeCompressed();
  const double largest = Eigen::Map<const Vector>(scaled.valuePtr(), scaled.nonZeros()).lpNorm<Eigen::Infinity>();
  if (scaled.nonZeros() == 0 || largest == 0.0) return 0.0;
  scaled /= largest;
  const SparseMatrix transposed = scaled.transpose();
  return SparseMatrix(scaled - transposed).norm() / scaled.norm();
}

bool nearly_symmetric(const SparseMatrix& matrix) { return asymmetry(matrix) <= 1e-12; }

bool in_small_blocks(const SparseMatrix& mass) { return all_small(independent_blocks(mass)); }

std::optional<FactoredMass> FactoredMass::create(const SparseMatrix& mass) {
  auto data = std::make_shared<Data>();
  data->size = mass.rows();
  if (mass.rows() == 0) return FactoredMass(std::move(data));
  const auto blocks = independent_blocks(mass);
  if (all_small(blocks)) {
    data->blocks = invert_blocks(mass, blocks);
    if (!data->blocks) return std::nullopt;
    return FactoredMass(std::move(data));
  }
  SparseMatrix compressed = mass;
  compressed.makeCompressed();
  if (nearly_symmetric(compressed)) data->cholesky = factor_positive_definite(compressed);
  if (!data->cholesky) data->general = factor_general(compressed);
  if (!data->cholesky && !data->general) return std::nullopt;
  return FactoredMass(std::move(data));
}

Index FactoredMass::size() const { return data_->size; }

SparseMatrix FactoredMass::solve(const SparseMatrix& right) const {
  if (data_->blocks) return solve_blocks(*data_->blocks, right);
  if (data_->cholesky) {
    SparseMatrix result(right.rows(), right.cols());
    for (Index c = 0; c < right.cols(); ++c) {
      Vector column = right.col(c);
      data_->cholesky->solve(column, column, workspace());
      result.startVec(c);
      for (Index row = 0; row < column.size(); ++row) {
        if (column[row] != 0.0) result.insertBack(row, c) = column[row];
      }
    }
    result.finalize();
    return result;
  }
  if (!data_->general) return SparseMatrix(0, right.cols());
  const Vector& scale = data_->general->scale;
  const SparseMatrix solution = data_->general->lu.solve(SparseMatrix(scale.asDiagonal() * right));
  return scale.asDiagonal() * solution;
}

Vector FactoredMass::solve(const Vector& right) const {
  if (data_->blocks) return solve_blocks(*data_->blocks, right);
  if (data_->cholesky) {
    Vector solution(right.size());
    data_->cholesky->solve(right, solution, workspace());
    return solution;
  }
  if (!data_->general) return Vector(0);
  const Vector& scale = data_->general->scale;
  return scale.cwiseProduct(data_->general->lu.solve(scale.cwiseProduct(right).eval()));
}

bool FactoredMass::in_small_blocks() const { return data_->size == 0 || data_->blocks != nullptr; }

bool FactoredMass::has_root() const { return data_->cholesky != nullptr; }

void FactoredMass::solve_in_place(Eigen::Ref<Matrix> columns) const {
  for (Index c = 0; c < columns.cols(); ++c) {
    auto column = columns.col(c);
    data_->cholesky ? data_->cholesky->solve(column, column, workspace()) : void(column = solve(Vector(column)));
  }
}

void FactoredMass::fill_diagonal(const SparseMatrix& columns, DiagonalBlocks& blocks) const {
  for (Index i = 0; i < blocks.count(); ++i)
    data_->cholesky->gram(columns, blocks.row(i), blocks.size(i), blocks.values(i), workspace());
}

}  // namespace conebench
