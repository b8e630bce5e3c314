#pragma once

#include <array>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Invariants of a problem under reordering of intervals and contacts and rotation of isotropic tangent frames. The
/// same problem in another form (a global file and its condensed one) has equal values up to rounding. The sums mix
/// friction, free velocity and matrix, so that a changed sign, or a value at another contact, changes them.
struct DuplicateFingerprint {
  static constexpr std::size_t count = 24;
  std::array<double, count> values{};      ///< NaN: not known without G
  std::array<double, count> magnitudes{};  ///< scale of a value's rounding
};

DuplicateFingerprint duplicate_fingerprint(const ContactProblem& problem);

/// Whether all values that both have are equal to within 1e-9 of their magnitudes.
bool same_problem(const DuplicateFingerprint& a, const DuplicateFingerprint& b);

}  // namespace conebench
