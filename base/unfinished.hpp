#pragma once

#include <filesystem>

namespace conebench {

/// Where a file is written before it is renamed to `target`: TARGET.unfinished-PID.
std::filesystem::path unfinished_path(const std::filesystem::path& target);

/// Removes from a folder the unfinished files of this user's dead processes, an SQLite file with its logs.
void remove_unfinished(const std::filesystem::path& folder);

}  // namespace conebench
