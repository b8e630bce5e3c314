#include "problems/linear/elimination.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <vector>

namespace conebench {
namespace {

/// The points of a cubic lattice, each coupled with itself and with its up to six neighbours.
struct Lattice {
  std::vector<int> begins{0}, columns;
  BlockGraph graph() const { return {begins, columns}; }

  explicit Lattice(int edge) {
    const auto inside = [&](int index) { return index >= 0 && index < edge; };
    for (int x = 0; x < edge; ++x) {
      for (int y = 0; y < edge; ++y) {
        for (int z = 0; z < edge; ++z) {
          const auto couple = [&](int i, int j, int k) {
            if (inside(i) && inside(j) && inside(k)) columns.push_back((i * edge + j) * edge + k);
          };
          couple(x - 1, y, z), couple(x, y - 1, z), couple(x, y, z - 1), couple(x, y, z);
          couple(x, y, z + 1), couple(x, y + 1, z), couple(x + 1, y, z);
          begins.push_back(static_cast<int>(columns.size()));
        }
      }
    }
  }
};

/// Blocks below the diagonal of each column, by filling a whole matrix.
std::vector<int> filled_columns(const BlockGraph& graph, const std::vector<int>& order) {
  const int n = graph.rows();
  Eigen::MatrixXi full = Eigen::MatrixXi::Zero(n, n), ordered(n, n);
  for (int i = 0; i < n; ++i) {
    for (int k = graph.row_begins[static_cast<std::size_t>(i)]; k < graph.row_begins[static_cast<std::size_t>(i) + 1];
         ++k)
      full(i, graph.columns[static_cast<std::size_t>(k)]) = full(graph.columns[static_cast<std::size_t>(k)], i) = 1;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      ordered(i, j) = full(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
  }
  std::vector<int> counts;
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      for (int j = k + 1; j < n; ++j) ordered(i, j) |= ordered(i, k) & ordered(k, j);
    }
    counts.push_back(ordered.col(k).tail(n - k - 1).sum());
  }
  return counts;
}

TEST(EliminationOrder, CountsWhatIsFilled) {
  const Lattice lattice(5);
  const BlockGraph graph = lattice.graph();
  std::vector<int> natural(static_cast<std::size_t>(graph.rows()));
  std::iota(natural.begin(), natural.end(), 0);
  for (const auto& order : {natural, minimum_degree_order(graph), nested_dissection_order(graph)}) {
    EXPECT_TRUE(std::ranges::is_permutation(order, natural));
    const Elimination elimination = eliminate(graph, order);
    const std::vector<int> counts = filled_columns(graph, order);
    EXPECT_EQ(elimination.below, counts);
    double flops = 0.0;
    for (const double count : counts) flops += 54.0 * count * (count + 1.0);
    EXPECT_DOUBLE_EQ(elimination.flops, flops);
    EXPECT_DOUBLE_EQ(elimination.blocks, std::accumulate(counts.begin(), counts.end(), 0.0));
  }
}

TEST(EliminationOrder, NestedDissectionTakesFewerOperationsOnALatticeAndRepeats) {
  const Lattice lattice(20);
  const std::vector<int> order = nested_dissection_order(lattice.graph());
  EXPECT_EQ(order, nested_dissection_order(lattice.graph()));
  EXPECT_LT(eliminate(lattice.graph(), order).flops,
            0.6 * eliminate(lattice.graph(), minimum_degree_order(lattice.graph())).flops);
}

TEST(EliminationOrder, NestedDissectionOrdersPiecesAndRowsWithoutNeighbours) {
  const std::vector<int> begins{0, 1, 3, 5, 6}, columns{0, 1, 2, 1, 2, 3};
  std::vector<int> order = nested_dissection_order({begins, columns});
  std::ranges::sort(order);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace conebench
