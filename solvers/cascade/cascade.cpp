#include "solvers/cascade/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/driver.hpp"
#include "solvers/cascade/first_sweep.hpp"
#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/linear/elimination.hpp"
#include "solvers/rolling/rolling_cascade.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace cascade {
namespace {

/// What the driver asks for and its parts do not.
struct Wishes {
  double most_bytes = std::numeric_limits<double>::infinity();  ///< of a factor
  bool projected = false;
  bool first_sweep = false;
};

using Run = std::function<void(Parts&, Search&, Vector&)>;

struct NewtonOptions {
  long steps = 200;
  double relative = tuned.relative;
};

void declare_options(OptionBinder& bind, NewtonOptions& o) {
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "Newton steps"});
  bind.real("relative", o.relative,
            {.minimum = 0, .maximum = 1e12, .scale = OptionScale::logarithmic, .doc = "regularisation over residual"});
}

void run_newton(Parts& parts, Search& search, Vector& r, const NewtonOptions& o) {
  parts.newton().run(
      search, r,
      {.steps = static_cast<int>(o.steps), .stall_window = tuned.first_stall_window, .relative = o.relative});
}

struct PathOptions {
  long steps = tuned.path_steps;
};

void declare_options(OptionBinder& bind, PathOptions& o) {
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "iterations, one factorization each"});
}

void run_interior_point(Parts& parts, Search& search, Vector&, const PathOptions& o) {
  parts.interior_point().run(search, 1.0, 1.0, static_cast<int>(o.steps));
}

struct ProximalOptions {
  long steps = 3000;
};

void declare_options(OptionBinder& bind, ProximalOptions& o) {
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "Newton steps in all"});
}

void run_proximal_point(Parts& parts, Search& search, Vector&, const ProximalOptions& o) {
  if (!parts.proximal_point().run(search, {.newton_steps = o.steps})) parts.newton().rescue(search);
}

/// What is known of the start and of the point one sweep further, before anything is scaled.
struct BeforeScaling {
  double start = std::numeric_limits<double>::infinity();
  double swept = std::numeric_limits<double>::infinity();
  long sweeps = 0;
  long products = 0;
  std::optional<SolveSummary> summary;  ///< where that ends the solve
};

/// Measures `guess` unless it is zero, sweeps once over `impulse`, which holds it, and measures that; proposes what
/// passes.
BeforeScaling try_before_scaling(const ContactProblem& problem, ConstVectorRef guess, const StopRule& stop,
                                 Monitor& monitor, VectorRef impulse) {
  FirstSweep first(problem);
  BeforeScaling known;
  const auto ends = [&](const char* stage, long point, double residual, double best) {
    known.products = first.products();
    if (!(residual <= stop.tolerance)) return false;
    const Decision decision =
        stop.criterion == Criterion::own ? Decision::accept : monitor.propose(point, impulse, residual);
    if (decision == Decision::keep_going) return false;
    const bool accepted = decision == Decision::accept;
    SolveSummary& summary = known.summary.emplace();
    summary.status = accepted ? SolveStatus::converged : SolveStatus::time_limit;
    if (accepted) summary.stage = stage;
    summary.iterations = known.sweeps;
    summary.operator_products = known.products + known.sweeps;
    summary.own_residual = residual;
    if (!accepted && best < residual) {
      impulse = guess;
      summary.own_residual = best;
    }
    return true;
  };
  if (!guess.isZero(0.0)) {
    known.start = first.residual(impulse);
    if (ends("start", 1, known.start, std::numeric_limits<double>::infinity())) return known;
  }
  if (stop.max_iterations <= 0) return known;
  first.sweep(impulse);
  known.sweeps = 1;
  known.swept = first.residual(impulse);
  ends(FirstSweep::name, 2, known.swept, known.start);
  return known;
}

/// The solver whose search is one of the run_… functions.
class PartSolver final : public Solver {
 public:
  PartSolver(SolverInfo info, Run run, const Wishes& wishes = {})
      : info_(std::move(info)), run_(std::move(run)), wishes_(wishes) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  std::optional<Error> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    std::optional<JointElimination> joints;
    if (problem.cones().joints() > 0) {
      auto eliminated = eliminate_joints(problem, most_bytes_of_elimination(problem, wishes_.most_bytes));
      if (!eliminated.ok()) return eliminated.error();
      joints = std::move(eliminated).value();
    }
    problem_ = problem;
    if (parts_) earlier_ = std::move(parts_);
    if (!sweeps_first()) make_parts(std::move(joints));
    return std::nullopt;
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    impulse = guess;
    std::optional<BeforeScaling> before;
    if (sweeps_first()) {
      before = try_before_scaling(*problem_, guess, stop, monitor, impulse);
      if (before->summary) return *before->summary;
    }
    if (!parts_) make_parts();
    const ScaledProblem& problem = parts_->problem();
    Search search(problem, stop, monitor, impulse);
    Vector start, r;
    problem.from_impulse(guess, start);
    const bool swept = before && std::isfinite(before->swept);
    r = start;
    if (swept) problem.from_impulse(impulse, r);  // before the search writes to it
    SolveSummary summary;
    if (problem.contacts() > 0) {
      if (wishes_.projected) search.project_answers();
      if (problem_->cones().joints() > 0) search.measure_joints(*problem_);
      search.begin_stage("start");
      if (before) search.go_on_after(before->sweeps, before->products);
      if (before && std::isfinite(before->start))
        search.resume(start, before->start);
      else
        offer(*parts_, search, start);
      if (swept) {
        search.begin_stage(FirstSweep::name);
        search.resume(r, before->swept);
      }
      if (!search.accepted() && !search.halted()) {
        search.begin_stage("");
        run_(*parts_, search, r);
      }
      summary = search.finish(impulse);
    } else {
      problem.to_impulse(r, impulse);
      // Joints that contradict each other keep a velocity.
      summary.own_residual = joint_velocity_left(*problem_, impulse) / problem.reference_velocity();
      summary.status = summary.own_residual <= stop.tolerance ? SolveStatus::converged : SolveStatus::stalled;
      if (summary.status == SolveStatus::stalled) summary.message = stalled_by::joints;
    }
    keep_finite(guess, impulse, summary);
    return summary;
  }

 private:
  bool sweeps_first() const { return wishes_.first_sweep && FirstSweep::fits(*problem_); }

  void make_parts(std::optional<JointElimination> joints = std::nullopt) {
    parts_ = std::make_unique<Parts>(*problem_, wishes_.most_bytes, std::move(joints));
    if (earlier_) parts_->take_analysis_of(*earlier_);
    earlier_.reset();
  }

  /// An impulse that left the range of numbers gives way to the guess, or to none.
  static void keep_finite(ConstVectorRef guess, VectorRef impulse, SolveSummary& summary) {
    if (impulse.allFinite()) return;
    impulse = guess.allFinite() ? Vector(guess) : Vector::Zero(guess.size());
    summary.status = SolveStatus::diverged;
    summary.own_residual = std::numeric_limits<double>::quiet_NaN();
  }

  SolverInfo info_;
  std::optional<ContactProblem> problem_;
  Run run_;
  Wishes wishes_;
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<Parts> earlier_;  ///< of the problem before, for its analysis
};

SolverInfo part_info(std::string id, std::string name, std::string summary) {
  SolverInfo info;
  info.id = std::move(id);
  info.name = std::move(name);
  info.formulation = Formulation::ncp;
  info.allocates = Allocation::iteration;
  info.observed_every_iteration = false;
  info.version = 20;  // all of them work with the same parts
  info.citation = "Conebench, docs/solvers/cascade.md";
  info.summary = std::move(summary);
  return info;
}

template <class Options>
SolverRow part_row(SolverInfo info, void (*run)(Parts&, Search&, Vector&, const Options&)) {
  SolverRow row = make_row<Options>(std::move(info), [run](const SolverInfo& i, const Options& options) {
    return std::make_unique<PartSolver>(
        i, [=](Parts& parts, Search& search, Vector& r) { run(parts, search, r, options); });
  });
  row.measures = "natural_map_scaled";
  return row;
}

/// The stages for Coulomb's friction, and what stands in for them with rolling friction.
SolverRow driver_row(SolverInfo info) {
  info.rolling = true;
  SolverRow row = make_row<DriverOptions>(std::move(info), [](const SolverInfo& i, const DriverOptions& o) {
    const Wishes wishes{1e6 * o.memory, o.projected, o.sweeps > 0 && !o.projected && !o.skips(FirstSweep::name)};
    const auto run = [o](Parts& parts, Search& search, Vector& r) { run_stages(parts, search, r, o); };
    return with_rolling_friction(i, std::make_unique<PartSolver>(i, run, wishes));
  });
  row.measures = "natural_map_scaled";
  return row;
}

}  // namespace
}  // namespace cascade

std::vector<SolverRow> cascade_rows() {
  using namespace cascade;
  SolverInfo driver = part_info("CASCADE", "Sweeps, Newton, interior point, proximal point",
                                "Solves what any of its parts solves, cheapest first; factors matrices of G's "
                                "pattern, so thousands of densely coupled contacts are expensive.");
  SolverInfo path = part_info("IPM", "Nesterov-Todd interior point with De Saxce's term",
                              "Few iterations on most problems; stalls where the central path folds.");
  SolverInfo proximal = part_info("PPA", "Proximal point from zero",
                                  "Slow and sure: follows the branch of solutions that starts at zero.");
  return {
      part_row<NewtonOptions>(part_info("SSN", "Reduced semi-smooth Newton",
                                        "Takes the last digits in a few steps from a point near a solution; no "
                                        "safeguard far from it."),
                              run_newton),
      part_row<PathOptions>(std::move(path), run_interior_point),
      part_row<ProximalOptions>(std::move(proximal), run_proximal_point),
      driver_row(std::move(driver)),
  };
}

}  // namespace conebench
