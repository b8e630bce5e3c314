// Stands in for ipopt_solver.cpp in builds without Ipopt.

#include "solvers/ipopt/ipopt_rows.hpp"

namespace conebench::ipopt {

std::optional<std::string> missing_reason() {
  return "built without Ipopt: install coinor-libipopt-dev and build again (docs/dependencies.md)";
}

std::string library_file() { return {}; }

std::unique_ptr<Solver> make_solver(const SolverInfo&, const IpoptOptions&) { return nullptr; }

}  // namespace conebench::ipopt
