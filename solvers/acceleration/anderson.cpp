#include "solvers/acceleration/anderson.hpp"

#include <Eigen/Jacobi>
#include <algorithm>

namespace conebench {

Anderson::Anderson(Index size, Index residual_size, Index capacity)
    // More columns than f has entries are dependent.
    : images_(size, std::max<Index>(1, std::min(capacity, residual_size))),
      q_(residual_size, images_.cols()),
      r_(images_.cols(), images_.cols()),
      last_image_(size),
      last_residual_(residual_size),
      difference_(residual_size),
      weights_(images_.cols()) {}

void Anderson::restart() {
  has_last_ = false;
  oldest_ = columns_ = 0;
}

void Anderson::next(ConstVectorRef image, ConstVectorRef residual, VectorRef point) {
  take(image, residual);
  point = last_image_;
  difference_ = residual;
  if (columns_ > 0) {
    auto gamma = weights_.head(columns_);
    gamma.noalias() = q_.leftCols(columns_).transpose() * residual;
    difference_.noalias() -= q_.leftCols(columns_) * gamma;
    r_.topLeftCorner(columns_, columns_).triangularView<Eigen::Upper>().solveInPlace(gamma);
    for (Index column = 0; column < columns_; ++column) point -= gamma[column] * images_.col(slot(column));
  }
  predicted_ = difference_.norm();
}

void Anderson::take(ConstVectorRef image, ConstVectorRef residual) {
  if (has_last_) {
    if (columns_ == capacity()) drop_oldest();
    // Where the new column lies in the span of the others, the oldest ones go until it does not.
    difference_ = residual - last_residual_;
    while (!append()) {
      if (columns_ == 0) break;  // f has not changed
      drop_oldest();
      difference_ = residual - last_residual_;
    }
    if (columns_ > 0) images_.col(slot(columns_ - 1)) = image - last_image_;
  }
  last_image_ = image;
  last_residual_ = residual;
  has_last_ = true;
}

/// Takes difference_ as a new column of Q R. False: it depends on the others.
bool Anderson::append() {
  const double size = difference_.norm();
  if (!(size > 0.0)) return false;
  auto entries = r_.col(columns_).head(columns_);
  entries.setZero();
  const auto q = q_.leftCols(columns_);
  for (int pass = 0; pass < 2; ++pass) {
    for (Index column = 0; column < columns_; ++column) {
      const double part = q.col(column).dot(difference_);
      entries[column] += part;
      difference_ -= part * q.col(column);
    }
  }
  const double remains = difference_.norm();
  // γ is known to some eps / 1e-10 then.
  if (columns_ > 0 && !(remains > 1e-10 * size)) return false;
  r_(columns_, columns_) = remains;
  q_.col(columns_) = difference_ / remains;
  ++columns_;
  return true;
}

/// Q R without its first column: R becomes upper Hessenberg, and rotations of two rows, which turn columns of Q, bring
/// it back.
void Anderson::drop_oldest() {
  for (Index row = 0; row + 1 < columns_; ++row) {
    Eigen::JacobiRotation<double> rotation;
    double diagonal = 0.0;
    rotation.makeGivens(r_(row, row + 1), r_(row + 1, row + 1), &diagonal);
    r_(row, row + 1) = diagonal;
    r_(row + 1, row + 1) = 0.0;
    const Index rest = columns_ - row - 2;
    if (rest > 0) {
      r_.block(0, row + 2, columns_, rest).applyOnTheLeft(row, row + 1, rotation.adjoint());
    }
    q_.leftCols(columns_).applyOnTheRight(row, row + 1, rotation);
  }
  for (Index column = 0; column + 1 < columns_; ++column) {
    r_.col(column).head(column + 1) = r_.col(column + 1).head(column + 1);
  }
  --columns_;
  oldest_ = slot(1);
}

}  // namespace conebench
