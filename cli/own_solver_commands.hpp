#pragma once

#include "cli/command.hpp"

namespace conebench::cli {

/// For who brings a solver of their own: `new` writes a skeleton, `check-solver` tries it.
Command add_new(CLI::App& root);
Command add_check_solver(CLI::App& root);

}  // namespace conebench::cli
