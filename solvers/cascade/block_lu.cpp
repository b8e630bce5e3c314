#include "solvers/cascade/block_lu.hpp"

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Fill-reducing order: permutation[new] = old. The given order where a dense factor is as small as a sparse one.
std::vector<int> minimum_degree_order(const ScaledProblem& problem) {
  const int n = problem.contacts();
  std::vector<int> natural(at(n));
  std::iota(natural.begin(), natural.end(), 0);
  if (n <= 8) return natural;
  SparseMatrix pattern(n, n);
  pattern.resizeNonZeros(problem.stored_blocks());
  for (int i = 0; i <= n; ++i) pattern.outerIndexPtr()[i] = i < n ? problem.row_begin(i) : problem.stored_blocks();
  for (int k = 0; k < problem.stored_blocks(); ++k) pattern.innerIndexPtr()[k] = problem.column(k);
  std::fill_n(pattern.valuePtr(), problem.stored_blocks(), 1.0);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  return {order.indices().data(), order.indices().data() + n};
}

/// The nine entries of a block of the lower factor.
std::array<double, 9> factors_of(const Eigen::Array4d* rows) {
  return {rows[0][0], rows[0][1], rows[0][2], rows[1][0], rows[1][1], rows[1][2], rows[2][0], rows[2][1], rows[2][2]};
}

/// target −= l upper, blocks of three rows of four.
void subtract_product(const std::array<double, 9>& l, const Eigen::Array4d* upper, Eigen::Array4d* target) {
  const Eigen::Array4d u0 = upper[0], u1 = upper[1], u2 = upper[2];
  target[0] -= l[0] * u0 + l[1] * u1 + l[2] * u2;
  target[1] -= l[3] * u0 + l[4] * u1 + l[5] * u2;
  target[2] -= l[6] * u0 + l[7] * u1 + l[8] * u2;
}

/// target −= l upper + k next.
void subtract_products(const std::array<double, 9>& l, const Eigen::Array4d* upper, const std::array<double, 9>& k,
                       const Eigen::Array4d* next, Eigen::Array4d* target) {
  const Eigen::Array4d u0 = upper[0], u1 = upper[1], u2 = upper[2];
  const Eigen::Array4d v0 = next[0], v1 = next[1], v2 = next[2];
  target[0] -= (l[0] * u0 + l[1] * u1 + l[2] * u2) + (k[0] * v0 + k[1] * v1 + k[2] * v2);
  target[1] -= (l[3] * u0 + l[4] * u1 + l[5] * u2) + (k[3] * v0 + k[4] * v1 + k[5] * v2);
  target[2] -= (l[6] * u0 + l[7] * u1 + l[8] * u2) + (k[6] * v0 + k[7] * v1 + k[8] * v2);
}

}  // namespace

void BlockLu::analyse(const ScaledProblem& problem) {
  n_ = problem.contacts();
  permutation_ = minimum_degree_order(problem);
  position_.resize(at(n_));
  for (int i = 0; i < n_; ++i) position_[at(permutation_[at(i)])] = i;

  // Columns left of the diagonal, of the symmetrised pattern, by rows.
  std::vector<int> below_begin(at(n_) + 1, 0);
  std::vector<int> below;
  const auto each_pair = [&](const auto& visit) {
    for (int old = 0; old < n_; ++old) {
      for (int k = problem.row_begin(old); k < problem.row_begin(old + 1); ++k) {
        const int a = position_[at(old)];
        const int b = position_[at(problem.column(k))];
        if (a != b) visit(std::max(a, b), std::min(a, b));
      }
    }
  };
  each_pair([&](int row, int) { ++below_begin[at(row) + 1]; });
  for (int i = 0; i < n_; ++i) below_begin[at(i) + 1] += below_begin[at(i)];
  below.resize(at(below_begin[at(n_)]));
  std::vector<int> next_below(below_begin.begin(), below_begin.end() - 1);
  each_pair([&](int row, int column) { below[at(next_below[at(row)]++)] = column; });
  const auto columns_below = [&](int i) {
    return std::span(below).subspan(at(below_begin[at(i)]), at(below_begin[at(i) + 1] - below_begin[at(i)]));
  };

  // Elimination tree with path compression, then each row's pattern as the union of paths in it (Liu).
  std::vector<int> parent(at(n_), -1), ancestor(at(n_), -1), mark(at(n_), -1);
  lower_begin_.assign(1, 0);
  lower_.clear();
  for (int i = 0; i < n_; ++i) {
    for (const int start : columns_below(i)) {
      int node = start;
      while (ancestor[at(node)] != -1 && ancestor[at(node)] != i) {
        const int next = ancestor[at(node)];
        ancestor[at(node)] = i;
        node = next;
      }
      if (ancestor[at(node)] == -1) {
        ancestor[at(node)] = i;
        parent[at(node)] = i;
      }
    }
  }
  for (int i = 0; i < n_; ++i) {
    mark[at(i)] = i;
    const auto first = static_cast<std::ptrdiff_t>(lower_.size());
    for (const int start : columns_below(i)) {
      for (int node = start; mark[at(node)] != i; node = parent[at(node)]) {
        mark[at(node)] = i;
        lower_.push_back(node);
      }
    }
    std::sort(lower_.begin() + first, lower_.end());
    lower_begin_.push_back(static_cast<int>(lower_.size()));
  }
  upper_begin_.assign(at(n_) + 1, 0);
  for (const int j : lower_) ++upper_begin_[at(j) + 1];
  for (int i = 0; i < n_; ++i) upper_begin_[at(i) + 1] += upper_begin_[at(i)];
  upper_.resize(lower_.size());
  std::vector<int> fill(upper_begin_.begin(), upper_begin_.end() - 1);
  for (int i = 0; i < n_; ++i) {
    for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) upper_[at(fill[at(lower_[at(k)])]++)] = i;
  }

  flops_ = 0.0;
  for (const int j : lower_) flops_ += 54.0 * (upper_begin_[at(j) + 1] - upper_begin_[at(j)] + 1);
  paired_.assign(at(n_), 0);
  for (int j = 0; j + 1 < n_; ++j) {
    const int size = upper_begin_[at(j) + 1] - upper_begin_[at(j)];
    const int next_size = upper_begin_[at(j) + 2] - upper_begin_[at(j) + 1];
    paired_[at(j)] = size == next_size + 1 && upper_[at(upper_begin_[at(j)])] == j + 1;
  }
  upper_values_.clear();
  lower_values_.clear();
  inverse_diagonal_.resize(3 * at(n_));
  right_rows_.resize(3 * at(n_));
  work_.assign(3 * at(n_), Row4::Zero());
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

void BlockLu::load_row(int i, const ScaledProblem& problem, const Block& left, const Block& diagonal) {
  const int original = permutation_[at(i)];
  for (int a = 0; a < 3; ++a) work_[3 * at(i) + at(a)] << diagonal(a, 0), diagonal(a, 1), diagonal(a, 2), 0.0;
  for (int k = problem.row_begin(original); k < problem.row_begin(original + 1); ++k) {
    const int column = problem.column(k);
    const int j = position_[at(column)];
    if (dropped_[at(j)]) continue;
    const double* g = problem.block(k).data();
    const Row4* right = &right_rows_[3 * at(column)];
    const Row4 r0 = right[0], r1 = right[1], r2 = right[2];
    const Row4 p0 = g[0] * r0 + g[3] * r1 + g[6] * r2;
    const Row4 p1 = g[1] * r0 + g[4] * r1 + g[7] * r2;
    const Row4 p2 = g[2] * r0 + g[5] * r1 + g[8] * r2;
    Row4* row = &work_[3 * at(j)];
    row[0] += left(0, 0) * p0 + left(0, 1) * p1 + left(0, 2) * p2;
    row[1] += left(1, 0) * p0 + left(1, 1) * p1 + left(1, 2) * p2;
    row[2] += left(2, 0) * p0 + left(2, 1) * p1 + left(2, 2) * p2;
  }
}

void BlockLu::take_lower(int k, int j) {
  Row4* value = &work_[3 * at(j)];
  const Row4* inverse = &inverse_diagonal_[3 * at(j)];
  Row4* lower = &lower_values_[3 * at(k)];
  for (int a = 0; a < 3; ++a) {
    lower[a] = value[a][0] * inverse[0] + value[a][1] * inverse[1] + value[a][2] * inverse[2];
    value[a].setZero();
  }
}

bool BlockLu::invert_pivot(int i) {
  bool regular = true;
  Block pivot;
  for (int a = 0; a < 3; ++a) pivot.row(a) = work_[3 * at(i) + at(a)].head<3>().matrix().transpose();
  const double determinant = pivot.determinant();
  if (determinant < 0.0) determinant_sign_ = -determinant_sign_;
  const double magnitude = pivot.cwiseAbs().maxCoeff();
  if (!(std::abs(determinant) > 1e-300) || !(magnitude < 1e300)) {
    regular = false;
    pivot += Block::Identity() * (1e-14 + 1e-12 * magnitude);
  }
  const Block inverse = pivot.inverse();
  for (int a = 0; a < 3; ++a) {
    inverse_diagonal_[3 * at(i) + at(a)] << inverse(a, 0), inverse(a, 1), inverse(a, 2), 0.0;
    work_[3 * at(i) + at(a)].setZero();
  }
  return regular;
}

bool BlockLu::factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
                     const std::vector<Block>& diagonal, const std::vector<char>& dropped) {
  bool regular = true;
  determinant_sign_ = 1;
  ++factorizations_;
  upper_values_.resize(3 * upper_.size());
  lower_values_.resize(3 * lower_.size());
  for (int i = 0; i < n_; ++i) {
    dropped_[at(i)] = dropped[at(permutation_[at(i)])];
    const Block& r = right[at(i)];
    for (int a = 0; a < 3; ++a) right_rows_[3 * at(i) + at(a)] << r(a, 0), r(a, 1), r(a, 2), 0.0;
  }
  for (int i = 0; i < n_; ++i) {
    if (dropped_[at(i)]) continue;
    const int original = permutation_[at(i)];
    load_row(i, problem, left[at(original)], diagonal[at(original)]);
    const int lower_end = lower_begin_[at(i) + 1];
    for (int k = lower_begin_[at(i)]; k < lower_end; ++k) {
      const int j = lower_[at(k)];
      if (dropped_[at(j)]) continue;
      take_lower(k, j);
      int m = upper_begin_[at(j)];
      const int end = upper_begin_[at(j) + 1];
      const auto l = factors_of(&lower_values_[3 * at(k)]);
      const Row4* upper = upper_values_.data() + 3 * at(m);
      if (paired_[at(j)] && k + 1 < lower_end && !dropped_[at(j) + 1]) {
        subtract_product(l, upper, &work_[3 * (at(j) + 1)]);
        take_lower(++k, j + 1);
        const auto next_l = factors_of(&lower_values_[3 * at(k)]);
        const Row4* next_upper = upper_values_.data() + 3 * at(end);
        for (++m, upper += 3; m < end; ++m, upper += 3, next_upper += 3) {
          subtract_products(l, upper, next_l, next_upper, &work_[3 * at(upper_[at(m)])]);
        }
      } else {
        for (; m < end; ++m, upper += 3) subtract_product(l, upper, &work_[3 * at(upper_[at(m)])]);
      }
    }
    if (!invert_pivot(i)) regular = false;
    for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) {
      Row4* row = &work_[3 * at(upper_[at(k)])];
      for (int a = 0; a < 3; ++a) {
        upper_values_[3 * at(k) + at(a)] = row[a];
        row[a].setZero();
      }
    }
  }
  return regular;
}

void BlockLu::solve(const Vector& right_side, Vector& solution) {
  for (int i = 0; i < n_; ++i) {
    const auto original = 3 * static_cast<Index>(permutation_[at(i)]);
    Row4 sum(right_side[original], right_side[original + 1], right_side[original + 2], 0.0);
    if (!dropped_[at(i)]) {
      Row4 products[3] = {Row4::Zero(), Row4::Zero(), Row4::Zero()};
      for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) {
        const int j = lower_[at(k)];
        if (dropped_[at(j)]) continue;
        for (int a = 0; a < 3; ++a) products[a] += lower_values_[3 * at(k) + at(a)] * intermediate_[at(j)];
      }
      for (int a = 0; a < 3; ++a) sum[a] -= products[a].sum();
    }
    intermediate_[at(i)] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    if (!dropped_[at(i)]) {
      Row4 products[3] = {Row4::Zero(), Row4::Zero(), Row4::Zero()};
      for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) {
        const int j = upper_[at(k)];
        if (dropped_[at(j)]) continue;
        for (int a = 0; a < 3; ++a) products[a] += upper_values_[3 * at(k) + at(a)] * intermediate_[at(j)];
      }
      Row4 sum = intermediate_[at(i)];
      for (int a = 0; a < 3; ++a) sum[a] -= products[a].sum();
      Row4& result = intermediate_[at(i)];
      for (int a = 0; a < 3; ++a) result[a] = (inverse_diagonal_[3 * at(i) + at(a)] * sum).sum();
    }
    solution.segment<3>(3 * permutation_[at(i)]) = intermediate_[at(i)].head<3>().matrix();
  }
}

}  // namespace conebench::cascade
