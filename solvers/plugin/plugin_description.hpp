#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// The description of a shared library's solvers, as the JSON of docs/program_protocol.md in a list. The
/// library is loaded in a process of its own. Errors (bad_input), in one line with the file's name: not to be loaded,
/// no conebench_plugin_entry, another version of the interface, a field that is missing, a crash or a hang while it was
/// loaded.
Result<std::string> describe_plugin(const std::filesystem::path& file);

}  // namespace conebench
