#pragma once

#include <optional>
#include <string>

#include "solvers/lcp/facet_lcp.hpp"
#include "solvers/lcp/tableau.hpp"
#include "solvers/progress.hpp"
#include "solvers/registry.hpp"
#include "solvers/solver.hpp"

namespace conebench::lcp {

/// What the members of the Lemke family share.
struct LcpOptions {
  long facets = 8;          ///< M of Yamane (18), Sec. V
  bool scaled = true;       ///< see FacetLcp
  double max_error = 1e-3;  ///< e_max of Yamane Sec. V
  long max_rows = 3000;     ///< of the LCP and of the problem
};

void declare_options(OptionBinder& bind, LcpOptions& options);

/// How a search for the pivots of a solution ended; `accepted`: the monitor took an iterate on the way.
enum class Ending { solved, accepted, no_solution, cycle, error, queue_exhausted, out_of_pivots, out_of_time };

/// A solver of the facet LCP by pivots: everything but the choice of the pivots.
class LcpSolver : public Solver {
 public:
  LcpSolver(SolverInfo info, LcpOptions options) : info_(std::move(info)), shared_(options) {}

  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override;
  Result<void> prepare(const ContactProblem& problem) override;
  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override;

 protected:
  /// Allocates for an LCP of this size.
  virtual void allocate(Index size) = 0;
  /// Leaves the last iterate in z_ and counts in `summary`. Ending::solved: z_0 has left the basis.
  virtual Ending search(const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) = 0;

  /// Where it is due, shows the monitor the tableau's z after pivot or node k.
  std::optional<Ending> observe(const SolveProgress& progress, long k, VectorRef impulse);

  const LcpOptions& shared() const { return shared_; }
  FacetLcp& lcp() { return *lcp_; }
  Tableau tableau_;
  Vector z_;

 private:
  void conclude(Ending ending, const SolveProgress& progress, VectorRef impulse, SolveSummary& summary);

  SolverInfo info_;
  LcpOptions shared_;
  std::optional<FacetLcp> lcp_;
};

}  // namespace conebench::lcp
