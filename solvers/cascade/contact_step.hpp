#pragma once

#include <Eigen/Core>

#include "solvers/cascade/block_matrix.hpp"

namespace conebench::cascade {

/// One contact's part of a step of semi-smooth Newton (SemismoothNewton): (L G R + B) z = side − L G k, dr = R z + k.
struct ContactStep {
  Left::What left_out = Left::nothing;  ///< the mode: sticks, slips, opens
  Eigen::Matrix3d left, right, base;
  Eigen::Vector3d known, side;

  /// Adds the terms with α, dw = (G + α I) dr.
  void regularise(double alpha);
};

/// At impulse r and velocity w, with α = 0.
ContactStep linearise_contact(const Eigen::Vector3d& r, const Eigen::Vector3d& w);

}  // namespace conebench::cascade
