#pragma once

#include <vector>

#include "simulation/deformable/frames.hpp"

namespace conebench::simulation {

/// A SpringJoint at one state: over the velocities `columns` (those of a, then those of b)
///
///     symbol  meaning                                                                     unit
///     e, J_e  (R_aᵀ (p_b − p_a), log R_aᵀ R_b) / ℓ and its derivative                      1
///     K       gains                                                                       N m
///     S       the second derivative of e at fixed K e, of the first three rows            N/m
///     E       more than S: Σ_i (Σ_j |S_ij| s_j / s_i) x_i² over x = (ẋ_b − ẋ_a, ω_a, ω_b), s = 1    N/m
///             for the first and 1/ℓ for the others. Paper Lee23's second policy sums over velocities in m and rad
///             alike, and its diagonal holds bodies back against the world; this keeps linear momentum.
struct JointRows {
  int count = 0;
  std::array<int, 14> columns{};
  Eigen::Matrix<double, 6, 1> error;
  Eigen::Matrix<double, 6, 14> jacobian;  ///< J_e; the first `count` columns count
};
struct JointAt : JointRows {
  Eigen::Matrix<double, 14, 14> curvature;  ///< S, symmetric
  Eigen::Matrix<double, 14, 14> bound;      ///< E
  double energy = 0.0;                      ///< ½ eᵀ K e [J]
};

JointRows joint_rows(const SpringJoint& joint, const Frames& frames);
JointAt joint_at(const SpringJoint& joint, const Frames& frames);

/// The energy ½ eᵀ K e of frames that have turned by `turn_a` and `turn_b` [rad], a rotation vector each, as a function
/// of these and of the frames' displacements: over the columns of `at` its first two derivatives [N, N m].
struct JointDerivatives {
  Eigen::Matrix<double, 14, 1> gradient;
  Eigen::Matrix<double, 14, 14> hessian;  ///< symmetric to the last bit
};
JointDerivatives derivatives_of(const SpringJoint& joint, const JointAt& at, const Frames& frames,
                                const Eigen::Vector3d& turn_a, const Eigen::Vector3d& turn_b);

/// The matrix with its negative eigenvalues set to 0.
Eigen::Matrix<double, 14, 14> without_negative(const Eigen::Matrix<double, 14, 14>& symmetric);

}  // namespace conebench::simulation
