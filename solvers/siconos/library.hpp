#pragma once

// Siconos' headers and the functions that the adapter calls, found when the library is first wanted.

#include <optional>
#include <string>

#include "CSparseMatrix_internal.h"
#include "FrictionContactProblem.h"
#include "Friction_cst.h"
#include "NonSmoothDrivers.h"
#include "NumericsMatrix.h"
#include "NumericsSparseMatrix.h"
#include "NumericsVerbose.h"
#include "RollingFrictionContactProblem.h"
#include "SolverOptions.h"
#include "SparseBlockMatrix.h"
#include "base/result.hpp"
#include "fc2d_Solvers.h"
#include "fc3d_Solvers.h"

namespace conebench::siconos {

/// Loaded by name and not linked: it brings MUMPS, Scotch and OpenBLAS, whose start and threads every other command and
/// every program built on Conebench would pay for.
struct Library {
  decltype(&::fc3d_driver) fc3d_driver = nullptr;
  decltype(&::fc2d_driver) fc2d_driver = nullptr;
  decltype(&::rolling_fc3d_driver) rolling_fc3d_driver = nullptr;
  decltype(&::solver_options_create) solver_options_create = nullptr;
  decltype(&::solver_options_delete) solver_options_delete = nullptr;
  decltype(&::solver_options_update_internal) solver_options_update_internal = nullptr;
  decltype(&::numerics_set_verbose) numerics_set_verbose = nullptr;
  decltype(&::NM_create_from_data) NM_create_from_data = nullptr;
  decltype(&::NM_create) NM_create = nullptr;
  decltype(&::NM_csc_alloc) NM_csc_alloc = nullptr;
  decltype(&::NM_clear) NM_clear = nullptr;
};

/// The library, with its BLAS on one thread. Errors (unsupported): it can't be loaded on this machine; says why.
Result<const Library*> library();

}  // namespace conebench::siconos
