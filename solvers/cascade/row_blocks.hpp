#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>
#include <cstring>

// Registers never pass between builds with AVX and without.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace conebench::cascade {

/// A row of a 3×3 block, a whole 2×2 block by rows, or a contact's part of a vector: one register.
using Row4 [[gnu::vector_size(4 * sizeof(double))]] = double;

/// Four entries of a packed block; where it is 3×3 the fourth stands behind them and never counts.
[[gnu::always_inline]] inline Row4 row_at(const double* entries) {
  Row4 row;
  std::memcpy(&row, entries, sizeof(Row4));
  return row;
}

/// To be called for the rows of a packed 3×3 block first to last: each writes one entry beyond, into the next row or
/// the next block.
[[gnu::always_inline]] inline void put_row(const Row4& row, double* entries) {
  std::memcpy(entries, &row, sizeof(Row4));
}

/// The arithmetic of RowLu on blocks in registers. Packed blocks hold Dim² values by rows; those of the problem come
/// column by column. `second` tells in 2D which of a contact's three unknowns is the second of the two that count; the
/// first is the first.
template <int Dim>
struct RowBlock;

template <>
struct RowBlock<3> {
  static constexpr int packed = 9;
  Row4 rows[3] = {};

  static RowBlock diagonal(const double* d, int /*second*/) {
    return {Row4{d[0], d[3], d[6], 0.0}, Row4{d[1], d[4], d[7], 0.0}, Row4{d[2], d[5], d[8], 0.0}};
  }
  static RowBlock right(const double* r, int second) { return diagonal(r, second); }
  static const double* left(const double* l, int /*second*/) { return l; }

  /// *this += l g r.
  [[gnu::always_inline]] void add_product(const double* l, const double* g, const RowBlock& r) {
    const Row4 r0 = r.rows[0], r1 = r.rows[1], r2 = r.rows[2];
    const Row4 p0 = g[0] * r0 + g[3] * r1 + g[6] * r2;
    const Row4 p1 = g[1] * r0 + g[4] * r1 + g[7] * r2;
    const Row4 p2 = g[2] * r0 + g[5] * r1 + g[8] * r2;
    rows[0] += l[0] * p0 + l[3] * p1 + l[6] * p2;
    rows[1] += l[1] * p0 + l[4] * p1 + l[7] * p2;
    rows[2] += l[2] * p0 + l[5] * p1 + l[8] * p2;
  }
  [[gnu::always_inline]] void put(double* entries) const {
    for (int a = 0; a < 3; ++a) put_row(rows[a], entries + 3 * a);
  }
  [[gnu::always_inline]] RowBlock times(const RowBlock& other) const {
    RowBlock product;
    for (int a = 0; a < 3; ++a)
      product.rows[a] = rows[a][0] * other.rows[0] + rows[a][1] * other.rows[1] + rows[a][2] * other.rows[2];
    return product;
  }

  /// A block of the lower factor.
  struct Factor {
    const double l00, l01, l02, l10, l11, l12, l20, l21, l22;
    explicit Factor(const double* l)
        : l00(l[0]), l01(l[1]), l02(l[2]), l10(l[3]), l11(l[4]), l12(l[5]), l20(l[6]), l21(l[7]), l22(l[8]) {}

    /// target −= this upper.
    [[gnu::always_inline]] void subtract_product(const double* upper, RowBlock& target) const {
      const Row4 u0 = row_at(upper), u1 = row_at(upper + 3), u2 = row_at(upper + 6);
      target.rows[0] -= l00 * u0 + l01 * u1 + l02 * u2;
      target.rows[1] -= l10 * u0 + l11 * u1 + l12 * u2;
      target.rows[2] -= l20 * u0 + l21 * u1 + l22 * u2;
    }
  };

  /// inverse = this⁻¹. False where the block was singular and was perturbed.
  bool invert(RowBlock& inverse) {
    bool regular = true;
    const auto row = [&](int a) { return Eigen::Vector3d(rows[a][0], rows[a][1], rows[a][2]); };
    Eigen::Vector3d first = row(1).cross(row(2));
    double determinant = row(0).dot(first);
    const double magnitude =
        row(0).cwiseAbs().cwiseMax(row(1).cwiseAbs()).cwiseMax(row(2).cwiseAbs()).maxCoeff<Eigen::PropagateNaN>();
    if (!(std::abs(determinant) > 1e-300) || !(magnitude < 1e300)) {
      regular = false;
      for (int a = 0; a < 3; ++a) rows[a][a] += 1e-14 + 1e-12 * magnitude;
      first = row(1).cross(row(2));
      determinant = row(0).dot(first);
    }
    // The columns of the adjugate.
    const Eigen::Vector3d second = row(2).cross(row(0));
    const Eigen::Vector3d third = row(0).cross(row(1));
    const double scale = 1.0 / determinant;
    for (int a = 0; a < 3; ++a) inverse.rows[a] = Row4{first[a] * scale, second[a] * scale, third[a] * scale, 0.0};
    return regular;
  }

  static Row4 from_contact(const double* x, int /*second*/) { return Row4{x[0], x[1], x[2], 0.0}; }
  static void to_contact(const Row4& x, const double* /*given*/, int /*second*/, double* out) {
    for (int a = 0; a < 3; ++a) out[a] = x[a];
  }
  /// A sum of products of blocks with vectors.
  struct Sum {
    Row4 products[3] = {};
    [[gnu::always_inline]] void add(const double* block, const Row4& x) {
      for (int a = 0; a < 3; ++a) products[a] += row_at(block + 3 * a) * x;
    }
    Row4 total() const {
      Row4 sum{};
      for (int a = 0; a < 3; ++a) sum[a] = products[a][0] + products[a][1] + products[a][2];
      return sum;
    }
  };
  Row4 times(const Row4& x) const {
    const Sum sum{{rows[0] * x, rows[1] * x, rows[2] * x}};
    return sum.total();
  }
};

template <>
struct RowBlock<2> {
  static constexpr int packed = 4;
  Row4 entries = {};  ///< by rows

  [[gnu::always_inline]] static Row4 first_row(const Row4& v) { return Row4{v[0], v[1], v[0], v[1]}; }
  [[gnu::always_inline]] static Row4 second_row(const Row4& v) { return Row4{v[2], v[3], v[2], v[3]}; }
  [[gnu::always_inline]] static Row4 first_column(const Row4& v) { return Row4{v[0], v[0], v[2], v[2]}; }
  [[gnu::always_inline]] static Row4 second_column(const Row4& v) { return Row4{v[1], v[1], v[3], v[3]}; }

  // In three unknowns the plane's tangent and normal stand at 0 and 2.
  static RowBlock diagonal(const double* d, int second) {
    return {Row4{d[0], d[3 * second], d[second], d[4 * second]}};
  }
  static RowBlock right(const double* r, int second) { return {Row4{r[0], r[3 * second], r[2], r[2 + 3 * second]}}; }
  static RowBlock left(const double* l, int second) { return {Row4{l[0], l[6], l[second], l[6 + second]}}; }

  [[gnu::always_inline]] void add_product(const RowBlock& l, const double* g, const RowBlock& r) {
    const Row4 given = row_at(g);
    const Row4 by_rows{given[0], given[2], given[1], given[3]};
    entries += l.times(RowBlock{by_rows}.times(r)).entries;
  }
  [[gnu::always_inline]] void put(double* target) const { put_row(entries, target); }
  [[gnu::always_inline]] RowBlock times(const RowBlock& other) const {
    return {first_column(entries) * first_row(other.entries) + second_column(entries) * second_row(other.entries)};
  }

  struct Factor {
    const Row4 first, second;
    explicit Factor(const double* l) : first(first_column(row_at(l))), second(second_column(row_at(l))) {}
    [[gnu::always_inline]] void subtract_product(const double* upper, RowBlock& target) const {
      const Row4 u = row_at(upper);
      target.entries -= first * first_row(u) + second * second_row(u);
    }
  };

  bool invert(RowBlock& inverse) {
    bool regular = true;
    const auto of = [&] { return entries[0] * entries[3] - entries[1] * entries[2]; };
    double determinant = of();
    const double magnitude =
        Eigen::Array4d(entries[0], entries[1], entries[2], entries[3]).abs().maxCoeff<Eigen::PropagateNaN>();
    if (!(std::abs(determinant) > 1e-300) || !(magnitude < 1e300)) {
      regular = false;
      entries[0] += 1e-14 + 1e-12 * magnitude;
      entries[3] += 1e-14 + 1e-12 * magnitude;
      determinant = of();
    }
    inverse.entries = Row4{entries[3], -entries[1], -entries[2], entries[0]} * (1.0 / determinant);
    return regular;
  }

  static Row4 from_contact(const double* x, int second) { return Row4{x[0], x[second], x[0], x[second]}; }
  static void to_contact(const Row4& x, const double* given, int second, double* out) {
    out[3 - second] = given[3 - second];
    out[0] = x[0];
    out[second] = x[1];
  }
  struct Sum {
    Row4 products = {};
    [[gnu::always_inline]] void add(const double* block, const Row4& x) { products += row_at(block) * x; }
    Row4 total() const {
      const double first = products[0] + products[1], second = products[2] + products[3];
      return Row4{first, second, first, second};
    }
  };
  Row4 times(const Row4& x) const { return Sum{entries * x}.total(); }
};

}  // namespace conebench::cascade

#pragma GCC diagnostic pop
