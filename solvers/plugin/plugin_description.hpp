#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// What the solvers of a shared library say of themselves, as the JSON of docs/program_protocol.md in a list. The
/// library is loaded in a process of its own. Errors (bad_input), in one line with the file's name: not to be loaded,
/// no conebench_plugin_entry, another version of the interface, a field that is missing, a crash or a hang while it was
/// loaded.
Result<std::string> describe_plugin(const std::filesystem::path& file);

}  // namespace conebench
