#pragma once

#include <string>
#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// Peers: solvers of the Siconos platform. In builds without it the rows are marked `missing`.
std::vector<SolverRow> siconos_rows();

/// The library that they are loaded from, "libsiconos_numerics.so.7.0.0"; empty in builds without it.
std::string siconos_library();

/// What computes its products and factors, with the threads it takes: "OpenBLAS 0.3.21, 1 thread". Loads the library;
/// empty in builds without it and where it can't be loaded.
std::string siconos_blas();

}  // namespace conebench
