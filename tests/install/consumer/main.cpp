// Writes a problem to the given FCLIB file, loads it, solves it with a named solver and options, and judges the answer.
#include <cstdio>
#include <string>

#include "fclib_loader/fclib_file.hpp"
#include "metrics/residuals.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/registry.hpp"

using namespace conebench;

namespace {

Result<void> use(const std::string& file) {
  CONEBENCH_TRY(const auto scene, require_scene("box-stack"));
  CONEBENCH_TRY(const auto made, scene->make({{"boxes", 2L}}, 1));
  CONEBENCH_CHECK(write_fclib(made, file));

  CONEBENCH_TRY(const auto problem, load_fclib(file));
  CONEBENCH_TRY(const auto row, require_solver("NSGS"));
  CONEBENCH_TRY(const auto solver, row->make({{"relaxation", 0.9}}));
  CONEBENCH_CHECK(solver->prepare(problem));
  Vector impulse(problem.rows());
  SilentMonitor monitor;
  const SolveSummary summary =
      solver->solve(Vector::Zero(problem.rows()), {1e-10, 20000, StopBy::solver}, monitor, impulse);
  CONEBENCH_CHECK(write_solution(file, file + ".solved", problem, impulse));

  CONEBENCH_TRY(const auto answer, read_reaction(file + ".solved", problem));
  const Judgement judgement = judge(problem, answer);
  const Residual& verdict = judgement["natural_map_scaled"];
  std::printf("%s after %ld iterations, %s %.2e, %ld contacts stick\n", to_string(summary.status).c_str(),
              summary.iterations, verdict.name.c_str(), verdict.value, static_cast<long>(judgement.modes.stick));
  if (!is_solved(verdict, 1e-8)) return Error{ErrorCode::internal, "the answer does not solve the problem"};
  return {};
}

}  // namespace

int main(int, char** arguments) {
  const auto used = use(arguments[1]);
  if (!used) std::fprintf(stderr, "%s\n", used.error().message.c_str());
  return used ? 0 : 1;
}
