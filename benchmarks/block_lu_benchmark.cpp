// CASCADE's block LU on the patterns of real problems, and Eigen's dense kernels in the same run: GFLOP/s of each, and
// for the sparse ones the operations that their order of elimination takes. CONEBENCH_BENCHMARK_MATRICES names more
// problems, FCLIB files separated by colons.

#include <benchmark/benchmark.h>

#include <Eigen/LU>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "fclib_loader/fclib_file.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench {
namespace {

using cascade::BlockLu;
using cascade::ScaledProblem;

/// The matrix G̃ + 0.01 I: every contact sticks.
void factor_repeatedly(benchmark::State& state, const ContactProblem& source) {
  const ScaledProblem problem(source);
  const cascade::BlockSystem system(problem.contacts(), 0.01);
  BlockLu lu(problem);
  lu.factor(problem, system);
  for (auto _ : state) benchmark::DoNotOptimize(lu.factor(problem, system));
  state.counters["contacts"] = static_cast<double>(problem.contacts());
  state.counters["Mflop"] = 1e-6 * lu.flops();
  state.counters["MB"] = 1e-6 * lu.bytes();
  state.counters["GFLOP/s"] =
      benchmark::Counter(1e-9 * lu.flops() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void BM_BlockLuLattice(benchmark::State& state) {
  const long n = state.range(0);
  const OptionValues size{{"nx", n}, {"ny", n}, {"nz", n > 12 ? n - 1 : n}};
  factor_repeatedly(state, (*require_scene("sphere-lattice"))->make(size, 1).value());
}
void lattice_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(3)->Arg(5)->Arg(7)->Arg(10)->Arg(15)->ArgName("edge")->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_BlockLuLattice)->Apply(lattice_sizes);

void BM_BlockLuStack(benchmark::State& state) {
  factor_repeatedly(state, (*require_scene("box-stack"))->make({{"boxes", state.range(0)}}, 1).value());
}
BENCHMARK(BM_BlockLuStack)->Arg(50)->ArgName("boxes");

/// Every contact couples with every other: one dense matrix.
void BM_BlockLuDense(benchmark::State& state) {
  const OptionValues options{{"contacts", state.range(0)}};
  factor_repeatedly(state, (*require_scene("random"))->make(options, 1).value());
}
BENCHMARK(BM_BlockLuDense)->Arg(25)->Arg(50)->Arg(100)->Arg(200)->ArgName("contacts");

/// Time for the order of elimination with its count, and what it counts.
void BM_Order(benchmark::State& state) {
  const long n = state.range(0);
  const OptionValues size{{"nx", n}, {"ny", n}, {"nz", n > 12 ? n - 1 : n}};
  const ScaledProblem problem((*require_scene("sphere-lattice"))->make(size, 1).value());
  Elimination elimination;
  for (auto _ : state) elimination = eliminate(problem.graph(), minimum_degree_order(problem.graph()));
  state.counters["contacts"] = problem.contacts();
  state.counters["Mflop"] = 1e-6 * elimination.flops;
}
BENCHMARK(BM_Order)->Apply(lattice_sizes);

void factor_file(benchmark::State& state, const std::string& path) {
  auto problem = load_fclib(path);
  if (!problem.ok()) return state.SkipWithError("cannot be read");
  factor_repeatedly(state, *problem);
}

[[maybe_unused]] const bool files_registered = [] {
  const char* given = std::getenv("CONEBENCH_BENCHMARK_MATRICES");
  std::istringstream paths(given == nullptr ? "" : given);
  for (std::string path; std::getline(paths, path, ':');) {
    const std::string name = "BM_BlockLu/" + std::filesystem::path(path).stem().string();
    benchmark::RegisterBenchmark(name.c_str(), factor_file, path)->Unit(benchmark::kMillisecond);
  }
  return true;
}();

Matrix dominant(Index rows) {
  return Matrix::Random(rows, rows) + static_cast<double>(rows) * Matrix::Identity(rows, rows);
}

void rate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(1e-9 * flops * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void BM_EigenDenseLu(benchmark::State& state) {
  const Index n = state.range(0);
  const Matrix matrix = dominant(n);
  Eigen::PartialPivLU<Matrix> lu(n);
  for (auto _ : state) {
    lu.compute(matrix);
    benchmark::DoNotOptimize(&lu);
  }
  const auto rows = static_cast<double>(n);
  rate(state, 2.0 / 3.0 * rows * rows * rows);
}
BENCHMARK(BM_EigenDenseLu)
    ->Arg(54)
    ->Arg(84)
    ->Arg(108)
    ->Arg(270)
    ->Arg(384)
    ->Arg(866)
    ->Arg(1805)
    ->ArgName("rows")
    ->Unit(benchmark::kMillisecond);

void BM_EigenProduct(benchmark::State& state) {
  const Index n = state.range(0);
  const Matrix left = dominant(n);
  const Matrix right = dominant(n);
  Matrix product(n, n);
  for (auto _ : state) {
    product.noalias() = left * right;
    benchmark::DoNotOptimize(product.data());
  }
  const auto rows = static_cast<double>(n);
  rate(state, 2.0 * rows * rows * rows);
}
BENCHMARK(BM_EigenProduct)->Arg(24)->Arg(96)->Arg(384)->Arg(1536)->ArgName("rows")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace conebench
