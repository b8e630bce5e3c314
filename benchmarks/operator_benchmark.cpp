// Products with G in its three forms, and the factorizations of G + shift I that ADMM needs, against Eigen's dense
// kernels in the same run.

#include <benchmark/benchmark.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <memory>

#include "problems/delassus_operator.hpp"
#include "problems/linear/shifted_factor.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {
namespace {

/// Contacts of a cubic lattice of n³ spheres.
ContactProblem lattice(long n) {
  return (*require_scene("sphere-lattice"))->make({{"nx", n}, {"ny", n}, {"nz", n}}, 1).value();
}

void BM_DelassusProduct(benchmark::State& state, DelassusForm form) {
  const ContactProblem problem = lattice(state.range(0));
  std::shared_ptr<const DelassusOperator> matrix;
  switch (form) {
    case DelassusForm::dense: matrix = make_dense_delassus(problem.blocks().dense()); break;
    case DelassusForm::block_sparse: matrix = make_block_sparse_delassus(problem.blocks()); break;
    case DelassusForm::factored:
      matrix = make_factored_delassus(problem.primal()->mass, problem.primal()->jacobian).value();
      break;
  }
  const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 1.0);
  Vector velocity(problem.rows());
  for (auto _ : state) {
    matrix->apply(impulse, velocity);
    benchmark::DoNotOptimize(velocity.data());
  }
  state.counters["rows"] = static_cast<double>(problem.rows());
}
BENCHMARK_CAPTURE(BM_DelassusProduct, dense, DelassusForm::dense)->Arg(3)->Arg(6)->ArgName("edge");
BENCHMARK_CAPTURE(BM_DelassusProduct, block_sparse, DelassusForm::block_sparse)->Arg(3)->Arg(6)->ArgName("edge");
BENCHMARK_CAPTURE(BM_DelassusProduct, factored, DelassusForm::factored)->Arg(3)->Arg(6)->ArgName("edge");

/// The numeric factorization alone: the pattern is analysed once, as ADMM does.
void BM_Factor(benchmark::State& state, Factorization kind) {
  const ContactProblem problem = lattice(state.range(0));
  ShiftedFactor factor(problem.blocks(), Vector::Ones(problem.rows()), problem.compliance(), kind);
  for (auto _ : state) benchmark::DoNotOptimize(factor.factor(1.0));
  state.counters["rows"] = static_cast<double>(problem.rows());
}
BENCHMARK_CAPTURE(BM_Factor, cholesky, Factorization::cholesky)->Arg(4)->Arg(7)->ArgName("edge");
BENCHMARK_CAPTURE(BM_Factor, lu, Factorization::lu)->Arg(4)->Arg(7)->ArgName("edge");

/// A solution by its factors.
void BM_Solve(benchmark::State& state, Factorization kind) {
  const ContactProblem problem = lattice(state.range(0));
  ShiftedFactor factor(problem.blocks(), Vector::Ones(problem.rows()), problem.compliance(), kind);
  if (!factor.factor(1.0)) return state.SkipWithError("singular");
  Vector x = Vector::Ones(problem.rows());
  for (auto _ : state) factor.solve(x, x);
  state.counters["rows"] = static_cast<double>(problem.rows());
}
BENCHMARK_CAPTURE(BM_Solve, cholesky, Factorization::cholesky)->Arg(4)->Arg(7)->ArgName("edge");
BENCHMARK_CAPTURE(BM_Solve, lu, Factorization::lu)->Arg(4)->Arg(7)->ArgName("edge");

template <class Decomposition>
void BM_EigenDense(benchmark::State& state) {
  const ContactProblem problem = lattice(state.range(0));
  Matrix shifted = problem.blocks().dense();
  shifted.diagonal().array() += 1.0;
  Decomposition decomposition(shifted.rows());
  for (auto _ : state) {
    decomposition.compute(shifted);
    benchmark::DoNotOptimize(&decomposition);
  }
  state.counters["rows"] = static_cast<double>(problem.rows());
}
BENCHMARK(BM_EigenDense<Eigen::LLT<Matrix>>)->Arg(4)->Arg(7)->ArgName("edge");
BENCHMARK(BM_EigenDense<Eigen::PartialPivLU<Matrix>>)->Arg(4)->Arg(7)->ArgName("edge");

}  // namespace
}  // namespace conebench
