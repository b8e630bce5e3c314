#include "scenes/spectral_factor.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace conebench {

namespace {

using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// Uniform among orthogonal matrices: Q of a normal matrix, with the signs that make the diagonal of its R positive.
Matrix random_orthogonal(Index size, RandomSource& random) {
  Matrix normal(size, size);
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < size; ++i) normal(i, j) = random.normal();
  }
  const Eigen::HouseholderQR<Matrix> qr(normal);
  Matrix q = qr.householderQ();
  for (Index j = 0; j < size; ++j) {
    if (qr.matrixQR()(j, j) < 0.0) q.col(j) = -q.col(j);
  }
  return q;
}

/// Block-diagonal, windows of `window` rows, the first one ending at `first_end`.
RowSparse orthogonal_windows(Index rows, Index window, Index first_end, RandomSource& random) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index begin = 0, end = std::min(first_end, rows); begin < rows;
       begin = end, end = std::min(end + window, rows)) {
    const Matrix q = random_orthogonal(end - begin, random);
    for (Index i = 0; i < q.rows(); ++i) {
      for (Index j = 0; j < q.cols(); ++j) {
        entries.emplace_back(static_cast<int>(begin + i), static_cast<int>(begin + j), q(i, j));
      }
    }
  }
  RowSparse result(rows, rows);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// new_row[i]: where row i of the mixed matrix goes, so that blocks stay whole and stand in random order.
std::vector<Index> random_block_order(const ConeProduct& cones, RandomSource& random) {
  std::vector<Index> order(static_cast<std::size_t>(cones.blocks()));
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  std::vector<Index> new_row;
  for (const Index block : order) {
    for (int r = 0; r < cones.block_size(block); ++r) new_row.push_back(cones.block_row(block) + r);
  }
  return new_row;
}

}  // namespace

SpectralFactor random_spectral_factor(const SpectralSpec& spec, const ConeProduct& cones, RandomSource& random) {
  const Index rows = cones.rows();
  std::vector<double> eigenvalues;
  for (Index i = 0; i < spec.rank; ++i) {
    const double share = spec.rank > 1 ? double(i) / double(spec.rank - 1) : 0.0;
    eigenvalues.push_back(spec.scale * std::pow(spec.conditioning, -share));
  }
  random.shuffle(eigenvalues);

  const Index window = spec.window > 0 ? spec.window : rows;
  RowSparse mixed = orthogonal_windows(rows, std::max<Index>(window, 1), std::max<Index>(window, 1), random);
  if (window < rows) mixed = RowSparse(orthogonal_windows(rows, window, (window + 1) / 2, random) * mixed);

  // The eigenvalues that are not zero are spread evenly, so that no window is left without any.
  std::vector<int> column_of(static_cast<std::size_t>(rows), -1);
  for (Index j = 0, next = 0; j < rows; ++j) {
    if ((j + 1) * spec.rank / rows > j * spec.rank / rows) column_of[static_cast<std::size_t>(j)] = int(next++);
  }
  const std::vector<Index> new_row = random_block_order(cones, random);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < rows; ++i) {
    for (RowSparse::InnerIterator it(mixed, i); it; ++it) {
      const int column = column_of[static_cast<std::size_t>(it.col())];
      if (column >= 0) entries.emplace_back(static_cast<int>(new_row[static_cast<std::size_t>(i)]), column, it.value());
    }
  }
  SpectralFactor factor;
  factor.jacobian = SparseMatrix(rows, spec.rank);
  factor.jacobian.setFromTriplets(entries.begin(), entries.end());
  factor.eigenvalues = Eigen::Map<const Vector>(eigenvalues.data(), spec.rank);
  return factor;
}

}  // namespace conebench
