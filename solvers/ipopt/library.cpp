#include "solvers/ipopt/library.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace conebench::ipopt {

namespace {

struct Loaded {
  Library functions;
  std::string failure;
};

Loaded load() {
  Loaded loaded;
  void* const handle = dlopen(CONEBENCH_IPOPT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  bool complete = handle != nullptr;
  const auto find = [&](auto& function, const char* name) {
    if (handle == nullptr) return;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    complete = complete && function != nullptr;
  };
  Library& f = loaded.functions;
  find(f.create, "CreateIpoptProblem");
  find(f.free, "FreeIpoptProblem");
  find(f.set_text, "AddIpoptStrOption");
  find(f.set_number, "AddIpoptNumOption");
  find(f.set_integer, "AddIpoptIntOption");
  find(f.set_callback, "SetIntermediateCallback");
  find(f.solve, "IpoptSolve");
  if (complete) return loaded;
  const char* const why = dlerror();
  loaded.failure = why != nullptr ? why : "unknown error of the loader";
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
