#include "solvers/cascade/sparse_lu.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstring>
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

void prefetch(const Eigen::Matrix3d& block) {
  __builtin_prefetch(block.data());
  __builtin_prefetch(block.data() + 8);
}

/// Three entries of a packed block, and a fourth that stands behind them and never counts.
template <class Row>
[[gnu::always_inline]] inline Row row_at(const double* entries) {
  Row row;
  std::memcpy(&row, entries, sizeof(Row));
  return row;
}

/// Rows of a packed block, first to last: each write reaches one entry into the next row, or the next block.
template <class Row>
[[gnu::always_inline]] inline void put_row(const Row& row, double* entries) {
  std::memcpy(entries, &row, sizeof(Row));
}

/// The nine entries of a block of the lower factor.
struct Factors {
  const double l00, l01, l02, l10, l11, l12, l20, l21, l22;

  explicit Factors(const double* l)
      : l00(l[0]), l01(l[1]), l02(l[2]), l10(l[3]), l11(l[4]), l12(l[5]), l20(l[6]), l21(l[7]), l22(l[8]) {}

  /// target −= this upper.
  template <class Row>
  [[gnu::always_inline]] void subtract_product(const double* upper, Row* target) const {
    const Row u0 = row_at<Row>(upper), u1 = row_at<Row>(upper + 3), u2 = row_at<Row>(upper + 6);
    target[0] -= l00 * u0 + l01 * u1 + l02 * u2;
    target[1] -= l10 * u0 + l11 * u1 + l12 * u2;
    target[2] -= l20 * u0 + l21 * u1 + l22 * u2;
  }
};

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
  bytes_ = sizeof(double) * (18.0 * elimination_.blocks + 12.0 * n_);
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
  if (!fronts_) prepare_rows(matrix);
  elimination_ = {};
}

void SparseLu::prepare_rows(const BlockMatrix& matrix) {
  permutation_ = std::move(elimination_.order);
  std::vector<int> position(at(n_));
  for (int i = 0; i < n_; ++i) position[at(permutation_[at(i)])] = i;
  entry_begin_.assign(1, 0);
  entries_.clear();
  for (const int original : permutation_) {
    for (int k = matrix.row_begin(original); k < matrix.row_begin(original + 1); ++k)
      entries_.push_back({k, position[at(matrix.column(k))]});
    entry_begin_.push_back(static_cast<int>(entries_.size()));
  }

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
  // The fourth entry of the last row is read.
  lower_values_.assign(9 * blocks + 1, 0.0);
  upper_values_.assign(9 * blocks + 1, 0.0);
  inverse_diagonal_.resize(3 * at(n_));
  right_rows_.resize(3 * at(n_));
  work_.assign(3 * at(n_), Row4{});
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

void SparseLu::prefetch_row(int i, const BlockMatrix& matrix, const std::vector<Block>& left,
                            const std::vector<Block>& diagonal) const {
  if (i >= n_) return;
  prefetch(left[at(permutation_[at(i)])]);
  prefetch(diagonal[at(permutation_[at(i)])]);
  for (int k = entry_begin_[at(i)]; k < entry_begin_[at(i) + 1]; ++k) prefetch(matrix.block(entries_[at(k)].block));
}

void SparseLu::load_row(int i, const BlockMatrix& matrix, const Block& left, const Block& diagonal) {
  const double* d = diagonal.data();
  const double* l = left.data();
  Row4* own = &work_[3 * at(i)];
  for (int a = 0; a < 3; ++a) own[a] = Row4{d[a], d[3 + a], d[6 + a], 0.0};
  for (int k = entry_begin_[at(i)]; k < entry_begin_[at(i) + 1]; ++k) {
    const Entry& entry = entries_[at(k)];
    if (dropped_[at(entry.column)]) continue;
    const double* g = matrix.block(entry.block).data();
    const Row4* right = &right_rows_[3 * at(entry.column)];
    const Row4 r0 = right[0], r1 = right[1], r2 = right[2];
    const Row4 p0 = g[0] * r0 + g[3] * r1 + g[6] * r2;
    const Row4 p1 = g[1] * r0 + g[4] * r1 + g[7] * r2;
    const Row4 p2 = g[2] * r0 + g[5] * r1 + g[8] * r2;
    Row4* row = &work_[3 * at(entry.column)];
    row[0] += l[0] * p0 + l[3] * p1 + l[6] * p2;
    row[1] += l[1] * p0 + l[4] * p1 + l[7] * p2;
    row[2] += l[2] * p0 + l[5] * p1 + l[8] * p2;
  }
}

void SparseLu::take_lower(int k, int j) {
  Row4* value = &work_[3 * at(j)];
  const Row4* inverse = &inverse_diagonal_[3 * at(j)];
  double* lower = &lower_values_[9 * at(k)];
  const Row4 i0 = inverse[0], i1 = inverse[1], i2 = inverse[2];
  for (int a = 0; a < 3; ++a) {
    put_row(Row4(value[a][0] * i0 + value[a][1] * i1 + value[a][2] * i2), lower + 3 * a);
    value[a] = Row4{};
  }
}

bool SparseLu::invert_pivot(int i) {
  bool regular = true;
  Row4* rows = &work_[3 * at(i)];
  const auto row = [&](int a) { return Eigen::Vector3d(rows[a][0], rows[a][1], rows[a][2]); };
  Eigen::Vector3d first = row(1).cross(row(2));
  double determinant = row(0).dot(first);
  if (determinant < 0.0) determinant_sign_ = -determinant_sign_;
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
  for (int a = 0; a < 3; ++a) {
    inverse_diagonal_[3 * at(i) + at(a)] = Row4{first[a] * scale, second[a] * scale, third[a] * scale, 0.0};
    rows[a] = Row4{};
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
    if (i + 8 < n_) prefetch(right[at(permutation_[at(i + 8)])]);
    const double* r = right[at(permutation_[at(i)])].data();
    for (std::size_t a = 0; a < 3; ++a) right_rows_[3 * at(i) + a] = Row4{r[a], r[3 + a], r[6 + a], 0.0};
  }
  for (int i = 0; i < n_; ++i) {
    prefetch_row(i + 4, matrix, left, diagonal);
    if (dropped_[at(i)]) continue;
    const int original = permutation_[at(i)];
    load_row(i, matrix, left[at(original)], diagonal[at(original)]);
    eliminate_lower(i);
    if (!invert_pivot(i)) regular = false;
    for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) {
      Row4* row = &work_[3 * at(upper_[at(k)])];
      for (int a = 0; a < 3; ++a) {
        put_row(row[a], &upper_values_[9 * at(k) + 3 * at(a)]);
        row[a] = Row4{};
      }
    }
  }
  return regular;
}

void SparseLu::eliminate_lower(int i) {
  Row4* const work = work_.data();
  const int* const columns = upper_.data();
  const int lower_end = lower_begin_[at(i) + 1];
  for (int k = lower_begin_[at(i)]; k < lower_end; ++k) {
    const int j = lower_[at(k)];
    if (dropped_[at(j)]) continue;
    take_lower(k, j);
    const Factors l(&lower_values_[9 * at(k)]);
    int m = upper_begin_[at(j)];
    const int end = upper_begin_[at(j) + 1];
    const double* upper = upper_values_.data() + 9 * at(m);
    if (paired_[at(j)] && k + 1 < lower_end && !dropped_[at(j) + 1]) {
      l.subtract_product(upper, work + 3 * (at(j) + 1));
      take_lower(++k, j + 1);
      const Factors next(&lower_values_[9 * at(k)]);
      const double* next_upper = upper_values_.data() + 9 * at(end);
      for (++m, upper += 9; m < end; ++m, upper += 9, next_upper += 9) {
        Row4* target = work + 3 * at(columns[m]);
        l.subtract_product(upper, target);
        next.subtract_product(next_upper, target);
      }
    } else {
      for (; m < end; ++m, upper += 9) l.subtract_product(upper, work + 3 * at(columns[m]));
    }
  }
}

void SparseLu::solve(const Vector& right_side, Vector& solution) {
  if (fronts_) return fronts_->solve(right_side, solution);
  // Subtracts from `rest` the products of blocks begin … end − 1 with what stands in intermediate_.
  const auto subtract = [&](const std::vector<int>& columns, const std::vector<double>& values, int begin, int end,
                            Row4& rest) {
    Row4 products[3] = {};
    for (int k = begin; k < end; ++k) {
      const int j = columns[at(k)];
      if (dropped_[at(j)]) continue;
      for (std::size_t a = 0; a < 3; ++a) {
        products[a] += row_at<Row4>(&values[9 * at(k) + 3 * a]) * intermediate_[at(j)];
      }
    }
    for (int a = 0; a < 3; ++a) rest[a] -= products[a][0] + products[a][1] + products[a][2];
  };
  for (int i = 0; i < n_; ++i) {
    const double* given = right_side.data() + 3 * static_cast<Index>(permutation_[at(i)]);
    Row4 rest{given[0], given[1], given[2], 0.0};
    if (!dropped_[at(i)]) subtract(lower_, lower_values_, lower_begin_[at(i)], lower_begin_[at(i) + 1], rest);
    intermediate_[at(i)] = rest;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    Row4& result = intermediate_[at(i)];
    if (!dropped_[at(i)]) {
      Row4 rest = result;
      subtract(upper_, upper_values_, upper_begin_[at(i)], upper_begin_[at(i) + 1], rest);
      for (int a = 0; a < 3; ++a) {
        const Row4 products = inverse_diagonal_[3 * at(i) + at(a)] * rest;
        result[a] = products[0] + products[1] + products[2];
      }
    }
    double* out = solution.data() + 3 * static_cast<Index>(permutation_[at(i)]);
    for (int a = 0; a < 3; ++a) out[a] = result[a];
  }
}

}  // namespace conebench::cascade
