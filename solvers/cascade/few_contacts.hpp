#pragma once

#include <limits>

#include "problems/contact_problem.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/monitor.hpp"
#include "solvers/solver.hpp"

namespace conebench::cascade {

/// NSGS's sweeps and Newton steps on a few contacts and limits in the problem's own units, without heap allocation:
/// what CASCADE tries before it scales, allocates and analyses anything.
struct FewContacts {
  // As they stand among the driver's stages.
  static constexpr const char* sweeps_name = "few-sweeps";
  static constexpr const char* newton_name = "few-newton";

  struct Effort {
    long sweeps = 4;
    bool newton = true;
  };

  long sweeps = 0;
  long newton_steps = 0;
  long looks = 0;     ///< points measured, the indices at which the monitor was asked
  long products = 0;  ///< with G, to measure
  double residual = std::numeric_limits<double>::quiet_NaN();  ///< of the last point measured
  const char* stage = sweeps_name;                             ///< what came last
  bool accepted = false;
  bool halted = false;  ///< out of time or of iterations
  bool out_of_time = false;

  static constexpr int most_contacts = tuned.few_contacts;  ///< limits included
  /// Up to so many contacts sweeps alone may be the cheapest way; more get two trial sweeps where dense steps may
  /// follow.
  static constexpr int thoroughly = 8;
  static constexpr long trial_sweeps = 2;
  /// Up to so many contacts, whatever couples them, SSN's steps with a dense matrix cost less than to analyse a sparse
  /// one.
  static constexpr int dense = tuned.dense_contacts;

  /// At most forty contacts and limits, no joints.
  static bool fit(const ContactProblem& problem);
  /// At most `dense` contacts, or at most sixteen with a quarter of all blocks that they could have. Limits count by
  /// their rows, three a contact (in 2D two). The problem fits.
  static bool dense_enough(const ContactProblem& problem);

  /// Sweeps from `guess` until the scaled natural map is within the tolerance, `effort.sweeps` of them at most.
  /// Contacts that are dense_enough() try Newton steps (FewNewton) after the first; four to ten also before it, from λ
  /// = 0, where all of them press and stick, or press and slip at one speed. Where Newton does not arrive, the sweeps
  /// go on from where they were. `impulse` is the last iterate. The problem fits.
  static FewContacts solve(const ContactProblem& problem, ConstVectorRef guess, const Effort& effort,
                           const StopRule& stop, Monitor& monitor, VectorRef impulse);

  SolveSummary summary() const;
};

}  // namespace conebench::cascade
