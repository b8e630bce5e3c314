#pragma once

#include "problems/cones/contact_vector.hpp"

namespace conebench {

/// A bilateral row: all of R, whose dual is {0}.
struct Bilateral {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  using Block = ContactVector<1>;

  static constexpr int size() { return 1; }
  Block project(const Block& x) const { return x; }
  Block project_dual(const Block&) const { return Block::Zero(); }
  double de_saxce(const Block&) const { return 0.0; }
  /// λ − P(λ − s).
  Block natural_map(const Block&, const Block& s) const { return s; }
};

}  // namespace conebench
