#pragma once

#include <filesystem>

namespace conebench {

/// Where a file is written before it is renamed to `place`: PLACE.unfinished-PID.
std::filesystem::path unfinished_path(const std::filesystem::path& place);

/// Removes from a folder what killed processes of this user left unfinished, an SQLite file with its logs.
void remove_unfinished(const std::filesystem::path& folder);

}  // namespace conebench
