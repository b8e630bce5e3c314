#pragma once

#include <optional>
#include <string>

#include "base/options.hpp"
#include "problems/contact_problem.hpp"
#include "solvers/registry.hpp"

namespace conebench {

/// How products with G are made: by the assembled G, by solves with M, or (automatic) by G where that is given or
/// sparse, else by solves.
enum class Product { automatic, matrix, solves };

/// The option `product` of the rows whose options hold one. It is part of a configuration only where it is not `auto`,
/// so that configurations are those of before there was a choice.
void declare_product(OptionBinder& bind, std::string& product);
Product product_of(const std::string& name);
SolverRow with_product_left_out(SolverRow row);

/// Whether G is assembled for these products.
bool multiplies_by_matrix(const ContactProblem& problem, Product product);

/// The map F of a problem's variational inequality: find λ ∈ K with F(λ)ᵀ(κ − λ) ≥ 0 for all κ ∈ K. F(λ) = σ + Γ(σ) for
/// the NCP, σ for the CCP. Counts the products with G.
class VelocityMap {
 public:
  VelocityMap() = default;
  VelocityMap(const ContactProblem& problem, bool de_saxce, Product product = Product::automatic);

  const ConeProduct& cones() const { return problem_->cones(); }
  /// velocity = F(impulse) [m/s]. No allocation.
  void operator()(const Vector& impulse, Vector& velocity);
  /// point = P_K(impulse − ρ F), where `velocity` is F.
  void project_step(const Vector& impulse, double rho, const Vector& velocity, Vector& point) const;
  /// ‖λ_i − P_K(λ_i − ρ F_i)‖ / (ρ V), the largest over the blocks i; V = max ‖g_i‖ (0: 1). NaN survives. `scratch` is
  /// overwritten.
  double residual(const Vector& impulse, double rho, const Vector& velocity, Vector& scratch) const;
  /// λ_max of G + R by power iteration, at most `max_products` products; 0 where G + R = 0.
  double largest_eigenvalue(int max_products = 20);

  long products() const { return products_; }
  void reset_products(long count) { products_ = count; }

 private:
  /// y = G x.
  void multiply(ConstVectorRef x, VectorRef y);

  std::optional<ContactProblem> problem_;
  Product product_ = Product::automatic;
  bool de_saxce_ = true;
  double velocity_scale_ = 1.0;
  long products_ = 0;
};

}  // namespace conebench
