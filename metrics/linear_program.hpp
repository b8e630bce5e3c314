#pragma once

#include "problems/types.hpp"

namespace conebench {

/// min costᵀ x: row_lower ≤ matrix x ≤ row_upper, lower ≤ x ≤ upper. Bounds may be infinite.
struct LinearProgram {
  SparseMatrix matrix;
  Vector cost, lower, upper, row_lower, row_upper;
};

struct LinearProgramAnswer {
  enum class State { optimal, stopped, no_library };
  State state = State::stopped;  ///< stopped: out of time, or nothing found
  Vector x;                      ///< empty unless optimal
};

/// By the dual simplex method of COIN-OR CLP, to 1e-9 in rows and bounds. Writes nothing.
LinearProgramAnswer solve_linear_program(const LinearProgram& program, double max_seconds);

}  // namespace conebench
