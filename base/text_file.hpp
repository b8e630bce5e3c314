#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// The bytes of a file that somebody else wrote. Errors (bad_input), in one line with the file's name: none there, a
/// folder, no regular file (a device or a pipe has no end), more than `max_bytes`, not readable. Nothing of a file
/// that is refused is read.
Result<std::string> read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes);

}  // namespace conebench
