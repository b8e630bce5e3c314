#include "solvers/cascade/sparse_lu.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Operations of a factorization, and operations a contact, from which dense fronts are no slower than rows and the
/// time of a nested dissection comes back within two factorizations (docs/performance.md).
constexpr double large_from = 5e7;
constexpr double large_from_per_contact = 1e5;
/// Beyond this the order decides whether there is a factor at all.
constexpr double always_dissect_beyond = 5e8;  // bytes

bool large(double flops, int contacts) { return flops > std::max(large_from, large_from_per_contact * contacts); }

/// permutation[new] = old. The given order where a dense factor is as small as a sparse one.
std::vector<int> fill_reducing_order(const BlockGraph& graph) {
  if (graph.rows() > 8) return minimum_degree_order(graph);
  std::vector<int> natural(at(graph.rows()));
  std::iota(natural.begin(), natural.end(), 0);
  return natural;
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

void SparseLu::analyse(const BlockMatrix& matrix, Kernel kernel, double most_bytes) {
  n_ = matrix.rows();
  kernel_ = kernel;
  most_bytes_ = most_bytes;
  fronts_.reset();
  elimination_ = eliminate(matrix.graph(), fill_reducing_order(matrix.graph()));
  prepared_ = dissected_ = false;
  estimate();
  if (bytes_ > always_dissect_beyond) dissect(matrix.graph());
}

void SparseLu::estimate() {
  flops_ = elimination_.flops;
  bytes_ = sizeof(Row4) * (6.0 * elimination_.blocks + 3.0 * n_);
}

void SparseLu::dissect(const BlockGraph& graph) {
  dissected_ = true;
  auto order = nested_dissection_order(graph);
  if (!order) return;
  Elimination other = eliminate(graph, std::move(*order));
  if (other.flops < elimination_.flops) elimination_ = std::move(other);
  estimate();
}

void SparseLu::prepare(const BlockMatrix& matrix) {
  prepared_ = true;
  if (!dissected_ && large(flops_, n_)) dissect(matrix.graph());
  if (kernel_ == Kernel::fronts || (kernel_ == Kernel::automatic && large(flops_, n_))) {
    EliminationFronts fronts = analyse_block_fronts(matrix.graph(), elimination_.order);
    if (FrontLu::bytes(fronts) <= most_bytes_) {
      flops_ = FrontLu::flops(fronts);
      bytes_ = FrontLu::bytes(fronts);
      fronts_ = std::make_unique<FrontLu>(matrix, std::move(fronts));
    }
  }
  if (!fronts_) prepare_rows();
  elimination_ = {};
}

void SparseLu::prepare_rows() {
  permutation_ = std::move(elimination_.order);
  position_.resize(at(n_));
  for (int i = 0; i < n_; ++i) position_[at(permutation_[at(i)])] = i;

  const std::vector<int>& begin = elimination_.left_begin;
  upper_begin_.assign(1, 0);
  for (const int count : elimination_.below) upper_begin_.push_back(upper_begin_.back() + count);
  const auto blocks = at(upper_begin_.back());
  upper_.resize(blocks);
  lower_.resize(blocks);
  lower_begin_.assign(at(n_) + 1, 0);
  std::vector<int> mark(at(n_), -1), next(upper_begin_.begin(), upper_begin_.end() - 1);
  for (int i = 0; i < n_; ++i) {
    mark[at(i)] = i;
    int count = 0;
    for (int k = begin[at(i)]; k < begin[at(i) + 1]; ++k) {
      for (int node = elimination_.left[at(k)]; mark[at(node)] != i; node = elimination_.parent[at(node)], ++count) {
        mark[at(node)] = i;
        upper_[at(next[at(node)]++)] = i;
      }
    }
    lower_begin_[at(i) + 1] = lower_begin_[at(i)] + count;
  }
  next.assign(lower_begin_.begin(), lower_begin_.end() - 1);
  for (int j = 0; j < n_; ++j) {
    for (int k = upper_begin_[at(j)]; k < upper_begin_[at(j) + 1]; ++k) lower_[at(next[at(upper_[at(k)])]++)] = j;
  }
  paired_.assign(at(n_), 0);
  for (int j = 0; j + 1 < n_; ++j) {
    const int size = upper_begin_[at(j) + 1] - upper_begin_[at(j)];
    const int next_size = upper_begin_[at(j) + 2] - upper_begin_[at(j) + 1];
    paired_[at(j)] = size == next_size + 1 && upper_[at(upper_begin_[at(j)])] == j + 1;
  }
  lower_values_.resize(3 * blocks);
  upper_values_.resize(3 * blocks);
  inverse_diagonal_.resize(3 * at(n_));
  right_rows_.resize(3 * at(n_));
  work_.assign(3 * at(n_), Row4::Zero());
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

void SparseLu::load_row(int i, const BlockMatrix& matrix, const Block& left, const Block& diagonal) {
  const int original = permutation_[at(i)];
  for (int a = 0; a < 3; ++a) work_[3 * at(i) + at(a)] << diagonal(a, 0), diagonal(a, 1), diagonal(a, 2), 0.0;
  for (int k = matrix.row_begin(original); k < matrix.row_begin(original + 1); ++k) {
    const int column = matrix.column(k);
    const int j = position_[at(column)];
    if (dropped_[at(j)]) continue;
    const double* g = matrix.block(k).data();
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

void SparseLu::take_lower(int k, int j) {
  Row4* value = &work_[3 * at(j)];
  const Row4* inverse = &inverse_diagonal_[3 * at(j)];
  Row4* lower = &lower_values_[3 * at(k)];
  for (int a = 0; a < 3; ++a) {
    lower[a] = value[a][0] * inverse[0] + value[a][1] * inverse[1] + value[a][2] * inverse[2];
    value[a].setZero();
  }
}

bool SparseLu::invert_pivot(int i) {
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

bool SparseLu::factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
                      const std::vector<Block>& diagonal, const std::vector<char>& dropped) {
  ++factorizations_;
  if (!prepared_) prepare(matrix);
  if (fronts_) {
    const bool regular = fronts_->factor(matrix, left, right, diagonal, dropped);
    determinant_sign_ = fronts_->determinant_sign();
    return regular;
  }
  bool regular = true;
  determinant_sign_ = 1;
  for (int i = 0; i < n_; ++i) {
    dropped_[at(i)] = dropped[at(permutation_[at(i)])] == FrontLu::everything;
    const Block& r = right[at(i)];
    for (int a = 0; a < 3; ++a) right_rows_[3 * at(i) + at(a)] << r(a, 0), r(a, 1), r(a, 2), 0.0;
  }
  for (int i = 0; i < n_; ++i) {
    if (dropped_[at(i)]) continue;
    const int original = permutation_[at(i)];
    load_row(i, matrix, left[at(original)], diagonal[at(original)]);
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

void SparseLu::solve(const Vector& right_side, Vector& solution) {
  if (fronts_) return fronts_->solve(right_side, solution);
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
