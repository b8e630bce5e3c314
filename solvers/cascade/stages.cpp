#include "solvers/cascade/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "problems/cone_projection.hpp"
#include "solvers/cascade/constants.hpp"
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

bool rescue(Parts& parts, Search& search) {
  for (double before = std::numeric_limits<double>::infinity(); search.best() < tuned.good_step * before;) {
    before = search.best();
    if (parts.newton().run(search, search.best_point(), strong_newton) || search.halted()) return true;
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

/// Rough costs in products of a block: a sweep streams the matrix, a Newton step scales the blocks, factors and solves.
struct Costs {
  double sweep, newton;

  explicit Costs(const ScaledProblem& problem)
      : sweep((problem.planar() ? tuned.planar_sweep : 1.0) * (problem.stored_blocks() + 8 * problem.contacts())),
        newton(tuned.scaling * (problem.stored_blocks() + 4 * problem.contacts())) {}
  void add_fill(const BlockLu& lu) { newton += 0.5 * lu.estimate().flops / flops_of_block_product; }
};

/// From `residual` to `tolerance` at `rate`.
double sweeps_needed(double residual, double tolerance, double rate) {
  return rate < 1.0 ? std::log(tolerance / residual) / std::log(rate) : std::numeric_limits<double>::infinity();
}

/// Sweeps to the next measurement, which costs nearly as much as a sweep.
int next_batch(double needed, int least, int most) {
  most = std::max(least, most);
  return needed + 1.0 < most ? std::max(least, static_cast<int>(needed) + 1) : most;
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
    if (search_.offer(r_, problem_.residual(r_, w_))) return Decision::accept;
    return search_.halted() ? Decision::out_of_time : Decision::keep_going;
  }
  const ScaledProblem& problem_;
  Search& search_;
  Vector r_, w_;
};

/// A step costs as much as many sweeps, or there is no factor to make it with.
bool newton_is_dear(Parts& parts) {
  Costs costs(parts.problem());
  costs.add_fill(parts.lu());
  return costs.newton > tuned.heavy * costs.sweep || !parts.lu().fits();
}

}  // namespace

bool run_admm(Parts& parts, Search& search) {
  const ContactProblem& source = parts.source();
  // Its L and U, each beside what they are made of, and the stack of updates.
  const EliminationFronts fronts = analyse_fronts(source.blocks());
  const auto values = 4 * static_cast<double>(fronts.panel_values) + static_cast<double>(fronts.stack_values);
  if (sizeof(double) * values > parts.most_bytes()) return false;
  const auto solver = find_solver("ADMM-NCP-SA-S")->make({});
  if (!solver.ok() || (*solver)->prepare(source)) return false;
  Relay relay(parts.problem(), search);
  Vector impulse = Vector::Zero(source.rows());
  // Each iteration may factor once, after the first factor.
  const long most = std::min(tuned.admm_iterations, (search.iterations_left() - 1) / 2);
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
  if (problem.planar() || problem.contacts() <= tuned.few_contacts || problem.stored_blocks() < 8 * problem.contacts())
    return false;
  double squares = 0.0;
  for (int k = 0; k < problem.stored_blocks(); ++k) squares += problem.block(k).squaredNorm();
  // Each diagonal block has trace 3.
  return static_cast<double>(problem.size()) < tuned.redundant * squares && !newton_is_dear(parts);
}

bool from_rest(Parts& parts, Search& search) {
  const Vector& free = parts.problem().free_term();
  double pressing = 0.0;
  double moving = 0.0;
  for (Index i = 0; i < free.size(); i += 3) {
    pressing = std::max(pressing, -free[i + 2]);
    moving = std::max({moving, free[i + 2], tangential_norm<3>(Eigen::Vector3d(free.segment<3>(i)))});
  }
  if (!(moving <= tuned.small_at_start * pressing)) return false;
  if (newton_is_dear(parts)) return false;
  const Vector r = sticking_impulses(parts, search, tuned.rest_shift);
  // Once more with the same factors takes most of the shift's error away.
  Vector w(r.size());
  Vector further(r.size());
  parts.problem().velocity(r, w);
  parts.lu().solve(-w, further);
  further += r;
  // Where that start is good each step after the first gains.
  return parts.newton().run(search, further, {.stall_window = 2, .start_counts = false});
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
    const bool early = done < 16 * least;
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
    const double newton_steps = early ? tuned.sweeps_early : tuned.sweeps_late;
    const bool promising = needed * costs.sweep <= newton_steps * costs.newton;
    if (!promising && (early || hesitating)) return false;
    hesitating = !promising;
    batch = next_batch(needed, least, done / 8);
  }
  return false;
}

bool settle_within_tolerance(Parts& parts, Search& search, long steps) {
  const ProximalPoint::Limits path{.shift = tuned.settling_shift,
                                   .newton_steps = 8 * steps,
                                   .longer = 2 * steps,
                                   .from = &search.best_point(),
                                   .short_steps = true,
                                   .admissible = tuned.admissible,
                                   .over_relaxation = 0.0};
  return parts.proximal_point().run(search, path);
}

double sticking_impulse(Parts& parts, Search& search) {
  const double size = sticking_impulses(parts, search, tuned.sticking_shift).lpNorm<Eigen::Infinity>();
  return std::isfinite(size) ? size : 0.0;
}

bool sweep_to_the_end(Parts& parts, Search& search, Vector& r) {
  constexpr int batch = 8;
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
    if (change >= tuned.within * search.tolerance()) continue;
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
      const bool dear = costs.newton > tuned.heavy * costs.sweep;
      const double steps = dear ? tuned.sweeps_dear : 2.0;
      return needed * costs.sweep <= steps * costs.newton && spent <= 2.0 * tuned.sweeps_dear * costs.newton &&
             (rate < tuned.slow_rate || dear);
    };
    if (!near() && !analysed) {
      costs.add_fill(parts.lu());
      analysed = true;
      if (!parts.lu().fits()) break;
    }
    const bool little = costs.newton > tuned.heavy * costs.sweep && spent <= tuned.good_step * costs.newton;
    if (!near() && !little) break;
    // The first sweeps promise more than they keep, so one more has to confirm it.
    const int batch = done == 0 ? 1 : next_batch(needed, 2, std::max(8, done / 16));
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
