#pragma once

#include <memory>
#include <vector>

#include "base/file_stamp.hpp"
#include "base/options.hpp"
#include "solvers/many_solver.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// The solver number `index` of a shared library. The library is loaded by the first call that needs it; one that has
/// changed since `file` was described is an exception, as is an answer that makes no sense. `values`: all of its
/// options; `specs` has their order.
std::unique_ptr<Solver> make_plugin_solver(const FileStamp& file, std::size_t index, SolverInfo info,
                                           const std::vector<OptionSpec>& specs, const OptionValues& values,
                                           unsigned uses);

/// The same for a batch, where the library exports conebench_plugin_many for that solver.
std::unique_ptr<ManySolver> make_plugin_many_solver(const FileStamp& file, std::size_t index, SolverInfo info,
                                                    const std::vector<OptionSpec>& specs, const OptionValues& values,
                                                    unsigned uses);

}  // namespace conebench
