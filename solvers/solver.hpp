#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/monitor.hpp"

namespace conebench {

/// The model a solver solves. `model` is one of its own that is none of the others (RaiSim's, NBGS's).
enum class Formulation { ncp, ccp, lcp, model };
enum class Allocation { none, refactorization, iteration };

enum class SolveStatus { converged, max_iterations, time_limit, stalled, diverged, breakdown, unsupported };
enum class Breakdown { none, singular, cycle, no_solution, error, queue_exhausted };

/// When a solver stops. `own`: by the paper's own test; `verdict`: only the monitor accepts; `verdict_paid`: the
/// same with the monitor's cost inside the time.
enum class Criterion { own, verdict, verdict_paid };

std::string to_string(Formulation);
std::string to_string(Allocation);
std::string to_string(SolveStatus);
std::string to_string(Breakdown);
std::string to_string(Criterion);

/// Whose a solver is. `own`: a method of Conebench's authors, or a paper's that they changed; `paper`: an algorithm as
/// its paper prints it, in our code; `peer`: another project's code; `foreign`: a plug-in, a program, a Python solver.
enum class Origin { own, paper, peer, foreign };
std::string to_string(Origin);

/// The library behind a peer. What is not known is empty.
struct PeerBuild {
  std::string version;
  std::string released;  ///< ISO date of that version
  std::string build;     ///< how it was compiled: "Debian's package 4.4.0+dfsg-2, -O2 for any amd64"
};

/// What is fixed about a solver, whatever its options.
struct SolverInfo {
  std::string id;    ///< as in papers: PGS-NCP, ADMM-NCP-SA
  std::string name;  ///< in words
  int version = 1;   ///< goes up whenever an answer may differ; part of every cell's key
  Formulation formulation = Formulation::ncp;
  bool joints = true;
  bool limits = true;
  bool compliance = true;
  bool two_dimensional = true;
  bool rolling = false;                     ///< rolling friction: contacts of 5 rows
  bool needs_symmetry = false;              ///< solves the symmetrised problem where G is not symmetric
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

/// Whether its iterates can be looked at while it runs, so that the looks can be kept out of its time. Others pay for
/// tests of their own: a peer's are part of its code, and what runs without the monitor tests itself.
bool checks_are_free(const SolverInfo& info);

/// The criterion of solvers that are compared: as soon as one of them pays for its looks at the residual, all do.
Criterion fair_criterion(bool all_checks_are_free);

struct StopRule {
  double tolerance = 1e-6;
  long max_iterations = 20000;
  Criterion criterion = Criterion::own;
};

/// In place of a counter that the solver's library does not keep.
inline constexpr long not_counted = -1;

/// What a solver says of its own answer. Residuals are the solver's own; NaN where it does not know them.
struct SolveSummary {
  SolveStatus status = SolveStatus::max_iterations;
  Breakdown breakdown = Breakdown::none;
  std::string message;  ///< a line of detail, often empty
  std::string stage;    ///< which of its stages converged; empty: it has none, or none did
  long iterations = 0;
  long factorizations = 0;     ///< every numeric one, those of prepare() included; or not_counted
  long operator_products = 0;  ///< products with G, or sweeps over all its blocks; or not_counted
  double own_residual = std::numeric_limits<double>::quiet_NaN();
  bool solved_symmetrised = false;  ///< the answer is that of the problem with (G + Gᵀ)/2
  double compliance_share = 0.0;    ///< the answer is that of with_compliance(problem, this), where it is not 0
};

/// One algorithm with its options set. Use: supports, prepare, then solve as often as wanted.
///
/// prepare() keeps what it needs of the problem; solve() starts anew each time and is deterministic: the same guess and
/// stop rule give bit-identical impulses.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual const SolverInfo& info() const = 0;
  /// Nothing, or the reason why this solver can't run on the problem.
  virtual std::optional<std::string> unsupported_reason(const ContactProblem& problem) const = 0;
  /// Whether it works on the assembled G of the problem. Where that is not given it is made beforehand, and its cost is
  /// kept apart. False: products and diagonal blocks of G, or M and J, suffice.
  virtual bool needs_matrix(const ContactProblem& problem) const;
  /// Allocates and factors: the set-up that is timed. Errors (unsupported): the reason; a failed factorization shows as
  /// the breakdown of solve() instead.
  virtual std::optional<Error> prepare(const ContactProblem& problem) = 0;
  /// From `guess` (rows long, zeros for a cold start) to `impulse` (rows long): always the last iterate, whatever the
  /// status.
  virtual SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) = 0;
};

/// The reason that a problem's cones, compliance or dimension give against a solver with these flags, if any.
std::optional<std::string> unsupported_by_flags(const SolverInfo& info, const ContactProblem& problem);

}  // namespace conebench
