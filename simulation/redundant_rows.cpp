#include "simulation/redundant_rows.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <vector>

// Symbols:
//   W = J_b diag(1/ℓ)   bilateral rows with velocities in comparable units, A = W Wᵀ
//   T, L                rows of tree joints, always independent, and of loops
//   S                   A_LL − A_LT A_TT⁻¹ A_TL: what the tree's rows leave of the loops'
//   K, D                loops' rows that are kept, and those that depend on T and K

namespace conebench::simulation {

namespace {

constexpr double min_share = 1e-5, max_share = 1e-2;  // rounding; the least that links' shapes come to
constexpr double share_of_errors = 0.1;
constexpr double no_part = 1e-12;

/// Cholesky's method with the largest pivot first, as far as the pivots are above `least`: which rows of S it took.
std::vector<Index> independent_rows(Matrix S, double least) {
  std::vector<Index> kept;
  for (Index k = 0; k < S.rows(); ++k) {
    Index row = 0;
    const double pivot = S.diagonal().maxCoeff(&row);
    if (!(pivot > least)) break;
    kept.push_back(row);
    const Vector column = S.col(row);
    S -= column * (column.transpose() / pivot);
    S.row(row).setZero();
    S.col(row).setZero();
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

double admissible_share(const Mechanics& mechanics, double length) {
  const double error = mechanics.joint_residuals.lpNorm<Eigen::Infinity>();
  return std::clamp(share_of_errors * error / std::min(length, 1.0), min_share, max_share);
}

}  // namespace

std::optional<SparseMatrix> exact_redundancy(const Mechanics& mechanics) {
  const Index bilateral = mechanics.joint_residuals.size(), tree = mechanics.tree_rows, loops = bilateral - tree;
  if (loops == 0) return std::nullopt;
  const SparseMatrix W = mechanics.jacobian.topRows(bilateral) * mechanics.lengths.cwiseInverse().asDiagonal();
  const SparseMatrix A = W * W.transpose();
  Matrix S = A.bottomRightCorner(loops, loops);
  Matrix by_tree(tree, loops);  // A_TT⁻¹ A_TL
  if (tree > 0) {
    const Eigen::SimplicialLDLT<SparseMatrix> tree_factor(SparseMatrix(A.topLeftCorner(tree, tree)));
    const Matrix A_TL = A.topRightCorner(tree, loops);
    if (tree_factor.info() != Eigen::Success) return std::nullopt;
    by_tree = tree_factor.solve(A_TL);
    S -= A_TL.transpose() * by_tree;
  }
  if (!S.allFinite()) return std::nullopt;
  const double share = admissible_share(mechanics, mechanics.lengths.minCoeff());
  const std::vector<Index> kept = independent_rows(S, share * share * A.diagonal().maxCoeff());
  if (Index(kept.size()) == loops) return std::nullopt;

  std::vector<Index> redundant;
  for (Index l = 0; l < loops; ++l) {
    if (!std::binary_search(kept.begin(), kept.end(), l)) redundant.push_back(l);
  }
  // J_D = C_K J_K + C_T J_T in the sense of least squares.
  Matrix of_kept(Index(kept.size()), Index(redundant.size()));
  if (!kept.empty()) of_kept = Matrix(S(kept, kept)).ldlt().solve(Matrix(S(kept, redundant)));
  const Matrix of_tree = by_tree(Eigen::all, redundant) - by_tree(Eigen::all, kept) * of_kept;

  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](Index row, Index column, double value) {
    if (std::abs(value) > no_part) entries.emplace_back(row, column, value);
  };
  for (std::size_t d = 0; d < redundant.size(); ++d) {
    for (std::size_t k = 0; k < kept.size(); ++k) add(tree + redundant[d], tree + kept[k], of_kept(Index(k), Index(d)));
    for (Index t = 0; t < tree; ++t) add(tree + redundant[d], t, of_tree(t, Index(d)));
  }
  for (Index row = 0; row < mechanics.rows(); ++row) {
    if (row < tree || row >= bilateral || std::binary_search(kept.begin(), kept.end(), row - tree)) {
      entries.emplace_back(row, row, 1.0);
    }
  }
  SparseMatrix exact(mechanics.rows(), mechanics.rows());
  exact.setFromTriplets(entries.begin(), entries.end());
  return exact;
}

}  // namespace conebench::simulation
