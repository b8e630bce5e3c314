#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Whether a row has bounds, or belongs to a cone of this kind.
enum class BlockCone : std::uint8_t {
  none,       ///< rows with bounds: joints, limits, intervals
  discs,      ///< groups of tangential rows apart
  ellipsoid,  ///< one group
  pyramid     ///< one group, bounded by the sum of its parts
};

/// The blocks of a problem in any order, as files, the interface of plug-ins and Python describe them. A cone's first
/// row is its normal.
struct BlockTable {
  std::vector<Index> first_row{0};  ///< one a block, and the number of rows
  Vector lower, upper;              ///< one a row [N s]: bilateral ±∞, limit 0 … ∞; NaN on a cone's rows
  std::vector<BlockCone> cone;      ///< one a block
  Vector mu;                        ///< one a row, 0 on normals and on rows with bounds [1, moments m]
  /// One a row: on tangential rows the number of their group, from 1. Empty: discs are {the first two tangential rows},
  /// {the rest}.
  std::vector<int> group;
  Vector shift;  ///< one a block: the cone's apex is at λ_N = −shift ≥ −∞ [N s]; empty: 0

  Index blocks() const { return static_cast<Index>(cone.size()); }
  Index rows() const { return first_row.back(); }
};

/// The blocks of a product, in its order, and the product's row of each row of the table.
struct BlockDescription {
  BlockTable table;
  GivenRows rows;
};
BlockDescription describe_blocks(const ConeProduct& cones);

/// The same over the product's own rows, where a contact's normal follows its first group.
struct OrderedBlocks {
  BlockTable table;
  std::vector<Index> normal_row;  ///< one a block; of a block of one row that row
};
OrderedBlocks blocks_in_order(const ConeProduct& cones);

/// The identity of a block that has none.
inline constexpr std::int64_t unknown_identity = std::numeric_limits<std::int64_t>::min();

/// What an engine, or any solver, answered when the problem was recorded.
struct EngineAnswer {
  std::string name;                        ///< of the engine and its solver, with the version
  Vector impulse;                          ///< in the rows of the table [N s]
  std::optional<std::int64_t> iterations;  ///< as it counts them
  std::optional<double> seconds, tolerance;
  std::string status;  ///< in its words; empty: not known
  std::string law;     ///< ncp or ccp, which it solved; empty: the problem's
};

/// A problem in the rows of a BlockTable.
struct GivenProblem {
  BlockTable blocks;
  std::optional<SparseMatrix> delassus;  ///< G, n × n; nothing: by the primal form
  bool dense = false;                    ///< G is to be kept as a dense matrix
  std::optional<PrimalForm> primal;      ///< J of n rows
  std::optional<Vector> free_term;       ///< g, n; nothing: J v_free + b
  std::optional<Vector> bias;            ///< b, n
  Vector compliance;                     ///< R's diagonal, n; empty: 0
  std::optional<Vector> guess;           ///< n
  std::optional<Reference> reference;    ///< of n rows
  Vector gaps;                           ///< one a block, NaN where not known; empty: none is
  std::vector<std::int64_t> identities;  ///< one a block; empty: not known
  std::optional<Vector> frames;          ///< 9 numbers a cone, the axes n, t1, t2
  std::optional<Vector> points;          ///< 3 numbers a cone, NaN where not known [m]
  std::vector<std::string> names;        ///< one a block; empty: not known
  std::vector<std::int64_t> bodies;      ///< 2 a block, indices of body_names; -1: none. Empty: not known
  std::vector<std::string> body_names;
  std::vector<EngineAnswer> answers;
  Configuration configuration;  ///< what has no order of blocks
  Provenance provenance;
};

/// Orders the rows as a ConeProduct has them, leaves out tangential rows with mu = 0 (they bear no force) and shifts
/// the apex of cones to 0. given_rows() of the problem leads back, where anything moved.
///
/// Errors (bad_input): l > u, NaN bounds, negative coefficients, a coefficient of a row with bounds, groups that don't
/// sum to the rows, several groups in one ellipsoid or pyramid, a shift that is negative, a reference outside its
/// bounds or cone by more than 1e-6 of its largest impulse, an impulse where no force acts, each with block, row and
/// values; an M with one triangle only; sizes that don't match; what ContactProblem::create refuses.
Result<ContactProblem> problem_from_blocks(GivenProblem given);

}  // namespace conebench
