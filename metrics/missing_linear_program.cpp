#include "metrics/linear_program.hpp"

namespace conebench {

LinearProgramAnswer solve_linear_program(const LinearProgram&, double) {
  return {LinearProgramAnswer::State::no_library, {}};
}

}  // namespace conebench
