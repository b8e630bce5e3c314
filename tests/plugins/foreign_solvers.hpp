#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/cli/run_command_fixture.hpp"

namespace conebench::testing {

/// A file that the build put next to the tests' plug-ins and programs.
inline std::string built(const std::string& name) {
  return (std::filesystem::path(CONEBENCH_PLUGIN_FOLDER) / name).string();
}
inline std::string plugin(const std::string& name) { return built(name + ".so"); }

/// Sweeps of solvers that are not part of the build.
class ForeignSolvers : public RunCommand {
 protected:
  /// Cells by the configuration's label: "status solved|reason".
  std::map<std::string, std::string> cells(const std::string& store) {
    std::map<std::string, std::string> found;
    for (const std::string& row : query(store,
                                        "SELECT label, status, solved, reason FROM cells JOIN configurations ON "
                                        "configurations.hash = cells.configuration")) {
      const auto bar = row.find('|');
      found[row.substr(0, bar)] = row.substr(bar + 1);
    }
    return found;
  }
};

}  // namespace conebench::testing
