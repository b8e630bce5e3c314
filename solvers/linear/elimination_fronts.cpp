#include "solvers/linear/elimination_fronts.hpp"

#include <algorithm>
#include <numeric>

#include "solvers/linear/elimination.hpp"

namespace conebench {

namespace {

constexpr double worth_sparse = 0.7;  ///< operations over those of a dense factorization

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The order with every subtree contiguous, its root last.
std::vector<int> postordered(const Elimination& elimination) {
  const std::size_t count = elimination.order.size();
  // By subtrees, all roots below one more node: their size; the places of a node's children not yet given end there.
  std::vector<int> size(count + 1, 1), end(count + 1, static_cast<int>(count)), order(count);
  const auto parent = [&](std::size_t j) { return elimination.parent[j] < 0 ? count : at(elimination.parent[j]); };
  for (std::size_t j = 0; j < count; ++j) size[parent(j)] += size[j];
  for (std::size_t j = count; j-- > 0;) {
    int& last = end[parent(j)];
    end[j] = last - 1;
    order[at(end[j])] = elimination.order[j];
    last -= size[j];
  }
  return order;
}

/// A range of block columns [first, last] that shares the rows below it, those of `last` (and of merged children, which
/// the last one's hold too).
struct Supernode {
  int first = 0;
  int last = 0;
  double pivots = 0.0;  ///< scalar rows
  double below = 0.0;
  double zeros = 0.0;  ///< explicit zeros in the panel, by merging
};

double panel(double pivots, double below) { return pivots * (pivots + 1.0) / 2.0 + pivots * below; }

/// Merges a child into its parent where that adds few zeros: wider panels are worth some. The thresholds follow
/// CHOLMOD's idea (Chen, Davis, Hager, Rajamanickam 2008): generous for narrow panels.
bool worth_merging(const Supernode& child, const Supernode& parent, double& zeros) {
  const double pivots = child.pivots + parent.pivots;
  const double all = panel(pivots, parent.below);
  zeros = all - (panel(child.pivots, child.below) - child.zeros) - (panel(parent.pivots, parent.below) - parent.zeros);
  const double share = zeros / all;
  if (zeros <= 0.0) return true;
  if (pivots <= 12.0) return share < 0.5;
  return share < (pivots <= 32.0 ? 0.25 : 0.08);
}

/// `sizes`: scalar rows of each block, in the new order.
std::vector<Supernode> supernodes(const FactorPattern& pattern, const std::vector<int>& parent,
                                  const std::vector<int>& sizes) {
  std::vector<Supernode> nodes;
  for (int j = 0; j < static_cast<int>(sizes.size()); ++j) {
    Supernode node{.first = j, .last = j, .pivots = static_cast<double>(sizes[at(j)])};
    for (const int i : pattern.below(j)) node.below += sizes[at(i)];
    // Only the column directly before is contiguous with this one; merging may cascade down the last children.
    while (!nodes.empty() && parent[at(nodes.back().last)] >= node.first &&
           parent[at(nodes.back().last)] <= node.last) {
      const Supernode& child = nodes.back();
      double zeros = 0.0;
      if (!worth_merging(child, node, zeros)) break;
      node = {.first = child.first,
              .last = node.last,
              .pivots = child.pivots + node.pivots,
              .below = node.below,
              .zeros = std::max(zeros, 0.0)};
      nodes.pop_back();
    }
    nodes.push_back(node);
  }
  return nodes;
}

void measure(EliminationFronts& all) {
  std::vector<double> updates(all.fronts.size(), 0.0);
  std::vector<std::int64_t> waiting(all.fronts.size(), 0);
  std::int64_t alive = 0;
  for (std::size_t f = 0; f < all.fronts.size(); ++f) {
    EliminationFront& front = all.fronts[f];
    const auto below = static_cast<std::int64_t>(front.rows - front.pivots);
    front.value_begin = all.panel_values;
    all.panel_values += static_cast<std::int64_t>(front.rows) * front.pivots;
    all.most_rows = std::max(all.most_rows, front.rows);
    for (int j = 0; j < front.pivots; ++j) {
      const double r = front.rows - j;
      all.multiplications += r * (r + 1.0) / 2.0;
    }
    // The front's own update is made while those of its children are still there.
    all.stack_values = std::max(all.stack_values, alive + below * below);
    alive += below * below - waiting[f];
    if (front.parent >= 0) waiting[at(front.parent)] += below * below;
  }
}

/// All rows in one front, in the given order.
EliminationFronts single_front(Index rows) {
  EliminationFronts all;
  all.dense = true;
  all.old_row.resize(at(rows));
  std::iota(all.old_row.begin(), all.old_row.end(), 0);
  if (rows > 0) all.fronts.push_back({.pivots = static_cast<int>(rows), .rows = static_cast<int>(rows)});
  measure(all);
  return all;
}

EliminationFronts sparse_fronts(const BlockSparseMatrix& matrix) {
  const BlockGraph graph{matrix.row_begins(), matrix.columns()};
  const Elimination elimination = eliminate(graph, postordered(eliminate(graph, minimum_degree_order(graph))));
  const FactorPattern pattern = factor_pattern(elimination);
  EliminationFronts all;
  std::vector<int> sizes, first_row, front_of;
  for (const int block : elimination.order) {
    sizes.push_back(matrix.block_size(block));
    first_row.push_back(static_cast<int>(all.old_row.size()));
    for (int r = 0; r < sizes.back(); ++r) all.old_row.push_back(static_cast<int>(matrix.block_offset(block)) + r);
  }
  const std::vector<Supernode> nodes = supernodes(pattern, elimination.parent, sizes);
  for (std::size_t f = 0; f < nodes.size(); ++f) front_of.resize(at(nodes[f].last) + 1, static_cast<int>(f));
  for (const Supernode& node : nodes) {
    EliminationFront front;
    front.first_pivot = first_row[at(node.first)];
    front.pivots = static_cast<int>(node.pivots);
    front.rows = front.pivots + static_cast<int>(node.below);
    const int parent = elimination.parent[at(node.last)];
    front.parent = parent < 0 ? -1 : front_of[at(parent)];
    front.row_begin = static_cast<std::int64_t>(all.row_list.size());
    for (const int i : pattern.below(node.last)) {
      for (int r = 0; r < sizes[at(i)]; ++r) all.row_list.push_back(first_row[at(i)] + r);
    }
    all.fronts.push_back(front);
  }
  for (const EliminationFront& front : all.fronts) {
    for (int k = 0; k < front.rows - front.pivots; ++k)
      all.parent_position.push_back(all.position(all.fronts[at(front.parent)], all.row_list[at(front.row_begin + k)]));
  }
  measure(all);
  return all;
}

}  // namespace

int EliminationFronts::position(const EliminationFront& front, int i) const {
  if (i < front.first_pivot + front.pivots) return i - front.first_pivot;
  const auto begin = row_list.begin() + front.row_begin;
  const auto end = begin + (front.rows - front.pivots);
  const auto found = std::lower_bound(begin, end, i);
  return found == end || *found != i ? -1 : front.pivots + static_cast<int>(found - begin);
}

EliminationFronts analyse_fronts(const BlockSparseMatrix& matrix, Storage storage) {
  if (storage == Storage::sparse) return sparse_fronts(matrix);
  EliminationFronts one = single_front(matrix.rows());
  if (storage == Storage::dense || matrix.rows() <= few_rows) return one;
  EliminationFronts several = sparse_fronts(matrix);
  return several.multiplications < worth_sparse * one.multiplications ? several : one;
}

}  // namespace conebench
