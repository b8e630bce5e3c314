#pragma once

#include <filesystem>
#include <string>

#include "base/temporary_folder.hpp"

namespace conebench::testing {

/// A folder that goes with the test.
class TemporaryFolder : public conebench::TemporaryFolder {
 public:
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
};

}  // namespace conebench::testing
