#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace conebench {

/// Another project's solver, served by the Python package (python/conebench/peers).
struct PeerProgram {
  std::string id;
  std::string module;                 ///< FILE of python/conebench/peers/FILE.py
  std::string extra;                  ///< what brings its packages: pip install 'conebench[EXTRA]'
  std::vector<std::string> packages;  ///< as PyPI calls them
};

/// Those of python/conebench/peers/peers.json, in its order.
const std::vector<PeerProgram>& peer_programs();

/// The one of this id, or nullptr.
const PeerProgram* find_peer_program(const std::string& id);

/// The Python that CONEBENCH_PYTHON names, else python3.
std::string peer_python();
/// The folder of the Python package that lies beside this executable: in a wheel, a build folder, or below a prefix.
std::optional<std::filesystem::path> python_package();

/// From now on require_solver knows them. One that is asked for is started and described once, by peer_python() with
/// python_package(), else with that Python's own. Errors then: unsupported, with the extra that brings it, where a
/// package is not installed; else as add_peer.
void offer_peer_programs();

}  // namespace conebench
