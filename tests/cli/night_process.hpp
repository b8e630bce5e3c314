#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {

/// `conebench nightly` with `words`, the suite first and its --stores second. A test of its night.xml fails where the
/// night ends with another exit code than 0, and only there.
inline Outcome run_night(const std::vector<std::string>& words, const RunOptions& options = {}) {
  namespace fs = std::filesystem;
  const auto files = [&] {
    std::vector<fs::path> found;
    if (!fs::is_directory(words.at(2))) return found;
    for (const auto& entry : fs::directory_iterator(words.at(2))) {
      if (fs::exists(entry.path() / "night.xml")) found.push_back(entry.path() / "night.xml");
    }
    return found;
  };
  for (const fs::path& earlier : files()) fs::remove(earlier);
  std::vector<std::string> all = {"nightly"};
  all.insert(all.end(), words.begin(), words.end());
  Outcome outcome = conebench(all, options);
  const auto written = files();
  EXPECT_LE(written.size(), 1U);
  EXPECT_TRUE(outcome.code != 0 || written.size() == 1U) << "a judged night has its tests";
  for (const fs::path& file : written) {
    const std::string text = text_of(file);
    EXPECT_EQ(text.find("<failure") == std::string::npos, outcome.code == 0) << outcome.code << "\n" << text;
  }
  return outcome;
}

}  // namespace conebench::testing
