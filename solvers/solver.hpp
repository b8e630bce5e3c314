#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/monitor.hpp"

namespace conebench {

class VelocitySolver;

/// The model a solver solves. `model` is one of its own that is none of the others (RaiSim's, NBGS's).
enum class Formulation { ncp, ccp, lcp, model };
enum class Allocation { none, refactorization, iteration };

enum class SolveStatus { converged, max_iterations, time_limit, stalled, diverged, breakdown, unsupported };
enum class Breakdown { none, singular, cycle, no_solution, error, queue_exhausted };
/// Why a solve ended as stalled.
enum class Stall {
  unstated,
  rounding,  ///< StallWindow: no step beyond rounding
  option,    ///< a step below the option `stall` (common_options.hpp)
  stages,    ///< no stage of a cascade is left
  joints     ///< the joints contradict each other, and nothing else is left to solve
};

/// Who stops a solver. `solver`: its own test, as in its paper; `judge`: only the monitor accepts; `judge_timed`: the
/// same with the monitor's cost inside the time.
enum class StopBy { solver, judge, judge_timed };

std::string to_string(Formulation);
std::string to_string(Allocation);
std::string to_string(SolveStatus);
std::string to_string(Breakdown);
std::string to_string(StopBy);
/// The StopBy of that name, or of its former name: own, verdict, verdict-paid.
std::optional<StopBy> stop_by_named(std::string_view name);

/// Origin of a solver. `own`: a method of Conebench's authors, or a paper's that they changed; `paper`: an algorithm as
/// its paper prints it, in our code; `peer`: another project's code; `foreign`: a plug-in, a program, a Python solver.
enum class Origin { own, paper, peer, foreign };
std::string to_string(Origin);

/// The library of a peer. Unknown fields are empty.
struct PeerBuild {
  std::string version;
  std::string released;  ///< ISO date of that version
  std::string build;     ///< how it was compiled: "Debian's package 4.4.0+dfsg-2, -O2 for any amd64"
};

/// Properties of a solver that do not depend on its options.
struct SolverInfo {
  std::string id;    ///< as in papers: PGS-NCP, ADMM-NCP-SA
  std::string name;  ///< as text
  int version = 1;   ///< goes up whenever an answer may differ; part of every cell's key
  Formulation formulation = Formulation::ncp;
  bool joints = true;
  bool limits = true;
  bool compliance = true;
  bool two_dimensional = true;
  bool intervals = false;                   ///< rows with bounds
  bool rolling = false;                     ///< rolling friction: contacts of 5 rows alone
  bool friction_cones = false;              ///< any law of friction, and contacts of different laws in one problem
  bool needs_symmetry = false;              ///< solves the symmetrised problem if G is not symmetric
  bool rotation_invariant = true;           ///< the answer turns with the tangent frames
  bool scale_invariant = true;              ///< the iterates scale with the units of impulse and velocity
  Allocation allocates = Allocation::none;  ///< within solve()
  /// The monitor is asked after every iteration, by its number. False: it counts the points that the solver measures.
  bool observed_every_iteration = true;
  /// It belongs to a library that may print, exit or abort, and that can't be stopped: it runs in a process of its own.
  bool own_process = false;
  Origin origin = Origin::own;
  PeerBuild peer;  ///< of a peer; a foreign solver may declare it, too
  std::string citation;
  std::string summary;  ///< when it is good and when it fails, in a sentence or two
};

/// Whether the monitor checks its iterates while it runs, so that the cost of the checks can be kept out of its time.
/// Others pay for tests of their own: a peer's are part of its code, and a solver without the monitor tests itself.
bool checks_are_free(const SolverInfo& info);

/// The fair StopBy for a comparison: if one of the solvers pays for its residual checks, all do.
StopBy fair_stop_by(bool all_checks_are_free);

struct StopRule {
  double tolerance = 1e-6;
  long max_iterations = 20000;
  StopBy stop_by = StopBy::solver;
};

/// Value of a counter that the solver's library does not have.
inline constexpr long not_counted = -1;

/// A solver's report on its answer. Residuals are the solver's own; NaN: not known.
struct SolveSummary {
  SolveStatus status = SolveStatus::max_iterations;
  Breakdown breakdown = Breakdown::none;
  std::string message;  ///< a line of detail, often empty
  std::string stage;    ///< the stage that converged; empty: none
  long iterations = 0;
  long factorizations = 0;     ///< every numeric one, those of prepare() included; or not_counted
  long operator_products = 0;  ///< products with G, or sweeps over all its blocks; or not_counted
  double own_residual = std::numeric_limits<double>::quiet_NaN();
  bool solved_symmetrised = false;  ///< the answer is that of the problem with (G + Gᵀ)/2
  double compliance_share = 0.0;    ///< the answer is that of with_compliance(problem, this), where it is not 0
  Stall stall = Stall::unstated;    ///< with the status stalled
};

/// One algorithm with its options set. Use: supports, prepare, then solve as often as wanted.
///
/// prepare() keeps what it needs of the problem; solve() starts anew each time and is deterministic: the same guess and
/// stop rule give bit-identical impulses.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const SolverInfo& info() const = 0;
  /// Why this solver can't run on the problem; nullopt: it can.
  virtual std::optional<std::string> unsupported_reason(const ContactProblem& problem) const = 0;
  /// Whether it needs the assembled G. If G is not given, it is assembled beforehand, and the cost is recorded
  /// separately. False: products with G and its diagonal blocks, or M and J, suffice.
  virtual bool needs_matrix(const ContactProblem& problem) const;
  /// Its second interface where it searches velocities; null: it does not.
  virtual const VelocitySolver* velocities() const { return nullptr; }
  /// Allocates and factors: the set-up that is timed. Error: unsupported, with the reason. A failed factorization is no
  /// error; solve() reports it as its breakdown.
  virtual Result<void> prepare(const ContactProblem& problem) = 0;
  /// From `guess` (rows long, zeros for a cold start) to `impulse` (rows long): always the last iterate, whatever the
  /// status.
  virtual SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) = 0;
};

/// Why a solver with these flags can't run on the problem because of its cones, compliance or dimension; nullopt: it
/// can.
std::optional<std::string> unsupported_by_flags(const SolverInfo& info, const ContactProblem& problem);

}  // namespace conebench
