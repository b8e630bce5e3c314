#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/workers.hpp"
#include "problems/linear/shifted_factor.hpp"
#include "solvers/admm/extrapolation.hpp"
#include "solvers/admm/penalty_rule.hpp"
#include "solvers/registry.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// Parameters of the ADMM family. Which of them a row offers, and with which defaults, stands in admm_rows.cpp.
struct AdmmOptions {
  double relaxation = 1.0;              ///< ω of Tsounis Alg. 6 line 7
  double proximal = 1e-6;               ///< η of Carpentier24 (35), Tsounis (166)
  double initial_penalty = 1.0;         ///< ρ₀ where it is a value
  double initial_exponent = 0.2;        ///< p₀ of Carpentier24 (45), τ₀ of Tsounis (172a), where ρ₀ is spectral
  double ratio = 10.0;                  ///< α of Carpentier24 (44), (46)
  double factor = 1.5;                  ///< τ_inc = τ_dec of Carpentier24 (44), Tsounis (171)
  double increment = 0.05;              ///< p_inc = p_dec of Carpentier24 (46), τ of Tsounis (172b)
  long window = 50;                     ///< of StepBalance
  double reach = 30.0;                  ///< of StepBalance
  std::string update = "fixed";         ///< fixed | linear | spectral | steps
  std::string initial = "value";        ///< value | spectral
  std::string factorization = "auto";   ///< cholesky (of the symmetric part) | lu | auto: lu where G is not symmetric
  std::string order = "solve_project";  ///< solve_project | project_solve: StepOrder
  AccelerationOptions acceleration;
  long threads = 1;  ///< that share a factorization

  std::optional<std::string> wrong_word() const;
};

/// What sets one member of the family apart beyond its parameters.
struct AdmmVariant {
  bool de_saxce = true;  ///< solves the NCP; without, the CCP
  bool scaled = false;   ///< solves the problem in units of its own
};

/// Proximal ADMM for the NCP and the CCP: paper Carpentier24 Alg. 1, paper Tsounis Alg. 6, paper LeLidec24 Alg. 3.
///
///     symbol  meaning                                          unit
///     x       unconstrained impulse (Carpentier24: f; LeLidec24: λ)           N s
///     y       the same, projected onto K; what is returned     N s
///     z       dual variable, ∈ K*; at a solution σ + Γ(σ)      m/s   (LeLidec24: −γ)
///     s       estimate of De Saxcé's term Γ(σ)                 m/s
///     ρ, η    penalty, proximal weight                         m/s per N s
class AdmmSolver final : public Solver {
 public:
  AdmmSolver(SolverInfo info, AdmmVariant variant, AdmmOptions options);

  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override;
  Result<void> prepare(const ContactProblem& problem) override;
  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override;

 private:
  struct Residuals {
    double primal = 0.0;  ///< ‖x − y‖, Carpentier24 (40)
    double dual = 0.0;    ///< ‖η (x − x⁻) + ρ (y − y⁻)‖, Carpentier24 (41)
    double complementarity =
        0.0;  ///< max |x_i · z_i| over limits and contacts, Carpentier24 (42); of intervals to l, u
    double largest() const;
  };

  void choose_units(const ContactProblem& problem);
  void choose_penalty(SolveSummary& summary);
  void apply(const Vector& x, Vector& y);
  void start_from(ConstVectorRef guess, SolveSummary& summary);
  void update_offset();
  StepOrder order() const {
    return options_.order == "solve_project" ? StepOrder::solve_project : StepOrder::project_solve;
  }
  Residuals solve_project();
  Residuals project_solve();
  void update_rows(Residuals& residuals);
  void update_contacts(Residuals& residuals);
  double next_penalty(const Residuals& residuals);
  bool refactor(double rho, SolveSummary& summary);
  void report(VectorRef impulse) const;

  SolverInfo info_;
  AdmmVariant variant_;
  AdmmOptions options_;

  // The problem, in the units of the iteration.
  std::optional<ContactProblem> problem_;
  ConeProduct cones_;  ///< with bounds in these units, too
  Vector row_scale_;   ///< λ = impulse_scale · row_scale ∘ y
  double impulse_scale_ = 1.0;
  Vector free_term_;                  ///< g
  Vector compliance_;                 ///< diagonal of R
  ShiftedFactor system_;              ///< G + R + (ρ + η) I
  std::unique_ptr<Workers> workers_;  ///< null: one thread
  PenaltyRule rule_;
  StepBalance steps_;
  Extrapolation extrapolation_;
  double prepared_proximal_ = 0.0;  ///< η that prepare() factored with
  double initial_penalty_ = 1.0;    ///< ρ₀
  SolveSummary prepared_;           ///< counts of prepare(), and its breakdown

  // The iterate.
  Vector x_, y_, z_;
  double proximal_ = 0.0;        ///< η
  double rho_ = 0.0;             ///< of the iteration
  double factored_shift_ = 0.0;  ///< ρ + η of the factors at hand, 0 for none
  // Scratch.
  Vector x_previous_, offset_;
};

/// The rows ADMM-CCP, ADMM-NCP-FP, ADMM-NCP-LA, ADMM-NCP-SA, ADMM-NCP-SA-S, ADMM-NCP-ST-S, ADMM-NCP-AA-S.
std::vector<SolverRow> admm_rows();

}  // namespace conebench
