#include "solvers/cascade/sparse_lu.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Operations of a factorization in 3D, and operations a contact, from which the time of a nested dissection comes back
/// within two factorizations (docs/performance.md).
constexpr double large_from = 5e7;
constexpr double large_from_per_contact = 1e5;
/// Beyond this the order decides whether there is a factor at all.
constexpr double always_dissect_beyond = 5e8;  // bytes

bool large(const Elimination& elimination) {
  return elimination.flops >
         std::max(large_from, large_from_per_contact * static_cast<double>(elimination.order.size()));
}

/// permutation[new] = old. The given order where a dense factor is as small as a sparse one.
std::vector<int> fill_reducing_order(const BlockGraph& graph) {
  if (graph.rows() > 8) return minimum_degree_order(graph);
  std::vector<int> natural(at(graph.rows()));
  std::iota(natural.begin(), natural.end(), 0);
  return natural;
}

}  // namespace

void SparseLu::analyse(const BlockMatrix& matrix) {
  factors_.reset();
  elimination_ = eliminate(matrix.graph(), fill_reducing_order(matrix.graph()));
  dissected_ = false;
  estimate();
  if (bytes_ > always_dissect_beyond) dissect(matrix.graph());
}

void SparseLu::estimate() {
  flops_ = elimination_.flops;
  bytes_ = RowLu::bytes(elimination_);
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
  if (!dissected_ && large(elimination_)) dissect(matrix.graph());
  factors_.emplace(matrix, std::exchange(elimination_, {}));
}

bool SparseLu::factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
                      const std::vector<Block>& diagonal, const std::vector<char>& left_out) {
  ++factorizations_;
  if (!factors_) prepare(matrix);
  return factors_->factor(matrix, left, right, diagonal, left_out);
}

void SparseLu::solve(const Vector& right_side, Vector& solution) {
  if (factors_) factors_->solve(right_side, solution);
}

}  // namespace conebench::cascade
