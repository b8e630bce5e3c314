#include "solvers/siconos/library.hpp"

#include "solvers/shared_library.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Siconos never tells MUMPS to end, and leaves some headers behind.
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
};

Loaded load() {
  Loaded loaded;
  SharedLibrary shared(CONEBENCH_SICONOS_LIBRARY);
  Library& f = loaded.functions;
  shared.find(f.fc3d_driver, "fc3d_driver");
  shared.find(f.fc2d_driver, "fc2d_driver");
  shared.find(f.rolling_fc3d_driver, "rolling_fc3d_driver");
  shared.find(f.solver_options_create, "solver_options_create");
  shared.find(f.solver_options_delete, "solver_options_delete");
  shared.find(f.solver_options_update_internal, "solver_options_update_internal");
  shared.find(f.numerics_set_verbose, "numerics_set_verbose");
  shared.find(f.NM_create_from_data, "NM_create_from_data");
  shared.find(f.NM_create, "NM_create");
  shared.find(f.NM_csc_alloc, "NM_csc_alloc");
  shared.find(f.NM_clear, "NM_clear");
  loaded.failure = shared.failure();
  // OpenBLAS reads its environment when it is loaded, which another library may have brought about before.
  void (*set_threads)(int) = nullptr;
  shared.find_optional(set_threads, "openblas_set_num_threads");
  if (set_threads != nullptr) set_threads(1);
  return loaded;
}

}  // namespace

Result<const Library*> library() {
  static const Loaded loaded = load();
  if (!loaded.failure.empty()) {
    return Error{ErrorCode::unsupported, "Siconos can't be loaded (" + loaded.failure +
                                             "); install the package libsiconos-numerics7 or what this build was made "
                                             "with"};
  }
  return &loaded.functions;
}

}  // namespace conebench::siconos
