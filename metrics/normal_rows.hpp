#pragma once

#include <optional>
#include <span>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Another row of each contact fits as its normal better than the one that is read as such.
struct NormalDoubt {
  enum class Evidence {
    answer,      ///< an answer is in all cones with that row as the normal, and not with the one that is read
    lever_arms,  ///< G_ii is diagonal, and that row has the least entry of it
  };
  Evidence evidence = Evidence::answer;
  int tangent = 0;     ///< the row is read as this tangent, from 0
  Index contacts = 0;  ///< that it fits in
};

/// Whether the rows of the contacts look permuted. `answers`: impulses of rows() each that a solver claims [N s]; an
/// impulse of zeros says nothing. Without one that says something, the contacts whose points lie on their normals
/// through the centres of mass do (spheres, discs): G_ii = diag(a, b, b) with 2 a ≤ b is that of a normal in the first
/// row, and a tangent in its place would mean a body on both sides of the contact's plane.
std::optional<NormalDoubt> doubt_normals(const ContactProblem& problem, std::span<const Vector> answers);

}  // namespace conebench
