#pragma once

#include <span>
#include <vector>

namespace conebench {

/// The positions of a square block matrix's blocks: row i holds columns[k] for k in [row_begins[i], row_begins[i + 1]).
struct BlockGraph {
  std::span<const int> row_begins;
  std::span<const int> columns;
  int rows() const { return row_begins.empty() ? 0 : static_cast<int>(row_begins.size()) - 1; }
};

/// AMD on the graph with its transpose: old[new].
std::vector<int> minimum_degree_order(const BlockGraph& graph);
/// Nested dissection by METIS on the same: old[new]. Takes some 10 ms for a thousand rows, and fills less where the
/// graph has no small separators: in space.
std::vector<int> nested_dissection_order(const BlockGraph& graph);

inline constexpr double flops_of_block_product = 2.0 * 3 * 3 * 3;

/// The symbolic analysis of every factorization: what eliminating a block matrix with a symmetric pattern in a given
/// order fills, without the pattern of the factors.
struct Elimination {
  std::vector<int> order, index;      ///< old[new], new[old]
  std::vector<int> left_begin, left;  ///< by new rows: columns left of the diagonal of the graph with its transpose
  std::vector<int> parent;            ///< elimination tree by new rows, −1 for a root
  std::vector<int> below;             ///< blocks of each column of the factor below the diagonal
  double blocks = 0.0;                ///< their sum
  double flops = 0.0;                 ///< of an LU of 3×3 blocks
};

Elimination eliminate(const BlockGraph& graph, std::vector<int> order);

/// The rows of each column of the factor below the diagonal, ascending: rows[k] for k in [begin[j], begin[j + 1]). The
/// first is the column's parent.
struct FactorPattern {
  std::vector<int> begin, rows;
  std::span<const int> below(int j) const {
    const auto at = static_cast<std::size_t>(j);
    return std::span(rows).subspan(static_cast<std::size_t>(begin[at]),
                                   static_cast<std::size_t>(begin[at + 1] - begin[at]));
  }
};
FactorPattern factor_pattern(const Elimination& elimination);

}  // namespace conebench
