#include <Clp_C_Interface.h>

#include <memory>

#include "metrics/linear_program.hpp"

namespace conebench {

LinearProgramAnswer solve_linear_program(const LinearProgram& program, double max_seconds) {
  LinearProgramAnswer answer;
  const std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> model(Clp_newModel(), &Clp_deleteModel);
  if (!model) return answer;
  SparseMatrix matrix = program.matrix;
  matrix.makeCompressed();
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), static_cast<int>(matrix.cols()), static_cast<int>(matrix.rows()), matrix.outerIndexPtr(),
                  matrix.innerIndexPtr(), matrix.valuePtr(), program.lower.data(), program.upper.data(),
                  program.cost.data(), program.row_lower.data(), program.row_upper.data());
  Clp_setPrimalTolerance(model.get(), 1e-9);
  Clp_setDualTolerance(model.get(), 1e-9);
  Clp_setMaximumSeconds(model.get(), max_seconds);
  Clp_initialDualSolve(model.get());
  constexpr int optimal = 0;
  if (Clp_status(model.get()) != optimal) return answer;
  answer.state = LinearProgramAnswer::State::optimal;
  answer.x = Eigen::Map<const Vector>(Clp_primalColumnSolution(model.get()), matrix.cols());
  return answer;
}

}  // namespace conebench
