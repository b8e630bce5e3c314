#include "solvers/cascade/stages.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/cone_projection.hpp"

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

NewtonBudget first_newton() {
  return {.steps = 60,
          .patience = 30,
          .relative = 2.0,
          .largest = 1e-2,
          .progress = 0.7,
          .start_counts = false,
          .trusts_modes = true,
          .changes_scale = true,
          .leaves_circles = true};
}

bool rescue(Parts& parts, Search& search) {
  for (int round = 0; round < 6; ++round) {
    const double before = search.best();
    for (const double relative : {1e3, 1e4, 1e2, 1e5, 10.0}) {
      Vector r = search.best_point();
      const NewtonBudget budget{.steps = 40, .patience = 10, .relative = relative, .largest = 0.1};
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
  const auto contacts = static_cast<std::size_t>(problem.contacts());
  const std::vector<BlockLu::Block> diagonal(contacts, shift * BlockLu::Block::Identity());
  const std::vector<BlockLu::Block> identity(contacts, BlockLu::Block::Identity());
  const std::vector<char> left_out(contacts, Left::nothing);
  parts.lu().factor(problem, identity, identity, diagonal, left_out);
  search.count_newton();
  Vector r(problem.size());
  parts.lu().solve(-problem.free_term(), r);
  return r;
}

/// Rough costs in multiplications: a sweep streams the matrix, a Newton step scales the blocks, factors and solves.
struct Costs {
  double sweep, newton;

  explicit Costs(const ScaledProblem& problem)
      : sweep(18.0 * problem.stored_blocks() + 150.0 * problem.contacts()),
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

/// A step costs as much as many sweeps, or there is no factor to make it with.
bool newton_is_dear(Parts& parts) {
  Costs costs(parts.problem());
  costs.add_fill(parts.lu());
  return costs.newton > heavy * costs.sweep || !parts.lu().fits();
}

}  // namespace

bool highly_redundant(Parts& parts) {
  const ScaledProblem& problem = parts.problem();
  // Eight blocks a contact save most problems the sum. The squares must sum to 23 a contact; as G̃ is positive
  // semidefinite a block has 3 at most where diagonal blocks are near I, so that 7.7 are needed. Where these are of
  // rank one a block may have 9, and 2.6 could do: such problems are passed over.
  if (problem.contacts() <= FewContacts::most_contacts || problem.stored_blocks() < 8 * problem.contacts())
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
  return parts.newton().run(search, further, {.steps = 15, .patience = 2, .start_counts = false});
}

bool settle_within_tolerance(Parts& parts, Search& search) {
  const ProximalPoint::Limits walk{.shift = 1e-4,
                                   .newton_steps = 12000,
                                   .longer = 2000,
                                   .successes = 3,
                                   .from = &search.best_point(),
                                   .short_steps = true,
                                   .tolerated = tolerable,
                                   .over_relaxation = 0.0};
  return parts.proximal_point().run(search, walk);
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
