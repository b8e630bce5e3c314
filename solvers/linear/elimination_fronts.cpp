#include "solvers/linear/elimination_fronts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "solvers/linear/elimination.hpp"

namespace conebench {

namespace {

using IntLists = std::vector<std::vector<int>>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Rows of each column of the factor below the diagonal, ascending. The first one is the column's parent.
IntLists factor_columns(const BlockGraph& graph, const std::vector<int>& old_block) {
  const FactorPattern pattern = factor_pattern(eliminate(graph, old_block));
  IntLists columns;
  for (std::size_t j = 0; j < old_block.size(); ++j) {
    columns.emplace_back(pattern.rows.begin() + pattern.begin[j], pattern.rows.begin() + pattern.begin[j + 1]);
  }
  return columns;
}

int parent_of(const std::vector<int>& rows) { return rows.empty() ? -1 : rows.front(); }

/// Places in an order in which every subtree is contiguous.
std::vector<int> postorder(const IntLists& columns) {
  const auto count = static_cast<int>(columns.size());
  std::vector<int> first_child(columns.size(), -1), sibling(columns.size(), -1), order, stack;
  for (int j = count - 1; j >= 0; --j) {
    const int parent = parent_of(columns[at(j)]);
    if (parent >= 0) sibling[at(j)] = std::exchange(first_child[at(parent)], j);
  }
  order.reserve(columns.size());
  for (int root = 0; root < count; ++root) {
    if (parent_of(columns[at(root)]) >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int node = stack.back();
      if (const int child = std::exchange(first_child[at(node)], -1); child >= 0) {
        stack.push_back(child);
        continue;
      }
      stack.pop_back();
      order.push_back(node);
      if (sibling[at(node)] >= 0) stack.push_back(sibling[at(node)]);
    }
  }
  return order;
}

IntLists relabelled(const IntLists& columns, const std::vector<int>& order) {
  std::vector<int> label(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) label[at(order[p])] = static_cast<int>(p);
  IntLists result(columns.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    result[p] = columns[at(order[p])];
    for (int& i : result[p]) i = label[at(i)];
    std::sort(result[p].begin(), result[p].end());
  }
  return result;
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

std::vector<Supernode> supernodes(const IntLists& columns, const std::vector<int>& sizes) {
  std::vector<Supernode> nodes;
  for (int j = 0; j < static_cast<int>(columns.size()); ++j) {
    Supernode node{.first = j, .last = j, .pivots = static_cast<double>(sizes[at(j)])};
    for (const int i : columns[at(j)]) node.below += sizes[at(i)];
    // Only the column directly before is contiguous with this one; merging may cascade down the last children.
    while (!nodes.empty() && parent_of(columns[at(nodes.back().last)]) >= node.first &&
           parent_of(columns[at(nodes.back().last)]) <= node.last) {
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

}  // namespace

EliminationFronts single_front(Index rows) {
  EliminationFronts all;
  all.old_row.resize(at(rows));
  std::iota(all.old_row.begin(), all.old_row.end(), 0);
  if (rows > 0) all.fronts.push_back({.pivots = static_cast<int>(rows), .rows = static_cast<int>(rows)});
  measure(all);
  return all;
}

namespace {

/// `sizes`, `offsets`: rows of each block and where they begin, by old blocks.
EliminationFronts analyse(const BlockGraph& graph, std::vector<int> old_block, const std::vector<int>& old_sizes,
                          const std::vector<int>& offsets) {
  IntLists columns = factor_columns(graph, old_block);
  const std::vector<int> order = postorder(columns);
  columns = relabelled(columns, order);
  std::vector<int> sizes, first_row;
  EliminationFronts all;
  {
    std::vector<int> reordered;
    for (const int place : order) reordered.push_back(old_block[at(place)]);
    old_block = std::move(reordered);
  }
  for (const int block : old_block) {
    sizes.push_back(old_sizes[at(block)]);
    first_row.push_back(static_cast<int>(all.old_row.size()));
    for (int r = 0; r < sizes.back(); ++r) all.old_row.push_back(offsets[at(block)] + r);
  }

  const std::vector<Supernode> nodes = supernodes(columns, sizes);
  std::vector<int> front_of(columns.size());
  for (std::size_t f = 0; f < nodes.size(); ++f) {
    for (int j = nodes[f].first; j <= nodes[f].last; ++j) front_of[at(j)] = static_cast<int>(f);
  }
  std::vector<int> position(all.old_row.size());
  for (const Supernode& node : nodes) {
    EliminationFront front;
    front.first_pivot = first_row[at(node.first)];
    front.pivots = static_cast<int>(node.pivots);
    front.rows = front.pivots + static_cast<int>(node.below);
    const int parent = parent_of(columns[at(node.last)]);
    front.parent = parent < 0 ? -1 : front_of[at(parent)];
    front.row_begin = static_cast<std::int64_t>(all.row_list.size());
    for (const int i : columns[at(node.last)]) {
      for (int r = 0; r < sizes[at(i)]; ++r) all.row_list.push_back(first_row[at(i)] + r);
    }
    all.fronts.push_back(front);
  }
  all.parent_position.resize(all.row_list.size());
  for (std::size_t p = 0; p < all.fronts.size(); ++p) {
    const EliminationFront& front = all.fronts[p];
    if (front.parent < 0) continue;
    const EliminationFront& parent = all.fronts[at(front.parent)];
    const auto parent_rows = all.row_list.begin() + parent.row_begin;
    auto next = parent_rows;
    for (int k = 0; k < front.rows - front.pivots; ++k) {
      const int row = all.row_list[at(front.row_begin + k)];
      if (row < parent.first_pivot + parent.pivots) {
        all.parent_position[at(front.row_begin + k)] = row - parent.first_pivot;
      } else {
        while (*next != row) ++next;
        all.parent_position[at(front.row_begin + k)] = parent.pivots + static_cast<int>(next - parent_rows);
      }
    }
  }
  measure(all);
  return all;
}

}  // namespace

EliminationFronts analyse_fronts(const BlockSparseMatrix& matrix) {
  std::vector<int> sizes, offsets;
  for (Index block = 0; block < matrix.block_rows(); ++block) {
    sizes.push_back(matrix.block_size(block));
    offsets.push_back(static_cast<int>(matrix.block_offset(block)));
  }
  const BlockGraph graph{matrix.row_begins(), matrix.columns()};
  return analyse(graph, minimum_degree_order(graph), sizes, offsets);
}

}  // namespace conebench
