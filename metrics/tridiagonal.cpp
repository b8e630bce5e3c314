#include "metrics/tridiagonal.hpp"

#include <Eigen/Householder>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace conebench {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double one_where_zero(double scale) { return scale > 0.0 ? scale : 1.0; }

/// The vectors of one step of the reduction [n].
struct Reflections {
  Vector u, w;     ///< the last step's: A − u wᵀ − w uᵀ is put off until A is read for the product
  Vector v;        ///< this step's
  Vector product;  ///< A v
};

/// Brings `Columns` columns from `first` on up to date, and takes their part in the product; lower triangle alone.
template <int Columns>
void pass_columns(Matrix& matrix, Index first, Reflections& r) {
  using Lane = Eigen::Array<double, 8, 1>;
  const Index n = matrix.rows();
  const auto lane = [](auto& vector, Index row) { return Eigen::Map<Lane>(vector.data() + row); };
  const auto updated = [&](Index row, Index column) {
    return matrix(row, column) -= r.u[row] * r.w[column] + r.w[row] * r.u[column];
  };
  const auto pass_row = [&](Index row, Index column) {
    const double value = updated(row, column);
    r.product[row] += value * r.v[column];
    r.product[column] += value * r.v[row];
  };
  for (Index column = first; column < first + Columns; ++column) {
    r.product[column] += updated(column, column) * r.v[column];
    for (Index row = column + 1; row < first + Columns; ++row) pass_row(row, column);
  }
  std::array<Lane, Columns> sums;
  sums.fill(Lane::Zero());
  Index row = first + Columns;
  for (; row + Lane::SizeAtCompileTime <= n; row += Lane::SizeAtCompileTime) {
    const Lane u = lane(r.u, row), w = lane(r.w, row), v = lane(r.v, row);
    Lane product = lane(r.product, row);
    for (int k = 0; k < Columns; ++k) {
      const Index column = first + k;
      Eigen::Map<Lane> entries(&matrix(row, column));
      const Lane values = entries - (u * r.w[column] + w * r.u[column]);
      entries = values;
      product += values * r.v[column];
      sums[static_cast<std::size_t>(k)] += values * v;
    }
    lane(r.product, row) = product;
  }
  for (int k = 0; k < Columns; ++k) r.product[first + k] += sums[static_cast<std::size_t>(k)].sum();
  for (; row < n; ++row) {
    for (int k = 0; k < Columns; ++k) pass_row(row, first + k);
  }
}

}  // namespace

TridiagonalSpectrum::TridiagonalSpectrum(Vector diagonal, const Vector& beside)
    : diagonal_(std::move(diagonal)), beside_squared_(Vector::Zero(diagonal_.size())) {
  const Index n = diagonal_.size();
  scale_ = diagonal_.cwiseAbs().maxCoeff();
  if (n > 1) scale_ = std::max(scale_, beside.cwiseAbs().maxCoeff());
  diagonal_ /= one_where_zero(scale_);
  if (n > 1) beside_squared_.tail(n - 1) = (beside / one_where_zero(scale_)).cwiseAbs2();
}

Index TridiagonalSpectrum::below(double x) const { return scaled_below(x / one_where_zero(scale_)); }

/// Negative pivots of the matrix − x.
Index TridiagonalSpectrum::scaled_below(double x) const {
  constexpr double least_pivot = std::numeric_limits<double>::min() / epsilon;
  Index count = 0;
  double pivot = 1.0;
  for (Index i = 0; i < diagonal_.size(); ++i) {
    pivot = diagonal_[i] - x - beside_squared_[i] / pivot;
    if (std::abs(pivot) < least_pivot) pivot = -least_pivot;
    count += pivot < 0.0 ? 1 : 0;
  }
  return count;
}

double TridiagonalSpectrum::eigenvalue(Index k) const {
  double low = -3.1, high = 3.1;  // Gershgorin: no entry exceeds 1
  while (high - low > epsilon * std::max(std::max(std::abs(low), std::abs(high)), epsilon)) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (scaled_below(middle) > k ? high : low) = middle;
  }
  return 0.5 * (low + high) * scale_;
}

TridiagonalSpectrum spectrum_of_symmetric(Matrix matrix) {
  const Index n = matrix.rows();
  const double scale = one_where_zero(matrix.cwiseAbs().maxCoeff());
  matrix /= scale;
  Vector diagonal(n), beside = Vector::Zero(n - 1);
  Reflections r{Vector::Zero(n), Vector::Zero(n), Vector::Zero(n), Vector::Zero(n)};
  for (Index k = 0; k < n; ++k) {
    const Index rest = n - k - 1;
    auto column = matrix.col(k).tail(rest + 1);
    column -= r.u.tail(rest + 1) * r.w[k] + r.w.tail(rest + 1) * r.u[k];
    diagonal[k] = column[0];
    if (rest == 0) break;
    double tau = 0.0;
    column.tail(rest).makeHouseholderInPlace(tau, beside[k]);
    auto v = r.v.tail(rest);
    v = column.tail(rest);
    v[0] = 1.0;
    r.product.tail(rest).setZero();
    constexpr int columns_at_once = 4;
    Index j = k + 1;
    for (; j + columns_at_once <= n; j += columns_at_once) pass_columns<columns_at_once>(matrix, j, r);
    for (; j < n; ++j) pass_columns<1>(matrix, j, r);
    r.u.tail(rest) = v;
    auto w = r.w.tail(rest);
    w = tau * r.product.tail(rest);
    w -= 0.5 * tau * w.dot(v) * v;
  }
  return {scale * diagonal, scale * beside};
}

}  // namespace conebench
