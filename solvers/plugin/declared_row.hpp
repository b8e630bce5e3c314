#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// A solver of these options, all of them there.
using DeclaredFactory = std::function<std::unique_ptr<Solver>(const SolverInfo& info, const OptionValues& options)>;

/// A row whose options are known at run time only. Errors (bad_input): an option declared twice, a default that is out
/// of its own range.
Result<SolverRow> declared_row(SolverInfo info, std::vector<OptionSpec> options, DeclaredFactory factory);

}  // namespace conebench
