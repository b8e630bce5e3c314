// The simulator: what a step of each scene is made of, the assembly of a step against MuJoCo's own mj_step1, and G of a
// heap.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenes/scene_support.hpp"
#include "simulation/mujoco_handle.hpp"
#include "simulation/peer_loop.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/simulation.hpp"
#include "simulation/stage_clock.hpp"
#include "simulation/trajectory.hpp"

namespace conebench {
namespace {

using namespace simulation;

ScenePlan plan_of(const std::string& id, const OptionValues& values) {
  return plan_scene(**require_simulated_scene(id), values, 1).value();
}

StepRecord step(Simulation& simulation) {
  auto record = simulation.step();
  if (!record) throw std::runtime_error(record.error().message);
  return std::move(*record);
}

/// The first 200 steps of a scene, anew in each iteration. Of each stage of each step the shortest time counts, so that
/// other work does not show.
void BM_Loop(benchmark::State& state, const std::string& scene, const std::string& coordinates,
             const std::string& solver) {
  constexpr std::size_t steps = 200;
  const OptionValues values = {
      {"coordinates", coordinates}, {"solver", solver}, {"tolerance", 1e-6}, {"max_iterations", 1000L}};
  StageClock::Seconds longest;
  longest.fill(1e9);
  std::vector<StageClock::Seconds> shortest(steps, longest);
  double contacts = 0.0;
  for (auto _ : state) {
    Simulation loop = simulate(plan_of(scene, values)).value();
    StageClock clock;
    loop.watch([&](Stage stage) { clock.begin(stage); });
    contacts = 0.0;
    for (StageClock::Seconds& times : shortest) {
      clock.start(Stage::rest);
      const StepRecord record = step(loop);
      clock.begin(Stage::rest);
      for (std::size_t s = 0; s < times.size(); ++s) times[s] = std::min(times[s], clock.seconds()[s]);
      contacts += static_cast<double>(record.problem.cones().contacts());
    }
  }
  StageClock::Seconds sums{};
  double total = 0.0;
  for (const StageClock::Seconds& times : shortest) {
    for (std::size_t s = 0; s < times.size(); ++s) sums[s] += times[s];
    total += std::accumulate(times.begin(), times.end(), 0.0);
  }
  const auto share = [&](Stage stage) { return sums[static_cast<std::size_t>(stage)] / total; };
  state.counters["steps/s"] = static_cast<double>(steps) / total;
  state.counters["contacts"] = contacts / static_cast<double>(steps);
  state.counters["assembly"] = share(Stage::assembly);
  state.counters["collision"] = share(Stage::collision);
  state.counters["setup"] = share(Stage::setup);
  state.counters["solve"] = share(Stage::solve);
  state.counters["rest"] = share(Stage::rest);
}

/// Every tenth of 400 steps of a trotting quadruped: all that a step's problem is made of but the solve, and mj_step1
/// on the same states, in turn. Of each state the shortest time counts, on both sides, so that other work does not
/// show.
void BM_AssemblyAgainstMujoco(benchmark::State& state, const std::string& coordinates) {
  Simulation loop = simulate(plan_of("quadruped", {{"coordinates", coordinates}})).value();
  Simulation tree = simulate(plan_of("quadruped", {})).value();
  std::vector<State> states, tree_states;
  for (int k = 0; k < 400; ++k) {
    if (k % 10 == 0) {
      states.push_back(loop.state());
      tree_states.push_back(tree.state());
    }
    step(loop);
    step(tree);
  }
  std::vector<std::string> notes;
  auto loaded = load_model(plan_of("quadruped", {}).model, "quadruped", notes);
  const ModelHandle model = std::move(*loaded);
  const DataHandle data(mj_makeData(model.get()));

  Engine& engine = loop.engine();
  const Reach reach{.time_step = loop.time_step()};
  const StepOptions options;
  Mechanics mechanics;
  StageClock clock;
  engine.watch([&](Stage stage) { clock.begin(stage); });
  enum Part { mechanics_part, collision_part, problem_part, mj_step1_part, mj_collision_part, parts };
  std::vector<std::array<double, parts>> shortest(states.size());
  for (auto& times : shortest) times.fill(1.0);
  for (auto _ : state) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto keep = [&](Part part, double seconds) { shortest[k][part] = std::min(shortest[k][part], seconds); };
      std::copy_n(tree_states[k].position.data(), model->nq, data->qpos);
      std::copy_n(tree_states[k].velocity.data(), model->nv, data->qvel);
      std::copy_n(tree_states[k].control.data(), model->nu, data->ctrl);
      clock.start(Stage::assembly);
      mj_step1(model.get(), data.get());
      clock.begin(Stage::collision);
      mj_collision(model.get(), data.get());
      clock.begin(Stage::rest);
      keep(mj_step1_part, clock.seconds(Stage::assembly));
      keep(mj_collision_part, clock.seconds(Stage::collision));

      clock.start(Stage::assembly);
      if (!engine.evaluate(states[k], reach, mechanics)) std::abort();
      clock.begin(Stage::rest);
      keep(mechanics_part, clock.seconds(Stage::assembly));
      keep(collision_part, clock.seconds(Stage::collision));

      SampleFacts facts;
      clock.start(Stage::assembly);
      const auto made = discretise(mechanics, states[k].velocity, reach.time_step, options, "quadruped");
      const auto problem = step_problem(mechanics, *made, reach.time_step, options, std::move(facts));
      clock.begin(Stage::rest);
      keep(problem_part, clock.seconds(Stage::assembly));
      benchmark::DoNotOptimize(problem->rows());
    }
  }
  engine.watch({});
  const auto mean_us = [&](Part part) {
    double sum = 0.0;
    for (const auto& times : shortest) sum += times[part];
    return 1e6 * sum / static_cast<double>(states.size());
  };
  const double assembly = mean_us(mechanics_part) + mean_us(problem_part);
  state.counters["M,f,J_us"] = mean_us(mechanics_part);
  state.counters["v,g,G_us"] = mean_us(problem_part);
  state.counters["collision_us"] = mean_us(collision_part);
  state.counters["mj_step1_us"] = mean_us(mj_step1_part);
  state.counters["mj_collision_us"] = mean_us(mj_collision_part);
  state.counters["ratio"] = assembly / mean_us(mj_step1_part);
  state.counters["ratio_with_collision"] = (assembly + mean_us(collision_part)) / mean_us(mj_step1_part);
  state.counters["ratio_without_collision"] = assembly / (mean_us(mj_step1_part) - mean_us(mj_collision_part));
}
BENCHMARK_CAPTURE(BM_AssemblyAgainstMujoco, reduced, "reduced")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_AssemblyAgainstMujoco, maximal, "maximal")->Unit(benchmark::kMicrosecond);

/// 200 steps of `generate` without samples, its trajectory included, and MuJoCo's own mj_step of the same model, in
/// turn. Of both the shortest run counts. `beyond` is what a step costs besides the solver and MuJoCo's step, in units
/// of the latter.
void BM_GenerateBesideMujoco(benchmark::State& state, const std::string& model) {
  constexpr long steps = 200;
  const ScenePlan plan = plan_of("file", {{"path", CONEBENCH_MODELS_DIR "/" + model + ".xml"}});
  const auto folder = std::filesystem::temp_directory_path() / ("conebench-benchmark-" + model);
  std::filesystem::create_directories(folder);
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double ours = 1e9, mujocos = 1e9;
  for (auto _ : state) {
    Simulation loop = simulate(plan).value();
    auto trajectory = TrajectoryFiles::create(folder, {}, loop).value();
    double solver = 0.0, entered = 0.0;
    Stage stage = Stage::rest;
    loop.watch([&](Stage next) {
      if (stage == Stage::setup || stage == Stage::solve) solver += now() - entered;
      stage = next;
      entered = now();
    });
    const double begin = now();
    for (long k = 0; k < steps; ++k) trajectory.add(step(loop));
    ours = std::min(ours, now() - begin - solver);

    auto peer = load_peer_loop(plan.model, model, {}, loop.time_step()).value();
    const Vector control = loop.state().control;
    const double peer_begin = now();
    for (long k = 0; k < steps; ++k) {
      if (!peer->step(control, nullptr)) std::abort();
    }
    mujocos = std::min(mujocos, now() - peer_begin);
  }
  state.counters["ours_us"] = 1e6 * ours / steps;
  state.counters["mj_step_us"] = 1e6 * mujocos / steps;
  state.counters["beyond"] = (ours - mujocos) / mujocos;
}
BENCHMARK_CAPTURE(BM_GenerateBesideMujoco, quadruped, "quadruped")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_GenerateBesideMujoco, humanoid, "humanoid")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_GenerateBesideMujoco, bin_of_boxes, "bin_of_boxes")->Unit(benchmark::kMillisecond);

/// The heap of capsules once it holds 300 contacts; a loose solve in the loop gets there soon.
const ContactProblem& heap_of_capsules() {
  static const ContactProblem heap = [] {
    Simulation loop = simulate(plan_of("fclib-capsules", {{"tolerance", 1e-3}, {"max_iterations", 50L}})).value();
    for (int k = 0; k < 3000; ++k) {
      StepRecord record = step(loop);
      if (record.problem.cones().contacts() >= 300) return record.problem;
    }
    throw std::runtime_error("the heap never has 300 contacts");
  }();
  return heap;
}

/// G = J M⁻¹ Jᵀ in blocks, from M and J.
void BM_HeapDelassus(benchmark::State& state) {
  const ContactProblem& heap = heap_of_capsules();
  for (auto _ : state) {
    const auto matrix = make_delassus(*heap.primal(), heap.cones(), "block_sparse").value();
    benchmark::DoNotOptimize(matrix.get());
  }
  state.counters["contacts"] = static_cast<double>(heap.cones().contacts());
  state.counters["velocities"] = static_cast<double>(heap.primal()->mass.rows());
  state.counters["blocks"] = static_cast<double>(heap.blocks().stored_blocks());
}

BENCHMARK(BM_HeapDelassus)->Unit(benchmark::kMillisecond);

/// Forces and stiffness of an elastic scene's third step by so many threads; the shortest of all, so that other work
/// does not show.
void BM_ElasticAssembly(benchmark::State& state, const std::string& scene, const OptionValues& options) {
  OptionValues values = options;
  values["threads"] = static_cast<long>(state.range(0));
  values["solver"] = std::string("CASCADE");
  Simulation loop = simulate(plan_of(scene, values)).value();
  for (int k = 0; k < 2; ++k) step(loop);
  const State at = loop.state();
  const Reach reach{.time_step = loop.time_step()};
  Mechanics mechanics;
  double shortest = 1e9;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    if (!loop.engine().evaluate(at, reach, mechanics)) state.SkipWithError("no mechanics");
    shortest = std::min(shortest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  state.counters["shortest_ms"] = 1e3 * shortest;
}
BENCHMARK_CAPTURE(BM_ElasticAssembly, mat, "soft-mat", OptionValues{})->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ElasticAssembly, ball, "soft-ball-grip", OptionValues{})
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

/// Every scene in each of its coordinates.
[[maybe_unused]] const int loops = [] {
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (scene.id == "file") continue;
    for (const char* solver : {"NSGS", "CASCADE"}) {
      for (const char* coordinates : {"reduced", "maximal"}) {
        const std::string name = "BM_Loop/" + scene.id + "/" + coordinates + "/" + solver;
        const auto run = [id = scene.id, coordinates, solver](benchmark::State& state) {
          BM_Loop(state, id, coordinates, solver);
        };
        benchmark::RegisterBenchmark(name.c_str(), run)->Iterations(5)->Unit(benchmark::kMillisecond);
      }
    }
  }
  return 0;
}();

}  // namespace
}  // namespace conebench
