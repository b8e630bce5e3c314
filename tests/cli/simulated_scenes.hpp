#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "simulation/engine.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {

/// Commands on scenes that MuJoCo simulates, in a folder that goes with the test.
class SimulatedScenes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  }
  static nlohmann::json list_of(const std::filesystem::path& folder) {
    return nlohmann::json::parse(text_of(folder / "samples.json"));
  }
  static long samples(const std::filesystem::path& folder) {
    long count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.path().extension() == ".hdf5" ? 1 : 0;
    }
    return count;
  }

  const ScratchFolder folder;
};

}  // namespace conebench::testing
