#pragma once

#include <algorithm>

#include "problems/cones/contact_vector.hpp"

namespace conebench {

/// λ − max(0, λ − s) of a limit.
inline double natural_map(double impulse, double s) { return impulse <= s ? impulse : s; }

/// A unilateral row: R_+, its own dual.
struct Unilateral {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  using Block = ContactVector<1>;

  static constexpr int size() { return 1; }
  Block project(const Block& x) const { return x.cwiseMax(0.0); }
  Block project_dual(const Block& x) const { return x.cwiseMax(0.0); }
  double de_saxce(const Block&) const { return 0.0; }
  Block natural_map(const Block& impulse, const Block& s) const {
    return Block(conebench::natural_map(impulse[0], s[0]));
  }
};

}  // namespace conebench
