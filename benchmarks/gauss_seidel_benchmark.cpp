// One Gauss–Seidel sweep and its parts. A sweep reads every block of G once, so what it is measured against is the time
// to stream the same bytes: BM_StreamMatrix, a plain sum over values and columns, in the same run.

#include <benchmark/benchmark.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "problems/scenes/scene_table.hpp"
#include "solvers/gauss_seidel/contact_order.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"
#include "solvers/gauss_seidel/sweep.hpp"

namespace conebench::gauss_seidel {
namespace {

constexpr std::size_t samples = 1024;

struct Contacts {
  std::vector<Eigen::Matrix3d> blocks;
  std::vector<ContactVector<3>> free, old;
  std::vector<CoulombBlock::Prepared<3>> prepared;
  double friction = 0.5;
};

enum Mode { open, stick, slip };

/// Blocks as between two spheres, with some coupling of normal and tangent; free velocities that all end in one mode.
Contacts random_contacts(Mode mode) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Contacts contacts;
  const CoulombBlock local;
  while (contacts.blocks.size() < samples) {
    Eigen::Matrix3d factor;
    for (double& entry : factor.reshaped()) entry = 0.3 * normal(random);
    const Eigen::Matrix3d block =
        factor * factor.transpose() + Eigen::Vector3d(3.5, 3.5, 1.0).asDiagonal().toDenseMatrix();
    ContactVector<3> free(normal(random), normal(random), normal(random));
    ContactVector<3> old(normal(random), normal(random), 1.0);
    const auto prepared = local.prepare<3>(block, contacts.friction);
    const ContactVector<3> answer =
        local.solve<3>(prepared, Eigen::Map<const Eigen::Matrix3d>(block.data()), contacts.friction, free, old);
    const bool sticks = (block * answer + free).norm() < 1e-9;
    const Mode found = answer.isZero(0.0) ? open : sticks ? stick : slip;
    if (found != mode) continue;
    contacts.blocks.push_back(block);
    contacts.free.push_back(free);
    contacts.old.push_back(old);
    contacts.prepared.push_back(prepared);
  }
  return contacts;
}

void per_item(benchmark::State& state, const char* name, double items) {
  state.counters[name] =
      benchmark::Counter(items, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_ProjectFrictionCone(benchmark::State& state) {
  const Contacts contacts = random_contacts(static_cast<Mode>(state.range(0)));
  for (auto _ : state) {
    for (const auto& x : contacts.free) {
      ContactVector<3> projected = project_friction_cone<3>(x, contacts.friction);
      benchmark::DoNotOptimize(projected);
    }
  }
  per_item(state, "s/contact", samples);
}
BENCHMARK(BM_ProjectFrictionCone)->Arg(open)->Arg(stick)->Arg(slip)->ArgName("mode");

/// From a random old impulse: farther from the answer than a sweep ever is after its first.
void BM_CoulombContact(benchmark::State& state) {
  const Contacts contacts = random_contacts(static_cast<Mode>(state.range(0)));
  const CoulombBlock local;
  for (auto _ : state) {
    for (std::size_t i = 0; i < samples; ++i) {
      ContactVector<3> impulse =
          local.solve<3>(contacts.prepared[i], Eigen::Map<const Eigen::Matrix3d>(contacts.blocks[i].data()),
                         contacts.friction, contacts.free[i], contacts.old[i]);
      benchmark::DoNotOptimize(impulse);
    }
  }
  per_item(state, "s/contact", samples);
}
BENCHMARK(BM_CoulombContact)->Arg(open)->Arg(stick)->Arg(slip)->ArgName("mode");

void BM_CoulombContactCarefully(benchmark::State& state) {
  const Contacts contacts = random_contacts(static_cast<Mode>(state.range(0)));
  for (auto _ : state) {
    for (std::size_t i = 0; i < samples; ++i) {
      ContactVector<3> impulse =
          solve_coulomb_carefully<3>(contacts.blocks[i], contacts.friction, contacts.free[i], contacts.old[i]);
      benchmark::DoNotOptimize(impulse);
    }
  }
  per_item(state, "s/contact", samples);
}
BENCHMARK(BM_CoulombContactCarefully)->Arg(stick)->Arg(slip)->ArgName("mode");

/// A cubic lattice of n³ spheres, shaken, so that some contacts open, some stick and some slip. Kept, because the large
/// ones take seconds to make.
const ContactProblem& lattice(long n) {
  static std::map<long, ContactProblem> made;
  auto found = made.find(n);
  if (found == made.end()) {
    const auto scene = require_scene("sphere-lattice");
    auto problem = (*scene)->make({{"nx", n}, {"ny", n}, {"nz", n}, {"perturbation", 0.05}}, 1);
    made.clear();
    found = made.emplace(n, std::move(problem).value()).first;
  }
  return found->second;
}

double bytes(const BlockSparseMatrix& matrix) {
  return static_cast<double>(matrix.stored_values()) * sizeof(double) +
         static_cast<double>(matrix.stored_blocks()) * sizeof(int);
}

void report(benchmark::State& state, const ContactProblem& problem) {
  const BlockSparseMatrix& matrix = problem.blocks();
  per_item(state, "s/contact", static_cast<double>(problem.cones().contacts()));
  per_item(state, "s/nonzero", static_cast<double>(matrix.stored_values()));
  state.counters["MiB"] = bytes(matrix) / (1024.0 * 1024.0);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes(matrix)) * state.iterations());
}

void BM_StreamMatrix(benchmark::State& state) {
  const ContactProblem& problem = lattice(state.range(0));
  const BlockSparseMatrix& matrix = problem.blocks();
  const Eigen::Map<const Vector> values(matrix.values().data(), matrix.stored_values());
  const Eigen::Map<const Eigen::VectorXi> columns(matrix.columns().data(), matrix.stored_blocks());
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.sum());
    benchmark::DoNotOptimize(columns.sum());
  }
  report(state, problem);
}

template <class Local>
void BM_Sweep(benchmark::State& state) {
  const ContactProblem& problem = lattice(state.range(0));
  Sweep<Local, 3> sweep(problem, Local{}, contact_order(problem, "given", 1), velocity_weights(problem));
  Vector impulse = Vector::Zero(problem.rows());
  for (int k = 0; k < 20; ++k) sweep(1.0, impulse.data());
  for (auto _ : state) benchmark::DoNotOptimize(sweep(1.0, impulse.data()));
  report(state, problem);
}

void BM_OperatorProduct(benchmark::State& state) {
  const ContactProblem& problem = lattice(state.range(0));
  const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 1.0);
  Vector velocity(problem.rows());
  for (auto _ : state) {
    problem.blocks().apply(impulse, velocity);
    benchmark::DoNotOptimize(velocity.data());
  }
  report(state, problem);
}

/// Spheres along an edge: matrices in the first, second and third level of cache, and about 160 MB.
constexpr std::array<long, 4> edges{3, 6, 14, 40};

/// Edge by edge, so that each lattice is made once.
const bool registered = [] {
  for (const long edge : edges) {
    const auto add = [edge](const std::string& name, void (*run)(benchmark::State&)) {
      benchmark::RegisterBenchmark(name.c_str(), run)->ArgName("edge")->Arg(edge);
    };
    add("BM_StreamMatrix", BM_StreamMatrix);
    add("BM_OperatorProduct", BM_OperatorProduct);
    add("BM_Sweep<NSGS>", BM_Sweep<CoulombBlock>);
    add("BM_Sweep<PGS-NCP>", BM_Sweep<SplitProjectionBlock>);
    add("BM_Sweep<PGS-CCP>", BM_Sweep<ConeProjectionBlock>);
  }
  return true;
}();

}  // namespace
}  // namespace conebench::gauss_seidel
