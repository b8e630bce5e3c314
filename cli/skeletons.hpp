#pragma once

#include <string>

namespace conebench::cli {

/// A file of examples/plugins ("jacobi/jacobi.c"), of examples/engine ("toy.py") or of include
/// ("conebench/solver_plugin.h"), as it was when this was built.
std::string skeleton(const std::string& file);

}  // namespace conebench::cli
