#pragma once

#include <optional>

#include "problems/contact_problem.hpp"

namespace conebench {

/// The map F of a problem's variational inequality: find λ ∈ K with F(λ)ᵀ(κ − λ) ≥ 0 for all κ ∈ K. F(λ) = σ + Γ(σ) for
/// the NCP, σ for the CCP. Counts the products with G.
class VelocityMap {
 public:
  VelocityMap() = default;
  VelocityMap(const ContactProblem& problem, bool de_saxce);

  const ConeProduct& cones() const { return problem_->cones(); }
  /// velocity = F(impulse) [m/s]. No allocation.
  void operator()(const Vector& impulse, Vector& velocity);
  /// point = P_K(impulse − ρ F), where `velocity` is F.
  void project_step(const Vector& impulse, double rho, const Vector& velocity, Vector& point) const;
  /// ‖λ_i − P_K(λ_i − ρ F_i)‖ / (ρ V), the largest over the blocks i; V = max ‖g_i‖ (0: 1). NaN survives. `scratch` is
  /// overwritten.
  double residual(const Vector& impulse, double rho, const Vector& velocity, Vector& scratch) const;
  /// λ_max of G + R by power iteration, at most `most` products; 0 where G + R = 0.
  double largest_eigenvalue(int most = 20);

  long products() const { return products_; }
  void reset_products(long count) { products_ = count; }

 private:
  std::optional<ContactProblem> problem_;
  bool de_saxce_ = true;
  double velocity_scale_ = 1.0;
  long products_ = 0;
};

}  // namespace conebench
