#pragma once

#include "problems/contact_problem.hpp"

namespace conebench::cascade {

/// One sweep of NSGS over up to sixteen contacts and limits in the problem's own units, without heap allocation: the answer where
/// contacts do not feel each other, as one alone, for a fraction of what scaling costs.
struct FirstSweep {
  static constexpr const char* name = "first-sweep";  ///< among the driver's stages

  /// At most sixteen contacts and limits, no joints.
  static bool fits(const ContactProblem& problem);

  /// Sweeps over `impulse`. Returns its scaled natural map. The problem fits.
  static double run(const ContactProblem& problem, VectorRef impulse);
};

}  // namespace conebench::cascade
