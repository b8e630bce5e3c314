#include "solvers/cascade/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "problems/cone_projection.hpp"
#include "solvers/linear/elimination_fronts.hpp"
#include "solvers/registry.hpp"

namespace conebench::cascade {

namespace {

/// The scaled natural map at r; w becomes its velocities.
double measure(Parts& parts, const Vector& r, Vector& w) {
  parts.problem().velocity(r, w);
  return parts.problem().residual(r, w);
}

}  // namespace

void sweep_times(long count, Parts& parts, Search& search, Vector& r) {
  for (long k = 0; k < count && !search.halted(); ++k) {
    parts.sweep().sweep(r);
    search.count_sweep();
  }
}

bool offer(Parts& parts, Search& search, const Vector& r) {
  Vector w(parts.problem().size());
  return search.offer(r, measure(parts, r, w));
}

NewtonBudget first_newton(bool planar) {
  return {.steps = planar ? 30 : 60,
          .stall_window = planar ? 8 : 30,
          .relative = 2.0,
          .largest = 1e-2,
          .progress = planar ? 0.5 : 0.7,
          .start_counts = false,
          .trusts_modes = true,
          .changes_scale = true,
          .leaves_cycles = true};
}

bool rescue(Parts& parts, Search& search) {
  for (int round = 0; round < 6; ++round) {
    const double before = search.best();
    for (const double relative : {1e3, 1e4, 1e2, 1e5, 10.0}) {
      Vector r = search.best_point();
      const NewtonBudget budget{.steps = 40, .stall_window = 10, .relative = relative, .largest = 0.1};
      if (parts.newton().run(search, r, budget) || search.halted()) return true;
      if (search.best() < 0.3 * before) break;
    }
    if (search.best() > 0.3 * before) return false;
  }
  return false;
}

namespace {

/// −(G̃ + shift I)⁻¹ g̃: the impulses were all contacts to stick. Leaves the factors.
Vector sticking_impulses(Parts& parts, Search& search, double shift) {
  const ScaledProblem& problem = parts.problem();
  const char left_out = problem.planar() ? Left::middle : Left::nothing;
  parts.lu().factor(problem, BlockSystem(problem.contacts(), shift, left_out));
  search.count_newton();
  Vector r(problem.size());
  parts.lu().solve(-problem.free_term(), r);
  return r;
}

/// From there on no other way than large starts is worth its time.
constexpr double very_large = 1e5;

/// Interior points from three starts, and a proximal point from the best.
bool from_impulses_of(double size, Parts& parts, Search& search) {
  for (const double velocity : {10.0, 1e3, 1.0}) {
    if (search.halted() || parts.interior_point().run(search, size, velocity, 60)) return true;
    if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return true;
  }
  if (search.halted() || !(search.best() < 1e-3)) return false;
  return parts.proximal_point().run(search,
                                    {.shift = 1e-6, .newton_steps = 200, .successes = 5, .from = &search.best_point()});
}

/// Rough costs in multiplications: a sweep streams the matrix, a Newton step scales the blocks, factors and solves.
struct Costs {
  double sweep, newton;

  explicit Costs(const ScaledProblem& problem)
      : sweep(problem.planar() ? 2.5 * problem.stored_blocks() + 20.0 * problem.contacts()
                               : 18.0 * problem.stored_blocks() + 150.0 * problem.contacts()),
        newton(108.0 * problem.stored_blocks() + 400.0 * problem.contacts()) {}
  void add_fill(const BlockLu& lu) { newton += lu.estimate().flops / 6.0; }
};

/// Sweeps a Newton step; thousands of contacts in space reach it, piles do not.
constexpr double heavy = 50.0;

/// From `residual` to `tolerance` at `rate`; 1e9 stands for never.
double sweeps_needed(double residual, double tolerance, double rate) {
  const double needed = std::log(tolerance / residual) / std::log(rate);
  return rate < 1.0 && needed < 1e9 ? needed : 1e9;
}

/// Offers the iterates of another solver, in the problem's own units, to the search.
class Relay final : public Monitor {
 public:
  Relay(const ScaledProblem& problem, Search& search) : problem_(problem), search_(search), w_(problem.size()) {}

 private:
  Decision look(long, ConstVectorRef impulse, double) override {
    search_.count_sweep();
    problem_.from_impulse(impulse, r_);
    problem_.velocity(r_, w_);
    const double residual = problem_.residual(r_, w_);
    if (search_.offer(r_, residual)) return Decision::accept;
    // Where it is the right method, twenty iterations gain two digits and more from the fortieth on.
    if (++looks_ % 20 == 0) {
      if (looks_ > 20 && residual > 0.1 * last_) return Decision::out_of_time;
      last_ = residual;
    }
    return search_.halted() ? Decision::out_of_time : Decision::keep_going;
  }
  const ScaledProblem& problem_;
  Search& search_;
  Vector r_, w_;
  int looks_ = 0;
  double last_ = 0.0;
};

/// A step costs as much as many sweeps, or there is no factor to make it with.
bool newton_is_dear(Parts& parts) {
  Costs costs(parts.problem());
  costs.add_fill(parts.lu());
  return costs.newton > heavy * costs.sweep || !parts.lu().fits();
}

}  // namespace

bool run_admm(Parts& parts, Search& search) {
  const ContactProblem& source = parts.source();
  // Its L and U, each beside what they are made of, and the stack of updates.
  const EliminationFronts fronts = analyse_fronts(source.blocks());
  const auto values = 4.0 * static_cast<double>(fronts.panel_values) + static_cast<double>(fronts.stack_values);
  if (sizeof(double) * values > parts.most_bytes()) return false;
  const auto solver = find_solver("ADMM-NCP-SA-S")->make({});
  if (!solver.ok() || (*solver)->prepare(source)) return false;
  Relay relay(parts.problem(), search);
  Vector impulse = Vector::Zero(source.rows());
  // Each iteration may factor once, after the first factor.
  const long most = std::min(120L, (search.iterations_left() - 1) / 2);
  if (most < 1) return false;
  const StopRule stop{.tolerance = search.tolerance(), .max_iterations = most, .criterion = Criterion::verdict};
  const SolveSummary summary = (*solver)->solve(Vector::Zero(source.rows()), stop, relay, impulse);
  for (long k = 0; k < summary.factorizations; ++k) search.count_newton();
  return search.accepted();
}

bool highly_redundant(Parts& parts) {
  const ScaledProblem& problem = parts.problem();
  // Eight blocks a contact save most problems the sum. The squares must sum to 23 a contact; as G̃ is positive
  // semidefinite a block has 3 at most where diagonal blocks are near I, so that 7.7 are needed. Where these are of
  // rank one a block may have 9, and 2.6 could do: such problems are passed over.
  if (problem.planar() || problem.contacts() <= FewContacts::most_contacts ||
      problem.stored_blocks() < 8 * problem.contacts())
    return false;
  double squares = 0.0;
  for (int k = 0; k < problem.stored_blocks(); ++k) squares += problem.block(k).squaredNorm();
  // Each diagonal block has trace 3.
  return static_cast<double>(problem.size()) < 0.13 * squares && !newton_is_dear(parts);
}

bool from_rest(Parts& parts, Search& search) {
  const Vector& free = parts.problem().free_term();
  double pressing = 0.0;
  double moving = 0.0;
  for (Index i = 0; i < free.size(); i += 3) {
    pressing = std::max(pressing, -free[i + 2]);
    moving = std::max({moving, free[i + 2], tangential_norm<3>(Eigen::Vector3d(free.segment<3>(i)))});
  }
  if (!(moving <= 1e-2 * pressing)) return false;
  if (newton_is_dear(parts)) return false;
  const Vector r = sticking_impulses(parts, search, 1e-6);
  // Once more with the same factors takes most of the shift's error away.
  Vector w(r.size());
  Vector further(r.size());
  parts.problem().velocity(r, w);
  parts.lu().solve(-w, further);
  further += r;
  // Where that start is good each step after the first gains.
  return parts.newton().run(search, further, {.steps = 15, .stall_window = 2, .start_counts = false});
}

bool sweep_on(Parts& parts, Search& search, Vector& r) {
  constexpr int least = 8;
  Costs costs(parts.problem());
  costs.add_fill(parts.lu());
  Vector w(parts.problem().size());
  struct Mark {
    int sweeps;
    double residual;
  };
  std::vector<Mark> marks;
  int done = 0;
  int batch = least;
  bool hesitating = false;
  while (!search.halted()) {
    const double spent = done * costs.sweep;
    const bool early = done < 16 * least && spent <= 5.0 * costs.newton;
    Mark from{done + batch / 2, 0.0};
    sweep_times(batch / 2, parts, search, r);
    if (early) from.residual = measure(parts, r, w);
    sweep_times(batch - batch / 2, parts, search, r);
    done += batch;
    const double residual = measure(parts, r, w);
    if (search.offer(r, residual)) return true;
    marks.push_back({done, residual});
    // Over the last half batch at first, later over the later half of all sweeps; then one batch may hesitate.
    if (!early) {
      const auto in_earlier_half = [&](const Mark& mark) { return 2 * mark.sweeps <= done; };
      from = *std::prev(std::partition_point(marks.begin(), marks.end(), in_earlier_half));
    }
    const double rate = std::pow(residual / from.residual, 1.0 / (done - from.sweeps));
    const double needed = sweeps_needed(residual, search.tolerance(), rate);
    // What is nearly done is done.
    const double newton_steps = spent <= 40.0 * costs.newton ? 30.0 : 10.0;
    const bool promising = needed * costs.sweep <= newton_steps * costs.newton;
    if (!promising && (early || hesitating)) return false;
    hesitating = !promising;
    // To measure costs nearly as much as a sweep.
    batch = std::clamp(static_cast<int>(needed) + 1, least, std::max(least, done / 8));
  }
  return false;
}

bool settle_within_tolerance(Parts& parts, Search& search) {
  const ProximalPoint::Limits path{.shift = 1e-4,
                                   .newton_steps = 12000,
                                   .longer = 2000,
                                   .successes = 3,
                                   .from = &search.best_point(),
                                   .short_steps = true,
                                   .admissible = admissible_share,
                                   .over_relaxation = 0.0};
  return parts.proximal_point().run(search, path);
}

double sticking_impulse(Parts& parts, Search& search) {
  const double size = sticking_impulses(parts, search, 1e-10).lpNorm<Eigen::Infinity>();
  return std::isfinite(size) ? size : 0.0;
}

bool start_large(Parts& parts, Search& search, double sticking_impulse) {
  if (sticking_impulse > very_large) return from_impulses_of(sticking_impulse, parts, search);
  return parts.interior_point().run(search, sticking_impulse, 10.0, 60);
}

bool sweep_to_the_end(Parts& parts, Search& search, Vector& r) {
  constexpr int batch = 10;
  Vector w(parts.problem().size());
  while (!search.halted()) {
    sweep_times(batch, parts, search, r);
    if (search.offer(r, measure(parts, r, w))) return true;
  }
  return false;
}

bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, Measured& end) {
  const ScaledProblem& problem = parts.problem();
  Vector& w = end.velocity;
  double& last = end.residual;
  w.resize(problem.size());
  double rate = 1.0;
  double before = 0.0;
  for (int k = 0; k < sweeps && !search.halted(); ++k) {
    const double change = parts.sweep().sweep(r);
    search.count_sweep();
    if (before > 0.0) rate = change / before;
    before = change;
    if (change >= 1e3 * search.tolerance()) continue;
    if (search.offer(r, measure(parts, r, w))) return true;
  }
  last = measure(parts, r, w);
  if (search.offer(r, last)) return true;

  // The pattern is analysed only where its fill decides.
  Costs costs(problem);
  bool analysed = false;
  int done = 0;
  while (!search.halted()) {
    const double spent = done * costs.sweep;
    const double needed = sweeps_needed(last, search.tolerance(), rate);
    const auto near = [&] {
      const bool dear = costs.newton > heavy * costs.sweep;
      const double steps = dear ? 6.0 : done == 0 ? 2.0 : 3.0;
      return needed * costs.sweep <= steps * costs.newton && spent <= 12.0 * costs.newton && (rate < 0.95 || dear);
    };
    if (!near() && !analysed) {
      costs.add_fill(parts.lu());
      analysed = true;
      if (!parts.lu().fits()) break;
    }
    const bool little = costs.newton > heavy * costs.sweep && spent <= 0.3 * costs.newton;
    if (!near() && !little) break;
    // The first sweeps promise more than they keep, so one more has to confirm it. To measure costs as much as a
    // sweep: a sixteenth of a long way goes unmeasured.
    const int batch = done == 0 ? 1 : std::clamp(static_cast<int>(needed) + 1, 2, std::max(10, done / 16));
    done += batch;
    sweep_times(batch, parts, search, r);
    const double residual = measure(parts, r, w);
    if (search.offer(r, residual)) return true;
    rate = std::pow(residual / last, 1.0 / batch);
    last = residual;
  }
  return false;
}

}  // namespace conebench::cascade
