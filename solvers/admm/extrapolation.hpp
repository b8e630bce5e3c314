#pragma once

#include "problems/cone_product.hpp"
#include "solvers/acceleration/accelerator.hpp"

namespace conebench {

/// Which of its two steps an iteration of ADMM begins with. Two sequences of iterates, with one fixed point.
enum class StepOrder {
  solve_project,  ///< Carpentier24 Alg. 1, Tsounis Alg. 6; what an iteration takes from the last one is y, z
  project_solve,  ///< the code of Pinocchio; it is x, z
};

/// The largest |v_row|, or `by_block` the largest ‖v_i‖, which does not depend on the tangent frames.
double largest_part(const ConeProduct& cones, const Vector& v, bool by_block);

/// Where an iteration of ADMM begins, from where the last one ended: at (p, z) = F(p̂, ẑ), p being y or x, or farther
/// on.
///
/// - Nesterov's momentum on (p, z) with the restart of Goldstein et al. 2014 Alg. 8 on ρ ‖p − p̂‖² + ‖z − ẑ‖² / ρ: with
///   p = y what Kamino 1.8 does.
/// - Anderson, solve_project: y = P_K(w) and z = ρ (y − w) depend on w = x − z⁻/ρ alone, so that F is a map of w (the
///   Douglas–Rachford variable), and what follows from an extrapolated w is in K and K*. Safeguard: the residual of w.
/// - Anderson, project_solve: as Pinocchio 4.1 does. x, z by weights from the steps of z, once `capacity` differences
/// are
///   there; given up where the largest part of x̂ − P_K(x̂ − ẑ/ρ) has not fallen.
class Extrapolation {
 public:
  Extrapolation() = default;
  /// Allocates.
  Extrapolation(const AccelerationOptions& options, StepOrder order, const ConeProduct& cones, bool by_block);

  /// Before the first iteration, which begins at p, z.
  void start(const Vector& p, const Vector& z);
  /// After an iteration: brings p, z to where the next one begins, with `rho`. No allocation.
  void next(Vector& p, Vector& z, double rho);

 private:
  void add_momentum(Vector& p, Vector& z, double rho);
  void extrapolate_shadow(Vector& y, Vector& z, double rho);
  void extrapolate_pair(Vector& x, Vector& z, double rho);
  double split(const Vector& x, const Vector& z, double rho);

  AccelerationOptions options_;
  StepOrder order_ = StepOrder::solve_project;
  const ConeProduct* cones_ = nullptr;
  Momentum momentum_;
  Anderson anderson_;
  Accelerator accelerator_;
  Vector point_, image_;  ///< (p̂, ẑ) and (p, z), or √ρ w
  Vector scratch_;
  double rho_ = 0.0;    ///< of the last call
  double split_ = 0.0;  ///< the largest part of x̂ − P_K(x̂ − ẑ/ρ) of the last iteration
  bool by_block_ = false;
};

}  // namespace conebench
