#pragma once

#include <cstdint>

#include "problems/types.hpp"

namespace conebench::lcp {

/// The pivoted system of paper Yamane eqs. (5), (8): basic = q' + M̄' nonbasic, kept dense and updated by one rank-1
/// update a pivot.
///
/// Variables are numbered: w_i is i, z_i is n + i, the artificial z_0 is 2 n.
class Tableau {
 public:
  explicit Tableau(Index size = 0);

  /// w = M z + q + c z_0, w basic.
  void reset(const Matrix& m, const Vector& q, const Vector& c);
  /// Where the tableau was before z_0 entered: another c for the pivoted system.
  void set_artificial_column(double value) { entries_.col(size_).setConstant(value); }

  Index size() const { return size_; }
  Index artificial() const { return 2 * size_; }
  Index complement(Index variable) const { return variable < size_ ? variable + size_ : variable - size_; }

  const Vector& q() const { return q_; }
  auto column(Index column) const { return entries_.col(column); }
  Index basic(Index row) const { return basic_[row]; }
  bool is_basic(Index variable) const { return index_[variable] >= 0; }
  /// Row of a basic variable.
  Index row_of(Index variable) const { return index_[variable]; }
  /// Column of a variable that is not basic.
  Index column_of(Index variable) const { return -1 - index_[variable]; }

  /// Exchanges the basic variable of `row` with the nonbasic one of `column`. Returns the one that left the basis.
  Index pivot(Index row, Index column);

  /// Differs between two sets of basic variables but for an accident of one in 2^64.
  std::uint64_t pivot_set() const { return pivot_set_; }
  /// The same after exchanging `leaving` with `entering`.
  std::uint64_t pivot_set_after(Index leaving, Index entering) const;

  /// Values of z_1 … z_n, z_0 left out.
  void read_solution(Vector& z) const;

 private:
  Index size_;
  Matrix entries_;  ///< n × (n + 1)
  Vector q_;
  Eigen::Matrix<Index, Eigen::Dynamic, 1> basic_, nonbasic_, index_;
  std::uint64_t pivot_set_ = 0;
  Vector pivot_column_;
};

}  // namespace conebench::lcp
