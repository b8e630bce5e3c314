#pragma once

#include <string>

#include "conebench/solver_plugin.h"

namespace conebench {

/// A shared library's solvers, or why there are none. It stays loaded. Its interface_version is one that this build
/// serves: the layout of all that version 1 has is the same in version 2.
struct PluginFile {
  const conebench_plugin* plugin = nullptr;
  std::string failure = {};
  decltype(&conebench_plugin_peer) peer = nullptr;  ///< null where the library does not export it, as the next
  decltype(&conebench_plugin_many) many = nullptr;
};

PluginFile open_plugin(const std::string& file);

}  // namespace conebench
