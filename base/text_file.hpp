#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace conebench {

/// Reads a foreign file. Errors (bad_input), one line with the file's name: it does not exist, is a folder or no
/// regular file, has more than `max_bytes`, or can't be read.
Result<std::string> read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes);

/// Replaces a file atomically: writes unfinished_path(file), then renames it. Errors (bad_input): the file and why it
/// can't be written.
Result<void> write_text_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace conebench
