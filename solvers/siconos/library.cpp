#include "solvers/siconos/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "solvers/shared_library.hpp"
#include "solvers/siconos/adapter.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Siconos never ends MUMPS, and leaves some headers behind.
extern "C" const char* __lsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libsiconos_numerics\nleak:libdmumps\n";
}
#endif

namespace conebench::siconos {

namespace {

struct Loaded {
  Library functions;
  std::string failure;
  std::string blas;
};

/// What computes Siconos' products and factors, on one thread. OpenBLAS reads its environment when it is loaded, which
/// another library may have brought about before.
std::string pin_blas(const SharedLibrary& siconos) {
  void (*set_threads)(int) = nullptr;
  int (*threads)() = nullptr;
  char* (*configuration)() = nullptr;
  siconos.find_optional(set_threads, "openblas_set_num_threads");
  siconos.find_optional(threads, "openblas_get_num_threads");
  siconos.find_optional(configuration, "openblas_get_config");
  if (set_threads != nullptr) set_threads(1);
  if (threads == nullptr || configuration == nullptr) {
    void (*product)() = nullptr;
    siconos.find_optional(product, "cblas_dgemm");
    Dl_info symbol = {};
    const bool known = product != nullptr && dladdr(reinterpret_cast<void*>(product), &symbol) != 0;
    return known ? fmt::format("{}, number of threads not known",
                               std::filesystem::path(symbol.dli_fname).filename().string())
                 : "not known";
  }
  const std::string_view description =
      configuration();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH … Zen MAX_THREADS=64"
  const auto name = description.substr(0, description.find(' ', description.find(' ') + 1));
  return fmt::format("{}, {} thread{}", name, threads(), threads() == 1 ? "" : "s");
}

Loaded load() {
  Loaded loaded;
  SharedLibrary shared(peer_library(CONEBENCH_SICONOS_LIBRARY).c_str());
  Library& f = loaded.functions;
#if CONEBENCH_SICONOS_REGISTRY
  shared.find(f.solver_registry_lookup, "solver_registry_lookup");
#else
  shared.find(f.fc3d_driver, "fc3d_driver");
  shared.find(f.fc2d_driver, "fc2d_driver");
  shared.find(f.rolling_fc3d_driver, "rolling_fc3d_driver");
#endif
  shared.find(f.solver_options_create, "solver_options_create");
  shared.find(f.solver_options_delete, "solver_options_delete");
  shared.find(f.solver_options_update_internal, "solver_options_update_internal");
  shared.find(f.numerics_set_verbose, "numerics_set_verbose");
  shared.find(f.NM_create_from_data, "NM_create_from_data");
  shared.find(f.NM_create, "NM_create");
  shared.find(f.NM_csc_alloc, "NM_csc_alloc");
  shared.find(f.NM_clear, "NM_clear");
  loaded.failure = shared.failure();
  if (loaded.failure.empty()) loaded.blas = pin_blas(shared);
  return loaded;
}

const Loaded& loaded_once() {
  static const Loaded loaded = load();
  return loaded;
}

#if !CONEBENCH_SICONOS_REGISTRY
void collect(SolverOptions* options, std::vector<SolverOptions*>& all) {
  all.push_back(options);
  for (std::size_t i = 0; i < options->numberOfInternalSolvers; ++i) collect(options->internalSolvers[i], all);
}
#endif

}  // namespace

int Library::solve(FrictionContactProblem& problem, RollingFrictionContactProblem& rolling_problem, double* reaction,
                   double* velocity, SolverOptions* options) const {
  [[maybe_unused]] constexpr int rows_in_plane = 2;
  constexpr int rows_that_roll = 5;
  const bool rolling = problem.dimension == rows_that_roll;
#if CONEBENCH_SICONOS_REGISTRY
  // What its drivers do, but for the solver's init: that of PROX, ACLMFP and the planar NSGS sets the defaults again.
  const SolverEntry& entry = *solver_registry_lookup(options->solverId);
  void* const given = rolling ? static_cast<void*>(&rolling_problem) : &problem;
  const int info = entry.solve(given, reaction, velocity, options);
  if (entry.free != nullptr) entry.free(given, options);
  return info;
#else
  if (rolling) return rolling_fc3d_driver(&rolling_problem, reaction, velocity, options);
  return (problem.dimension == rows_in_plane ? fc2d_driver : fc3d_driver)(&problem, reaction, velocity, options);
#endif
}

SolverOptions* create_options(const Library& library, int id) { return library.solver_options_create(id); }

// With a registry Siconos frees the structures themselves; before, it left them to the caller.
#if CONEBENCH_SICONOS_REGISTRY
void replace_inner(const Library& library, SolverOptions* options, int id) {
  library.solver_options_update_internal(options, 0, id);
}

void free_options(const Library& library, SolverOptions* options) { library.solver_options_delete(options); }
#else
void replace_inner(const Library& library, SolverOptions* options, int id) {
  SolverOptions* const before = options->internalSolvers[0];
  library.solver_options_update_internal(options, 0, id);
  std::free(before);
}

void free_options(const Library& library, SolverOptions* options) {
  std::vector<SolverOptions*> all;
  collect(options, all);
  library.solver_options_delete(options);
  for (SolverOptions* const one : all) std::free(one);
}
#endif

std::string blas() { return loaded_once().blas; }

Result<const Library*> library() {
  const Loaded& loaded = loaded_once();
  if (!loaded.failure.empty()) {
    return Error{ErrorCode::unsupported, "Siconos can't be loaded (" + loaded.failure +
                                             "); install the package libsiconos-numerics7 or what this build was made "
                                             "with"};
  }
  return &loaded.functions;
}

}  // namespace conebench::siconos
