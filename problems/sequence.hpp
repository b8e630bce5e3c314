#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

/// What must be known of a problem to carry an impulse to it, or from it: its rows and who they are.
struct ImpulseLayout {
  Index joints = 0;
  Index limits = 0;
  Index intervals = 0;
  Index contacts = 0;
  int contact_dimension = 3;  ///< rows of every contact
  int normal = 2;             ///< index of the normal among them
  /// Rows and normal of each contact, where they differ; then the two above are 0.
  std::vector<int> contact_rows = {}, normals = {};
  std::vector<double> shifts = {};               ///< of cones with adhesion, one a contact [N s]; empty: 0
  std::vector<std::int64_t> contact_identities;  ///< one a contact; empty where they are not known
  std::vector<std::int64_t> limit_identities;    ///< one a limit row; empty where they are not known
  std::vector<double> contact_frames = {};       ///< as Configuration has them; empty where they are not known

  Index first_contact_row() const { return joints + limits + intervals; }
  int rows_of(Index contact) const {
    return contact_rows.empty() ? contact_dimension : contact_rows[static_cast<std::size_t>(contact)];
  }
  double shift_of(Index contact) const { return shifts.empty() ? 0.0 : shifts[static_cast<std::size_t>(contact)]; }
  int normal_of(Index contact) const { return normals.empty() ? normal : normals[static_cast<std::size_t>(contact)]; }
  Index rows() const {
    return std::accumulate(contact_rows.begin(), contact_rows.end(),
                           first_contact_row() + contact_dimension * contacts);
  }
};
ImpulseLayout layout_of(const ContactProblem& problem);

/// λ of one problem (from.rows() long) as the start of the next problem of its simulation (to.rows() long) [N s].
///
/// Contacts and limits that both problems know by identity keep their λ; new ones start at 0. A contact's λ is turned
/// into its new frame where both problems know their frames, and else kept component by component. Joints, intervals,
/// and limits or contacts without identities, are matched by index where both problems have equally many of them, and
/// start at 0 otherwise; a contact whose rows became more or fewer starts at 0. Throws std::invalid_argument where
/// `impulse` is not from.rows() long.
Vector carried_impulse(const ImpulseLayout& from, ConstVectorRef impulse, const ImpulseLayout& to);

/// A problem's position in a sequence, the problems of one simulation ordered by their steps.
struct SequencePosition {
  std::string sequence;  ///< the same for all problems of a simulation
  std::int64_t step = 0;

  bool operator==(const SequencePosition&) const = default;
};

/// The position that the configuration gives: problems of one scene, seed and coordinates, all with M and J or all
/// without, whose files lie in one folder, are a sequence. nullopt where the scene or the step is not known.
std::optional<SequencePosition> position_in_sequence(const ContactProblem& problem);

/// For each position the index of the problem before it: of its sequence, the one with the largest step below its own
/// (the last one listed, where several have that step). nullopt for the first of a sequence, and without a position.
std::vector<std::optional<std::size_t>> predecessors(const std::vector<std::optional<SequencePosition>>& positions);

}  // namespace conebench
