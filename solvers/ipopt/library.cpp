#include "solvers/ipopt/library.hpp"

#include <string>

#include "solvers/shared_library.hpp"

namespace conebench::ipopt {

namespace {

struct Loaded {
  Library functions;
  std::string failure;
};

Loaded load() {
  Loaded loaded;
  SharedLibrary shared(peer_library(CONEBENCH_IPOPT_LIBRARY).c_str());
  Library& f = loaded.functions;
  shared.find(f.create, "CreateIpoptProblem");
  shared.find(f.free, "FreeIpoptProblem");
  shared.find(f.set_text, "AddIpoptStrOption");
  shared.find(f.set_number, "AddIpoptNumOption");
  shared.find(f.set_integer, "AddIpoptIntOption");
  shared.find(f.set_callback, "SetIntermediateCallback");
  shared.find(f.solve, "IpoptSolve");
  loaded.failure = shared.failure();
  return loaded;
}

}  // namespace

Result<const Library*> library() {
  static const Loaded loaded = load();
  if (!loaded.failure.empty()) {
    return Error{ErrorCode::unsupported, "Ipopt can't be loaded (" + loaded.failure + "); install coinor-libipopt1v5"};
  }
  return &loaded.functions;
}

}  // namespace conebench::ipopt
