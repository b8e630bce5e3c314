#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// Every combination of the axes' values over `fixed`, the last axis (by name) running fastest; `fixed` alone where
/// there is no axis.
std::vector<OptionValues> cartesian(const OptionValues& fixed,
                                    const std::map<std::string, std::vector<OptionValue>>& axes);

/// `values` against the declared options. Errors (wrong_usage) name option, value and what was violated.
Result<void> check_options(const std::vector<OptionSpec>& specs, const OptionValues& values);

/// Declared defaults with `values` over them, integers turned into reals where a real is declared: what two spellings
/// of one setting have in common. `values` must have passed check_options.
OptionValues effective_options(const std::vector<OptionSpec>& specs, const OptionValues& values);

}  // namespace conebench
