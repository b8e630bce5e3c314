#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "metrics/residuals.hpp"
#include "simulation/simulation.hpp"
#include "simulation/strata.hpp"

namespace conebench::simulation {

/// Which steps become samples.
struct SampleOptions {
  std::string sample = "steps";
  long every = 1;
  long per_stratum = 5;
  std::string categories;
  std::string bands = "1e2,1e4,1e6,1e8";

  static void declare(OptionBinder& bind, SampleOptions& o);
};

/// A step whose problem has no solution to the tolerance (metrics/feasibility.hpp).
struct InfeasibleStep {
  long step = 0;
  double margin = 0.0;              ///< see Feasibility [m/s]
  std::vector<std::string> bodies;  ///< of the contact at fault; empty where that is a joint or a limit
};

/// So many unsolved steps are looked at for one.
constexpr long max_feasibility_checks = 20;

struct SamplingSummary {
  long steps = 0;  ///< done
  long samples = 0;
  long constrained = 0;  ///< steps with at least one row
  long candidates = 0;   ///< steps that could have been samples: n-th ones, or impacts
  long cut = 0;          ///< steps with contacts missing, which are no samples
  long unsolved = 0;     ///< steps whose residual is above the tolerance
  double worst_residual = 0.0;
  double worst_configuration_residual = 0.0;  ///< r_pen [m, rad]
  ContactModes modes;                         ///< of all samples' contacts, as the judge has them
  std::vector<Stratum> strata = {};           ///< of a stratified set: those wanted or met
  /// Of the first max_feasibility_checks unsolved steps, with half a second each.
  std::vector<InfeasibleStep> infeasible = {};
  bool full = false;  ///< a stratified set that has all it asks for, which ends the run

  /// What makes the samples a trivial set: no contacts, fewer than 10 % of them slip or fewer than 5 % open. Empty
  /// where nothing does, or where there are no samples.
  std::string why_trivial() const;
  /// Why there are no samples and what to do (`advice` where no step had a row); empty where there are some.
  std::string why_empty(const SampleOptions& options, const std::string& advice) const;
};
/// With residuals that are not finite as null.
nlohmann::json to_json(const SamplingSummary& summary);

struct SamplingWatch {
  std::function<Result<void>(const StepRecord&)> sample;  ///< takes a sample; its error ends the run
  std::function<void(const StepRecord&)> step;            ///< told of every step; may be empty
  const std::atomic<bool>* interrupted = nullptr;         ///< looked at before every step; ends the run
};

/// Steps the simulation, and hands over the samples, with category and conditioning in their provenance. Candidates are
/// every n-th step, or the next one with a constraint where that has none; or every n-th step in which a contact takes
/// an impulse that took none in the step before. A stratified set takes a candidate where its stratum is not full, and
/// the run ends when all strata that were asked for are. `summary` says how far it came, also where an error or
/// `interrupted` ended it.
Result<void> sample(Simulation& simulation, long steps, double tolerance, const SampleOptions& options,
                    const SamplingWatch& watch, SamplingSummary& summary);

}  // namespace conebench::simulation
