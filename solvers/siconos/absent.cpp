// Stands in for adapter.cpp in builds without Siconos.

#include "solvers/siconos/adapter.hpp"

namespace conebench::siconos {

std::optional<std::string> missing_reason(Method) {
  return "built without Siconos: install libsiconos-numerics-dev and build again, see docs/dependencies.md";
}

bool has_rolling_newton() { return false; }

std::string library_file() { return {}; }

std::string blas() { return {}; }

std::unique_ptr<Solver> make_adapter(SolverInfo, Settings) { return nullptr; }

}  // namespace conebench::siconos
