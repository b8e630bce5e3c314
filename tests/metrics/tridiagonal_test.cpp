#include "metrics/tridiagonal.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

namespace conebench {
namespace {

TEST(Tridiagonal, HasTheEigenvaluesOfTheMatrixWhateverItsSizeAndScale) {
  for (const Index n : {1, 2, 3, 8, 13, 40}) {
    for (const double scale : {1e-200, 1.0, 1e200}) {
      const Matrix half = Matrix::Random(n, n);
      const Matrix matrix = half + half.transpose();
      const Vector expected = Eigen::SelfAdjointEigenSolver<Matrix>(matrix).eigenvalues();
      const TridiagonalSpectrum spectrum = spectrum_of_symmetric(scale * matrix);
      ASSERT_EQ(spectrum.size(), n);
      for (Index k = 0; k < n; ++k) {
        EXPECT_NEAR(spectrum.eigenvalue(k) / scale, expected[k], 1e-13 * static_cast<double>(n)) << n << " " << k;
        EXPECT_EQ(spectrum.below(scale * (expected[k] - 1e-9)), k);
      }
      EXPECT_EQ(spectrum.below(scale * (expected[n - 1] + 1e-9)), n);
    }
  }
}

TEST(Tridiagonal, CountsMultipleEigenvaluesAndThoseOfADecoupledMatrix) {
  const TridiagonalSpectrum identity(Vector::Ones(5), Vector::Zero(4));
  EXPECT_EQ(identity.below(1.0 - 1e-12), 0);
  EXPECT_EQ(identity.below(1.0 + 1e-12), 5);
  const TridiagonalSpectrum pairs(Vector::Zero(4), Vector{{3.0, 0.0, 2.0}});
  const Vector expected{{-3.0, -2.0, 2.0, 3.0}};
  for (Index k = 0; k < 4; ++k) EXPECT_NEAR(pairs.eigenvalue(k), expected[k], 1e-14);
}

}  // namespace
}  // namespace conebench
