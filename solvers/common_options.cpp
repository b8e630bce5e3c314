#include "solvers/common_options.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/option_parsing.hpp"
#include "problems/conversions.hpp"
#include "problems/scaled_rows.hpp"
#include "solvers/attempts.hpp"
#include "solvers/island_solver.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace {

constexpr const char* stall_name = "stall";

struct CommonOptions {
  StallTest test = StallTest::none;
  bool here = true;  ///< solved by code of this build, in this process
  std::string units = "impulse";
  double stall = 0.0;
  long islands = 0;
};

void declare_options(OptionBinder& bind, CommonOptions& o) {
  bind.choice(
      "units", o.units, {"impulse", "force"},
      "what is solved for: impulses [N s], or forces lambda/dt [N] as in LeLidec24, which own tests, penalties and "
      "proximal terms then count; needs a problem that tells its time step");
  if (o.test == StallTest::on_shown) declare_stall(bind, o.stall);
  if (!o.here) return;
  bind.integer(
      "islands", o.islands,
      {.minimum = 0,
       .maximum = 1e9,
       .doc = "n > 0: solves the problem's islands, parts that share no entry of G, one after the other, each to "
              "its own stop test; those of fewer than n blocks in groups of n or more. Iterations are the "
              "largest number of an island's. 0: the problem as a whole"});
}

/// Passes everything on, impulses in the problem's units, and sees where the iterates stand still.
class StallMonitor final : public Monitor, public Attempts {
 public:
  StallMonitor(Monitor& inner, const Vector& row_units, double share, Vector& shown, Vector& last)
      : inner_(inner), row_units_(row_units), share_(share), shown_(shown), last_(last) {
    last_.setZero();
    next_ = due_from();
  }
  bool stalled() const { return stalled_; }

  Decision propose(long iteration, ConstVectorRef impulse, double own_residual) override {
    return passed_on(inner_.propose(iteration, in_impulses(impulse), own_residual));
  }
  void start_over() override {
    if (Attempts* const attempts = attempts_of(inner_)) attempts->start_over();
    next_ = due_from();
  }
  double verdict_ratio() const override {
    const Attempts* const attempts = attempts_of(inner_);
    return attempts != nullptr ? attempts->verdict_ratio() : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  Decision check(long iteration, ConstVectorRef impulse, double own_residual) override {
    const bool still = share_ > 0.0 && (impulse - last_).norm() < share_ * impulse.norm();
    last_ = impulse;
    Decision decision = Decision::keep_going;
    if (inner_.should_check(iteration)) {
      decision = inner_.observe(iteration, in_impulses(impulse), own_residual);
    } else if (still) {
      decision = inner_.propose(iteration, in_impulses(impulse), own_residual);
    }
    stalled_ = still && decision == Decision::keep_going;
    return passed_on(stalled_ ? Decision::accept : decision);
  }
  ConstVectorRef in_impulses(ConstVectorRef impulse) {
    shown_ = row_units_.cwiseProduct(impulse);
    return shown_;
  }
  Decision passed_on(Decision decision) {
    next_ = due_from();
    return decision;
  }
  /// Every iterate is compared with the last one.
  long due_from() const { return share_ > 0.0 ? 1 : inner_.next(); }

  Monitor& inner_;
  const Vector& row_units_;
  double share_;
  Vector &shown_, &last_;
  bool stalled_ = false;
};

/// The border between a problem's units and those that its solver works in: forces for impulses where that is asked
/// for, and rows in which every group of a friction law is a ball (problems/scaled_rows.hpp).
class CommonSolver final : public Solver {
 public:
  CommonSolver(std::unique_ptr<Solver> inner, CommonOptions options)
      : inner_(std::move(inner)), options_(std::move(options)) {}
  const SolverInfo& info() const override { return inner_->info(); }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (in_forces() && !time_step(problem)) {
      return "units=force needs the time step, which this problem does not tell; leave it out, or take a file with "
             "configuration/time_step (docs/sample_format.md)";
    }
    if (!problem.cones().scales()) return inner_->unsupported_reason(problem);
    if (auto reason = unsupported_by_flags(info(), problem)) return reason;  // before anything is scaled
    const Result<ContactProblem> scaled = in_row_units(problem);
    return scaled ? inner_->unsupported_reason(*scaled) : scaled.error().message;
  }

  bool needs_matrix(const ContactProblem& problem) const override { return inner_->needs_matrix(problem); }
  const VelocitySolver* velocities() const override { return inner_->velocities(); }

  Result<void> prepare(const ContactProblem& problem) override {
    passes_ = plain() && !problem.cones().scales();
    if (passes_) return inner_->prepare(problem);
    if (in_forces() || !problem.cones().scales()) {
      if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    } else if (auto reason = unsupported_by_flags(info(), problem)) {  // the rest says the inner solver
      return Error{ErrorCode::unsupported, *reason};
    }
    shown_.setZero(problem.rows());
    last_ = guess_ = shown_;
    row_units_ = row_units_of(problem);
    const Result<ContactProblem> scaled = in_row_units(problem, row_units_);
    if (!scaled) return scaled.error();
    if (!in_forces()) return inner_->prepare(*scaled);
    const double unit = *time_step(problem);
    row_units_ *= unit;
    return inner_->prepare(in_impulse_unit(*scaled, unit));
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    if (passes_) return inner_->solve(guess, stop, monitor, impulse);
    guess_ = guess.cwiseQuotient(row_units_);
    StallMonitor watch(monitor, row_units_, options_.stall, shown_, last_);
    SolveSummary summary = inner_->solve(guess_, stop, watch, impulse);
    impulse = impulse.cwiseProduct(row_units_);
    if (watch.stalled()) return stalled_as(summary, Stall::option, summary.own_residual);
    return summary;
  }

 private:
  bool plain() const { return !in_forces() && options_.stall == 0.0; }
  bool in_forces() const { return options_.units == "force"; }
  static std::optional<double> time_step(const ContactProblem& problem) {
    return problem.configuration() ? problem.configuration()->time_step : std::nullopt;
  }

  std::unique_ptr<Solver> inner_;
  CommonOptions options_;
  bool passes_ = false;  ///< nothing is to be changed
  Vector row_units_;     ///< of the inner solver's impulses [N s, on moments N m s]
  Vector shown_, last_, guess_;
};

/// What is common to the rows of a table.
struct Row {
  std::string id;
  CommonOptions defaults;
  bool measures;
  std::vector<std::string> own, all;  ///< names of its options
};

/// The options' own values, and those that are left to the solver itself.
struct Split {
  CommonOptions common;
  OptionValues own;
  OptionValues changed;  ///< common ones that are no defaults
};

Result<Split> split(const OptionValues& values, const Row& row) {
  Split parts{.common = row.defaults, .own = values, .changed = {}};
  OptionBinder binder;
  declare_options(binder, parts.common);
  OptionValues common;
  const OptionValues defaults = binder.effective();
  for (const auto& [name, unused] : defaults) {
    if (auto node = parts.own.extract(name)) common.insert(std::move(node));
  }
  const auto wrong = [&row](const std::string& why) { return Error{ErrorCode::wrong_usage, row.id + ": " + why}; };
  for (const auto& [name, unused] : parts.own) {
    if (std::ranges::find(row.own, name) == row.own.end()) return wrong(unknown_option(name, row.all));
  }
  if (auto assigned = binder.assign(common); !assigned) return wrong(assigned.error().message);
  for (const auto& [name, value] : binder.effective()) {
    if (value != defaults.at(name)) parts.changed[name] = value;
  }
  return parts;
}

}  // namespace

void declare_stall(OptionBinder& bind, double& share) {
  bind.real(
      stall_name, share,
      {.minimum = 0,
       .maximum = 1,
       .doc =
           "ends as stalled where |lambda_k - lambda_(k-1)| < stall |lambda_k|, 1e-8 in LeLidec24; 0: no such test"});
}

void declare_threads(OptionBinder& bind, long& threads, const std::string& that) {
  bind.integer("threads", threads,
               {.minimum = 1, .maximum = 256, .doc = "threads " + that + "; no bit of the answer depends on it"});
}

SolverRow with_common_options(SolverRow row, StallTest test) {
  CommonOptions defaults{.test = test, .here = row.foreign == ForeignCode::none && !row.info.own_process};
  OptionBinder binder;
  declare_options(binder, defaults);
  row.common = binder.specs();
  Row shared{.id = row.info.id, .defaults = defaults, .measures = !row.measures.empty(), .own = {}, .all = {}};
  for (const OptionSpec& spec : row.options) shared.own.push_back(spec.name);
  for (const OptionSpec& spec : row.all_options()) shared.all.push_back(spec.name);
  row.make = [make = row.make, shared](const OptionValues& values) -> Result<std::unique_ptr<Solver>> {
    auto parts = split(values, shared);
    if (!parts) return parts.error();
    const SolverMaker one = [make, own = parts->own, common = parts->common]() -> Result<std::unique_ptr<Solver>> {
      auto inner = make(own);
      if (!inner) return inner;
      return std::unique_ptr<Solver>(std::make_unique<CommonSolver>(std::move(*inner), common));
    };
    auto first = one();
    if (!first || parts->common.islands == 0) return first;
    return make_island_solver(one, std::move(*first), parts->common.islands, shared.measures);
  };
  row.effective_options = [effective = row.effective_options,
                           shared](const OptionValues& values) -> Result<OptionValues> {
    auto parts = split(values, shared);
    if (!parts) return parts.error();
    auto all = effective(parts->own);
    if (all) all->insert(parts->changed.begin(), parts->changed.end());
    if (all && shared.defaults.test == StallTest::by_solver && all->at(stall_name) == OptionValue(0.0))
      all->erase(stall_name);
    return all;
  };
  return row;
}

}  // namespace conebench
