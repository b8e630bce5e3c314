#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "scenes/scene_table.hpp"

namespace conebench::testing {

/// A problem of the scene table; throws std::runtime_error with the reason where it can't be made.
inline ContactProblem make_problem(const std::string& scene, const OptionValues& values = {}, std::uint64_t seed = 1) {
  const auto row = require_scene(scene);
  if (!row) throw std::runtime_error(row.error().message);
  auto problem = (*row)->make(values, seed);
  if (!problem) throw std::runtime_error(problem.error().message);
  return *problem;
}

}  // namespace conebench::testing
