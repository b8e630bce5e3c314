#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace conebench {

/// Makes the folder and its parents, if missing. Errors (bad_input), one line with its name.
Result<void> make_folder(const std::filesystem::path& folder);

}  // namespace conebench
