#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

/// Its stage that comes before all that run_stages() does.
inline constexpr const char* first_sweep = "first-sweep";

struct DriverOptions {
  long sweeps = 2;
  long proximal_steps = 1200;
  double memory = 2000.0;
  std::string skip;  ///< names of stages, with commas between them

  bool skips(std::string_view stage) const;
  /// Nothing, or which word of `skip` names no stage.
  std::optional<std::string> wrong_word() const;
};

void declare_options(OptionBinder& bind, DriverOptions& options);

/// Of all stages in their order: the values of SolveSummary::stage, and `skip`.
std::vector<std::string> stage_names();

/// Measures r. True: `search` accepted it.
bool offer(Parts& parts, Search& search, const Vector& r);

/// One stage after the other from r, until `search` accepts a point or is halted.
void run_stages(Parts& parts, Search& search, Vector& r, const DriverOptions& options);

}  // namespace conebench::cascade
