#pragma once

#include <atomic>

#include "runners/plan/problem_source.hpp"

namespace conebench {

/// Makes a simulation's samples in a process of its own. The simulation fails (bad_input, with the reason) if that
/// process crashes twice, takes longer than limits.simulation_seconds or uses more memory than a cell may. Stops early
/// when `interrupted` becomes true.
SampleMaker isolated_samples(const SuiteLimits& limits, const std::atomic<bool>* interrupted);

}  // namespace conebench
