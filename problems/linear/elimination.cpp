#include "problems/linear/elimination.hpp"

#include <metis.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

namespace conebench {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

template <class Visit>
void each_coupling(const BlockGraph& graph, const Visit& visit) {
  for (int i = 0; i < graph.rows(); ++i) {
    for (int k = graph.row_begins[at(i)]; k < graph.row_begins[at(i) + 1]; ++k) {
      if (graph.columns[at(k)] != i) visit(i, graph.columns[at(k)]);
    }
  }
}

/// visit(i, j) for the blocks left of the diagonal of each row i of the factor, which are paths in the elimination tree
/// (Liu); visit() may first set j's parent.
template <class Visit>
void each_factor_row(const Elimination& elimination, const Visit& visit) {
  std::vector<int> mark(elimination.order.size(), -1);
  for (int i = 0; i < static_cast<int>(mark.size()); ++i) {
    mark[at(i)] = i;
    for (int k = elimination.left_begin[at(i)]; k < elimination.left_begin[at(i) + 1]; ++k) {
      for (int node = elimination.left[at(k)]; mark[at(node)] != i; node = elimination.parent[at(node)]) {
        mark[at(node)] = i;
        visit(i, node);
      }
    }
  }
}

}  // namespace

Elimination eliminate(const BlockGraph& graph, std::vector<int> order) {
  const int n = graph.rows();
  Elimination result;
  std::vector<int>& index = result.index;
  index.resize(at(n));
  for (int i = 0; i < n; ++i) index[at(order[at(i)])] = i;
  result.order = std::move(order);

  // Where row i is to begin stands at i + 1 until it is filled.
  std::vector<int>& begin = result.left_begin;
  begin.assign(at(n) + 2, 0);
  each_coupling(graph, [&](int i, int j) { ++begin[at(std::max(index[at(i)], index[at(j)])) + 2]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  result.left.resize(at(begin.back()));
  each_coupling(graph, [&](int i, int j) {
    const auto [column, row] = std::minmax(index[at(i)], index[at(j)]);
    result.left[at(begin[at(row) + 1]++)] = column;
  });

  result.parent.assign(at(n), -1);
  result.below.assign(at(n), 0);
  each_factor_row(result, [&](int i, int node) {
    if (result.parent[at(node)] < 0) result.parent[at(node)] = i;
    ++result.below[at(node)];
  });
  for (const double count : result.below) {
    result.blocks += count;
    result.flops += flops_of_block_product * count * (count + 1.0);
  }
  return result;
}

FactorPattern factor_pattern(const Elimination& elimination) {
  FactorPattern pattern;
  pattern.begin.assign(elimination.below.size() + 2, 0);  // filled as in eliminate()
  std::partial_sum(elimination.below.begin(), elimination.below.end(), pattern.begin.begin() + 2);
  pattern.rows.resize(at(pattern.begin.back()));
  each_factor_row(elimination, [&](int i, int node) { pattern.rows[at(pattern.begin[at(node) + 1]++)] = i; });
  return pattern;
}

std::vector<int> minimum_degree_order(const BlockGraph& graph) {
  using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  const auto stored = static_cast<Eigen::Index>(graph.columns.size());
  const std::vector<double> ones(graph.columns.size(), 1.0);
  const Eigen::Map<const Pattern> pattern(graph.rows(), graph.rows(), stored, graph.row_begins.data(),
                                          graph.columns.data(), ones.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(Pattern(pattern), order);  // of the pattern with its transpose
  return {order.indices().data(), order.indices().data() + graph.rows()};
}

std::vector<int> nested_dissection_order(const BlockGraph& graph) {
  std::vector<std::vector<idx_t>> neighbours(at(graph.rows()));
  each_coupling(graph, [&](int i, int j) {
    neighbours[at(i)].push_back(j);
    neighbours[at(j)].push_back(i);
  });
  std::vector<idx_t> begin{0}, adjacent;
  for (auto& of_row : neighbours) {
    std::ranges::sort(of_row);
    const auto repeated = std::ranges::unique(of_row);
    adjacent.insert(adjacent.end(), of_row.begin(), repeated.begin());
    begin.push_back(static_cast<idx_t>(adjacent.size()));
  }
  idx_t rows = graph.rows();
  std::vector<idx_t> order(at(graph.rows())), index(order);
  static std::mutex one_at_a_time;  // METIS draws from rand(), which it seeds
  const std::lock_guard lock(one_at_a_time);
  const int status = METIS_NodeND(&rows, begin.data(), adjacent.data(), nullptr, nullptr, order.data(), index.data());
  if (status != METIS_OK) return minimum_degree_order(graph);
  return {order.begin(), order.end()};
}

}  // namespace conebench
