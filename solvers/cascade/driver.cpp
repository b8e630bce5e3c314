#include "solvers/cascade/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "base/suggestion.hpp"
#include "problems/cones/coulomb.hpp"
#include "solvers/cascade/bilateral_relaxation.hpp"
#include "solvers/cascade/constants.hpp"

namespace conebench::cascade {

namespace {

/// The scaled natural map at r; w becomes its velocities.
double measure(Parts& parts, const Vector& r, Vector& w) {
  w.resize(r.size());
  parts.problem().velocity(r, w);
  return parts.problem().residual(r, w);
}

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
    if (!analysed_) newton_ += 0.5 * parts_.lu().flops() / flops_of_block_product;
    analysed_ = true;
  }
  Parts& parts_;
  double sweep_, newton_;
  bool analysed_ = false;
};

/// One solve: the stages, and what they know of those before them.
class Driver {
 public:
  Driver(Parts& parts, Search& search, Vector& start, const DriverOptions& options)
      : parts_(parts), search_(search), o_(options), costs_(parts), swept_(start) {}

  void run();

 private:
  struct Stage {
    const char* name;
    bool (Driver::*applies)();
    void (Driver::*run)();
    bool rescued = false;  ///< `rescue` follows where the best is near
  };
  static const Stage stages[];

  // Whether a stage applies.
  bool rests();
  bool starts_cold_and_redundant();
  bool wants_sweeps() { return o_.sweeps > 0; }
  bool fits_a_factor() { return parts_.lu().fits(); }
  bool fits_no_factor() { return !fits_a_factor(); }
  bool has_no_path_yet() { return !path_followed_ && fits_a_factor(); }
  bool is_near() {
    return fits_a_factor() &&
           search_.best() < std::max(tuned.rescued_below, tuned.near_tolerances * search_.tolerance());
  }

  // The stages.
  void start_from_rest();
  void follow_path();
  void sweep();
  void only_sweep() { sweep_on(1.0, std::numeric_limits<double>::infinity()); }
  void newton() {
    search_.odd_attempt();  // an interior point's first finish is then one with the larger regularisation
    parts_.newton().run(search_, swept_, first_newton, swept_end_);
  }
  void rescue() { parts_.newton().rescue(search_); }
  void relax_joints() { cascade::relax_joints(parts_, search_); }
  void follow_proximal_path() { from_zero({.newton_steps = o_.proximal_steps, .short_steps = true}); }
  void allow_errors() { from_zero({.newton_steps = 8 * o_.proximal_steps, .short_steps = true, .admissible = true}); }
  void from_zero(const ProximalPoint::Limits& limits) {
    parts_.proximal_point().run(search_, Vector::Zero(parts_.problem().size()), limits);
  }

  void take(const Stage& stage);
  double sweep_times(long count);
  void sweep_on(double rate, double newton_steps);

  Parts& parts_;
  Search& search_;
  const DriverOptions& o_;
  Costs costs_;
  Vector& swept_;               ///< the start, and from the first sweep on where sweeps have come to
  Measured swept_end_ = {};     ///< what was measured there
  bool path_followed_ = false;  ///< by the interior point

  friend std::vector<std::string> cascade::stage_names();
};

const Driver::Stage Driver::stages[] = {
    {"rest", &Driver::rests, &Driver::start_from_rest},
    {"interior-point-first", &Driver::starts_cold_and_redundant, &Driver::follow_path},
    {"sweeps", &Driver::wants_sweeps, &Driver::sweep},
    {"only-sweeps", &Driver::fits_no_factor, &Driver::only_sweep},
    {"newton", &Driver::fits_a_factor, &Driver::newton},
    {"interior-point", &Driver::has_no_path_yet, &Driver::follow_path},
    {"rescue", &Driver::is_near, &Driver::rescue},
    {"bilateral-relaxation", &Driver::fits_a_factor, &Driver::relax_joints},
    {"proximal-point", &Driver::fits_a_factor, &Driver::follow_proximal_path, true},
    {"admissible-perturbation", &Driver::fits_a_factor, &Driver::allow_errors, true},
};

void Driver::run() {
  for (const Stage& stage : stages) take(stage);
}

void Driver::take(const Stage& stage) {
  const auto over = [&] { return search_.accepted() || search_.halted(); };
  if (over() || o_.skips(stage.name) || !(this->*stage.applies)()) return;
  search_.begin_stage(stage.name);
  (this->*stage.run)();
  if (over() || o_.skips("rescue") || !stage.rescued || !is_near()) return;
  search_.begin_stage("rescue");
  rescue();
}

/// Nothing has a velocity along a contact or apart of more than a hundredth of the fastest approach, as piles under
/// gravity have none.
bool Driver::rests() {
  if (!(search_.best() > tuned.near)) return false;
  const Vector& free = parts_.problem().free_term();
  double pressing = 0.0;
  double moving = 0.0;
  for (Index i = 0; i < free.size(); i += 3) {
    pressing = std::max(pressing, -free[i + 2]);
    moving = std::max({moving, free[i + 2], tangential_norm<3>(Eigen::Vector3d(free.segment<3>(i)))});
  }
  return moving <= tuned.negligible * pressing && !costs_.newton_is_dear();
}

void Driver::start_from_rest() {
  const ScaledProblem& problem = parts_.problem();
  parts_.lu().factor(problem, BlockSystem(problem.contacts(), tuned.rest_shift));
  search_.count_newton();
  Vector r(problem.size()), w(problem.size()), further(problem.size());
  parts_.lu().solve(-problem.free_term(), r);
  // Once more with the same factors takes most of the shift's error away.
  problem.velocity(r, w);
  parts_.lu().solve(-w, further);
  r += further;
  // Where that start is good each step after the first gains.
  parts_.newton().run(search_, r, {.stall_window = 2, .start_counts = false, .trusts_modes = true});
}

/// The effective rank of G̃, (tr G̃)²/‖G̃‖²_F, is below 0.13 of its rows, as where bricks lie on bricks in four points
/// each.
bool Driver::starts_cold_and_redundant() {
  const ScaledProblem& problem = parts_.problem();
  // Eight blocks a contact save most problems the sum. The squares must sum to 23 a contact; as G̃ is positive
  // semidefinite a block has 3 at most where diagonal blocks are near I, so that 7.7 are needed. Where these are of
  // rank one a block may have 9, and 2.6 could do: such problems are passed over.
  if (!swept_.isZero(0.0) || problem.planar() || problem.contacts() <= tuned.few_contacts ||
      problem.stored_blocks() < 8 * problem.contacts())
    return false;
  double squares = 0.0;
  for (int k = 0; k < problem.stored_blocks(); ++k) squares += problem.block(k).squaredNorm();
  // Each diagonal block has trace 3.
  return static_cast<double>(problem.size()) < tuned.redundant * squares && !costs_.newton_is_dear();
}

void Driver::follow_path() {
  path_followed_ = true;
  // Where little moves without impulses, little will with them.
  const Vector& free = parts_.problem().free_term();
  double moving = 0.0;
  for (Index i = 0; i < free.size(); i += 3) moving += std::max(0.0, free[i + 2]) + std::hypot(free[i], free[i + 1]);
  const double velocity = std::clamp(2.0 * moving / parts_.problem().contacts(), tuned.min_velocity, 1.0);
  parts_.interior_point().run(search_, velocity);
}

/// Up to so many sweeps. Returns the last one's change over that of the one before, 1 where there is none.
double Driver::sweep_times(long count) {
  const ScaledProblem& problem = parts_.problem();
  Vector impulse(problem.given().rows());
  problem.to_impulse(swept_, impulse);
  double rate = 1.0;
  double before = 0.0;
  for (long k = 0; k < count && !search_.halted(); ++k) {
    const double change = parts_.sweep().sweep(impulse.tail(problem.system().matrix.rows()));
    search_.count_sweep();
    if (before > 0.0) rate = change / before;
    before = change;
  }
  problem.from_impulse(impulse, swept_);
  return rate;
}

/// Sweeps for as long as the rate, that of the later half of all sweeps, predicts the tolerance within so many Newton
/// steps, six where these are dear; measured every eighth of the way, every eight sweeps at least.
void Driver::sweep_on(double rate, double newton_steps) {
  struct Mark {
    int sweeps;
    double residual;
  };
  if (swept_end_.velocity.size() == 0) swept_end_.residual = measure(parts_, swept_, swept_end_.velocity);
  std::vector<Mark> marks{{0, swept_end_.residual}};
  for (int done = 0; !search_.halted();) {
    const double needed = rate < 1.0 ? std::log(search_.tolerance() / swept_end_.residual) / std::log(rate)
                                     : std::numeric_limits<double>::infinity();
    if (!costs_.within(needed, newton_steps) && !(costs_.newton_is_dear() && costs_.within(needed, tuned.sweeps_dear)))
      return;
    // The first sweeps promise more than they keep, so one more has to confirm it.
    const int max_batch = std::max(8, done / 8);
    const int batch = done == 0 ? 1 : needed + 1.0 < max_batch ? std::max(2, static_cast<int>(needed) + 1) : max_batch;
    done += batch;
    sweep_times(batch);
    swept_end_.residual = measure(parts_, swept_, swept_end_.velocity);
    if (search_.offer(swept_, swept_end_.residual)) return;
    const auto in_earlier_half = [&](const Mark& mark) { return 2 * mark.sweeps <= done; };
    const Mark from = *std::prev(std::partition_point(marks.begin(), marks.end(), in_earlier_half));
    rate = std::pow(swept_end_.residual / from.residual, 1.0 / (done - from.sweeps));
    marks.push_back({done, swept_end_.residual});
  }
}

/// The sweeps asked for, then on where the rate (at first of the last two sweeps' changes) promises to arrive within
/// what two Newton steps cost.
void Driver::sweep() {
  const double rate = sweep_times(o_.sweeps - search_.sweeps());
  swept_end_.residual = measure(parts_, swept_, swept_end_.velocity);
  if (!search_.offer(swept_, swept_end_.residual)) sweep_on(rate, 2.0);
}

}  // namespace

bool DriverOptions::skips(std::string_view stage) const {
  for (std::string_view rest = skip; !rest.empty();) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == stage) return true;
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return false;
}

std::optional<std::string> DriverOptions::wrong_word() const {
  const std::vector<std::string> names = stage_names();
  std::istringstream words(skip);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      return fmt::format("skip: no stage is called '{}'; {}known: {}", word, did_you_mean(word, names),
                         fmt::join(names, ", "));
    }
  }
  return std::nullopt;
}

std::vector<std::string> stage_names() {
  std::vector<std::string> names{first_sweep};
  for (const auto& stage : Driver::stages) names.push_back(stage.name);
  return names;
}

void declare_options(OptionBinder& bind, DriverOptions& o) {
  bind.integer("sweeps", o.sweeps, {.minimum = 0, .maximum = 1e6, .doc = "Gauss-Seidel sweeps at first; 0: none"});
  bind.integer("proximal_steps", o.proximal_steps,
               {.minimum = 1,
                .maximum = 1e9,
                .doc = "Newton steps of the proximal point; eight times as many with admissible perturbation"});
  bind.text("skip", o.skip, fmt::format("stages that are left out, with commas: {}", fmt::join(stage_names(), ", ")));
  bind.real(
      "memory", o.memory,
      {.minimum = 0,
       .maximum = 1e6,
       .unit = "MB",
       .scale = OptionScale::logarithmic,
       .doc = "most that a factor may take; where it would take more, sweeps go on to the end, and where what the "
              "joints' elimination fills would, the problem is refused; bilateral relaxation needs two eliminations"});
}

bool offer(Parts& parts, Search& search, const Vector& r) {
  Vector w;
  return search.offer(r, measure(parts, r, w));
}

void run_stages(Parts& parts, Search& search, Vector& r, const DriverOptions& options) {
  Driver(parts, search, r, options).run();
}

}  // namespace conebench::cascade
