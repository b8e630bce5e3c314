#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>
#include <cstring>

// Registers never pass between builds with AVX and without.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace conebench::cascade {

/// A row of a 3×3 block or a contact's part of a vector: one register.
using Row4 [[gnu::vector_size(4 * sizeof(double))]] = double;

/// A row of a packed block; the fourth entry stands behind it and never counts.
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

/// The arithmetic of RowLu on blocks in registers. Packed blocks hold nine values by rows; those of the problem come
/// column by column.
struct RowBlock {
  static constexpr int packed = 9;
  Row4 rows[3] = {};

  static RowBlock from_columns(const double* d) {
    return {Row4{d[0], d[3], d[6], 0.0}, Row4{d[1], d[4], d[7], 0.0}, Row4{d[2], d[5], d[8], 0.0}};
  }

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

}  // namespace conebench::cascade

#pragma GCC diagnostic pop
