#pragma once

// Ipopt's C interface, found when the library is first wanted.

#include <IpStdCInterface.h>

#include "base/result.hpp"

namespace conebench::ipopt {

/// Loaded by name and not linked: it brings a sequential MUMPS and its stand-in for MPI, which must not meet those of
/// other libraries (Siconos').
struct Library {
  decltype(&::CreateIpoptProblem) create = nullptr;
  decltype(&::FreeIpoptProblem) free = nullptr;
  decltype(&::AddIpoptStrOption) set_text = nullptr;
  decltype(&::AddIpoptNumOption) set_number = nullptr;
  decltype(&::AddIpoptIntOption) set_integer = nullptr;
  decltype(&::SetIntermediateCallback) set_callback = nullptr;
  decltype(&::IpoptSolve) solve = nullptr;
};

/// The library. Errors (unsupported): it can't be loaded on this machine; says why.
Result<const Library*> library();

}  // namespace conebench::ipopt
