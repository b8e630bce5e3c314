#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// A built-in source of problems that needs no file: a random generator or a closed-form scene.
struct SceneRow {
  std::string id;       ///< "box-stack"
  std::string summary;  ///< one line
  std::vector<OptionSpec> options;
  bool seeded = false;  ///< whether another seed makes another problem
  /// One problem; the same values and seed give the same content hash on every machine with the same compiler flags.
  /// Its provenance has family = id and a name with parameters and seed. Errors (wrong_usage): see
  /// OptionBinder::assign; sizes that contradict each other.
  std::function<Result<ContactProblem>(const OptionValues& values, std::uint64_t seed)> make;
};

/// All scenes of this build, in the order in which they are listed.
std::span<const SceneRow> scene_table();

/// The row with this id. Errors (wrong_usage): unknown; lists the known ids.
Result<const SceneRow*> require_scene(const std::string& id);

}  // namespace conebench
