// An iteration of COND against streaming A once: its numbers and indices as the problem has them, summed. Both take
// turns, and the shortest of each make the counter `ratio`.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "scenes/scene_table.hpp"
#include "solvers/registry.hpp"

namespace conebench {
namespace {

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Never final : public Monitor {
  Decision check(long, ConstVectorRef, double) override { return Decision::keep_going; }
};

/// A flat block of edge × 1.7 edge × 1 cells, all of its lowest nodes on the ground.
void BM_CondIteration(benchmark::State& state, const char* id) {
  const long edge = state.range(0);
  const ContactProblem problem = (*require_scene("soft-block"))
                                     ->make({{"nx", edge}, {"ny", edge * 17 / 10}, {"nz", 1L}, {"cell", 0.01}}, 1)
                                     .value();
  const SparseMatrix& mass = problem.primal()->mass;
  const Eigen::Map<const Vector> values(mass.valuePtr(), mass.nonZeros());
  const Eigen::Map<const Eigen::VectorXi> rows(mass.innerIndexPtr(), mass.nonZeros());
  const auto solver = (*require_solver(id))->make({}).value();
  if (!solver->prepare(problem)) return state.SkipWithError("unsupported");
  const Vector guess = Vector::Zero(problem.rows());
  Vector impulse = guess;
  constexpr long count = 200;
  double shortest = std::numeric_limits<double>::infinity(), shortest_stream = shortest;
  for (auto _ : state) {
    double begin = processor_time();
    for (long k = 0; k < count; ++k) {
      benchmark::DoNotOptimize(values.sum());
      benchmark::DoNotOptimize(rows.sum());
    }
    shortest_stream = std::min(shortest_stream, (processor_time() - begin) / count);
    Never monitor;
    begin = processor_time();
    solver->solve(guess, {.tolerance = 0.0, .max_iterations = count, .stop_by = StopBy::solver}, monitor, impulse);
    shortest = std::min(shortest, (processor_time() - begin) / count);
  }
  state.counters["velocities"] = static_cast<double>(mass.rows());
  state.counters["us"] = 1e6 * shortest;
  state.counters["stream_us"] = 1e6 * shortest_stream;
  state.counters["ratio"] = shortest / shortest_stream;
}
BENCHMARK_CAPTURE(BM_CondIteration, strict, "COND-STRICT")->Arg(10)->Arg(20)->Arg(40)->ArgName("edge");
BENCHMARK_CAPTURE(BM_CondIteration, shifted, "COND-STRICT-S")->Arg(10)->Arg(20)->Arg(40)->ArgName("edge");

}  // namespace
}  // namespace conebench
