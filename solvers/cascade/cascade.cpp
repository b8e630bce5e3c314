#include "solvers/cascade/cascade.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "problems/linear/elimination.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/driver.hpp"
#include "solvers/cascade/friction_cascade.hpp"
#include "solvers/cascade/newton_krylov.hpp"
#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench {

namespace cascade {
namespace {

using Run = std::function<void(Parts&, Search&, Vector&)>;

struct NoOptions {};
void declare_options(OptionBinder&, NoOptions&) {}

/// Whether a sweep before anything is scaled, without heap allocation, pays: it is the answer where contacts do not
/// feel each other, as one alone.
bool is_small(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  return cones.joints() == 0 && cones.blocks() > 0 && cones.blocks() <= tuned.few_contacts;
}

/// The scaled natural map of a small problem.
double residual_of_small(const ContactProblem& problem, ConstVectorRef impulse) {
  constexpr int max_contacts = tuned.few_contacts;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 3 * max_contacts, 1>;
  Rows inverse_steps(problem.cones().blocks()), velocity(problem.rows()), scratch(problem.rows());
  const double reference = natural_map_scaling(problem, inverse_steps);
  problem.blocks().apply(impulse, velocity);
  velocity += problem.compliance().cwiseProduct(impulse) + problem.free_term();
  add_de_saxce(problem.cones(), velocity, velocity);
  return scaled_natural_map(problem.cones(), impulse, velocity, inverse_steps, reference, scratch);
}

/// What was measured before anything was scaled.
struct FirstResiduals {
  std::optional<double> start, swept;
};

/// Proposes `impulse` unless it is zero, then what one sweep makes of it.
FirstResiduals sweep_first(const ContactProblem& problem, Search& search, VectorRef impulse) {
  FirstResiduals first;
  const auto passes = [&](const char* stage, std::optional<double>& residual) {
    residual = residual_of_small(problem, impulse);
    search.count_product();
    search.begin_stage(stage);
    return search.propose(impulse, *residual);
  };
  if (!impulse.isZero(0.0) && passes("start", first.start)) return first;
  if (search.halted()) return first;
  ContactSweep(ContactSystem(problem)).sweep(impulse);
  search.count_sweep();
  passes(first_sweep, first.swept);
  return first;
}

/// The solver whose search is `run`.
class PartSolver final : public Solver {
 public:
  /// Factors take at most `max_bytes`. `sweeps_first`: a sweep before anything is scaled, where the problem is small.
  PartSolver(SolverInfo info, Run run, double max_bytes = std::numeric_limits<double>::infinity(),
             bool sweeps_first = false)
      : info_(std::move(info)), run_(std::move(run)), max_bytes_(max_bytes), sweeps_first_(sweeps_first) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    std::optional<JointElimination> joints;
    if (problem.cones().joints() > 0) {
      CONEBENCH_TRY(joints, eliminate_joints(problem, max_bytes_));
    }
    problem_ = problem;
    made_ = false;
    if (!sweeps_first()) make_parts(std::move(joints));
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    impulse = guess;
    Search search(stop, monitor, impulse);
    FirstResiduals first;
    if (sweeps_first()) {
      first = sweep_first(*problem_, search, impulse);
      if (search.ended()) return search.finish();
    }
    if (!made_) make_parts();
    const ScaledProblem& problem = parts_->problem();
    Vector start, r;
    problem.from_impulse(guess, start);
    problem.from_impulse(impulse, r);  // before the search writes to it
    search.take_points_of(problem);
    if (first.swept) search.keep_best(r, *first.swept);  // before a late monitor ends the search
    search.begin_stage("start");
    first.start ? search.offer(start, *first.start, true) : offer(*parts_, search, start);
    if (first.swept && !search.ended()) {
      search.begin_stage(first_sweep);
      search.offer(r, *first.swept, true);
    }
    if (!search.accepted() && !search.halted() && problem.contacts() > 0) {
      search.begin_stage("");
      run_(*parts_, search, r);
    }
    SolveSummary summary = search.finish();
    if (summary.status == SolveStatus::stalled && problem.contacts() == 0) {
      const bool solved = summary.own_residual <= stop.tolerance;
      summary.status = solved ? SolveStatus::converged : SolveStatus::stalled;
      summary.stall = solved ? Stall::unstated : Stall::joints;  // joints that contradict each other keep a velocity
    }
    keep_finite(guess, impulse, summary);
    return summary;
  }

 private:
  bool sweeps_first() const { return sweeps_first_ && is_small(*problem_); }

  void make_parts(std::optional<JointElimination> joints = std::nullopt) {
    auto parts = std::make_unique<Parts>(*problem_, max_bytes_, std::move(joints));
    if (parts_) parts->take_analysis_of(*parts_);
    parts_ = std::move(parts);
    made_ = true;
  }

  /// An impulse that left the range of numbers gives way to the guess, or to none.
  static void keep_finite(ConstVectorRef guess, VectorRef impulse, SolveSummary& summary) {
    if (impulse.allFinite()) return;
    impulse = guess.allFinite() ? Vector(guess) : Vector::Zero(guess.size());
    summary.status = SolveStatus::diverged;
    summary.own_residual = std::numeric_limits<double>::quiet_NaN();
  }

  SolverInfo info_;
  Run run_;
  double max_bytes_;
  bool sweeps_first_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<Parts> parts_;  ///< of this problem where they are made, else of one before, for its analysis
  bool made_ = false;
};

SolverInfo part_info(std::string id, std::string name, std::string summary) {
  SolverInfo info;
  info.intervals = true;
  info.id = std::move(id);
  info.name = std::move(name);
  info.formulation = Formulation::ncp;
  info.allocates = Allocation::iteration;
  info.observed_every_iteration = false;
  info.version = 23;  // all of them work with the same parts
  info.citation = "Conebench, docs/solvers/cascade.md";
  info.summary = std::move(summary);
  return info;
}

/// Without a barrier for two bounds.
SolverInfo one_sided(SolverInfo info) {
  info.intervals = false;
  return info;
}

SolverRow part_row(SolverInfo info, const Run& run) {
  SolverRow row = make_row<NoOptions>(
      std::move(info), [run](const SolverInfo& i, const NoOptions&) { return std::make_unique<PartSolver>(i, run); });
  row.measures = "natural_map_scaled";
  return row;
}

SolverRow newton_krylov_row(SolverInfo info) {
  info.version = 1;
  SolverRow row = make_row<NewtonKrylovOptions>(std::move(info), [](const SolverInfo& i, const NewtonKrylovOptions& o) {
    const auto run = [o](Parts& parts, Search& search, Vector& r) {
      NewtonKrylov(parts.problem(), parts.sweep(), o).run(search, r);
    };
    return std::make_unique<PartSolver>(i, run);
  });
  row.measures = "natural_map_scaled";
  return row;
}

/// The stages for Coulomb's friction, and what stands in for them where cones have other sizes.
SolverRow driver_row(SolverInfo info) {
  info.friction_cones = true;
  SolverRow row = make_row<DriverOptions>(std::move(info), [](const SolverInfo& i, const DriverOptions& o) {
    const auto run = [o](Parts& parts, Search& search, Vector& r) { run_stages(parts, search, r, o); };
    const bool sweeps_first = o.sweeps > 0 && !o.skips(first_sweep);
    return with_friction_cones(i, std::make_unique<PartSolver>(i, run, 1e6 * o.memory, sweeps_first));
  });
  row.measures = "natural_map_scaled";
  return row;
}

}  // namespace
}  // namespace cascade

std::vector<SolverRow> cascade_rows() {
  using namespace cascade;
  return {
      part_row(
          part_info("SSN", "Reduced semi-smooth Newton",
                    "Takes the last digits in a few steps from a point near a solution; no safeguard far from it."),
          [](Parts& parts, Search& search, Vector& r) {
            parts.newton().run(search, r,
                               {.steps = std::numeric_limits<int>::max(), .stall_window = tuned.first_stall_window});
          }),
      part_row(one_sided(part_info("IPM", "Nesterov-Todd interior point with De Saxce's term",
                                   "Few iterations on most problems; stalls where the central path folds.")),
               [](Parts& parts, Search& search, Vector&) { parts.interior_point().run(search); }),
      part_row(part_info("PPA", "Proximal point from zero",
                         "Slow and sure: follows the branch of solutions that starts at zero."),
               [](Parts& parts, Search& search, Vector&) {
                 const Vector zero = Vector::Zero(parts.problem().size());
                 if (!parts.proximal_point().run(search, zero, {.newton_steps = 3000})) parts.newton().rescue(search);
               }),
      newton_krylov_row(
          part_info("NEWTON-KRYLOV", "Sweeps and Newton steps solved by BiCGSTAB with ILU(0)",
                    "For thousands of contacts whose factors fill in: memory and time of a step are those of some "
                    "products with G. Lattices of more than 5,000 contacts that slide and wedge may take it longer "
                    "than anybody waits.")),
      driver_row(part_info("CASCADE", "Sweeps, Newton, interior point, proximal point",
                           "Solves what any of its parts solves, cheapest first; factors matrices of G's pattern, so "
                           "thousands of densely coupled contacts are expensive.")),
  };
}

}  // namespace conebench
