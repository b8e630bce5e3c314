#include "solvers/cascade/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/suggestion.hpp"
#include "solvers/cascade/bilateral_relaxation.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/first_sweep.hpp"
#include "solvers/cascade/stages.hpp"

namespace conebench::cascade {

namespace {

/// One solve: the stages, and what they know of those before them.
class Driver {
 public:
  Driver(Parts& parts, Search& search, Vector& start, const DriverOptions& options)
      : parts_(parts), search_(search), o_(options), swept_(start) {}

  void run();

  // Whether a stage applies.
  bool always() { return true; }
  bool starts_afar() { return search_.best() > tuned.small_at_start; }
  bool starts_cold_and_redundant() { return swept_.isZero(0.0) && highly_redundant(parts_); }
  bool wants_sweeps() { return o_.sweeps > 0; }
  bool fits_no_factor() { return !parts_.lu().fits(); }
  bool has_no_path_yet() { return !path_followed_; }
  bool is_near() { return search_.best() < std::max(tuned.near, tuned.near_tolerances * search_.tolerance()); }
  bool is_near_the_tolerance() { return search_.best() <= tuned.within * search_.tolerance(); }

  // The stages.
  void start_from_rest() { from_rest(parts_, search_); }
  void follow_path() {
    path_followed_ = true;
    // Where little moves without impulses, little will with them.
    const Vector& free = parts_.problem().free_term();
    double moving = 0.0;
    for (Index i = 0; i < free.size(); i += 3) moving += std::max(0.0, free[i + 2]) + std::hypot(free[i], free[i + 1]);
    const double velocity = std::clamp(2.0 * moving / parts_.problem().contacts(), tuned.least_velocity, 1.0);
    parts_.interior_point().run(search_, 1.0 / velocity, velocity, tuned.path_steps);
  }
  void sweep() {
    const long left = o_.sweeps - search_.sweeps();
    sweep_while_cheap(parts_, search_, swept_, static_cast<int>(left), swept_end_);
  }
  void only_sweep() { sweep_to_the_end(parts_, search_, swept_, swept_end_); }
  void newton() {
    search_.odd_attempt();  // an interior point's first finish is then one with the larger regularisation
    parts_.newton().run(search_, swept_, first_newton, swept_end_);
  }
  void sweep_more() { sweep_while_promising(parts_, search_, swept_, swept_end_); }
  void rescue() { cascade::rescue(parts_, search_); }
  void relax_joints() { cascade::relax_joints(parts_, search_); }
  void follow_proximal_path() {
    parts_.proximal_point().run(search_, {.newton_steps = o_.proximal_steps, .short_steps = true});
  }
  void settle() { settle_within_tolerance(parts_, search_, o_.proximal_steps); }
  void continue_proximal_path() {
    parts_.proximal_point().run(search_, {.newton_steps = o_.proximal_steps,
                                          .longer = 2 * o_.proximal_steps,
                                          .resume = true,
                                          .short_steps = true,
                                          .admissible = tuned.admissible});
  }

 private:
  struct Stage {
    const char* name;
    bool (Driver::*applies)();
    void (Driver::*run)();
    bool rescued = false;  ///< `rescue` follows where the best is near
  };
  static const Stage stages[];

  bool over() const { return search_.accepted() || search_.halted(); }
  void take(const Stage& stage);

  Parts& parts_;
  Search& search_;
  const DriverOptions& o_;
  Vector& swept_;               ///< the start, and from the first sweep on where sweeps have come to
  Measured swept_end_ = {};     ///< what was measured there
  bool path_followed_ = false;  ///< by the interior point

  friend std::vector<std::string> cascade::stage_names();
};

const Driver::Stage Driver::stages[] = {
    {"rest", &Driver::starts_afar, &Driver::start_from_rest},
    {"interior-point-first", &Driver::starts_cold_and_redundant, &Driver::follow_path},
    {"sweeps", &Driver::wants_sweeps, &Driver::sweep},
    {"only-sweeps", &Driver::fits_no_factor, &Driver::only_sweep},
    {"newton", &Driver::always, &Driver::newton},
    {"more-sweeps", &Driver::wants_sweeps, &Driver::sweep_more},
    {"interior-point", &Driver::has_no_path_yet, &Driver::follow_path},
    {"rescue", &Driver::is_near, &Driver::rescue},
    {"bilateral-relaxation", &Driver::is_near, &Driver::relax_joints},
    {"proximal-point", &Driver::always, &Driver::follow_proximal_path, true},
    {"bilateral-relaxation-again", &Driver::always, &Driver::relax_joints},
    {"admissible-perturbation", &Driver::is_near_the_tolerance, &Driver::settle},
    {"proximal-point-on", &Driver::always, &Driver::continue_proximal_path, true},
};

void Driver::run() {
  for (const Stage& stage : stages) take(stage);
}

void Driver::take(const Stage& stage) {
  if (over() || o_.skips(stage.name) || !(this->*stage.applies)() || over()) return;
  search_.begin_stage(stage.name);
  (this->*stage.run)();
  if (over() || o_.skips("rescue") || !stage.rescued || !is_near()) return;
  search_.begin_stage("rescue");
  rescue();
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
  std::vector<std::string> names{FirstSweep::name};
  for (const auto& stage : Driver::stages) names.push_back(stage.name);
  return names;
}

void declare_options(OptionBinder& bind, DriverOptions& o) {
  bind.integer("sweeps", o.sweeps, {.minimum = 0, .maximum = 1e6, .doc = "Gauss-Seidel sweeps at first; 0: none"});
  bind.integer("proximal_steps", o.proximal_steps,
               {.minimum = 1,
                .maximum = 1e9,
                .doc = "Newton steps of the first proximal-point run; a later one goes on while twice as many "
                       "halve its residual"});
  bind.flag("projected", o.projected, "return an impulse in K, and stop where that one passes");
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

void run_stages(Parts& parts, Search& search, Vector& r, const DriverOptions& options) {
  Driver(parts, search, r, options).run();
}

}  // namespace conebench::cascade
