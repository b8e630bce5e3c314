#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace conebench {

/// Makes the folder, and those above it, where it is missing. Errors (bad_input): in one line with its name.
Result<void> make_folder(const std::filesystem::path& folder);

}  // namespace conebench
