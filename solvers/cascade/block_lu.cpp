#include "solvers/cascade/block_lu.hpp"

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <algorithm>
#include <cmath>

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Fill-reducing order: permutation[new] = old.
std::vector<int> minimum_degree_order(const ScaledProblem& problem) {
  const int n = problem.contacts();
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    for (int k = problem.row_begin(i); k < problem.row_begin(i + 1); ++k) {
      entries.emplace_back(i, problem.column(k), 1.0);
      entries.emplace_back(problem.column(k), i, 1.0);
    }
  }
  SparseMatrix graph(n, n);
  graph.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(graph, order);
  return {order.indices().data(), order.indices().data() + n};
}

}  // namespace

void BlockLu::analyse(const ScaledProblem& problem) {
  n_ = problem.contacts();
  row_begin_.clear();
  columns_.clear();
  for (int i = 0; i < n_; ++i) row_begin_.push_back(problem.row_begin(i));
  row_begin_.push_back(problem.stored_blocks());
  for (int k = 0; k < problem.stored_blocks(); ++k) columns_.push_back(problem.column(k));

  permutation_ = n_ > 0 ? minimum_degree_order(problem) : std::vector<int>{};
  position_.resize(at(n_));
  for (int i = 0; i < n_; ++i) position_[at(permutation_[at(i)])] = i;

  std::vector<std::vector<int>> below(at(n_));  // columns left of the diagonal, of the symmetrised pattern
  for (int old = 0; old < n_; ++old) {
    for (int k = row_begin_[at(old)]; k < row_begin_[at(old) + 1]; ++k) {
      const int a = position_[at(old)];
      const int b = position_[at(columns_[at(k)])];
      if (a != b) below[at(std::max(a, b))].push_back(std::min(a, b));
    }
  }

  // Elimination tree with path compression, then each row's pattern as the union of paths in it (Liu).
  std::vector<int> parent(at(n_), -1), ancestor(at(n_), -1), mark(at(n_), -1);
  lower_begin_.assign(1, 0);
  lower_.clear();
  for (int i = 0; i < n_; ++i) {
    for (const int start : below[at(i)]) {
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
    for (const int start : below[at(i)]) {
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
  upper_values_.resize(3 * upper_.size());
  work_.resize(3 * at(n_));
  lower_values_.resize(lower_.size());
  inverse_diagonal_.resize(at(n_));
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

void BlockLu::load_row(int i, int original, const std::vector<Block>& blocks, const Block& diagonal,
                       const std::vector<char>& dropped) {
  const auto clear = [&](int j) {
    for (int a = 0; a < 3; ++a) work_[3 * at(j) + at(a)].setZero();
  };
  for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) clear(lower_[at(k)]);
  for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) clear(upper_[at(k)]);
  for (int a = 0; a < 3; ++a) work_[3 * at(i) + at(a)] << diagonal(a, 0), diagonal(a, 1), diagonal(a, 2), 0.0;
  for (int k = row_begin_[at(original)]; k < row_begin_[at(original) + 1]; ++k) {
    const int column = columns_[at(k)];
    if (dropped[at(column)]) continue;
    const Block& block = blocks[at(k)];
    Row4* row = &work_[3 * at(position_[at(column)])];
    for (int a = 0; a < 3; ++a) row[a] += Row4(block(a, 0), block(a, 1), block(a, 2), 0.0);
  }
}

bool BlockLu::factor(const std::vector<Block>& blocks, const std::vector<Block>& diagonal,
                     const std::vector<char>& dropped) {
  bool regular = true;
  determinant_sign_ = 1;
  dropped_ = dropped;
  ++factorizations_;
  for (int i = 0; i < n_; ++i) {
    const int original = permutation_[at(i)];
    if (dropped[at(original)]) {
      inverse_diagonal_[at(i)].setIdentity();
      continue;
    }
    load_row(i, original, blocks, diagonal[at(original)], dropped);
    for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) {
      const int j = lower_[at(k)];
      if (dropped[at(permutation_[at(j)])]) continue;
      const Row4* left = &work_[3 * at(j)];
      Block value;
      for (int a = 0; a < 3; ++a) value.row(a) = left[a].head<3>().matrix().transpose();
      const Block l = value * inverse_diagonal_[at(j)];
      lower_values_[at(k)] = l;
      const Row4* upper = upper_values_.data() + 3 * at(upper_begin_[at(j)]);
      for (int m = upper_begin_[at(j)]; m < upper_begin_[at(j) + 1]; ++m, upper += 3) {
        Row4* target = &work_[3 * at(upper_[at(m)])];
        target[0] -= l(0, 0) * upper[0] + l(0, 1) * upper[1] + l(0, 2) * upper[2];
        target[1] -= l(1, 0) * upper[0] + l(1, 1) * upper[1] + l(1, 2) * upper[2];
        target[2] -= l(2, 0) * upper[0] + l(2, 1) * upper[1] + l(2, 2) * upper[2];
      }
    }
    Block pivot;
    for (int a = 0; a < 3; ++a) pivot.row(a) = work_[3 * at(i) + at(a)].head<3>().matrix().transpose();
    const double determinant = pivot.determinant();
    if (determinant < 0.0) determinant_sign_ = -determinant_sign_;
    const double magnitude = pivot.cwiseAbs().maxCoeff();
    if (!(std::abs(determinant) > 1e-300) || !(magnitude < 1e300)) {
      regular = false;
      pivot += Block::Identity() * (1e-14 + 1e-12 * magnitude);
    }
    inverse_diagonal_[at(i)] = pivot.inverse();
    for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) {
      for (int a = 0; a < 3; ++a) upper_values_[3 * at(k) + at(a)] = work_[3 * at(upper_[at(k)]) + at(a)];
    }
  }
  return regular;
}

void BlockLu::solve(const Vector& right_side, Vector& solution) {
  for (int i = 0; i < n_; ++i) {
    const int original = permutation_[at(i)];
    Eigen::Vector3d sum = right_side.segment<3>(3 * original);
    if (!dropped_[at(original)]) {
      for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) {
        const int j = lower_[at(k)];
        if (!dropped_[at(permutation_[at(j)])]) sum.noalias() -= lower_values_[at(k)] * intermediate_[at(j)];
      }
    }
    intermediate_[at(i)] = sum;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    const int original = permutation_[at(i)];
    if (!dropped_[at(original)]) {
      Eigen::Vector3d sum = intermediate_[at(i)];
      for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k) {
        const int j = upper_[at(k)];
        if (dropped_[at(permutation_[at(j)])]) continue;
        const Row4* upper = &upper_values_[3 * at(k)];
        const Eigen::Array4d x(intermediate_[at(j)][0], intermediate_[at(j)][1], intermediate_[at(j)][2], 0.0);
        for (int a = 0; a < 3; ++a) sum[a] -= (upper[a] * x).sum();
      }
      intermediate_[at(i)].noalias() = inverse_diagonal_[at(i)] * sum;
    }
    solution.segment<3>(3 * original) = intermediate_[at(i)];
  }
}

}  // namespace conebench::cascade
