#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <cstring>
#include <limits>

#include "solvers/cascade/constants.hpp"

// Registers never pass between builds with AVX and without.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace conebench::cascade {

/// Four numbers in one register.
using Row4 [[gnu::vector_size(4 * sizeof(double))]] = double;

/// A row of a block, or a contact's part of a vector, in one register.
template <int Dim>
struct RowRegister;

/// In space: of four, the last 0.
template <>
struct RowRegister<3> {
  using Type = Row4;
  /// A whole register of what `entry` gives for each component: written by parts it would wait for them.
  template <class Entry>
  [[gnu::always_inline]] static Type of(const Entry& entry) {
    return Type{entry(0), entry(1), entry(2), 0.0};
  }
  [[gnu::always_inline]] static double sum(const Type& x) { return x[0] + x[1] + x[2]; }
  /// Where component a stands among the three of a scaled problem.
  static int component(int a) { return a; }
  /// Takes what the register has not got.
  static void keep(const double*, double*) {}
};

/// In the plane: without the second component.
template <>
struct RowRegister<2> {
  using Type [[gnu::vector_size(2 * sizeof(double))]] = double;
  template <class Entry>
  [[gnu::always_inline]] static Type of(const Entry& entry) {
    return Type{entry(0), entry(1)};
  }
  [[gnu::always_inline]] static double sum(const Type& x) { return x[0] + x[1]; }
  static int component(int a) { return 2 * a; }
  static void keep(const double* given, double* out) { out[1] = given[1]; }
};

template <class Row = Row4>
[[gnu::always_inline]] inline Row row_at(const double* entries) {
  Row row;
  std::memcpy(&row, entries, sizeof(Row));
  return row;
}

/// To be called for the rows of a packed 3×3 block first to last: each writes one entry beyond, into the next row or
/// the next block.
template <class Row>
[[gnu::always_inline]] inline void put_row(const Row& row, double* entries) {
  std::memcpy(entries, &row, sizeof(Row));
}

/// The arithmetic of RowLu on blocks in registers. Packed blocks hold Dim² values by rows; those of the problem come
/// column by column, in the plane of 3×3 ones the first and last rows and columns.
template <int Dim>
struct RowBlock {
  using Register = RowRegister<Dim>;
  using Row = typename Register::Type;
  static constexpr int packed = Dim * Dim;
  Row rows[Dim] = {};

  static int component(int a) { return Register::component(a); }
  /// Of 3×3 values, column by column.
  [[gnu::always_inline]] static RowBlock of(const double* values) {
    RowBlock block;
    for (int a = 0; a < Dim; ++a)
      block.rows[a] = Register::of([&](int b) { return values[component(a) + 3 * component(b)]; });
    return block;
  }

  [[gnu::always_inline]] Row combined(const double* factors, int stride) const {
    Row sum = factors[0] * rows[0];
    for (int b = 1; b < Dim; ++b) sum += factors[b * stride] * rows[b];
    return sum;
  }
  [[gnu::always_inline]] Row combined(const Row& factors) const {
    Row sum = factors[0] * rows[0];
    for (int b = 1; b < Dim; ++b) sum += factors[b] * rows[b];
    return sum;
  }
  [[gnu::always_inline]] void put(double* entries) const {
    for (int a = 0; a < Dim; ++a) put_row(rows[a], entries + Dim * a);
  }
  [[gnu::always_inline]] RowBlock times(const RowBlock& other) const {
    RowBlock product;
    for (int a = 0; a < Dim; ++a) product.rows[a] = other.combined(rows[a]);
    return product;
  }

  /// A block by numbers, that multiplies rows of others: of the lower factor, or what stands left of G.
  struct Factor {
    double entries[packed];
    explicit Factor(const double* l) { std::memcpy(entries, l, sizeof(entries)); }
    /// Of 3×3 values, column by column.
    static Factor of(const double* values) {
      double entries[packed];
      for (int a = 0; a < Dim; ++a) {
        for (int b = 0; b < Dim; ++b) entries[Dim * a + b] = values[component(a) + 3 * component(b)];
      }
      return Factor(entries);
    }

    /// target −= this upper.
    [[gnu::always_inline]] void subtract_product(const double* upper, RowBlock& target) const {
      RowBlock u;
      for (int a = 0; a < Dim; ++a) u.rows[a] = row_at<Row>(upper + Dim * a);
      for (int a = 0; a < Dim; ++a) target.rows[a] -= u.combined(entries + Dim * a, 1);
    }
  };

  /// *this += l g r.
  [[gnu::always_inline]] void add_product(const Factor& l, const double* g, const RowBlock& r) {
    RowBlock product;
    for (int a = 0; a < Dim; ++a) product.rows[a] = r.combined(g + a, Dim);
    for (int a = 0; a < Dim; ++a) rows[a] += product.combined(l.entries + Dim * a, 1);
  }

  /// inverse = this⁻¹. False where the block was singular and was moved away from that.
  [[gnu::always_inline]] bool invert(RowBlock& inverse) const {
    using Square = Eigen::Matrix<double, Dim, Dim>;
    Square block, inverted;
    for (int a = 0; a < Dim; ++a) {
      for (int b = 0; b < Dim; ++b) block(a, b) = rows[a][b];
    }
    double determinant;
    bool regular;
    block.computeInverseAndDetWithCheck(inverted, determinant, regular, std::numeric_limits<double>::min());
    if (!regular) {
      const double least = std::numeric_limits<double>::epsilon() + tuned.least * block.cwiseAbs().maxCoeff();
      inverted = (block + least * Square::Identity()).inverse();
    }
    for (int a = 0; a < Dim; ++a) inverse.rows[a] = Register::of([&](int b) { return inverted(a, b); });
    return regular;
  }

  static Row from_contact(const double* x) {
    return Register::of([&](int a) { return x[component(a)]; });
  }
  static void to_contact(const Row& x, const double* given, double* out) {
    Register::keep(given, out);
    for (int a = 0; a < Dim; ++a) out[component(a)] = x[a];
  }
  /// A sum of products of blocks with vectors.
  struct Sum {
    Row products[Dim] = {};
    [[gnu::always_inline]] void add(const double* block, const Row& x) {
      for (int a = 0; a < Dim; ++a) products[a] += row_at<Row>(block + Dim * a) * x;
    }
    Row total() const {
      return Register::of([&](int a) { return Register::sum(products[a]); });
    }
  };
  Row times(const Row& x) const {
    Sum sum;
    for (int a = 0; a < Dim; ++a) sum.products[a] = rows[a] * x;
    return sum.total();
  }
};

}  // namespace conebench::cascade

#pragma GCC diagnostic pop
