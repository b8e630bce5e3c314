#pragma once

#include <atomic>

#include "runners/plan/problem_source.hpp"

namespace conebench {

/// A simulation's samples made in a process of its own: one that crashes (twice), or takes longer than
/// limits.simulation_seconds or more memory than a cell may, is a simulation that failed (bad_input), with the reason.
/// Ends early where `interrupted` is set.
SampleMaker isolated_samples(const SuiteLimits& limits, const std::atomic<bool>* interrupted);

}  // namespace conebench
