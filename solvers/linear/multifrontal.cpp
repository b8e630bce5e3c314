#include "solvers/linear/multifrontal.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "solvers/linear/column_kernels.hpp"

namespace conebench {

namespace {

using column_kernels::add_columns;
using column_kernels::dot_columns;
using column_kernels::subtract_columns;
using column_kernels::sum_columns;
using PanelMap = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstPanelMap = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr int kPanelWidth = 32;  ///< pivots eliminated one by one before the rest is updated by a matrix product
constexpr int kSolveWidth = column_kernels::most_columns;  ///< pivots whose triangle is inverted

constexpr int kInvertedSize = 18;  ///< most pivots of a front that is inverted as a whole
/// Most times that a front's diagonal may be the shift: the residuals of products with an inverse grow with the
/// condition.
constexpr double kInvertedRatio = 1e4;

/// Whether products with the front's inverse cost less than the solutions until the next shift gain by it, and have as
/// many digits. `upper`: its panel, shifted.
bool worth_inverting(const EliminationFront& front, const double* upper, double shift) {
  if (front.rows != front.pivots || front.pivots > kInvertedSize) return false;
  double largest = 0.0;
  for (int j = 0; j < front.pivots; ++j) largest = std::max(largest, upper[j * (front.rows + 1)]);
  return largest <= kInvertedRatio * shift;
}

/// kernel.operator()<size>() for sizes of few contacts, kernel.operator()<0>() for others.
template <class Kernel>
decltype(auto) with_size(int size, Kernel kernel) {
  switch (size) {
    case 3: return kernel.template operator()<3>();
    case 6: return kernel.template operator()<6>();
    case 9: return kernel.template operator()<9>();
    case 12: return kernel.template operator()<12>();
    default: return kernel.template operator()<0>();
  }
}

/// A matrix of three columns becomes its inverse by Gauss-Jordan elimination without pivoting; all of it stays in
/// registers. False at a pivot that is not positive.
bool invert_three(double* matrix) {
  for (int k = 0; k < 3; ++k) {
    double* const own = matrix + 3 * k;
    if (!(own[k] > 0.0) || !std::isfinite(own[k])) return false;
    const double inverse = 1.0 / own[k];
    double column[3];
    for (int i = 0; i < 3; ++i) {
      column[i] = own[i];
      own[i] = i == k ? inverse : -inverse * own[i];
    }
    for (int j = 0; j < 3; ++j) {
      if (j == k) continue;
      double* const other = matrix + 3 * j;
      const double factor = other[k] * inverse;
      for (int i = 0; i < 3; ++i) other[i] = i == k ? factor : other[i] - factor * column[i];
    }
  }
  return true;
}

/// A front without rows below, from its panels to its inverse in the place of `lower`, by Gauss-Jordan elimination
/// without pivoting. False at a pivot, which is Cholesky's or LU's, that is not positive.
template <int Size>
bool invert_front(double* lower, const double* upper, int size) {
  const int pivots = Size > 0 ? Size : size;
  for (int j = 0; j < pivots; ++j) {
    for (int i = j; i < pivots; ++i) lower[j + i * pivots] = upper[i + j * pivots];
  }
  if constexpr (Size == 3) return invert_three(lower);
  constexpr int most = Size > 0 ? Size : kInvertedSize;
  constexpr int lead = (most + 3) / 4 * 4;
  using Column = Eigen::Array<double, lead, 1>;
  Eigen::Array<double, lead, most> all = Eigen::Array<double, lead, most>::Zero();
  for (int j = 0; j < pivots; ++j) std::copy_n(lower + j * pivots, pivots, &all(0, j));
  double units[2 * lead + 1] = {};
  units[lead] = 1.0;
  for (int k = 0; k < pivots; ++k) {
    const double pivot = all(k, k);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double inverse = 1.0 / pivot;
    // Row k by products with 0 and 1: an entry stored by itself would hold up the next load of its column.
    const Column unit = Eigen::Map<const Column>(units + lead - k);
    const Column rest = 1.0 - unit;
    const Column column = all.col(k) * rest - unit;
    all.col(k) = column * -inverse;
    for (int j = 0; j < pivots; ++j) {
      if (j == k) continue;
      const double factor = all(k, j) * inverse;
      all.col(j) = all.col(j) * rest - factor * column;
    }
  }
  for (int j = 0; j < pivots; ++j) std::copy_n(&all(0, j), pivots, lower + j * pivots);
  return true;
}

/// vector = inverse · vector.
template <int Size>
void multiply(const double* inverse, double* vector, int size) {
  if constexpr (Size > 0) {
    Eigen::Map<Eigen::Matrix<double, Size, 1>> all(vector);
    all = (Eigen::Map<const Eigen::Matrix<double, Size, Size>>(inverse) * all).eval();
  } else {
    double product[kInvertedSize];
    const int width = std::min(kSolveWidth, size);
    sum_columns(product, inverse, size, vector, width, size);
    add_columns(product, inverse + width * size, size, vector + width, size - width, size);
    std::copy_n(product, size, vector);
  }
}

/// Eliminates the pivots of one front within its panels. `lower` and `upper` (the transposed one) are the same for
/// Cholesky. Left-looking within kPanelWidth columns, right-looking beyond. False at a pivot that is not positive.
template <bool Symmetric>
bool eliminate_pivots(double* lower, double* upper, double* inverses, int pivots, int rows) {
  const std::ptrdiff_t lead = rows;
  double factors[kPanelWidth];
  const auto update = [&](double* panel, const double* other, int begin, int j, int from) {
    for (int c = begin; c < j; ++c) factors[c - begin] = other[j + c * lead];
    subtract_columns(panel + from + j * lead, panel + from + begin * lead, lead, factors, j - begin, rows - from);
  };
  for (int begin = 0; begin < pivots; begin += kPanelWidth) {
    const int end = std::min(begin + kPanelWidth, pivots);
    for (int j = begin; j < end; ++j) {
      update(upper, lower, begin, j, j);
      if constexpr (!Symmetric) update(lower, upper, begin, j, j + 1);
      double& pivot = upper[j + j * lead];
      if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
      if constexpr (Symmetric) pivot = std::sqrt(pivot);
      inverses[j] = 1.0 / pivot;
      double* column = lower + j * lead;
      for (int i = j + 1; i < rows; ++i) column[i] *= inverses[j];
    }
    if (end == pivots) break;
    const ConstPanelMap done_lower(lower + end + begin * lead, rows - end, end - begin, Eigen::OuterStride<>(lead));
    const ConstPanelMap done_upper(upper + end + begin * lead, rows - end, end - begin, Eigen::OuterStride<>(lead));
    PanelMap(upper + end + end * lead, rows - end, pivots - end, Eigen::OuterStride<>(lead)).noalias() -=
        done_upper * done_lower.topRows(pivots - end).transpose();
    if constexpr (!Symmetric) {
      PanelMap(lower + end + end * lead, rows - end, pivots - end, Eigen::OuterStride<>(lead)).noalias() -=
          done_lower * done_upper.topRows(pivots - end).transpose();
    }
  }
  return true;
}

/// What solve() streams: of a panel's columns kSolveWidth at a time, the triangle D becomes D⁻¹ and all rows B below it
/// −B D⁻¹, so that a step is a product without a chain of dependent operations. `inverses`: of D's diagonal, null where
/// that is 1.
void invert_pivots(double* panel, const double* inverses, int pivots, int rows) {
  const std::ptrdiff_t lead = rows;
  double column[kSolveWidth];
  for (int begin = 0; begin < pivots; begin += kSolveWidth) {
    const int width = std::min(kSolveWidth, pivots - begin);
    double* const block = panel + begin + begin * lead;
    for (int j = 0; j < width; ++j) {
      double* const own = block + j * lead;
      // Column j of D⁻¹: rows before j are zero, and columns after j are still D's.
      column[j] = inverses == nullptr ? 1.0 : inverses[begin + j];
      for (int i = j + 1; i < width; ++i) column[i] = -own[i] * column[j];
      for (int k = j + 1; k < width; ++k) {
        if (inverses != nullptr) column[k] *= inverses[begin + k];
        for (int i = k + 1; i < width; ++i) column[i] -= block[i + k * lead] * column[k];
      }
      for (int i = 0; i < width; ++i) own[i] = i < j ? 0.0 : column[i];
      for (int i = width; i < rows - begin; ++i) own[i] *= -column[j];
      subtract_columns(own + width, block + width + (j + 1) * lead, lead, column + j + 1, width - j - 1,
                       rows - begin - width);
    }
  }
}

/// schur −= (rows of L below the pivots) (columns of U beyond them); the lower triangle alone where symmetric.
template <bool Symmetric>
void subtract_products(double* schur, const double* lower, const double* upper, int pivots, int rows) {
  const int below = rows - pivots;
  if (below >= few_rows && pivots >= 8) {
    const ConstPanelMap left(lower + pivots, below, pivots, Eigen::OuterStride<>(rows));
    const ConstPanelMap right(upper + pivots, below, pivots, Eigen::OuterStride<>(rows));
    Eigen::Map<Matrix> target(schur, below, below);
    if constexpr (Symmetric) {
      target.triangularView<Eigen::Lower>() -= left * right.transpose();
    } else {
      target.noalias() -= left * right.transpose();
    }
    return;
  }
  double factors[kPanelWidth];
  for (int begin = 0; begin < pivots; begin += kPanelWidth) {
    const int width = std::min(kPanelWidth, pivots - begin);
    for (int j = 0; j < below; ++j) {
      for (int c = 0; c < width; ++c) factors[c] = upper[pivots + j + static_cast<std::ptrdiff_t>(begin + c) * rows];
      const int from = Symmetric ? j : 0;
      subtract_columns(schur + from + static_cast<std::ptrdiff_t>(j) * below,
                       lower + pivots + from + static_cast<std::ptrdiff_t>(begin) * rows, rows, factors, width,
                       below - from);
    }
  }
}

/// Adds a child's update (size × size, its rows at `position` of this front) into this front's panels and Schur part.
template <bool Symmetric>
void add_update(const double* update, int size, const int* position, double* lower, double* upper, double* schur,
                int pivots, int rows) {
  const std::ptrdiff_t lead = rows;
  const std::ptrdiff_t below = rows - pivots;
  for (int j = 0; j < size; ++j, update += size) {
    const int column = position[j];
    int i = j;
    if constexpr (!Symmetric) {
      for (i = 0; i < j; ++i) {
        if (position[i] < pivots) {
          upper[column + position[i] * lead] += update[i];
        } else {
          schur[position[i] - pivots + (column - pivots) * below] += update[i];
        }
      }
      if (column < pivots) {
        upper[column + column * lead] += update[j];
        ++i;
      }
    }
    double* target = column < pivots ? lower + column * lead : schur - pivots + (column - pivots) * below;
    for (; i < size; ++i) target[position[i]] += update[i];
  }
}

}  // namespace

MultifrontalFactor::MultifrontalFactor(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance,
                                       Factorization factorization, Storage storage)
    : factorization_(factorization),
      fronts_(analyse_fronts(matrix, storage)),
      new_row_(fronts_.old_row.size()),
      front_of_(new_row_.size()),
      values_(at(upper() + fronts_.panel_values)),
      original_(values_.size()),
      pivot_inverses_(new_row_.size()),
      inverted_(fronts_.fronts.size()),
      stack_(at(fronts_.stack_values)),
      work_(new_row_.size()),
      front_work_(at(fronts_.most_rows)) {
  waiting_.reserve(fronts_.fronts.size());
  for (std::size_t i = 0; i < new_row_.size(); ++i) new_row_[at(fronts_.old_row[i])] = static_cast<int>(i);
  for (std::size_t f = 0; f < fronts_.fronts.size(); ++f) {
    const EliminationFront& front = fronts_.fronts[f];
    std::fill_n(front_of_.begin() + front.first_pivot, front.pivots, static_cast<int>(f));
  }
  assemble(matrix, scale, compliance);
}

std::int64_t MultifrontalFactor::place_in_panel(int i, int j) const {
  const EliminationFront& front = fronts_.fronts[at(front_of_[at(j)])];
  const int position = fronts_.position(front, i);
  if (position < 0) return -1;
  return front.value_begin + position + static_cast<std::int64_t>(front.rows) * (j - front.first_pivot);
}

std::int64_t MultifrontalFactor::place(Index row, Index column) const {
  const auto [j, i] = std::minmax(new_row_[at(row)], new_row_[at(column)]);
  return place_in_panel(i, j);
}

void MultifrontalFactor::assemble(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance) {
  for (Index block_row = 0; block_row < matrix.block_rows(); ++block_row) {
    const Index row = matrix.block_offset(block_row);
    const int height = matrix.block_size(block_row);
    for (Index k = matrix.row_begin(block_row); k < matrix.row_begin(block_row + 1); ++k) {
      const Index column = matrix.block_offset(matrix.column(k));
      const int width = matrix.block_size(matrix.column(k));
      const double* value = matrix.block_values(k);
      // The rows of a block stay together, so one search serves the block. It goes to the lower panel, or transposed to
      // the upper one.
      const int i = std::max(new_row_[at(row)], new_row_[at(column)]);
      const int j = std::min(new_row_[at(row)], new_row_[at(column)]);
      const std::int64_t lead = fronts_.fronts[at(front_of_[at(j)])].rows;
      const std::int64_t place = place_in_panel(i, j);
      const bool below = new_row_[at(row)] > new_row_[at(column)];
      for (int c = 0; c < width; ++c) {
        for (int r = 0; r < height; ++r, ++value) {
          const double scaled = *value * scale[row + r] * scale[column + c];
          const bool lower = row == column ? r > c : below;
          double& target = original_[at(place + (lower ? r + lead * c : upper() + c + lead * r))];
          if (row == column && r == c) {
            target += scaled + compliance[row + r];
          } else {
            target += symmetric() ? 0.5 * scaled : scaled;
          }
        }
      }
    }
  }
}

bool MultifrontalFactor::factor(double shift) {
  values_ = original_;
  waiting_.clear();
  std::size_t top = 0;
  for (std::size_t f = 0; f < fronts_.fronts.size(); ++f) {
    const EliminationFront& front = fronts_.fronts[f];
    double* lower_panel = values_.data() + front.value_begin;
    double* upper_panel = lower_panel + upper();
    for (int j = 0; j < front.pivots; ++j) upper_panel[j + static_cast<std::ptrdiff_t>(j) * front.rows] += shift;

    const auto below = at(front.rows - front.pivots);
    double* schur = stack_.data() + top;
    std::fill_n(schur, below * below, 0.0);
    while (!waiting_.empty() && fronts_.fronts[at(waiting_.back())].parent == static_cast<int>(f)) {
      const EliminationFront& child = fronts_.fronts[at(waiting_.back())];
      waiting_.pop_back();
      const int size = child.rows - child.pivots;
      top -= at(size) * at(size);
      const auto add = symmetric() ? add_update<true> : add_update<false>;
      add(stack_.data() + top, size, fronts_.parent_position.data() + child.row_begin, lower_panel, upper_panel, schur,
          front.pivots, front.rows);
    }
    inverted_[f] = worth_inverting(front, upper_panel, shift);
    if (inverted_[f]) {
      const bool done = with_size(
          front.pivots, [&]<int Size>() { return invert_front<Size>(lower_panel, upper_panel, front.pivots); });
      if (!done) return false;
      continue;
    }
    double* inverses = pivot_inverses_.data() + front.first_pivot;
    const auto eliminate = symmetric() ? eliminate_pivots<true> : eliminate_pivots<false>;
    if (!eliminate(lower_panel, upper_panel, inverses, front.pivots, front.rows)) return false;
    const auto subtract = symmetric() ? subtract_products<true> : subtract_products<false>;
    if (below > 0) subtract(schur, lower_panel, upper_panel, front.pivots, front.rows);
    invert_pivots(upper_panel, inverses, front.pivots, front.rows);
    if (!symmetric()) invert_pivots(lower_panel, nullptr, front.pivots, front.rows);
    if (below == 0) continue;
    std::memmove(stack_.data() + top, schur, below * below * sizeof(double));
    top += below * below;
    waiting_.push_back(static_cast<int>(f));
  }
  return true;
}

void MultifrontalFactor::solve(const Vector& b, Vector& x) {
  double* const all = front_work_.data();
  for (std::size_t i = 0; i < work_.size(); ++i) work_[i] = b[fronts_.old_row[i]];

  for (std::size_t f = 0; f < fronts_.fronts.size(); ++f) {
    const EliminationFront& front = fronts_.fronts[f];
    const std::ptrdiff_t lead = front.rows;
    const double* const panel = values_.data() + front.value_begin;
    double* const pivot = work_.data() + front.first_pivot;
    if (inverted_[f]) {
      with_size(front.pivots, [&]<int Size>() { multiply<Size>(panel, pivot, front.pivots); });
      continue;
    }
    // What the steps so far leave: of the rows solved y, of those behind what is to be added to the right-hand side.
    sum_columns(all, panel, lead, pivot, std::min(kSolveWidth, front.pivots), front.rows);
    for (int begin = kSolveWidth; begin < front.pivots; begin += kSolveWidth) {
      const int width = std::min(kSolveWidth, front.pivots - begin);
      double given[kSolveWidth];
      for (int c = 0; c < width; ++c) {
        given[c] = -(pivot[begin + c] + std::exchange(all[begin + c], 0.0));
      }
      subtract_columns(all + begin, panel + begin + begin * lead, lead, given, width, front.rows - begin);
    }
    for (int j = 0; j < front.pivots; ++j) pivot[j] = all[j];
    const int* const row = fronts_.row_list.data() + front.row_begin;
    for (int i = front.pivots; i < front.rows; ++i) work_[at(row[i - front.pivots])] += all[i];
  }

  for (std::size_t f = fronts_.fronts.size(); f-- > 0;) {
    const EliminationFront& front = fronts_.fronts[f];
    if (inverted_[f]) continue;
    const std::ptrdiff_t lead = front.rows;
    const double* const panel = values_.data() + upper() + front.value_begin;
    double* const pivot = work_.data() + front.first_pivot;
    const int* const row = fronts_.row_list.data() + front.row_begin;
    for (int j = 0; j < front.pivots; ++j) all[j] = pivot[j];
    for (int i = front.pivots; i < front.rows; ++i) all[i] = work_[at(row[i - front.pivots])];
    for (int begin = (front.pivots - 1) / kSolveWidth * kSolveWidth; begin >= 0; begin -= kSolveWidth) {
      const int end = std::min(begin + kSolveWidth, front.pivots);
      dot_columns(pivot + begin, panel + begin + begin * lead, lead, all + begin, end - begin, front.rows - begin);
      for (int j = begin; j < end; ++j) all[j] = pivot[j];
    }
  }
  for (std::size_t i = 0; i < work_.size(); ++i) x[fronts_.old_row[i]] = work_[i];
}

}  // namespace conebench
