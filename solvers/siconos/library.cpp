#include "solvers/siconos/library.hpp"

#include <dlfcn.h>

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
  void* const handle = dlopen(CONEBENCH_SICONOS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  const auto fail = [&] {
    const char* const why = dlerror();
    loaded.failure = why != nullptr ? why : "unknown error of the loader";
    return loaded;
  };
  if (handle == nullptr) return fail();
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    complete = complete && function != nullptr;
  };
  Library& f = loaded.functions;
  find(f.fc3d_driver, "fc3d_driver");
  find(f.fc2d_driver, "fc2d_driver");
  find(f.solver_options_create, "solver_options_create");
  find(f.solver_options_delete, "solver_options_delete");
  find(f.solver_options_update_internal, "solver_options_update_internal");
  find(f.numerics_set_verbose, "numerics_set_verbose");
  find(f.NM_create_from_data, "NM_create_from_data");
  find(f.NM_create, "NM_create");
  find(f.NM_csc_alloc, "NM_csc_alloc");
  find(f.NM_clear, "NM_clear");
  if (!complete) return fail();
  // OpenBLAS reads its environment when it is loaded, which another library may have brought about before.
  if (auto* const set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"))) {
    set_threads(1);
  }
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
