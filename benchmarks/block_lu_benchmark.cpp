// CASCADE's block LU on the patterns of real problems, and Eigen's dense kernels in the same run: GFLOP/s of each, and
// for the sparse ones the operations that their order of elimination takes. CONEBENCH_BENCHMARK_MATRICES names more
// problems, FCLIB files separated by colons.

#include <benchmark/benchmark.h>

#include <Eigen/LU>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fclib_loader/fclib_file.hpp"
#include "scenes/scene_table.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/sparse_lu.hpp"

namespace conebench {
namespace {

using cascade::ScaledProblem;
using cascade::SparseLu;

/// The matrix G̃ + 0.01 I: every contact sticks.
void factor_repeatedly(benchmark::State& state, const ContactProblem& source) {
  const ScaledProblem problem(source);
  const cascade::BlockSystem system(problem.contacts(), 0.01);
  SparseLu lu;
  lu.analyse(problem.matrix());
  lu.factor(problem.matrix(), system);
  for (auto _ : state) benchmark::DoNotOptimize(lu.factor(problem.matrix(), system));
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

/// Time for an order of elimination with its count, and what it counts.
void BM_Order(benchmark::State& state, bool dissected) {
  const long n = state.range(0);
  const OptionValues size{{"nx", n}, {"ny", n}, {"nz", n > 12 ? n - 1 : n}};
  const ScaledProblem problem((*require_scene("sphere-lattice"))->make(size, 1).value());
  Elimination elimination;
  for (auto _ : state) {
    std::optional<std::vector<int>> order =
        dissected ? nested_dissection_order(problem.graph()) : std::optional(minimum_degree_order(problem.graph()));
    if (!order) return state.SkipWithError("built without METIS");
    elimination = eliminate(problem.graph(), std::move(*order));
  }
  state.counters["contacts"] = problem.contacts();
  state.counters["Mflop"] = 1e-6 * elimination.flops;
}
BENCHMARK_CAPTURE(BM_Order, minimum_degree, false)->Apply(lattice_sizes);
BENCHMARK_CAPTURE(BM_Order, nested_dissection, true)->Apply(lattice_sizes);

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
