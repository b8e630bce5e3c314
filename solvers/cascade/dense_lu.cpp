#include "solvers/cascade/dense_lu.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "problems/cones/contact_rows.hpp"
#include "solvers/cascade/row_blocks.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

/// Of blocks, one a bit.
using Columns = std::uint32_t;
constexpr auto most = static_cast<std::size_t>(DenseLu::most_contacts);

Columns only(std::size_t i) { return Columns{1} << i; }
Columns before(std::size_t i) { return only(i) - 1; }
Columns after(std::size_t i) { return ~before(i) & ~only(i); }

template <class Visit>
void each(Columns columns, Visit visit) {
  for (; columns != 0; columns &= columns - 1) visit(static_cast<std::size_t>(std::countr_zero(columns)));
}

/// Row i: L before the diagonal, U after it, the pivot's inverse between.
template <int Dim>
class Factors final : public SparseLu::Factors {
 public:
  explicit Factors(const BlockMatrix& matrix) : n_(static_cast<std::size_t>(matrix.rows())), blocks_(n_ * (n_ + 1)) {
    for (std::size_t i = 0; i < n_; ++i) {
      filled_[i] = only(i);
      for (int k = matrix.row_begin(static_cast<int>(i)); k < matrix.row_begin(static_cast<int>(i) + 1); ++k)
        filled_[i] |= only(static_cast<std::size_t>(matrix.column(k)));
      for (std::size_t j = 0; j < i; ++j) {
        if ((filled_[i] & only(j)) == 0) continue;
        filled_[i] |= filled_[j] & after(j);
        products += 1 + std::popcount(filled_[j] & after(j));
      }
    }
  }

  bool factor(const BlockMatrix& matrix, const BlockSystem& system) override {
    kept_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (system.left_out[i]) continue;
      kept_ |= only(i);
      right(i) = Work::of(system.right[i].data());
    }
    bool regular = true;
    each(kept_, [&](std::size_t i) {
      Work* const row = &blocks_[n_ * i];
      each(filled_[i] & kept_, [&](std::size_t j) { row[j] = {}; });
      row[i] = Work::of(system.diagonal[i].data());
      const auto left = Work::Factor::of(system.left[i].data());
      for (int k = matrix.row_begin(static_cast<int>(i)); k < matrix.row_begin(static_cast<int>(i) + 1); ++k) {
        const auto j = static_cast<std::size_t>(matrix.column(k));
        if ((kept_ & only(j)) != 0) row[j].add_product(left, matrix.block(k), right(j));
      }
      each(filled_[i] & kept_ & before(i), [&](std::size_t j) {
        const Work* const pivots = &blocks_[n_ * j];
        row[j] = row[j].times(pivots[j]);
        each(filled_[j] & kept_ & after(j), [&](std::size_t m) { row[m].subtract(row[j].times(pivots[m])); });
      });
      Work inverse;
      if (!row[i].invert(inverse)) regular = false;
      row[i] = inverse;
    });
    return regular;
  }

  void solve(const Vector& right_side, Vector& solution) override {
    std::array<typename Work::Row, most> x;
    solution = right_side;
    const auto rest = [&](std::size_t i, Columns columns) {
      typename Work::Row sum = x[i];
      each(columns, [&](std::size_t j) { sum -= blocks_[n_ * i + j].times(x[j]); });
      return sum;
    };
    each(kept_, [&](std::size_t i) {
      x[i] = Work::from_contact(&right_side[static_cast<Index>(3 * i)]);
      x[i] = rest(i, filled_[i] & kept_ & before(i));
    });
    for (std::size_t i = n_; i-- > 0;) {
      if ((kept_ & only(i)) == 0) continue;
      x[i] = blocks_[n_ * i + i].times(rest(i, filled_[i] & kept_ & after(i)));
      const auto place = static_cast<Index>(3 * i);
      Work::to_contact(x[i], &right_side[place], &solution[place]);
    }
  }

  double products = 0.0;  ///< of blocks, with nothing left out
  double bytes() const { return static_cast<double>(sizeof(*this) + blocks_.size() * sizeof(Work)); }

 private:
  using Work = RowBlock<Dim>;
  Work& right(std::size_t i) { return blocks_[n_ * n_ + i]; }

  std::size_t n_;
  std::vector<Work> blocks_;  ///< and behind them what stands right of the matrix
  std::array<Columns, most> filled_;
  Columns kept_ = 0;  ///< contacts that are not left out
};

}  // namespace

DenseLu::DenseLu(const BlockMatrix& matrix) {
  with_contact_rows(matrix.dimension, [&]<int Dim>() {
    auto made = std::make_unique<Factors<Dim>>(matrix);
    flops = 2.0 * Dim * Dim * Dim * made->products;
    bytes = made->bytes();
    factors = std::move(made);
  });
}

}  // namespace conebench::cascade
