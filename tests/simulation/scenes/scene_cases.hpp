#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {

/// A built-in scene with some of its options' values.
struct SceneCase {
  std::string id;
  OptionValues values;
};

/// Every scene of rigid bodies with its defaults, and with each value of each of its choices.
inline std::vector<SceneCase> all_scene_cases() {
  std::vector<SceneCase> cases;
  for (const auto& row : simulated_scene_table()) {
    if (row.id == "file" || row.elastic) continue;
    cases.push_back({row.id, {}});
    for (const auto& option : row.options) {
      for (const auto& choice : option.choices) cases.push_back({row.id, {{option.name, choice}}});
    }
  }
  return cases;
}

inline std::string name_of_case(const ::testing::TestParamInfo<SceneCase>& info) {
  std::string name = info.param.id;
  for (const auto& [option, value] : info.param.values) name += "_" + option + "_" + to_text(value);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace conebench
