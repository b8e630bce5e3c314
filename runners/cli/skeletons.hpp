#pragma once

#include <string>

namespace conebench::cli {

/// A file of examples/plugins/jacobi, or the plug-ins' header, as it was when this was built.
std::string skeleton(const std::string& file);

}  // namespace conebench::cli
