#pragma once

// Siconos' headers and the functions that the adapter calls, found when the library is first wanted. What differs
// between its versions stands here: those after 4.5 have FrictionContact_options.h and a registry of solvers.

#include <optional>
#include <string>

#if __has_include("FrictionContact_options.h")
#define CONEBENCH_SICONOS_REGISTRY 1
// Compile definitions of its own build, which its headers need.
#define CS_LONG
#define NCOMPLEX
#include "CSparseMatrix.h"
#include "FrictionContact_options.h"
#include "Newton_methods.h"
#include "RollingFrictionContact_options.h"
#include "solver_registry.h"
#else
#define CONEBENCH_SICONOS_REGISTRY 0
#include "CSparseMatrix_internal.h"
#include "Friction_cst.h"
#endif

#include "FrictionContactProblem.h"
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

#if CONEBENCH_SICONOS_REGISTRY
inline constexpr bool has_registry = true;
inline constexpr int id_nsn_ac_new = SICONOS_FRICTION_3D_NSN_AC_NEW;
inline constexpr int id_ipm_snm = SICONOS_FRICTION_3D_IPM_SNM;
inline constexpr int id_rolling_newton = SICONOS_ROLLING_FRICTION_3D_ONECONTACT_NSN;
inline constexpr int ipm_writes_iterates = SICONOS_FRICTION_3D_IPM_IPARAM_ITERATES_MATLAB_FILE;
inline constexpr int newton_stop_test = SICONOS_IPARAM_STOPPING_CRITERION;
inline constexpr int newton_stop_by_error = SICONOS_STOPPING_CRITERION_USER_ROUTINE;
#else
inline constexpr bool has_registry = false;
inline constexpr int id_nsn_ac_new = -1;
inline constexpr int id_ipm_snm = -1;
inline constexpr int id_rolling_newton = -1;
inline constexpr int ipm_writes_iterates = 0;
inline constexpr int newton_stop_test = 0;
inline constexpr int newton_stop_by_error = 0;
#endif

/// Loaded by name and not linked: it brings MUMPS, Scotch and OpenBLAS, whose start and threads every other command and
/// every program built on Conebench would pay for.
struct Library {
#if CONEBENCH_SICONOS_REGISTRY
  decltype(&::solver_registry_lookup) solver_registry_lookup = nullptr;
#else
  decltype(&::fc3d_driver) fc3d_driver = nullptr;
  decltype(&::fc2d_driver) fc2d_driver = nullptr;
  decltype(&::rolling_fc3d_driver) rolling_fc3d_driver = nullptr;
#endif
  decltype(&::solver_options_create) solver_options_create = nullptr;
  decltype(&::solver_options_delete) solver_options_delete = nullptr;
  decltype(&::solver_options_update_internal) solver_options_update_internal = nullptr;
  decltype(&::numerics_set_verbose) numerics_set_verbose = nullptr;
  decltype(&::NM_create_from_data) NM_create_from_data = nullptr;
  decltype(&::NM_create) NM_create = nullptr;
  decltype(&::NM_csc_alloc) NM_csc_alloc = nullptr;
  decltype(&::NM_clear) NM_clear = nullptr;

  /// Runs the solver of `options` on the problem whose dimension it is made for (2 and 3: FrictionContactProblem, 5:
  /// RollingFrictionContactProblem). Returns Siconos' info.
  int solve(FrictionContactProblem& problem, RollingFrictionContactProblem& rolling_problem, double* reaction,
            double* velocity, SolverOptions* options) const;
};

/// The options of a run, with Siconos' defaults, as its versions make, change and free them.
SolverOptions* create_options(const Library& library, int id);
void replace_inner(const Library& library, SolverOptions* options, int id);
void free_options(const Library& library, SolverOptions* options);

/// The library, with its BLAS on one thread. Errors (unsupported): it can't be loaded on this machine; says why.
Result<const Library*> library();

}  // namespace conebench::siconos
