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

/// A row of a block, or a contact's part of a vector, in one register; of four where a block has three.
template <int Dim>
struct RowRegister {
  using Type = Row4;
};
template <>
struct RowRegister<2> {
  using Type [[gnu::vector_size(2 * sizeof(double))]] = double;
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
  using Row = typename RowRegister<Dim>::Type;
  static constexpr int packed = Dim * Dim;
  Row rows[Dim] = {};

  /// A whole register of what `entry` gives for each component: written by parts it would wait for them.
  template <class Entry>
  [[gnu::always_inline]] static Row row_of(const Entry& entry) {
    if constexpr (Dim == 2) {
      return Row{entry(0), entry(1)};
    } else {
      return Row{entry(0), entry(1), entry(2), 0.0};
    }
  }
  static int component(int a) { return Dim == 2 ? 2 * a : a; }
  /// Of 3×3 values, column by column.
  [[gnu::always_inline]] static RowBlock of(const double* values) {
    RowBlock block;
    for (int a = 0; a < Dim; ++a)
      block.rows[a] = row_of([&](int b) { return values[component(a) + 3 * component(b)]; });
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
    for (int a = 0; a < Dim; ++a) inverse.rows[a] = row_of([&](int b) { return inverted(a, b); });
    return regular;
  }

  static Row from_contact(const double* x) {
    return row_of([&](int a) { return x[component(a)]; });
  }
  static void to_contact(const Row& x, const double* given, double* out) {
    if constexpr (Dim == 2) out[1] = given[1];
    for (int a = 0; a < Dim; ++a) out[component(a)] = x[a];
  }
  /// A sum of products of blocks with vectors.
  struct Sum {
    Row products[Dim] = {};
    [[gnu::always_inline]] void add(const double* block, const Row& x) {
      for (int a = 0; a < Dim; ++a) products[a] += row_at<Row>(block + Dim * a) * x;
    }
    Row total() const {
      return row_of([&](int a) {
        double sum = products[a][0] + products[a][1];
        if constexpr (Dim == 3) sum += products[a][2];
        return sum;
      });
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
