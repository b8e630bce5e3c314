#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/linear/elimination_fronts.hpp"

namespace conebench::cascade {

/// What eliminating a block matrix with a symmetric pattern in a given order fills, without the pattern of the factors.
struct Elimination {
  std::vector<int> order;             ///< old[new]
  std::vector<int> left_begin, left;  ///< by new rows: columns left of the diagonal of the graph with its transpose
  std::vector<int> parent;            ///< elimination tree by new rows, −1 for a root
  std::vector<int> below;             ///< blocks of each column of the factor below the diagonal
  double blocks = 0.0;                ///< their sum
  double flops = 0.0;                 ///< of an LU of 3×3 blocks, 54 a block product
};

Elimination eliminate(const BlockGraph& graph, std::vector<int> order);

/// METIS's multilevel nested dissection (Karypis, Kumar 1998) of the graph with its transpose, with a fixed seed:
/// old[new]. Nothing where the build has no METIS or it fails.
std::optional<std::vector<int>> nested_dissection_order(const BlockGraph& graph);

/// SolverInfo::variant of all that factors in these orders, which decide how sums round: empty with METIS 5.1.
std::string order_variant();

}  // namespace conebench::cascade
