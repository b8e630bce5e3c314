#pragma once

#include <filesystem>

#include "fclib_loader/fclib_file.hpp"

namespace conebench {

/// read_fclib in this process: what read_fclib runs in a process of its own. For a caller that is isolated already, and
/// for tests.
Result<FclibContent> read_fclib_here(const std::filesystem::path& file);

}  // namespace conebench
