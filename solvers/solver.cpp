#include "solvers/solver.hpp"

#include <limits>

namespace conebench {

SilentMonitor::SilentMonitor() { next_ = std::numeric_limits<long>::max(); }

std::string to_string(Formulation formulation) {
  switch (formulation) {
    case Formulation::ncp: return "NCP";
    case Formulation::ccp: return "CCP";
    case Formulation::lcp: return "LCP";
    case Formulation::model: return "model";
  }
  return "unknown";
}

std::string to_string(Allocation allocation) {
  switch (allocation) {
    case Allocation::none: return "no";
    case Allocation::refactorization: return "refactor";
    case Allocation::iteration: return "yes";
  }
  return "unknown";
}

std::string to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return "converged";
    case SolveStatus::max_iterations: return "max_iterations";
    case SolveStatus::time_limit: return "time_limit";
    case SolveStatus::stalled: return "stalled";
    case SolveStatus::diverged: return "diverged";
    case SolveStatus::breakdown: return "breakdown";
    case SolveStatus::unsupported: return "unsupported";
  }
  return "unknown";
}

std::string to_string(Breakdown breakdown) {
  switch (breakdown) {
    case Breakdown::none: return "";
    case Breakdown::singular: return "singular";
    case Breakdown::cycle: return "cycle";
    case Breakdown::no_solution: return "no_solution";
    case Breakdown::error: return "error";
    case Breakdown::queue_exhausted: return "queue_exhausted";
  }
  return "unknown";
}

std::string to_string(StopBy stop_by) {
  switch (stop_by) {
    case StopBy::solver: return "solver";
    case StopBy::judge: return "judge";
    case StopBy::judge_timed: return "judge_timed";
  }
  return "unknown";
}

std::optional<StopBy> stop_by_named(std::string_view name) {
  if (name == "solver" || name == "own") return StopBy::solver;
  if (name == "judge" || name == "verdict") return StopBy::judge;
  if (name == "judge_timed" || name == "verdict-paid") return StopBy::judge_timed;
  return std::nullopt;
}

std::string to_string(Origin origin) {
  switch (origin) {
    case Origin::own: return "own";
    case Origin::paper: return "paper";
    case Origin::peer: return "peer";
    case Origin::foreign: return "foreign";
  }
  return "unknown";
}

bool checks_are_free(const SolverInfo& info) {
  return info.origin != Origin::peer && (info.origin != Origin::foreign || info.observed_every_iteration);
}

StopBy fair_stop_by(bool all_checks_are_free) { return all_checks_are_free ? StopBy::judge : StopBy::judge_timed; }

bool Solver::needs_matrix(const ContactProblem&) const { return true; }

std::optional<std::string> unsupported_by_flags(const SolverInfo& info, const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  if (!info.joints && cones.joints() > 0) return info.id + " takes no joints (bilateral rows)";
  if (!info.limits && cones.limits() > 0) return info.id + " takes no limit rows";
  if (!info.compliance && !problem.rigid()) return info.id + " takes no compliance R";
  if (!info.intervals && !cones.intervals().empty()) return info.id + " takes no interval rows (bounds on an impulse)";
  if (cones.contacts() == 0) return std::nullopt;
  if (!info.two_dimensional && cones.contact_type() == ConeType::coulomb_plane) {
    return info.id + " takes no 2D contacts";
  }
  if (info.friction_cones || cones.coulomb_when_scaled()) return std::nullopt;
  if (!cones.rolls()) return info.id + " takes Coulomb's friction alone, on contacts of one size";
  if (!info.rolling) return info.id + " takes no rolling friction (contacts of 5 rows)";
  return std::nullopt;
}

}  // namespace conebench
