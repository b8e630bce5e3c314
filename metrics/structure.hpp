#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench {

/// What moves as one: velocities that M couples. A rigid body, an elastic one, or bodies joined in reduced coordinates.
struct MovingPart {
  std::vector<Index> velocities;  ///< columns of M, ascending
  std::optional<double> mass;     ///< of a rigid body; nothing where M does not look like one's [kg]
};

/// The moving parts of a problem whose M and J are known, and which of them each block acts on.
class MovingParts {
 public:
  /// No parts where M is not known.
  explicit MovingParts(const ContactProblem& problem);
  const std::vector<MovingPart>& list() const { return parts_; }
  /// Ascending; empty: none, or not known.
  const std::vector<Index>& of(Index block) const { return of_block_[static_cast<std::size_t>(block)]; }

 private:
  std::vector<MovingPart> parts_;
  std::vector<std::vector<Index>> of_block_;
};

/// Two blocks or parts, and the ratio of what they have.
struct Spread {
  Index smallest = -1, largest = -1;
  double minimum = 0.0, maximum = 0.0;
  double ratio() const { return maximum / minimum; }
};

/// How a problem hangs together, and its scales.
struct Structure {
  Index islands = 0;
  Index largest_island = 0;  ///< blocks
  /// max_i Σ_{j≠i} ‖G_ij‖ / ‖G_ii + R_ii‖ (Frobenius), and that block: above 1, what the others do to a block can
  /// outweigh what it does itself. Nothing where G is not assembled or G_ii + R_ii = 0.
  std::optional<double> coupling_between;
  Index coupled_block = -1;
  /// Effective masses d_i / trace(G_ii + R_ii) of the blocks where that is positive, by block [kg].
  std::optional<Spread> effective_mass;
  std::optional<Spread> mass;   ///< of bodies, by body or part [kg]; nothing where they are not known
  double velocity_scale = 0.0;  ///< V = max_i ‖g_i‖ [m/s]
};

Structure analyse_structure(const ContactProblem& problem, const MovingParts& parts);

}  // namespace conebench
