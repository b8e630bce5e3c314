#include "solvers/lcp/lcp_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace conebench::lcp {

void declare_options(OptionBinder& bind, LcpOptions& o) {
  bind.integer("facets", o.facets,
               {.minimum = 4, .maximum = 256, .doc = "M of Yamane (18): facets of a 3D cone, even"});
  bind.flag("scaled", o.scaled, "LCP to unit diagonal and unit |q|; off: the units of the problem, as in the paper");
  bind.real("max_error", o.max_error,
            {.minimum = 0.0,
             .maximum = 1e6,
             .scale = OptionScale::logarithmic,
             .doc = "e_max of Yamane Sec. V: largest error |min(z, M z + q)| of a solution"});
  bind.integer("max_rows", o.max_rows,
               {.minimum = 1, .maximum = 20000, .doc = "of the dense LCP; larger problems are unsupported"});
}

std::optional<std::string> LcpSolver::unsupported_reason(const ContactProblem& problem) const {
  if (auto reason = unsupported_by_flags(info_, problem)) return reason;
  if (shared_.facets % 2 != 0) return fmt::format("{} takes an even number of facets", info_.id);
  const Index rows = std::max(FacetLcp::size_of(problem.cones(), static_cast<int>(shared_.facets)), problem.rows());
  if (rows > shared_.max_rows) {
    return fmt::format("{} pivots a dense matrix: {} rows, more than max_rows = {}", info_.id, rows, shared_.max_rows);
  }
  return std::nullopt;
}

Result<void> LcpSolver::prepare(const ContactProblem& problem) {
  if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
  lcp_.emplace(problem, static_cast<int>(shared_.facets), shared_.scaled);
  tableau_ = Tableau(lcp_->size());
  z_.setZero(lcp_->size());
  allocate(lcp_->size());
  return {};
}

std::optional<Ending> LcpSolver::observe(const SolveProgress& progress, long k, VectorRef impulse) {
  const auto iterate = [&]() -> ConstVectorRef {
    tableau_.read_solution(z_);
    lcp_->to_impulse(z_, impulse);
    return impulse;
  };
  const auto status = progress.check(k, std::numeric_limits<double>::quiet_NaN(), iterate);
  if (!status) return std::nullopt;
  return *status == SolveStatus::converged ? Ending::accepted : Ending::out_of_time;
}

SolveSummary LcpSolver::solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  SolveSummary summary;
  const SolveProgress progress(stop, monitor);
  if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
  // Pivots start at z = 0, so a guess counts only where it is the answer.
  if (!guess.isZero(0.0)) {
    lcp_->from_impulse(guess, z_);
    ++summary.operator_products;
    if (lcp_->residual(z_) <= std::min(stop.tolerance, shared_.max_error)) {
      conclude(Ending::solved, progress, impulse, summary);
      if (summary.status == SolveStatus::converged) return summary;
    }
  }
  const Ending ending = search(progress, impulse, summary);
  conclude(ending, progress, impulse, summary);
  return summary;
}

/// The status, from the error of z_ in the LCP as assembled.
void LcpSolver::conclude(Ending ending, const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) {
  lcp_->to_impulse(z_, impulse);
  summary.own_residual = lcp_->residual(z_);
  ++summary.operator_products;
  summary.breakdown = Breakdown::none;
  const auto broke = [&](Breakdown why) {
    summary.status = SolveStatus::breakdown;
    summary.breakdown = why;
  };
  switch (ending) {
    case Ending::accepted: summary.status = SolveStatus::converged; break;
    case Ending::no_solution: broke(Breakdown::no_solution); break;
    case Ending::cycle: broke(Breakdown::cycle); break;
    case Ending::error: broke(Breakdown::error); break;
    case Ending::queue_exhausted: broke(Breakdown::queue_exhausted); break;
    case Ending::out_of_pivots: summary.status = SolveStatus::max_iterations; break;
    case Ending::out_of_time: summary.status = SolveStatus::time_limit; break;
    case Ending::solved:
      if (!(summary.own_residual <= shared_.max_error)) {
        broke(Breakdown::error);
        break;
      }
      summary.status = SolveStatus::stalled;
      if (progress.passes(summary.own_residual)) {
        summary.status = SolveStatus::converged;
      } else if (progress.stop().stop_by != StopBy::solver) {
        const auto status = progress.check(summary.iterations, summary.own_residual, impulse, true);
        summary.status = status.value_or(SolveStatus::stalled);
      }
      if (summary.status == SolveStatus::stalled) summary.message = "LCP solved";  // short enough not to allocate
  }
  if (!impulse.allFinite()) summary.status = SolveStatus::diverged;
}

}  // namespace conebench::lcp
