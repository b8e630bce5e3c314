#include "metrics/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "metrics/tridiagonal.hpp"

namespace conebench {

namespace {

constexpr double symmetric_enough = 1e-12;
constexpr double estimated_cutoff = 1e-10;

/// Takes the magnitudes of eigenvalues above the cut-off into rank, range and conditioning.
void count_values(Spectrum& spectrum, const TridiagonalSpectrum& values, double relative_cutoff) {
  const Index n = values.size();
  spectrum.largest = std::max(std::abs(values.eigenvalue(0)), std::abs(values.eigenvalue(n - 1)));
  const double cutoff = relative_cutoff * spectrum.largest;
  if (!(cutoff > 0.0)) return;
  const Index negative = values.below(-cutoff);
  const Index up_to_cutoff = values.below(cutoff);
  spectrum.rank = negative + n - up_to_cutoff;
  double smallest = spectrum.largest;
  if (negative > 0) smallest = std::min(smallest, -values.eigenvalue(negative - 1));
  if (up_to_cutoff < n) smallest = std::min(smallest, values.eigenvalue(up_to_cutoff));
  spectrum.smallest_on_range = smallest;
  spectrum.conditioning = spectrum.largest / smallest;
}

/// Singular values s of a square matrix, each as an eigenvalue s and one −s: Householder bidiagonalisation (Golub and
/// Kahan 1965), then the symmetric tridiagonal matrix of twice the size with a zero diagonal and the bidiagonal entries
/// beside it. Eigen 3.4's divide-and-conquer BDCSVD crashes on some rank-deficient matrices.
TridiagonalSpectrum singular_values(Matrix matrix) {
  const Index n = matrix.rows();
  Vector beside = Vector::Zero(std::max<Index>(2 * n - 1, 0));
  Vector workspace(n);
  for (Index k = 0; k < n; ++k) {
    const Index rest = n - k - 1;
    double tau = 0.0;
    double beta = 0.0;
    matrix.col(k).tail(rest + 1).makeHouseholderInPlace(tau, beta);
    beside[2 * k] = beta;
    matrix.bottomRightCorner(rest + 1, rest).applyHouseholderOnTheLeft(matrix.col(k).tail(rest), tau, workspace.data());
    if (rest == 0) continue;
    matrix.row(k).tail(rest).makeHouseholderInPlace(tau, beta);
    beside[2 * k + 1] = beta;
    matrix.bottomRightCorner(rest, rest)
        .applyHouseholderOnTheRight(matrix.row(k).tail(rest - 1).transpose(), tau, workspace.data());
  }
  return {Vector::Zero(2 * n), beside};
}

Spectrum exact_spectrum(const BlockSparseMatrix& matrix) {
  Spectrum spectrum;
  const Matrix dense = matrix.dense();
  const Matrix symmetric_part = 0.5 * (dense + dense.transpose());
  const TridiagonalSpectrum eigenvalues = spectrum_of_symmetric(symmetric_part);
  spectrum.min_eigenvalue = eigenvalues.eigenvalue(0);
  spectrum.max_eigenvalue = eigenvalues.eigenvalue(matrix.rows() - 1);
  const double cutoff = static_cast<double>(matrix.rows()) * std::numeric_limits<double>::epsilon();
  if (matrix.symmetry_error() <= symmetric_enough) {
    count_values(spectrum, eigenvalues, cutoff);
  } else {
    count_values(spectrum, singular_values(dense), cutoff);
    spectrum.rank /= 2;
  }
  spectrum.positive_semidefinite = spectrum.min_eigenvalue >= -cutoff * spectrum.largest;
  return spectrum;
}

/// Ritz values of a symmetric matrix and the squared first components of their vectors, from one random start.
struct LanczosRun {
  Vector values;
  Vector weights;
  Vector errors;  ///< an eigenvalue lies within this distance of the Ritz value
};

LanczosRun lanczos(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix, int steps, std::mt19937_64& engine) {
  const Index n = matrix.rows();
  const Index most = std::min<Index>(steps, n);
  Matrix basis = Matrix::Zero(n, most);
  Vector diagonal = Vector::Zero(most);
  Vector off_diagonal = Vector::Zero(most);
  for (Index i = 0; i < n; ++i) basis(i, 0) = (engine() >> 63U) != 0U ? 1.0 : -1.0;
  basis.col(0) /= std::sqrt(static_cast<double>(n));
  Index size = most;
  for (Index k = 0; k < most; ++k) {
    Vector next = matrix * basis.col(k);
    diagonal[k] = basis.col(k).dot(next);
    // Twice against all, so that the basis stays orthogonal and no value appears twice.
    for (int pass = 0; pass < 2; ++pass) {
      next -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * next);
    }
    off_diagonal[k] = next.norm();
    const double scale = std::max(std::abs(diagonal[0]), off_diagonal[0]);
    if (k + 1 == most || off_diagonal[k] <= 1e-14 * scale) {
      size = k + 1;
      break;
    }
    basis.col(k + 1) = next / off_diagonal[k];
  }
  Matrix tridiagonal = Matrix::Zero(size, size);
  tridiagonal.diagonal() = diagonal.head(size);
  for (Index k = 0; k + 1 < size; ++k) tridiagonal(k + 1, k) = tridiagonal(k, k + 1) = off_diagonal[k];
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(tridiagonal);
  return {eigen.eigenvalues(), eigen.eigenvectors().row(0).cwiseAbs2().transpose(),
          off_diagonal[size - 1] * eigen.eigenvectors().row(size - 1).cwiseAbs().transpose()};
}

Spectrum estimated_spectrum(const BlockSparseMatrix& matrix, const SpectrumOptions& options) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  Spectrum spectrum;
  spectrum.estimated = true;
  const Sparse given = matrix.sparse();
  const Sparse transposed = given.transpose();
  const Sparse symmetric_part = 0.5 * (given + transposed);
  std::mt19937_64 engine(options.seed);
  std::vector<LanczosRun> runs;
  spectrum.min_eigenvalue = std::numeric_limits<double>::infinity();
  spectrum.max_eigenvalue = -spectrum.min_eigenvalue;
  for (int start = 0; start < std::max(1, options.lanczos_starts); ++start) {
    runs.push_back(lanczos(symmetric_part, options.lanczos_steps, engine));
    spectrum.min_eigenvalue = std::min(spectrum.min_eigenvalue, runs.back().values.minCoeff());
    spectrum.max_eigenvalue = std::max(spectrum.max_eigenvalue, runs.back().values.maxCoeff());
  }
  spectrum.largest = std::max(spectrum.max_eigenvalue, -spectrum.min_eigenvalue);
  const double cutoff = estimated_cutoff * spectrum.largest;
  double share = 0.0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const LanczosRun& run : runs) {
    for (Index k = 0; k < run.values.size(); ++k) {
      const double value = std::abs(run.values[k]);
      if (value <= cutoff || value <= run.errors[k]) continue;  // can't be told from 0
      share += run.weights[k] / static_cast<double>(runs.size());
      smallest = std::min(smallest, value);
    }
  }
  spectrum.rank = std::min(matrix.rows(), static_cast<Index>(std::lround(share * static_cast<double>(matrix.rows()))));
  spectrum.positive_semidefinite = spectrum.min_eigenvalue >= -cutoff;
  if (!std::isfinite(smallest)) return spectrum;
  spectrum.smallest_on_range = smallest;
  spectrum.conditioning = spectrum.largest / smallest;
  return spectrum;
}

}  // namespace

Spectrum analyse_spectrum(const BlockSparseMatrix& matrix, const SpectrumOptions& options) {
  if (matrix.rows() == 0) return {};
  return matrix.rows() <= options.exact_rows ? exact_spectrum(matrix) : estimated_spectrum(matrix, options);
}

}  // namespace conebench
