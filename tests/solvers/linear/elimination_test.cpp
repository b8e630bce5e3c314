#include "solvers/linear/elimination.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "scenes/scene_table.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {
namespace {

ScaledProblem lattice(long edge) {
  return ScaledProblem((*require_scene("sphere-lattice"))->make({{"nx", edge}, {"ny", edge}, {"nz", edge}}, 1).value());
}

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
  const ScaledProblem problem = lattice(4);
  std::vector<int> natural(static_cast<std::size_t>(problem.contacts()));
  std::iota(natural.begin(), natural.end(), 0);
  for (const auto& order : {natural, minimum_degree_order(problem.graph())}) {
    const Elimination elimination = eliminate(problem.graph(), order);
    const std::vector<int> counts = filled_columns(problem.graph(), order);
    EXPECT_EQ(elimination.below, counts);
    double flops = 0.0;
    for (const double count : counts) flops += 54.0 * count * (count + 1.0);
    EXPECT_DOUBLE_EQ(elimination.flops, flops);
    EXPECT_DOUBLE_EQ(elimination.blocks, std::accumulate(counts.begin(), counts.end(), 0.0));
  }
}

}  // namespace
}  // namespace conebench::cascade
