#include "metrics/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace conebench {

namespace {

constexpr double symmetric_enough = 1e-12;
constexpr double estimated_cutoff = 1e-10;

/// Takes singular values above the cut-off into rank, range and conditioning.
void count_values(Spectrum& spectrum, const Vector& values, double relative_cutoff) {
  spectrum.largest = values.maxCoeff();
  const double cutoff = relative_cutoff * spectrum.largest;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (value <= cutoff) continue;
    ++spectrum.rank;
    smallest = std::min(smallest, value);
  }
  if (spectrum.rank == 0) return;
  spectrum.smallest_on_range = smallest;
  spectrum.conditioning = spectrum.largest / smallest;
}

/// Singular values of a square matrix, to rows · 2.2e-16 · the largest: Householder bidiagonalisation (Golub and Kahan
/// 1965), then the eigenvalues ±s of the symmetric tridiagonal matrix of twice the size with a zero diagonal and the
/// bidiagonal entries beside it. Eigen 3.4's divide-and-conquer BDCSVD crashes on some rank-deficient matrices.
Vector singular_values(Matrix matrix) {
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
  Eigen::SelfAdjointEigenSolver<Matrix> eigen;
  eigen.computeFromTridiagonal(Vector::Zero(2 * n), beside, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().tail(n).cwiseMax(0.0);
}

Spectrum exact_spectrum(const BlockSparseMatrix& matrix) {
  Spectrum spectrum;
  const Matrix dense = matrix.dense();
  const Matrix symmetric_part = 0.5 * (dense + dense.transpose());
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(symmetric_part, Eigen::EigenvaluesOnly);
  const Vector& eigenvalues = eigen.eigenvalues();
  spectrum.min_eigenvalue = eigenvalues.minCoeff();
  spectrum.max_eigenvalue = eigenvalues.maxCoeff();
  const double cutoff = static_cast<double>(matrix.rows()) * std::numeric_limits<double>::epsilon();
  if (matrix.symmetry_error() <= symmetric_enough) {
    count_values(spectrum, eigenvalues.cwiseAbs(), cutoff);
  } else {
    count_values(spectrum, singular_values(dense), cutoff);
  }
  spectrum.positive_semidefinite = spectrum.min_eigenvalue >= -cutoff * spectrum.largest;
  return spectrum;
}

using SymmetricProduct = std::function<Vector(ConstVectorRef)>;

/// Ritz values of a symmetric matrix and the squared first components of their vectors, from one random start.
struct LanczosRun {
  Vector values;
  Vector weights;
  Vector errors;  ///< an eigenvalue lies within this distance of the Ritz value
};

LanczosRun lanczos(Index n, const SymmetricProduct& product, int steps, std::mt19937_64& engine) {
  const Index most = std::min<Index>(steps, n);
  Matrix basis = Matrix::Zero(n, most);
  Vector diagonal = Vector::Zero(most);
  Vector off_diagonal = Vector::Zero(most);
  for (Index i = 0; i < n; ++i) basis(i, 0) = (engine() >> 63U) != 0U ? 1.0 : -1.0;
  basis.col(0) /= std::sqrt(static_cast<double>(n));
  Index size = most;
  for (Index k = 0; k < most; ++k) {
    Vector next = product(basis.col(k));
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

Spectrum estimated_spectrum(Index rows, const SymmetricProduct& product, const SpectrumOptions& options) {
  Spectrum spectrum;
  spectrum.estimated = true;
  std::mt19937_64 engine(options.seed);
  std::vector<LanczosRun> runs;
  spectrum.min_eigenvalue = std::numeric_limits<double>::infinity();
  spectrum.max_eigenvalue = -spectrum.min_eigenvalue;
  for (int start = 0; start < std::max(1, options.lanczos_starts); ++start) {
    runs.push_back(lanczos(rows, product, options.lanczos_steps, engine));
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
      if (value <= cutoff || value <= run.errors[k]) continue;  // can't be distinguished from 0
      share += run.weights[k] / static_cast<double>(runs.size());
      smallest = std::min(smallest, value);
    }
  }
  spectrum.rank = std::min(rows, static_cast<Index>(std::lround(share * static_cast<double>(rows))));
  spectrum.positive_semidefinite = spectrum.min_eigenvalue >= -cutoff;
  if (!std::isfinite(smallest)) return spectrum;
  spectrum.smallest_on_range = smallest;
  spectrum.conditioning = spectrum.largest / smallest;
  return spectrum;
}

}  // namespace

Spectrum analyse_spectrum(const BlockSparseMatrix& matrix, const SpectrumOptions& options) {
  if (matrix.rows() == 0) return {};
  if (matrix.rows() <= options.exact_rows) return exact_spectrum(matrix);
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  const Sparse given = matrix.sparse();
  const Sparse transposed = given.transpose();
  const Sparse symmetric_part = 0.5 * (given + transposed);
  return estimated_spectrum(
      matrix.rows(), [&](ConstVectorRef x) -> Vector { return symmetric_part * x; }, options);
}

Spectrum analyse_spectrum(const DelassusOperator& matrix, const ConeProduct& cones, const SpectrumOptions& options) {
  if (matrix.assembles_sparsely() || matrix.size() <= options.exact_rows) {
    return analyse_spectrum(matrix.assemble(cones), options);
  }
  const auto product = [&](ConstVectorRef x) {
    Vector y(matrix.size());
    matrix.apply(x, y);
    return y;
  };
  return estimated_spectrum(matrix.size(), product, options);
}

}  // namespace conebench
