#include "solvers/cascade/cascade.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/cascade/elimination_order.hpp"
#include "solvers/cascade/falling_shift.hpp"
#include "solvers/cascade/few_contacts.hpp"
#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/stages.hpp"
#include "solvers/cascade/yielding_joints.hpp"
#include "solvers/rolling/rolling_cascade.hpp"

namespace conebench {

namespace cascade {
namespace {

struct CascadeOptions {
  long sweeps = 4;
  long proximal_steps = 1200;
  long arclength_steps = 150;
  long restarts = 12;
  double memory = 2000.0;
  bool newton = true;
  bool interior_point = true;
  bool proximal_point = true;
  bool arclength = true;
  bool admm = true;
  bool projected = false;
};

void declare_options(OptionBinder& bind, CascadeOptions& o) {
  bind.integer("sweeps", o.sweeps,
               {.minimum = 0,
                .maximum = 1e6,
                .doc = "Gauss-Seidel sweeps at first; half of them, rounded up, beyond eight contacts, with joints and "
                       "where projected; 0: none, and no dense steps"});
  bind.integer("proximal_steps", o.proximal_steps,
               {.minimum = 1,
                .maximum = 1e9,
                .doc = "Newton steps of the first proximal-point walk; a later one goes on while 5/3 of them more "
                       "halve its residual"});
  bind.integer("arclength_steps", o.arclength_steps,
               {.minimum = 1, .maximum = 1e9, .doc = "steps of the first arclength following"});
  bind.integer("restarts", o.restarts,
               {.minimum = 0, .maximum = 1000, .doc = "further proximal-point walks and followings with other starts"});
  bind.flag("newton", o.newton, "try Newton steps on a few contacts, and SSN from rest and after the sweeps");
  bind.flag("interior_point", o.interior_point, "try IPM");
  bind.flag("proximal_point", o.proximal_point, "try PPA");
  bind.flag("arclength", o.arclength, "try ARC");
  bind.flag("admm", o.admm, "try ADMM-NCP-SA-S where sticking impulses are large");
  bind.flag("projected", o.projected, "return an impulse in K, and stop where that one passes");
  bind.real(
      "memory", o.memory,
      {.minimum = 0,
       .maximum = 1e6,
       .unit = "MB",
       .scale = OptionScale::logarithmic,
       .doc = "most that a factor may take; where it would take more, sweeps go on to the end, and where what the "
              "joints' elimination fills would, the problem is refused; joints yield where two eliminations fit"});
}

bool swept_thoroughly(const CascadeOptions& o, const ContactProblem& problem) {
  return o.sweeps > 0 && !o.projected && FewContacts::fit(problem) &&
         problem.cones().contacts() <= FewContacts::thoroughly;
}

/// Sweeps at first where these are not all that a few contacts get.
long first_sweeps(const CascadeOptions& o) { return (o.sweeps + 1) / 2; }

/// Sweeps that a few contacts get before anything is allocated; 0: none.
long early_sweeps(const CascadeOptions& o, const ContactProblem& problem) {
  if (swept_thoroughly(o, problem)) return o.sweeps;
  return !o.projected && FewContacts::worth_trial_sweeps(problem) ? std::min(first_sweeps(o), FewContacts::trial_sweeps)
                                                                  : 0;
}

template <class Options>
long early_sweeps(const Options&, const ContactProblem&) {
  return 0;
}

/// What a factor may take.
template <class Options>
double most_bytes(const Options& options) {
  if constexpr (requires { options.memory; }) return 1e6 * options.memory;
  return std::numeric_limits<double>::infinity();
}

template <class Options>
bool tries_newton(const Options& options, const ContactProblem& problem) {
  const auto rows = static_cast<double>(problem.rows());
  if constexpr (requires { options.newton; }) return options.newton && 8.0 * rows * rows <= most_bytes(options);
  return false;
}

void run_cascade(Parts& parts, Search& search, Vector& r, const CascadeOptions& o) {
  if (o.newton && search.best() > 1e-2 && from_rest(parts, search)) return;  // not where the start is near
  const bool planar = parts.problem().planar();
  const bool path_first = o.interior_point && r.isZero(0.0) && !search.halted() && highly_redundant(parts);
  if (path_first && follow_path(parts, search)) return;
  Measured start;
  if (o.sweeps > 0 && !search.halted() && !swept_thoroughly(o, parts.source()) &&
      sweep_while_cheap(parts, search, r, static_cast<int>(first_sweeps(o) - search.sweeps()), start))
    return;
  if (search.halted()) return;
  if (!parts.lu().fits()) return void(sweep_to_the_end(parts, search, r));
  Vector swept = r;
  search.odd_attempt();  // an interior point's first finish is then one with the larger regularisation
  if (o.newton && !search.halted() && parts.newton().run(search, r, first_newton(planar), start)) return;
  if (o.sweeps > 0 && !search.halted() && sweep_on(parts, search, swept)) return;
  if (o.interior_point && !path_first && !search.halted() && follow_path(parts, search)) return;
  const bool near = search.best() < std::max(1e-6, 10.0 * search.tolerance());
  if (search.halted() || (near && (rescue(parts, search) || let_joints_yield(parts, search, o.interior_point)))) return;
  const LargeImpulses large{o.admm, o.interior_point, o.proximal_point};
  if (search.best() > 1e-6 && (o.admm || o.interior_point) && large_impulses(parts, search, large)) return;
  ProximalPoint::Limits walk{.shift = 0.03, .newton_steps = o.proximal_steps, .successes = 3, .short_steps = true};
  if (o.proximal_point && !search.halted() && parts.proximal_point().run(search, walk)) return;
  if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
  if (let_joints_yield(parts, search, o.interior_point)) return;
  if (o.interior_point && o.proximal_point && solve_with_falling_shift(parts, search, o.arclength)) return;
  const ArclengthPath::Limits other{.steps = 300, .low = 0.5, .high = 2.0, .by_determinant = true};
  if (o.arclength && !search.halted() && parts.arclength_path().run(search, 10.0, 1.0, other)) return;
  if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
  if (o.proximal_point && settle_within_tolerance(parts, search)) return;
  walk.longer = o.proximal_steps * 5 / 3;
  walk.resume = true;
  walk.tolerated = tolerable;
  if (o.proximal_point && !search.halted() && parts.proximal_point().run(search, walk)) return;
  if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
  if (o.interior_point && !search.halted() && large_impulses_again(parts, search, large)) return;
  if (o.arclength && parts.arclength_path().run(search, 1.0, 1.0, {.steps = static_cast<int>(o.arclength_steps)}))
    return;
  if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
  if (o.proximal_point && o.restarts > 0) {
    walk.newton_steps = 1500;
    walk.longer = 2000;
    if (parts.proximal_point().run(search, walk)) return;
    if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
  }
  constexpr std::array<double, 4> shifts{0.1, 0.03, 0.005, 0.2};
  for (long k = 0; k < o.restarts && !search.halted(); ++k) {
    if (o.proximal_point) {
      const ProximalPoint::Limits limits{.shift = shifts[static_cast<std::size_t>(k % 4)],
                                         .newton_steps = doubled(1500, k),
                                         .successes = k < 4 ? 5 : 10,
                                         .short_steps = k % 2 == 0,
                                         .tolerated = tolerable};
      if (parts.proximal_point().run(search, limits)) return;
      if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
    }
    if (o.arclength) {
      const double low = k % 2 != 0 ? 0.5 : 0.1;
      const ArclengthPath::Limits limits{
          .steps = static_cast<int>(doubled(300, k)), .low = low, .high = 1.0 / low, .by_determinant = k % 2 != 0};
      if (parts.arclength_path().run(search, k % 2 != 0 ? 10.0 : 0.1, k % 3 != 0 ? 1.0 : 10.0, limits)) return;
      if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return;
    }
  }
}

struct NewtonOptions {
  long steps = 200;
  long patience = 20;
  double relative = 10.0;
  double largest = 1e-3;
  long sweeps = 0;
};

void declare_options(OptionBinder& bind, NewtonOptions& o) {
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "Newton steps of one run"});
  bind.integer("patience", o.patience,
               {.minimum = 1, .maximum = 1e9, .doc = "steps without the residual falling to 0.7 of the best"});
  bind.real("relative", o.relative,
            {.minimum = 0, .maximum = 1e12, .scale = OptionScale::logarithmic, .doc = "regularisation over residual"});
  bind.real("largest", o.largest,
            {.minimum = 0, .maximum = 1e6, .scale = OptionScale::logarithmic, .doc = "largest regularisation"});
  bind.integer("sweeps", o.sweeps, {.minimum = 0, .maximum = 1e6, .doc = "Gauss-Seidel sweeps before the first step"});
}

void run_newton(Parts& parts, Search& search, Vector& r, const NewtonOptions& o) {
  sweep_times(o.sweeps, parts, search, r);
  parts.newton().run(search, r,
                     {.steps = static_cast<int>(o.steps),
                      .patience = static_cast<int>(o.patience),
                      .relative = o.relative,
                      .largest = o.largest});
}

struct PathOptions {
  long steps = 60;
  double impulse = 1.0;
  double velocity = 1.0;
};

void declare_options(OptionBinder& bind, PathOptions& o) {
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "iterations, one factorization each"});
  bind.real(
      "impulse", o.impulse,
      {.minimum = 1e-12, .maximum = 1e12, .scale = OptionScale::logarithmic, .doc = "start r = (0, 0, this), scaled"});
  bind.real(
      "velocity", o.velocity,
      {.minimum = 1e-12, .maximum = 1e12, .scale = OptionScale::logarithmic, .doc = "start w = (0, 0, this), scaled"});
}

void run_interior_point(Parts& parts, Search& search, Vector&, const PathOptions& o) {
  parts.interior_point().run(search, o.impulse, o.velocity, static_cast<int>(o.steps));
}

struct ArclengthOptions : PathOptions {
  ArclengthOptions() { steps = 2000; }
};

void declare_options(OptionBinder& bind, ArclengthOptions& o) { declare_options(bind, static_cast<PathOptions&>(o)); }

void run_arclength(Parts& parts, Search& search, Vector&, const ArclengthOptions& o) {
  parts.arclength_path().run(search, o.impulse, o.velocity, {.steps = static_cast<int>(o.steps)});
}

struct ProximalOptions {
  double shift = 1e-2;
  long steps = 3000;
  long successes = 5;
  bool short_steps = false;
};

void declare_options(OptionBinder& bind, ProximalOptions& o) {
  bind.real("shift", o.shift,
            {.minimum = 1e-9, .maximum = 1e3, .scale = OptionScale::logarithmic, .doc = "proximal term at the start"});
  bind.integer("steps", o.steps, {.minimum = 1, .maximum = 1e9, .doc = "Newton steps in all"});
  bind.integer("successes", o.successes, {.minimum = 1, .maximum = 1e6, .doc = "successes before the shift shrinks"});
  bind.flag("short_steps", o.short_steps, "raise the shift rather than solve what Newton's method does not");
}

void run_proximal_point(Parts& parts, Search& search, Vector&, const ProximalOptions& o) {
  const ProximalPoint::Limits limits{.shift = o.shift,
                                     .newton_steps = o.steps,
                                     .successes = static_cast<int>(o.successes),
                                     .short_steps = o.short_steps};
  if (parts.proximal_point().run(search, limits)) return;
  rescue(parts, search);
}

template <class Options>
bool wants_projection(const Options& options) {
  if constexpr (requires { options.projected; }) return options.projected;
  return false;
}

/// The solver whose search is one of the run_… functions above.
template <class Options>
class PartSolver final : public Solver {
 public:
  using Run = void (*)(Parts&, Search&, Vector&, const Options&);
  PartSolver(SolverInfo info, const Options& options, Run run) : info_(std::move(info)), options_(options), run_(run) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  std::optional<Error> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    std::optional<JointElimination> joints;
    if (problem.cones().joints() > 0) {
      auto eliminated = eliminate_joints(problem, most_bytes_of_elimination(problem, most_bytes(options_)));
      if (!eliminated.ok()) return eliminated.error();
      joints = std::move(eliminated).value();
    }
    problem_ = problem;
    if (parts_) earlier_ = std::move(parts_);
    if (joints || early_sweeps(options_, problem) == 0) make_parts(std::move(joints));
    return std::nullopt;
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    FewContacts early;
    if (const long sweeps = early_sweeps(options_, *problem_); sweeps > 0) {
      early = FewContacts::solve(*problem_, guess, {sweeps, tries_newton(options_, *problem_)}, stop, monitor, impulse);
      if (early.accepted || early.halted) {
        SolveSummary summary = early.summary();
        keep_finite(guess, impulse, summary);
        return summary;
      }
      if (!impulse.allFinite()) impulse = guess;
    } else {
      impulse = guess;
    }
    if (!parts_) make_parts();
    const ScaledProblem& problem = parts_->problem();
    Search search(problem, stop, monitor, parts_->impulse_workspace());
    search.go_on_after(early);
    Vector r;
    problem.from_impulse(impulse, r);
    SolveSummary summary;
    if (problem.contacts() > 0) {
      const bool projected = wants_projection(options_);
      if (projected) search.project_answers();
      if (problem_->cones().joints() > 0) search.measure_joints(*problem_);
      if (!offer(*parts_, search, r) && !search.halted()) run_(*parts_, search, r, options_);
      summary = search.finish(impulse);
    } else {
      problem.to_impulse(r, impulse);
      // Joints that contradict each other keep a velocity.
      summary.own_residual = joint_velocity_left(*problem_, impulse) / problem.reference_velocity();
      summary.status = summary.own_residual <= stop.tolerance ? SolveStatus::converged : SolveStatus::stalled;
    }
    keep_finite(guess, impulse, summary);
    return summary;
  }

 private:
  void make_parts(std::optional<JointElimination> joints = std::nullopt) {
    parts_ = std::make_unique<Parts>(*problem_, most_bytes(options_), std::move(joints));
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
  Options options_;
  Run run_;
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
  info.version = 9;
  info.variant = order_variant();
  info.citation = "Conebench, docs/solvers/cascade.md";
  info.summary = std::move(summary);
  return info;
}

template <class Options>
SolverRow part_row(SolverInfo info, void (*run)(Parts&, Search&, Vector&, const Options&)) {
  SolverRow row = make_row<Options>(std::move(info), [run](const SolverInfo& i, const Options& options) {
    return std::make_unique<PartSolver<Options>>(i, options, run);
  });
  row.measures = "natural_map_scaled";
  return row;
}

}  // namespace
}  // namespace cascade

std::vector<SolverRow> cascade_rows() {
  using namespace cascade;
  SolverInfo driver = part_info("CASCADE", "Sweeps, Newton, interior point, proximal point, arclength",
                                "Solves what any of its parts solves, cheapest first; factors matrices of G's "
                                "pattern, so thousands of densely coupled contacts are expensive.");
  driver.version = 15;
  driver.rolling = true;
  SolverInfo walk = part_info("PPA", "Proximal point from zero",
                              "Slow and sure: walks along the branch of solutions that starts at zero.");
  walk.version = 10;
  return {
      part_row<NewtonOptions>(part_info("SSN", "Reduced semi-smooth Newton",
                                        "Takes the last digits in a few steps from a point near a solution; no "
                                        "safeguard far from it."),
                              run_newton),
      part_row<PathOptions>(part_info("IPM", "Nesterov-Todd interior point with De Saxce's term",
                                      "Few iterations on most problems; stalls where the central path folds."),
                            run_interior_point),
      part_row<ProximalOptions>(std::move(walk), run_proximal_point),
      part_row<ArclengthOptions>(part_info("ARC", "Arclength following of the central path",
                                           "Walks around the folds at which interior points stall; many "
                                           "factorizations."),
                                 run_arclength),
      make_row<CascadeOptions>(driver,
                               [](const SolverInfo& i, const CascadeOptions& o) {
                                 return with_rolling_friction(
                                     i, std::make_unique<PartSolver<CascadeOptions>>(i, o, run_cascade));
                               }),
  };
}

}  // namespace conebench
