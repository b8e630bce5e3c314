#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

/// "option=v1,v2" texts of `--grid` as axes of a grid over the solver's options. Errors (wrong_usage): another form, an
/// unknown option, one given twice, a value of another type.
Result<std::map<std::string, std::vector<OptionValue>>> parse_grid(const std::vector<std::string>& texts,
                                                                   const SolverRow& row);

}  // namespace conebench::cli
