#include "solvers/linear/elimination.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <utility>

#ifdef CONEBENCH_METIS
#include <metis.h>
#endif

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

void begin_rows(std::vector<int>& counts_after_first) {
  for (std::size_t i = 1; i < counts_after_first.size(); ++i) counts_after_first[i] += counts_after_first[i - 1];
}

}  // namespace

Elimination eliminate(const BlockGraph& graph, std::vector<int> order) {
  const int n = graph.rows();
  Elimination result;
  std::vector<int> place(at(n));
  for (int i = 0; i < n; ++i) place[at(order[at(i)])] = i;
  result.order = std::move(order);

  std::vector<int>& begin = result.left_begin;
  begin.assign(at(n) + 1, 0);
  each_coupling(graph, [&](int i, int j) { ++begin[at(std::max(place[at(i)], place[at(j)])) + 1]; });
  begin_rows(begin);
  result.left.resize(at(begin.back()));
  std::vector<int> next(begin.begin(), begin.end() - 1);
  each_coupling(graph, [&](int i, int j) {
    const auto [column, row] = std::minmax(place[at(i)], place[at(j)]);
    result.left[at(next[at(row)]++)] = column;
  });

  // Elimination tree with path compression; then each row of the factor is a union of paths in it (Liu).
  std::vector<int>& parent = result.parent;
  parent.assign(at(n), -1);
  result.below.assign(at(n), 0);
  std::vector<int> ancestor(at(n), -1), mark(at(n), -1);
  for (int i = 0; i < n; ++i) {
    for (int k = begin[at(i)]; k < begin[at(i) + 1]; ++k) {
      int node = result.left[at(k)];
      while (ancestor[at(node)] != -1 && ancestor[at(node)] != i) node = std::exchange(ancestor[at(node)], i);
      if (ancestor[at(node)] == -1) ancestor[at(node)] = parent[at(node)] = i;
    }
    mark[at(i)] = i;
    for (int k = begin[at(i)]; k < begin[at(i) + 1]; ++k) {
      for (int node = result.left[at(k)]; mark[at(node)] != i; node = parent[at(node)]) {
        mark[at(node)] = i;
        ++result.below[at(node)];
      }
    }
  }
  for (const double count : result.below) {
    result.blocks += count;
    result.flops += flops_of_block_product * count * (count + 1.0);
  }
  return result;
}

FactorPattern factor_pattern(const Elimination& elimination) {
  const std::size_t n = elimination.order.size();
  FactorPattern pattern;
  pattern.begin.assign(1, 0);
  for (const int count : elimination.below) pattern.begin.push_back(pattern.begin.back() + count);
  pattern.rows.resize(at(pattern.begin.back()));
  std::vector<int> mark(n, -1), next(pattern.begin.begin(), pattern.begin.end() - 1);
  for (int i = 0; i < static_cast<int>(n); ++i) {
    mark[at(i)] = i;
    for (int k = elimination.left_begin[at(i)]; k < elimination.left_begin[at(i) + 1]; ++k) {
      for (int node = elimination.left[at(k)]; mark[at(node)] != i; node = elimination.parent[at(node)]) {
        mark[at(node)] = i;
        pattern.rows[at(next[at(node)]++)] = i;
      }
    }
  }
  return pattern;
}

namespace {

using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

Pattern pattern_of(const BlockGraph& graph) {
  Pattern pattern(graph.rows(), graph.rows());
  const auto stored = static_cast<Eigen::Index>(graph.columns.size());
  pattern.resizeNonZeros(stored);
  std::copy(graph.row_begins.begin(), graph.row_begins.end(), pattern.outerIndexPtr());
  std::copy(graph.columns.begin(), graph.columns.end(), pattern.innerIndexPtr());
  std::fill_n(pattern.valuePtr(), stored, 1.0);
  return pattern;
}

}  // namespace

std::vector<int> minimum_degree_order(const BlockGraph& graph) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern_of(graph), order);  // of the pattern with its transpose
  return {order.indices().data(), order.indices().data() + graph.rows()};
}

#ifdef CONEBENCH_METIS
std::optional<std::vector<int>> nested_dissection_order(const BlockGraph& graph) {
  static_assert(sizeof(idx_t) == sizeof(int));
  // The neighbours of each row, each once, as METIS wants them.
  Pattern neighbours = pattern_of(graph);
  neighbours += Pattern(neighbours.transpose());
  neighbours.prune([](int i, int j, double) { return i != j; });
  if (neighbours.nonZeros() == 0) return std::nullopt;  // METIS divides by the number of edges

  idx_t rows = graph.rows();
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> order(at(rows)), place(at(rows));
  const int status = METIS_NodeND(&rows, neighbours.outerIndexPtr(), neighbours.innerIndexPtr(), nullptr, options,
                                  order.data(), place.data());
  if (status != METIS_OK) return std::nullopt;
  return order;
}

std::string order_variant() {
  if (METIS_VER_MAJOR == 5 && METIS_VER_MINOR == 1) return {};
  return "METIS " + std::to_string(METIS_VER_MAJOR) + "." + std::to_string(METIS_VER_MINOR);
}
#else
std::optional<std::vector<int>> nested_dissection_order(const BlockGraph&) { return std::nullopt; }

std::string order_variant() { return "without METIS"; }
#endif

}  // namespace conebench
