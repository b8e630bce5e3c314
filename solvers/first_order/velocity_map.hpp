#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/options.hpp"
#include "problems/contact_problem.hpp"
#include "solvers/registry.hpp"

namespace conebench {

/// How products with G are made: by the assembled G, by solves with M, or (automatic) by G where that is given or
/// sparse, else by solves.
enum class Product { automatic, matrix, solves };

struct ProductOptions {
  std::string product = "auto";
  long threads = 1;
};

/// The options of the rows whose options hold these. They are part of a configuration only where they are not at their
/// defaults, so that configurations are those of before there was a choice.
void declare_product(OptionBinder& bind, ProductOptions& options);
SolverRow with_product_left_out(SolverRow row);

/// The map F of a problem's variational inequality: find λ ∈ K with F(λ)ᵀ(κ − λ) ≥ 0 for all κ ∈ K. F(λ) = σ + Γ(σ) for
/// the NCP, σ for the CCP. Counts the products with G.
class VelocityMap {
 public:
  VelocityMap();
  VelocityMap(const ContactProblem& problem, bool de_saxce, const ProductOptions& options = {});
  VelocityMap(VelocityMap&&) noexcept;
  VelocityMap& operator=(VelocityMap&&) noexcept;
  ~VelocityMap();

  const ConeProduct& cones() const { return problem_->cones(); }
  /// velocity = F(impulse) [m/s]. No allocation.
  void operator()(const Vector& impulse, Vector& velocity);
  /// y = (G + R) x. No allocation.
  void multiply_with_compliance(const Vector& x, Vector& y);
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
  void multiply_by(Workers& workers, ConstVectorRef x, VectorRef y);

  std::optional<ContactProblem> problem_;
  std::unique_ptr<Workers> workers_;  ///< null: one thread
  Product product_ = Product::automatic;
  bool de_saxce_ = true;
  double velocity_scale_ = 1.0;
  long products_ = 0;
};

/// What the solvers by this map share: the problems that they take, and how they multiply.
class VelocityMapSolver : public Solver {
 public:
  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override;
  bool needs_matrix(const ContactProblem& problem) const override;

 protected:
  VelocityMapSolver(SolverInfo info, ProductOptions product) : info_(std::move(info)), product_(std::move(product)) {}
  /// Makes map_, and `vectors` as long as the problem has rows. Errors: unsupported.
  Result<void> prepare_map(const ContactProblem& problem, bool de_saxce, std::initializer_list<Vector*> vectors);

  SolverInfo info_;
  VelocityMap map_;

 private:
  ProductOptions product_;
};

}  // namespace conebench
