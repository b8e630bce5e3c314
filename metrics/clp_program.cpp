#include <Clp_C_Interface.h>

#include <memory>

#include "metrics/linear_program.hpp"

namespace conebench {

namespace {

LinearProgramAnswer solve(const LinearProgram& program, const SparseMatrix& matrix, double max_seconds,
                          int (*method)(Clp_Simplex*)) {
  LinearProgramAnswer answer;
  const std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> model(Clp_newModel(), &Clp_deleteModel);
  if (!model) return answer;
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), static_cast<int>(matrix.cols()), static_cast<int>(matrix.rows()), matrix.outerIndexPtr(),
                  matrix.innerIndexPtr(), matrix.valuePtr(), program.lower.data(), program.upper.data(),
                  program.cost.data(), program.row_lower.data(), program.row_upper.data());
  Clp_setPrimalTolerance(model.get(), 1e-9);
  Clp_setDualTolerance(model.get(), 1e-9);
  Clp_setMaximumSeconds(model.get(), max_seconds);
  method(model.get());
  constexpr int optimal = 0;
  if (Clp_status(model.get()) != optimal) return answer;
  answer.state = LinearProgramAnswer::State::optimal;
  answer.x = Eigen::Map<const Vector>(Clp_primalColumnSolution(model.get()), matrix.cols());
  return answer;
}

}  // namespace

LinearProgramAnswer solve_linear_program(const LinearProgram& program, double max_seconds) {
  SparseMatrix matrix = program.matrix;
  matrix.makeCompressed();
  const double each = max_seconds / 2.0;
  LinearProgramAnswer answer = solve(program, matrix, each, &Clp_initialDualSolve);
  // From the start: the basis where the dual method gave up may mislead the primal one.
  if (answer.state == LinearProgramAnswer::State::stopped) {
    answer = solve(program, matrix, each, &Clp_initialPrimalSolve);
  }
  return answer;
}

std::string linear_program_library() { return Clp_Version(); }

}  // namespace conebench
