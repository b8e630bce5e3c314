#pragma once

#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::ipopt {

/// min ½ λᵀ A λ + gᵀ λ over λ ∈ K, A the symmetric part of G + R, as a general-purpose optimiser takes it: joint rows
/// free, limits and normal impulses ≥ 0, intervals within their bounds, tangential impulses without friction fixed at
/// 0, and h_i = μ² x_N² − ‖x_g‖² ≥ 0 for every other group of tangential rows. Entries of sparse derivatives come in
/// one fixed order.
///
/// The unknowns are x_i = λ_i / (γ c_i) with c_i = (trace(G_ii + R_ii) / d_i)^(-1/2) and γ = max ‖c_i g_i‖, as one who
/// cares for the tolerances would choose them: curvatures and impulses are about 1 whatever the units.
class ConeProgram {
 public:
  explicit ConeProgram(const ContactProblem& problem);

  int variables() const { return static_cast<int>(cones_.rows()); }
  int constraints() const { return static_cast<int>(discs_.size()); }
  /// Whether anything has a bound; without, the barrier parameter means nothing.
  bool bounded() const { return cones_.rows() > cones_.joints(); }
  int jacobian_entries() const { return jacobian_entries_; }
  int hessian_entries() const { return static_cast<int>(lower_.nonZeros()); }

  Vector to_impulse(const double* x) const;
  Vector from_impulse(ConstVectorRef impulse) const { return impulse.cwiseQuotient(row_scale_) / impulse_scale_; }

  /// `unbounded` stands for no bound.
  void bounds(double unbounded, double* lower, double* upper) const;
  double objective(const double* x) const;
  void gradient(const double* x, double* out) const;
  void constraint_values(const double* x, double* out) const;
  void jacobian_pattern(int* rows, int* columns) const;
  void jacobian(const double* x, double* out) const;
  /// Lower triangle of objective_factor A + Σ multiplier_i ∇²h_i.
  void hessian_pattern(int* rows, int* columns) const;
  void hessian(double objective_factor, const double* multipliers, double* out) const;

 private:
  ConeProduct cones_;
  Vector row_scale_;            ///< c
  double impulse_scale_ = 1.0;  ///< γ
  SparseMatrix lower_;          ///< A's lower triangle with all of its diagonal
  Vector g_;
  struct Disc {
    int first = 0, size = 0;  ///< rows of the group
    int normal = 0;           ///< row of the contact's normal
    double mu = 0.0;
  };
  std::vector<Disc> discs_;  ///< groups with friction
  int jacobian_entries_ = 0;
};

}  // namespace conebench::ipopt
