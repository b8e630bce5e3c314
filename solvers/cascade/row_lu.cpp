#include "solvers/cascade/row_lu.hpp"

#include <utility>

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void prefetch(const double* values, int count) {
  for (int k = 0; k < count; k += 8) __builtin_prefetch(values + k);
}

}  // namespace

double RowLu::bytes(const Elimination& elimination) {
  return sizeof(double) * (2.0 * packed * elimination.blocks) +
         sizeof(Work) * static_cast<double>(elimination.order.size());
}

RowLu::RowLu(const BlockMatrix& matrix, Elimination elimination) : n_(matrix.rows()) {
  FactorPattern pattern = factor_pattern(elimination);
  permutation_ = std::move(elimination.order);
  std::vector<int> position(at(n_));
  for (int i = 0; i < n_; ++i) position[at(permutation_[at(i)])] = i;
  entry_begin_.assign(1, 0);
  entries_.clear();
  for (const int original : permutation_) {
    for (int k = matrix.row_begin(original); k < matrix.row_begin(original + 1); ++k)
      entries_.push_back({k, position[at(matrix.column(k))]});
    entry_begin_.push_back(static_cast<int>(entries_.size()));
  }

  upper_begin_ = std::move(pattern.begin);
  upper_ = std::move(pattern.rows);
  const std::size_t blocks = upper_.size();
  lower_.resize(blocks);
  lower_begin_.assign(at(n_) + 1, 0);
  for (const int row : upper_) ++lower_begin_[at(row) + 1];
  for (std::size_t i = 1; i < lower_begin_.size(); ++i) lower_begin_[i] += lower_begin_[i - 1];
  std::vector<int> next(lower_begin_.begin(), lower_begin_.end() - 1);
  for (int j = 0; j < n_; ++j) {
    for (int k = upper_begin_[at(j)]; k < upper_begin_[at(j) + 1]; ++k) lower_[at(next[at(upper_[at(k)])]++)] = j;
  }
  paired_.assign(at(n_), 0);
  for (int j = 0; j + 1 < n_; ++j) {
    const int size = upper_begin_[at(j) + 1] - upper_begin_[at(j)];
    const int next_size = upper_begin_[at(j) + 2] - upper_begin_[at(j) + 1];
    paired_[at(j)] = size == next_size + 1 && upper_[at(upper_begin_[at(j)])] == j + 1;
  }
  // Beyond a 3×3 block's last entry one more is read and written.
  lower_values_.setZero(static_cast<Index>(packed * blocks + 1));
  upper_values_.setZero(static_cast<Index>(packed * blocks + 1));
  inverse_diagonal_.resize(at(n_));
  right_.resize(at(n_));
  work_.resize(at(n_));
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

void RowLu::prefetch_row(int i, const BlockMatrix& matrix, const std::vector<Block>& left,
                         const std::vector<Block>& diagonal) const {
  if (i >= n_) return;
  prefetch(left[at(permutation_[at(i)])].data(), 9);
  prefetch(diagonal[at(permutation_[at(i)])].data(), 9);
  for (int k = entry_begin_[at(i)]; k < entry_begin_[at(i) + 1]; ++k) prefetch(matrix.block(entries_[at(k)].block), 9);
}

void RowLu::load_row(int i, const BlockMatrix& matrix, const Block& left, const Block& diagonal) {
  work_[at(i)] = Work::from_columns(diagonal.data());
  for (int k = entry_begin_[at(i)]; k < entry_begin_[at(i) + 1]; ++k) {
    const Entry& entry = entries_[at(k)];
    if (dropped_[at(entry.column)]) continue;
    const double* g = matrix.values + static_cast<std::ptrdiff_t>(9) * entry.block;
    work_[at(entry.column)].add_product(left.data(), g, right_[at(entry.column)]);
  }
}

void RowLu::take_lower(int k, int j) {
  work_[at(j)].times(inverse_diagonal_[at(j)]).put(lower_values_.data() + packed * at(k));
  work_[at(j)] = {};
}

bool RowLu::factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
                   const std::vector<Block>& diagonal, const std::vector<char>& left_out) {
  bool regular = true;
  for (int i = 0; i < n_; ++i) {
    dropped_[at(i)] = left_out[at(permutation_[at(i)])] == Left::everything;
    if (i + 8 < n_) prefetch(right[at(permutation_[at(i + 8)])].data(), 9);
    right_[at(i)] = Work::from_columns(right[at(permutation_[at(i)])].data());
  }
  for (int i = 0; i < n_; ++i) {
    prefetch_row(i + 4, matrix, left, diagonal);
    if (dropped_[at(i)]) continue;
    const int original = permutation_[at(i)];
    load_row(i, matrix, left[at(original)], diagonal[at(original)]);
    eliminate_lower(i);
    if (!work_[at(i)].invert(inverse_diagonal_[at(i)])) regular = false;
    work_[at(i)] = {};
    double* values = upper_values_.data() + packed * at(upper_begin_[at(i)]);
    for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k, values += packed) {
      Work& block = work_[at(upper_[at(k)])];
      block.put(values);
      block = {};
    }
  }
  return regular;
}

void RowLu::eliminate_lower(int i) {
  Work* const work = work_.data();
  const int* const columns = upper_.data();
  const double* const lower = lower_values_.data();
  const int lower_end = lower_begin_[at(i) + 1];
  for (int k = lower_begin_[at(i)]; k < lower_end; ++k) {
    const int j = lower_[at(k)];
    if (dropped_[at(j)]) {
      work[j] = {};  // what is not a number times 0 would stay
      continue;
    }
    take_lower(k, j);
    const Work::Factor l(lower + packed * at(k));
    int m = upper_begin_[at(j)];
    const int end = upper_begin_[at(j) + 1];
    const double* upper = upper_values_.data() + packed * at(m);
    if (paired_[at(j)] && k + 1 < lower_end && !dropped_[at(j) + 1]) {
      l.subtract_product(upper, work[at(j) + 1]);
      take_lower(++k, j + 1);
      const Work::Factor next(lower + packed * at(k));
      const double* next_upper = upper_values_.data() + packed * at(end);
      for (++m, upper += packed; m < end; ++m, upper += packed, next_upper += packed) {
        Work& target = work[at(columns[m])];
        l.subtract_product(upper, target);
        next.subtract_product(next_upper, target);
      }
    } else {
      for (; m < end; ++m, upper += packed) l.subtract_product(upper, work[at(columns[m])]);
    }
  }
}

void RowLu::solve(const Vector& right_side, Vector& solution) {
  // The products of blocks begin … end − 1 with what stands in intermediate_.
  const auto products = [&](const std::vector<int>& columns, const Vector& values, int begin, int end) {
    Work::Sum sum;
    const double* block = values.data() + packed * at(begin);
    for (int k = begin; k < end; ++k, block += packed) {
      const int j = columns[at(k)];
      if (!dropped_[at(j)]) sum.add(block, intermediate_[at(j)]);
    }
    return sum.total();
  };
  for (int i = 0; i < n_; ++i) {
    const double* given = right_side.data() + 3 * static_cast<Index>(permutation_[at(i)]);
    Row4 rest{given[0], given[1], given[2], 0.0};
    if (!dropped_[at(i)]) rest -= products(lower_, lower_values_, lower_begin_[at(i)], lower_begin_[at(i) + 1]);
    intermediate_[at(i)] = rest;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    Row4& result = intermediate_[at(i)];
    if (!dropped_[at(i)]) {
      const Row4 rest = result - products(upper_, upper_values_, upper_begin_[at(i)], upper_begin_[at(i) + 1]);
      result = inverse_diagonal_[at(i)].times(rest);
    }
    double* const place = solution.data() + 3 * static_cast<Index>(permutation_[at(i)]);
    for (int a = 0; a < 3; ++a) place[a] = result[a];
  }
}

}  // namespace conebench::cascade
