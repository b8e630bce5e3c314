#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

struct DriverOptions {
  long sweeps = 4;
  long proximal_steps = 1200;
  double memory = 2000.0;
  bool projected = false;
  std::string skip;  ///< names of stages, with commas between them

  bool skips(std::string_view stage) const;
  /// Nothing, or which word of `skip` names no stage.
  std::optional<std::string> wrong_word() const;
};

void declare_options(OptionBinder& bind, DriverOptions& options);

/// Of all stages in their order, those on a few contacts first: what SolveSummary::stage may say, and `skip`.
std::vector<std::string> stage_names();

/// Sweeps that a few contacts get before anything is allocated; 0: none.
long early_sweeps(const DriverOptions& options, const ContactProblem& problem);

/// One stage after the other from r, until `search` accepts a point or is halted.
void run_stages(Parts& parts, Search& search, Vector& r, const DriverOptions& options);

}  // namespace conebench::cascade
