#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "problems/options.hpp"
#include "problems/result.hpp"
#include "runners/simulation/simulation.hpp"

namespace conebench::simulation {

/// Which steps become samples.
struct SampleOptions {
  std::string sample = "steps";
  long every = 1;

  static void declare(OptionBinder& bind, SampleOptions& o);
};

/// What contacts do at the end of a step.
struct ContactModes {
  Index open = 0, stick = 0, slip = 0;
  Index all() const { return open + stick + slip; }
};

/// Open: λ_N = 0. Slip: ‖σ_T‖ above a millionth of V = max_i ‖g_i‖.
ContactModes contact_modes(const ContactProblem& problem, const Vector& impulse);

struct SamplingSummary {
  long steps = 0;  ///< done
  long samples = 0;
  long unsolved = 0;  ///< steps whose residual is above the tolerance
  double worst_residual = 0.0;
  double worst_configuration_residual = 0.0;  ///< r_pen [m, rad]
  ContactModes modes;                         ///< of all samples' contacts

  /// Fewer than 10 % of the samples' contacts slip or fewer than 5 % open.
  bool trivial() const;
};

struct SamplingWatch {
  std::function<Result<std::monostate>(const StepRecord&)> sample;  ///< takes a sample; its error ends the run
  std::function<void(const StepRecord&)> step;                      ///< told of every step; may be empty
  const std::atomic<bool>* interrupted = nullptr;                   ///< looked at before every step; ends the run
};

/// Steps the simulation, and hands over the samples: steps with at least one constraint, every n-th one or those in
/// which a contact takes an impulse that took none in the step before. `summary` says how far it came, also where an
/// error or `interrupted` ended it.
Result<std::monostate> sample(Simulation& simulation, long steps, double tolerance, const SampleOptions& options,
                              const SamplingWatch& watch, SamplingSummary& summary);

}  // namespace conebench::simulation
