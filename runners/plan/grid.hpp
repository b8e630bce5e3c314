#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// `fixed` with every combination of the axes' values. The last axis by name varies fastest. Without an axis: `fixed`
/// alone.
std::vector<OptionValues> cartesian(const OptionValues& fixed,
                                    const std::map<std::string, std::vector<OptionValue>>& axes);

/// Checks `values` against the declared options. Errors (wrong_usage) name option, value and bound.
Result<void> check_options(const std::vector<OptionSpec>& specs, const OptionValues& values);

/// Declared defaults overridden by `values`; integers become reals if a real is declared. Two spellings of one
/// configuration give the same result. `values` must have passed check_options.
OptionValues effective_options(const std::vector<OptionSpec>& specs, const OptionValues& values);

}  // namespace conebench
