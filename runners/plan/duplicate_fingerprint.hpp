#pragma once

#include <array>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Invariants of a problem: what neither the order of its contacts nor their tangent frames change, so that the same
/// problem in another form (a global file and its condensed one) has them equal but for rounding. Signs and the contact
/// that holds a value matter: the sums mix friction, free velocity and matrix.
struct DuplicateFingerprint {
  static constexpr std::size_t count = 18;
  std::array<double, count> values{};      ///< not a number: not known without G
  std::array<double, count> magnitudes{};  ///< what a value's rounding is relative to
};

DuplicateFingerprint duplicate_fingerprint(const ContactProblem& problem);

/// Equal to 1e-9 of their magnitudes, all that both know.
bool same_problem(const DuplicateFingerprint& a, const DuplicateFingerprint& b);

}  // namespace conebench
