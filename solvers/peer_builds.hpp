#pragma once

#include <string>

#include "solvers/solver.hpp"

namespace conebench {

/// The library of a peer ("siconos", "ipopt") as this build was configured with it: the version and the build from the
/// system's package, the date from a table of releases. Empty what is not known: a library that is no package's says
/// neither.
PeerBuild peer_build(const std::string& library);

/// The ISO date on which a version was released; empty where the table lacks it.
std::string release_date(const std::string& library, const std::string& version);

}  // namespace conebench
