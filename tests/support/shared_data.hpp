#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/paths.hpp"

namespace conebench::testing {

inline constexpr const char* no_shared_data = "no real problems here (CONEBENCH_SHARED)";

/// The optional folder of real problems: the environment variable CONEBENCH_SHARED, else `shared` beside the source
/// tree. Nothing where it is absent: the test then says GTEST_SKIP() << no_shared_data.
inline std::optional<std::filesystem::path> shared_data() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests don't change the environment
  const char* const variable = std::getenv("CONEBENCH_SHARED");
  const std::filesystem::path folder = variable != nullptr && *variable != '\0'
                                           ? std::filesystem::path(variable)
                                           : std::filesystem::path(CONEBENCH_SOURCE_DIR) / ".." / "shared";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

/// A file or folder in it, where it exists.
inline std::optional<std::filesystem::path> shared_data(const std::string& relative) {
  const auto folder = shared_data();
  if (!folder) return std::nullopt;
  std::error_code ignored;
  const auto path = *folder / relative;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path;
}

}  // namespace conebench::testing
