#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench {

/// Whether `name` (one path component) matches `pattern` with `*` (any run), `?` (one character) and `[a-z]`, `[!a-z]`.
/// A leading dot is matched by a dot only.
bool matches_wildcards(const std::string& pattern, const std::string& name);

/// Files under `base` that match `pattern`, relative to `base` as the pattern is, sorted. `**` stands for any number of
/// folders, none included; it does not follow links to folders. An absolute pattern ignores `base`. Folders that can't
/// be read count as empty. Errors (bad_input): a pattern of more than 4096 bytes or 64 folders, folders more than 64
/// deep, more than a million files and folders.
Result<std::vector<std::filesystem::path>> glob_files(const std::filesystem::path& base, const std::string& pattern);

}  // namespace conebench
