#include "solvers/cascade/stages.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/registry.hpp"

namespace conebench::cascade {

bool offer(Parts& parts, Search& search, const Vector& r) {
  Vector w(parts.problem().size());
  parts.problem().velocity(r, w);
  return search.offer(r, parts.problem().residual(r, w));
}

bool rescue(Parts& parts, Search& search) {
  for (int round = 0; round < 6; ++round) {
    const double before = search.best();
    for (const double relative : {1e3, 1e4, 1e2, 1e5, 10.0}) {
      Vector r = search.best_point();
      const NewtonBudget budget{.steps = 40, .patience = 10, .relative = relative, .largest = 0.1};
      if (parts.newton().run(search, r, budget)) return true;
      if (search.halted()) return false;
      if (search.best() < 0.3 * before) break;
    }
    if (search.best() > 0.3 * before) return false;
  }
  return false;
}

namespace {

/// The largest impulse were all contacts to stick, ‖(G̃ + 1e-10 I)⁻¹ g̃‖∞: beyond 1e3 where heavy bodies rest on light
/// ones.
double sticking_impulse(Parts& parts, Search& search) {
  const ScaledProblem& problem = parts.problem();
  const auto contacts = static_cast<std::size_t>(problem.contacts());
  const std::vector<BlockLu::Block> shift(contacts, 1e-10 * BlockLu::Block::Identity());
  const std::vector<BlockLu::Block> identity(contacts, BlockLu::Block::Identity());
  parts.lu().factor(problem, identity, identity, shift, std::vector<char>(contacts, 0));
  search.count_newton();
  Vector r(problem.size());
  parts.lu().solve(problem.free_term(), r);
  return r.lpNorm<Eigen::Infinity>();
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

bool run_admm(Parts& parts, Search& search) {
  const ContactProblem& source = parts.source();
  const auto solver = find_solver("ADMM-NCP-SA-S")->make({});
  if (!solver.ok() || (*solver)->prepare(source)) return false;
  Relay relay(parts.problem(), search);
  Vector impulse = Vector::Zero(source.rows());
  const StopRule stop{.tolerance = search.tolerance(), .max_iterations = 120, .criterion = Criterion::verdict};
  const SolveSummary summary = (*solver)->solve(Vector::Zero(source.rows()), stop, relay, impulse);
  for (long k = 0; k < summary.factorizations; ++k) search.count_newton();
  return search.accepted();
}

}  // namespace

bool large_impulses(Parts& parts, Search& search, bool admm, bool interior_point) {
  const double size = sticking_impulse(parts, search);
  if (!(size > 1e3) || !std::isfinite(size)) return false;
  if (admm && !search.halted() && run_admm(parts, search)) return true;
  if (!interior_point) return false;
  for (const double velocity : {10.0, 1e3, 1.0}) {
    if (search.halted() || parts.interior_point().run(search, size, velocity, 60)) return true;
    if (search.halted() || (search.best() < 1e-5 && rescue(parts, search))) return true;
  }
  const ProximalPoint::Limits polish{.shift = 1e-6, .newton_steps = 200, .successes = 5, .from_best = true};
  return search.best() < 1e-3 && parts.proximal_point().run(search, polish);
}

bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, double bytes) {
  const ScaledProblem& problem = parts.problem();
  Vector w(problem.size());
  const auto measure = [&] {
    problem.velocity(r, w);
    return problem.residual(r, w);
  };
  const double blocks = problem.stored_blocks();
  const double contacts = problem.contacts();

  double halfway = 0.0;
  for (int k = 0; k < sweeps && !search.halted(); ++k) {
    const double change = parts.sweep().sweep(r);
    search.count_sweep();
    const bool middle = k == sweeps / 2 - 1;
    if (change >= 1e3 * search.tolerance() && !middle) continue;
    const double residual = measure();
    if (search.offer(r, residual)) return true;
    if (middle) halfway = residual;
  }
  double last = measure();
  if (search.offer(r, last)) return true;
  if (!(halfway > 0.0)) return false;

  // Rough costs in multiplications: a Newton step scales the blocks, factors and solves; a sweep streams the matrix.
  // The pattern is analysed only where its fill decides.
  const double sweep_cost = 18.0 * blocks + 150.0 * contacts;
  double newton_cost = 108.0 * blocks + 400.0 * contacts;
  bool analysed = false;
  bool too_large = false;
  constexpr double heavy = 50.0;  // sweeps a Newton step; thousands of contacts in space reach it, piles do not
  double rate = std::pow(last / halfway, 1.0 / (sweeps - sweeps / 2));
  for (double spent = 0.0; !search.halted();) {
    const double needed = rate < 1.0 ? std::log(search.tolerance() / last) / std::log(rate) : 1e9;
    const auto near = [&] {
      return needed * sweep_cost <= 6.0 * newton_cost && spent <= 12.0 * newton_cost &&
             (rate < 0.95 || newton_cost > heavy * sweep_cost);
    };
    if (!near() && !analysed) {
      newton_cost += parts.lu().flops() / 6.0;
      too_large = parts.lu().bytes() > bytes;
      analysed = true;
    }
    const bool little = newton_cost > heavy * sweep_cost && spent <= 0.3 * newton_cost;
    if (!near() && !too_large && !little) break;
    const int batch = std::clamp(static_cast<int>(needed) + 1, 2, 10);
    for (int k = 0; k < batch && !search.halted(); ++k) {
      parts.sweep().sweep(r);
      search.count_sweep();
    }
    spent += batch * sweep_cost;
    const double residual = measure();
    if (search.offer(r, residual)) return true;
    rate = std::pow(residual / last, 1.0 / batch);
    last = residual;
  }
  return false;
}

}  // namespace conebench::cascade
