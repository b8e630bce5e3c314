#pragma once

#include <string>

#include "problems/types.hpp"

namespace conebench {

/// min costᵀ x: row_lower ≤ matrix x ≤ row_upper, lower ≤ x ≤ upper. Bounds may be infinite.
struct LinearProgram {
  SparseMatrix matrix;
  Vector cost, lower, upper, row_lower, row_upper;
};

struct LinearProgramAnswer {
  enum class State { optimal, stopped, no_library };
  State state = State::stopped;  ///< stopped: neither method ended, in its time or because of rounding
  Vector x;                      ///< empty unless optimal
};

/// By COIN-OR CLP, to 1e-9 in rows and bounds: the dual simplex method and, where that doesn't end well, the primal
/// one, with half of the time each [s of the processor]. Writes nothing.
LinearProgramAnswer solve_linear_program(const LinearProgram& program, double max_seconds);

/// CLP's version ("1.17.6"); empty: this build is without.
std::string linear_program_library();

}  // namespace conebench
