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
  std::vector<std::string> bodies;  ///< of the contact at fault; empty: a joint or a limit
};

/// The limit on unsolved steps for one sample.
constexpr long max_feasibility_checks = 20;

struct SamplingSummary {
  long steps = 0;  ///< done
  long samples = 0;
  long constrained = 0;   ///< steps with at least one row
  long candidates = 0;    ///< steps that could have been samples: n-th ones, or impacts
  long cut = 0;           ///< steps with contacts missing, which are no samples
  long unsolved = 0;      ///< steps whose residual is above the tolerance
  long frictionless = 0;  ///< steps with the impulses of the step without friction, fallback=frictionless
  double worst_residual = 0.0;
  double worst_configuration_residual = 0.0;  ///< r_pen [m, rad]
  ContactModes modes;                         ///< of all samples' contacts, as the judge has them
  std::vector<Stratum> strata = {};           ///< of a stratified set: those wanted or met
  /// Of the first max_feasibility_checks unsolved steps, with half a second each.
  std::vector<InfeasibleStep> infeasible = {};
  bool full = false;  ///< a stratified set that has all it asks for, which ends the run

  /// Why the samples are a trivial set: no contacts, fewer than 10 % of them slip, or fewer than 5 % open. Empty: they
  /// are not, or there are none.
  std::string why_trivial() const;
  /// Why there are no samples and what to do (`advice` if no step had a row); empty: there are samples.
  std::string why_empty(const SampleOptions& options, const std::string& advice) const;
};
/// With residuals that are not finite as null.
nlohmann::json to_json(const SamplingSummary& summary);

struct SamplingWatch {
  std::function<Result<void>(const StepRecord&)> sample;  ///< takes a sample; its error ends the run
  std::function<void(const StepRecord&)> step;            ///< is called after every step; may be empty
  const std::atomic<bool>* interrupted = nullptr;         ///< read before every step; ends the run
};

/// Steps the simulation and passes on the samples, with category and conditioning in their provenance. Candidates are
/// every n-th step (if that has no constraint, the next one that has), or every n-th impact: a step in which a contact
/// has an impulse that had none in the step before. A stratified set takes a candidate if its stratum is not full. It
/// ends the run when all requested strata are full. With fallback=stop a step that is not solved is the last sample,
/// and Simulation::end_after the error. `summary` is filled also if an error or `interrupted` ended the run.
Result<void> sample(Simulation& simulation, long steps, double tolerance, const SampleOptions& options,
                    const SamplingWatch& watch, SamplingSummary& summary);

}  // namespace conebench::simulation
