#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "problems/types.hpp"

namespace conebench::cascade {

/// What stands behind G̃ where M and J are known and there are no joints: G̃ = S M⁻¹ Sᵀ + E. Velocities are taken three
/// at a time, of a free body first the linear and then the angular ones; M is filled up with the identity.
///
/// | symbol | here | shape | unit |
/// | --- | --- | --- | --- |
/// | M | mass | 3×3 blocks, n_v × n_v | as given |
/// | S = c P⁻¹ J | touches | 3×3 blocks, 3 n_c × n_v | √M's |
/// | E = c² P⁻² R, and 1 in embedded components | local | 3 n_c, diagonal | 1 |
struct ScaledBodies {
  using Block = Eigen::Matrix3d;
  struct MassBlock {
    int row, column;
    Block value;
  };
  struct Touch {
    int velocities;  ///< a block of three
    Block value;
  };
  int velocity_blocks = 0;
  std::vector<MassBlock> mass;
  std::vector<int> touch_begin;
  std::vector<Touch> touches;  ///< by contacts
  Vector local;

  int contacts() const { return static_cast<int>(touch_begin.size()) - 1; }
  std::span<const Touch> touched_by(int contact) const {
    const auto begin = static_cast<std::size_t>(touch_begin[static_cast<std::size_t>(contact)]);
    const auto end = static_cast<std::size_t>(touch_begin[static_cast<std::size_t>(contact) + 1]);
    return std::span(touches).subspan(begin, end - begin);
  }
};

}  // namespace conebench::cascade
