#include "solvers/cascade/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "problems/cone_projection.hpp"
#include "solvers/cascade/constants.hpp"

namespace conebench::cascade {

namespace {

/// The scaled natural map at r; w becomes its velocities.
double measure(Parts& parts, const Vector& r, Vector& w) {
  w.resize(r.size());
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
  Vector w;
  return search.offer(r, measure(parts, r, w));
}

bool rescue(Parts& parts, Search& search) {
  for (double before = std::numeric_limits<double>::infinity(); search.best() < tuned.rescue_gain * before;) {
    before = search.best();
    if (parts.newton().run(search, search.best_point(), strong_newton) || search.halted()) return true;
  }
  return false;
}

namespace {

/// Rough costs in products of a block: a sweep streams the matrix, a Newton step scales the blocks, factors and solves.
/// The pattern is analysed only where its fill decides.
class Costs {
 public:
  explicit Costs(Parts& parts)
      : parts_(parts),
        sweep_((problem().planar() ? tuned.planar_sweep : 1.0) *
               (problem().stored_blocks() + 8 * problem().contacts())),
        newton_(tuned.scaling * (problem().stored_blocks() + 4 * problem().contacts())) {}

  /// Whether so many sweeps cost no more than so many Newton steps.
  bool within(double sweeps, double newton_steps) {
    if (sweeps * sweep_ <= newton_steps * newton_) return true;
    add_fill();
    return sweeps * sweep_ <= newton_steps * newton_;
  }
  /// A Newton step costs as much as many sweeps, or there is no factor to make it with.
  bool newton_is_dear() {
    add_fill();
    return newton_ > tuned.heavy * sweep_ || !parts_.lu().fits();
  }

 private:
  const ScaledProblem& problem() const { return parts_.problem(); }
  void add_fill() {
    if (!analysed_) newton_ += 0.5 * parts_.lu().estimate().flops / flops_of_block_product;
    analysed_ = true;
  }
  Parts& parts_;
  double sweep_, newton_;
  bool analysed_ = false;
};

/// Sweeps from r, of which `end` is what is known, for as long as promises(sweeps so far, sweeps needed, their rate),
/// measured every eighth of the way, every `least` at first. The rate is that of the later half of all sweeps.
template <class Promise>
bool sweep_on(Parts& parts, Search& search, Vector& r, Measured& end, double rate, int least, const Promise& promises) {
  struct Mark {
    int sweeps;
    double residual;
  };
  if (end.velocity.size() == 0) end.residual = measure(parts, r, end.velocity);
  std::vector<Mark> marks{{0, end.residual}};
  for (int done = 0; !search.halted();) {
    const double needed = rate < 1.0 ? std::log(search.tolerance() / end.residual) / std::log(rate)
                                     : std::numeric_limits<double>::infinity();
    if (!promises(done, needed, rate)) return false;
    // The first sweeps promise more than they keep, so one more has to confirm it.
    const int most = std::max(8, done / 8);
    const int batch = done == 0 ? least : needed + 1.0 < most ? std::max(2, static_cast<int>(needed) + 1) : most;
    done += batch;
    sweep_times(batch, parts, search, r);
    end.residual = measure(parts, r, end.velocity);
    if (search.offer(r, end.residual)) return true;
    const auto in_earlier_half = [&](const Mark& mark) { return 2 * mark.sweeps <= done; };
    const Mark from = *std::prev(std::partition_point(marks.begin(), marks.end(), in_earlier_half));
    rate = std::pow(end.residual / from.residual, 1.0 / (done - from.sweeps));
    marks.push_back({done, end.residual});
  }
  return true;
}

}  // namespace

bool highly_redundant(Parts& parts) {
  const ScaledProblem& problem = parts.problem();
  // Eight blocks a contact save most problems the sum. The squares must sum to 23 a contact; as G̃ is positive
  // semidefinite a block has 3 at most where diagonal blocks are near I, so that 7.7 are needed. Where these are of
  // rank one a block may have 9, and 2.6 could do: such problems are passed over.
  if (problem.planar() || problem.contacts() <= tuned.few_redundant || problem.stored_blocks() < 8 * problem.contacts())
    return false;
  double squares = 0.0;
  for (int k = 0; k < problem.stored_blocks(); ++k) squares += problem.block(k).squaredNorm();
  // Each diagonal block has trace 3.
  return static_cast<double>(problem.size()) < tuned.redundant * squares && !Costs(parts).newton_is_dear();
}

bool from_rest(Parts& parts, Search& search) {
  const Vector& free = parts.problem().free_term();
  double pressing = 0.0;
  double moving = 0.0;
  for (Index i = 0; i < free.size(); i += 3) {
    pressing = std::max(pressing, -free[i + 2]);
    moving = std::max({moving, free[i + 2], tangential_norm<3>(Eigen::Vector3d(free.segment<3>(i)))});
  }
  if (!(moving <= tuned.at_rest * pressing)) return false;
  if (Costs(parts).newton_is_dear()) return false;
  parts.lu().factor(parts.problem(), BlockSystem(parts.problem().contacts(), tuned.rest_shift));
  search.count_newton();
  Vector r(free.size()), w(free.size()), further(free.size());
  parts.lu().solve(-free, r);
  // Once more with the same factors takes most of the shift's error away.
  parts.problem().velocity(r, w);
  parts.lu().solve(-w, further);
  r += further;
  // Where that start is good each step after the first gains.
  return parts.newton().run(search, r, {.stall_window = 2, .start_counts = false, .trusts_modes = true});
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

bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, Measured& end) {
  double rate = 1.0;
  double before = 0.0;
  for (int k = 0; k < sweeps && !search.halted(); ++k) {
    const double change = parts.sweep().sweep(r);
    search.count_sweep();
    if (before > 0.0) rate = change / before;
    before = change;
  }
  end.residual = measure(parts, r, end.velocity);
  if (search.offer(r, end.residual)) return true;
  Costs costs(parts);
  return sweep_on(parts, search, r, end, rate, 1, [&](int done, double needed, double of_late) {
    if (!costs.within(done, 2.0 * tuned.sweeps_dear)) return false;
    if (of_late < tuned.slow_rate && costs.within(needed, 2.0)) return true;
    return costs.newton_is_dear() &&
           (costs.within(needed, tuned.sweeps_dear) || costs.within(done, tuned.sweeps_tried));
  });
}

bool sweep_while_promising(Parts& parts, Search& search, Vector& r, Measured& end) {
  Costs costs(parts);
  bool hesitating = false;
  return sweep_on(parts, search, r, end, 0.0, 8, [&](int done, double needed, double) {
    const bool promising =
        done == 0 || costs.within(needed, done < tuned.early_sweeps ? tuned.sweeps_early : tuned.sweeps_late);
    const bool goes_on = promising || !(done < tuned.early_sweeps || hesitating);
    hesitating = !promising;
    return goes_on;
  });
}

bool sweep_to_the_end(Parts& parts, Search& search, Vector& r, Measured& end) {
  return sweep_on(parts, search, r, end, 1.0, 8, [](int, double, double) { return true; });
}

}  // namespace conebench::cascade
