#include "solvers/newton/convex_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/scaled_natural_map.hpp"

namespace conebench::newton {

void ConvexSet::project(std::size_t i, Eigen::Ref<Vector> x) const {
  if (bounds[i]) {
    x[0] = bounds[i]->project(x[0]);
    return;
  }
  const double length = x.norm();
  if (length > radii[i]) x *= radii[i] / length;
}

ConvexQp::ConvexQp(const BlockSparseMatrix& matrix, const Vector& compliance, const std::vector<Index>& rows,
                   const ConeProduct& blocks, std::vector<std::optional<Interval>> bounds)
    : rows_(rows), compliance_(static_cast<Index>(rows.size())) {
  std::vector<int> index(static_cast<std::size_t>(matrix.rows()), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) index[static_cast<std::size_t>(rows[i])] = static_cast<int>(i);
  const auto all = matrix.sparse();
  std::vector<Eigen::Triplet<double>> entries;
  for (Index row = 0; row < all.outerSize(); ++row) {
    const int to_row = index[static_cast<std::size_t>(row)];
    if (to_row < 0) continue;
    for (std::decay_t<decltype(all)>::InnerIterator it(all, row); it; ++it) {
      const int to_column = index[static_cast<std::size_t>(it.col())];
      if (to_column >= 0) entries.emplace_back(to_row, to_column, it.value());
    }
  }
  const auto size = static_cast<Index>(rows.size());
  Eigen::SparseMatrix<double, Eigen::RowMajor> part(size, size);
  part.setFromTriplets(entries.begin(), entries.end());
  matrix_ = BlockSparseMatrix::from_sparse(part, blocks);
  gather(compliance, compliance_);
  set_.radii.assign(bounds.size(), 0.0);
  set_.bounds = std::move(bounds);

  Vector means(matrix_.block_rows());
  mean_diagonals(matrix_, compliance_, means);
  steps_.reserve(static_cast<std::size_t>(means.size()));
  for (const double mean : means) steps_.push_back(1.0 / mean);
}

void ConvexQp::multiply(const Vector& x, Vector& out) const {
  matrix_.apply(x, out);
  out += compliance_.cwiseProduct(x);
}

double ConvexQp::residual(const Vector& x, const Vector& w) const {
  if (!x.allFinite() || !w.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 0.0;
  for (Index i = 0; i < matrix_.block_rows(); ++i) {
    const Index row = matrix_.block_offset(i);
    const int size = matrix_.block_size(i);
    const double r = step(i);
    ContactVector<Eigen::Dynamic> y = x.segment(row, size) - r * w.segment(row, size);
    set_.project(static_cast<std::size_t>(i), y);
    largest = std::max(largest, (x.segment(row, size) - y).norm() / r);
  }
  return largest;
}

void ConvexQp::gather(const Vector& full, Vector& part) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) part[static_cast<Index>(i)] = full[rows_[i]];
}

void ConvexQp::scatter(const Vector& part, Vector& full) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) full[rows_[i]] = part[static_cast<Index>(i)];
}

}  // namespace conebench::newton
