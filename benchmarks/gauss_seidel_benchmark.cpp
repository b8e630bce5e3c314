// One Gauss–Seidel sweep and its parts. A sweep reads every block of G once, so what it is measured against is the time
// to stream the same bytes, a plain sum over values and columns; batches of both take turns, and the shortest of each
// make the counter `ratio`.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scenes/scene_table.hpp"
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
  std::vector<CoulombBlock::Prepared<CoulombSpace>> prepared;
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
    const auto prepared = local.prepare<CoulombSpace>(block, CoulombSpace{{contacts.friction}});
    const ContactVector<3> answer = local.solve<CoulombSpace>(prepared, Eigen::Map<const Eigen::Matrix3d>(block.data()),
                                                              CoulombSpace{{contacts.friction}}, free, old);
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
          local.solve<CoulombSpace>(contacts.prepared[i], Eigen::Map<const Eigen::Matrix3d>(contacts.blocks[i].data()),
                                    CoulombSpace{{contacts.friction}}, contacts.free[i], contacts.old[i]);
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
      ContactVector<3> impulse = solve_coulomb_carefully(contacts.blocks[i], CoulombSpace{{contacts.friction}},
                                                         contacts.free[i], contacts.old[i]);
      benchmark::DoNotOptimize(impulse);
    }
  }
  per_item(state, "s/contact", samples);
}
BENCHMARK(BM_CoulombContactCarefully)->Arg(stick)->Arg(slip)->ArgName("mode");

/// A cubic lattice of n³ spheres: at rest (every contact carries or touches, none slips), or shaken, so that some
/// contacts open, some stick and some slip. Kept, because the large ones take seconds to make.
const ContactProblem& lattice(long n, bool shaken) {
  static std::map<std::pair<long, bool>, ContactProblem> made;
  const auto key = std::make_pair(n, shaken);
  auto found = made.find(key);
  if (found == made.end()) {
    const auto scene = require_scene("sphere-lattice");
    auto problem = (*scene)->make({{"nx", n}, {"ny", n}, {"nz", n}, {"perturbation", shaken ? 0.05 : 0.0}}, 1);
    made.clear();
    found = made.emplace(key, std::move(problem).value()).first;
  }
  return found->second;
}

double bytes(const BlockSparseMatrix& matrix) {
  return static_cast<double>(matrix.stored_values()) * sizeof(double) +
         static_cast<double>(matrix.stored_blocks()) * sizeof(int);
}

constexpr double min_batch_seconds = 1e-4;

/// Processor time of this thread [s]: what others do on the machine counts only through caches and memory.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that `work` takes once, over a batch of `count`.
template <class Work>
double time_of(long count, Work work) {
  const double begin = processor_time();
  for (long k = 0; k < count; ++k) work();
  return (processor_time() - begin) / static_cast<double>(count);
}

void stream(const BlockSparseMatrix& matrix) {
  const Eigen::Map<const Vector> values(matrix.values().data(), matrix.stored_values());
  const Eigen::Map<const Eigen::VectorXi> columns(matrix.columns().data(), matrix.stored_blocks());
  benchmark::DoNotOptimize(values.sum());
  benchmark::DoNotOptimize(columns.sum());
}

/// Batches of `work` and of streaming the matrix in turn, the shortest of each: so both meet the same machine.
template <class Work>
void against_stream(benchmark::State& state, const ContactProblem& problem, Work work) {
  const BlockSparseMatrix& matrix = problem.blocks();
  const auto count = static_cast<long>(std::max(1.0, min_batch_seconds / time_of(3, work)));
  double shortest = std::numeric_limits<double>::infinity();
  double shortest_stream = shortest;
  for (auto _ : state) {
    shortest_stream = std::min(shortest_stream, time_of(count, [&] { stream(matrix); }));
    const double time = time_of(count, work);
    shortest = std::min(shortest, time);
    state.SetIterationTime(time);
  }
  const auto contacts = static_cast<double>(problem.cones().contacts());
  state.counters["contacts"] = contacts;
  state.counters["KiB"] = bytes(matrix) / 1024.0;
  state.counters["ns/contact"] = 1e9 * shortest / contacts;
  state.counters["ns/nonzero"] = 1e9 * shortest / static_cast<double>(matrix.stored_values());
  state.counters["stream"] = 1e9 * shortest_stream / contacts;
  state.counters["ratio"] = shortest / shortest_stream;
}

/// Sweeps that go on from the 20th: warm, the modes settled. `cold` starts anew from zero every ten sweeps.
template <class Local>
void sweeps(benchmark::State& state, const ContactProblem& problem, Local local, bool cold) {
  Sweep<Local, CoulombSpace> sweep(problem, std::move(local), contact_order(problem, "given", 1).contacts,
                                   velocity_weights(problem));
  const Vector zero = Vector::Zero(problem.rows());
  Vector impulse = zero;
  sweep.start(zero.data());
  for (int k = 0; k < 20; ++k) sweep(1.0);
  long since_start = 0;
  against_stream(state, problem, [&] {
    if (cold && since_start++ % 10 == 0) sweep.start(zero.data());
    benchmark::DoNotOptimize(sweep(1.0));
  });
  sweep.write(impulse.data());
  double open_contacts = 0.0;
  double slipping = 0.0;
  Vector velocity(problem.rows());
  problem.velocity(impulse, velocity);
  for (Index i = 0; i < problem.rows(); i += 3) {
    const bool opens = impulse[i + 2] <= 0.0;
    open_contacts += opens;
    slipping += !opens && velocity.segment<2>(i).norm() > 1e-3 * 0.05;
  }
  state.counters["open"] = open_contacts / static_cast<double>(problem.cones().contacts());
  state.counters["slip"] = slipping / static_cast<double>(problem.cones().contacts());
}

void operator_product(benchmark::State& state, const ContactProblem& problem) {
  const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 1.0);
  Vector velocity(problem.rows());
  against_stream(state, problem, [&] {
    problem.blocks().apply(impulse, velocity);
    benchmark::DoNotOptimize(velocity.data());
  });
}

/// A one-contact solver that costs next to nothing: what is left is the sum over a row.
struct KeepImpulse {
  template <class Cone>
  struct Prepared {};
  template <class Cone>
  Prepared<Cone> prepare(const typename Cone::Square&, const Cone&) const {
    return {};
  }
  template <class Cone>
  typename Cone::Block solve(const Prepared<Cone>&, const SquareMap<Cone>&, const Cone&,
                             const typename Cone::Block& free, const typename Cone::Block&) const {
    return -1e-3 * free;
  }
};

/// Spheres along an edge: matrices in the first, second and third level of cache, and of four times the last (160 MB).
constexpr std::array<long, 4> edges{3, 6, 14, 40};

/// Edge by edge, so that each lattice is made once.
const bool registered = [] {
  using Problem = const ContactProblem&;
  for (const long edge : edges) {
    for (const bool shaken : {false, true}) {
      const auto add = [edge, shaken](const std::string& name, auto run) {
        benchmark::RegisterBenchmark((name + (shaken ? "/shaken" : "/at_rest")).c_str(),
                                     [=](benchmark::State& state) { run(state, lattice(edge, shaken)); })
            ->ArgName("edge")
            ->Arg(edge)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(edge > 20 ? 20 : 500);
      };
      if (!shaken) {
        add("product", operator_product);
        add("sweep<rows only>", [](benchmark::State& s, Problem p) { sweeps(s, p, KeepImpulse{}, false); });
      }
      add("sweep<NSGS>", [](benchmark::State& s, Problem p) { sweeps(s, p, CoulombBlock{}, false); });
      if (!shaken) continue;
      add("sweep<NSGS>/cold", [](benchmark::State& s, Problem p) { sweeps(s, p, CoulombBlock{}, true); });
      add("sweep<PGS-NCP>", [](benchmark::State& s, Problem p) { sweeps(s, p, SplitProjectionBlock{}, false); });
      add("sweep<PGS-CCP>", [](benchmark::State& s, Problem p) { sweeps(s, p, ConeProjectionBlock{}, false); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace conebench::gauss_seidel
