// Tries the example's solver on a built-in scene and lets the harness judge the answer.
#include <cstdio>

#include "metrics/residuals.hpp"
#include "projected_jacobi.hpp"
#include "scenes/scene_table.hpp"

int main() {
  using namespace conebench;
  const auto scene = require_scene("box-stack");
  if (!scene) return 1;
  const auto problem = (*scene)->make({{"boxes", 1L}}, 1);
  if (!problem) {
    std::fprintf(stderr, "%s\n", problem.error().message.c_str());
    return 1;
  }
  const SolverRow row = example::projected_jacobi_row();
  const auto solver = row.make({{"relaxation", 0.5}});
  if (!solver || !(*solver)->prepare(*problem)) return 1;

  Vector impulse(problem->rows());
  SilentMonitor monitor;
  const auto summary =
      (*solver)->solve(Vector::Zero(problem->rows()), {1e-12, 20000, StopBy::solver}, monitor, impulse);
  const Judgement judgement = judge(*problem, impulse);
  const double residual = judgement["natural_map_scaled"].value;
  std::printf("%s after %ld iterations, scaled natural map %.2e\n", to_string(summary.status).c_str(),
              summary.iterations, residual);
  return residual <= 1e-8 ? 0 : 1;
}
