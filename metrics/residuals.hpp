#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

struct ProblemPart;  // problems/islands.hpp

/// A residual of one answer: its value, or why there is none.
struct Residual {
  std::string name;                    ///< "natural_map_scaled"
  double value = 0.0;                  ///< +inf for an impulse that is not finite, and where `missing` is set
  std::optional<std::string> missing;  ///< why it can't be computed for this problem
  /// Block (joint row, limit row, interval or contact, counted through all blocks) where it is worst; -1 where there is
  /// none.
  Index worst_block = -1;

  bool known() const { return !missing.has_value(); }
};

/// A row of the table of residuals.
struct ResidualInfo {
  std::string name;
  int version = 1;
  std::string formula;
  std::string unit;
  std::string source;
  bool usable_as_verdict = true;  ///< it is 0 at the solutions of its model and nowhere else
};

/// All residuals, in the order of judge(). The formulas use the project's letters: sigma = (G + R) lambda + g,
/// v = sigma + Gamma(sigma), r_i = d_i / trace(G_ii + R_ii) (trace <= 0: the inverse of the mean of trace / d over the
/// blocks where it is positive, 1 where there is none), V = max_i |g_i| (0: V = 1). A block is a joint row, a limit
/// row, an interval or a contact, |.| its Euclidean norm, in the scaled variables of ResidualEvaluation.
std::span<const ResidualInfo> residual_table();

/// The residual of the model that a solver solves, by its formulation as records have it (NCP, CCP, LCP, model); empty
/// for another word. The LCP has two: LEMKE's facets and the box of the others.
std::string_view own_model_residual(std::string_view formulation, std::string_view solver);

/// How many contacts are in each mode at an answer, with V and r_i as above and the tolerance tau = 1e-6:
///   open   λ_N ≤ tau r_i V: the contact's impulse changes its own velocity by no more than tau V;
///   stick  else, no group of its friction slips;
///   slip   else.
/// A group slips where ‖sigma_g‖ > max(tau V, (mu_g λ_N − ‖λ_g‖) / r_i): faster than the friction that is left could
/// stop (a pyramid's: max |sigma_k|, Σ |λ_k|). moment_stick and moment_slip count the groups of torsion and rolling
/// that are apart from sliding, in contacts that are not open. Intervals are at a bound where what is left to it
/// changes their own velocity by no more than tau V; where both are so near, at the nearer one. All 0 for
/// an impulse that is not finite.
struct ContactModes {
  Index open = 0;
  Index stick = 0;
  Index slip = 0;
  Index moment_stick = 0;
  Index moment_slip = 0;
  Index inside = 0;
  Index at_lower = 0;
  Index at_upper = 0;
  /// Contacts.
  Index all() const { return open + stick + slip; }
};

/// What the harness measures on one answer.
struct Judgement {
  std::vector<Residual> residuals;  ///< one a row of residual_table()
  ContactModes modes;
  double velocity_scale = 1.0;  ///< V [m/s]

  /// Throws std::out_of_range for a name that is not in the table.
  const Residual& operator[](const std::string& name) const;
};

/// Every residual of `impulse` (rows long) from the problem's data alone, as of the given doubles: computed in 32
/// digits, in 100 where these don't decide it, then rounded. Where 100 digits are too few every residual is +inf.
/// Throws std::invalid_argument for a wrong size.
Judgement judge(const ContactProblem& problem, ConstVectorRef impulse);

/// The judge decides in more digits if the verdict in double is above the tolerance by at most this factor: rounding
/// may have raised it.
inline constexpr double open_verdict = 10.0;

/// One residual in double, for scheduled checks: workspace allocated once.
class Verdict {
 public:
  /// Errors (wrong_usage): an unknown name, or a residual that is no verdict; lists the names.
  static Result<Verdict> create(const std::string& name, const ContactProblem& problem);

  /// judge(problem, impulse)[name] but for rounding, by the same formula in double. No allocation.
  double operator()(ConstVectorRef impulse);

  /// From now on the residual of the part's rows alone, measured by the V of the whole; null: of all rows again. The
  /// whole's is the largest of its parts', but for blocks whose r_i is a mean over others, and for residuals that are
  /// norms over all rows.
  void restrict_to(const ProblemPart* part);

 private:
  struct Workspace;
  explicit Verdict(std::shared_ptr<Workspace> workspace) : workspace_(std::move(workspace)) {}
  std::shared_ptr<Workspace> workspace_;
};

/// A cell is solved when the verdict is known, finite and at most the tolerance, whatever the solver claims.
bool is_solved(const Residual& verdict, double tolerance);

}  // namespace conebench
