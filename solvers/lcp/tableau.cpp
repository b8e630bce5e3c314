#include "solvers/lcp/tableau.hpp"

#include <numeric>

namespace conebench::lcp {

namespace {

/// A fixed random number for each variable (splitmix64): a set's signature is their exclusive or.
std::uint64_t signature(Index variable) {
  std::uint64_t x = (static_cast<std::uint64_t>(variable) + 1) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

Tableau::Tableau(Index size)
    : size_(size),
      entries_(size, size + 1),
      q_(size),
      basic_(size),
      nonbasic_(size + 1),
      index_(2 * size + 1),
      pivot_column_(size) {}

void Tableau::reset(const Matrix& m, const Vector& q, const Vector& c) {
  entries_.leftCols(size_) = m;
  entries_.col(size_) = c;
  q_ = q;
  std::iota(basic_.begin(), basic_.end(), Index{0});
  std::iota(nonbasic_.begin(), nonbasic_.end(), size_);
  for (Index i = 0; i < size_; ++i) index_[i] = i;
  for (Index j = 0; j <= size_; ++j) index_[size_ + j] = -1 - j;
  pivot_set_ = 0;
}

Index Tableau::pivot(Index row, Index column) {
  const Index leaving = basic_[row];
  const Index entering = nonbasic_[column];
  pivot_set_ = pivot_set_after(leaving, entering);
  const double p = entries_(row, column);
  pivot_column_ = entries_.col(column);
  pivot_column_[row] = 0.0;
  for (Index j = 0; j <= size_; ++j) {
    if (j == column) continue;
    const double factor = -entries_(row, j) / p;
    if (factor == 0.0) continue;
    entries_.col(j) += factor * pivot_column_;
    entries_(row, j) = factor;
  }
  const double value = -q_[row] / p;
  q_ += value * pivot_column_;
  q_[row] = value;
  entries_.col(column) = pivot_column_ / p;
  entries_(row, column) = 1.0 / p;

  basic_[row] = entering;
  nonbasic_[column] = leaving;
  index_[entering] = row;
  index_[leaving] = -1 - column;
  return leaving;
}

std::uint64_t Tableau::pivot_set_after(Index leaving, Index entering) const {
  return pivot_set_ ^ signature(leaving) ^ signature(entering);
}

void Tableau::read_solution(Vector& z) const {
  for (Index i = 0; i < size_; ++i) z[i] = is_basic(size_ + i) ? q_[row_of(size_ + i)] : 0.0;
}

}  // namespace conebench::lcp
