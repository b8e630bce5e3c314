// The simulator: what a step of each scene is made of, the assembly of a step beside MuJoCo's own mj_step1, and G of a heap.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "problems/scenes/scene_support.hpp"
#include "problems/scenes/simulated/simulated_scene.hpp"
#include "runners/simulation/mujoco_handle.hpp"
#include "runners/simulation/scene_plan.hpp"
#include "runners/simulation/simulation.hpp"

namespace conebench {
namespace {

using namespace simulation;
using Clock = std::chrono::steady_clock;

/// Seconds in each stage.
class StageClock {
 public:
  void begin(Stage stage) {
    const auto now = Clock::now();
    seconds_[static_cast<std::size_t>(stage_)] += std::chrono::duration<double>(now - since_).count();
    stage_ = stage;
    since_ = now;
  }
  void start(Stage stage) {
    seconds_ = {};
    stage_ = stage;
    since_ = Clock::now();
  }
  double seconds(Stage stage) const { return seconds_[static_cast<std::size_t>(stage)]; }
  double total() const { return seconds_[0] + seconds_[1] + seconds_[2] + seconds_[3]; }

 private:
  std::array<double, 4> seconds_{};
  Stage stage_ = Stage::rest;
  Clock::time_point since_ = Clock::now();
};

ScenePlan plan_of(const std::string& id, const OptionValues& values) {
  return plan_scene(**require_simulated_scene(id), values, 1).value();
}

StepRecord step(Simulation& simulation) {
  auto record = simulation.step();
  if (!record) throw std::runtime_error(record.error().message);
  return std::move(*record);
}

/// A step of the loop, from the start of the scene on.
void BM_Loop(benchmark::State& state, const std::string& scene, const std::string& solver) {
  Simulation loop = simulate(plan_of(scene, {{"solver", solver}, {"tolerance", 1e-6}, {"max_iterations", 1000L}})).value();
  StageClock clock;
  loop.watch([&](Stage stage) { clock.begin(stage); });
  double contacts = 0.0;
  clock.start(Stage::rest);
  for (auto _ : state) contacts += static_cast<double>(step(loop).problem.cones().contacts());
  clock.begin(Stage::rest);
  state.counters["steps/s"] = benchmark::Counter(1.0, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["contacts"] = contacts / static_cast<double>(state.iterations());
  state.counters["assembly"] = clock.seconds(Stage::assembly) / clock.total();
  state.counters["collision"] = clock.seconds(Stage::collision) / clock.total();
  state.counters["solve"] = clock.seconds(Stage::solve) / clock.total();
  state.counters["rest"] = clock.seconds(Stage::rest) / clock.total();
}

/// Every tenth of 400 steps of a trotting quadruped: all that a step's problem is made of but the solve, and mj_step1 on the
/// same states, in turn. Of each state the shortest time counts, on both sides, so that other work does not show.
void BM_AssemblyBesideMujoco(benchmark::State& state, const std::string& coordinates) {
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
      engine.evaluate(states[k], reach, mechanics).value();
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
  state.counters["ratio_without"] = assembly / (mean_us(mj_step1_part) - mean_us(mj_collision_part));
}
BENCHMARK_CAPTURE(BM_AssemblyBesideMujoco, reduced, "reduced")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_AssemblyBesideMujoco, maximal, "maximal")->Unit(benchmark::kMicrosecond);

/// The heap of capsules once it holds 280 contacts; a loose solve in the loop gets there soon.
const ContactProblem& heap_of_capsules() {
  static const ContactProblem heap = [] {
    Simulation loop = simulate(plan_of("fclib-capsules", {{"tolerance", 1e-3}, {"max_iterations", 50L}})).value();
    for (int k = 0; k < 3000; ++k) {
      StepRecord record = step(loop);
      if (record.problem.cones().contacts() >= 280) return record.problem;
    }
    throw std::runtime_error("the heap never has 280 contacts");
  }();
  return heap;
}

/// G = J M⁻¹ Jᵀ in blocks, from M and J.
void BM_HeapDelassus(benchmark::State& state) {
  const ContactProblem& heap = heap_of_capsules();
  Index blocks = 0;
  for (auto _ : state) {
    const auto matrix = make_delassus(*heap.primal(), heap.cones(), "block_sparse").value();
    benchmark::DoNotOptimize(matrix.get());
  }
  blocks = heap.blocks().stored_blocks();
  state.counters["contacts"] = static_cast<double>(heap.cones().contacts());
  state.counters["velocities"] = static_cast<double>(heap.primal()->mass.rows());
  state.counters["blocks"] = static_cast<double>(blocks);
}

void BM_Parts(benchmark::State& state) {
  Simulation loop = simulate(plan_of("quadruped", {})).value();
  for (int k = 0; k < 100; ++k) step(loop);
  const StepRecord r = step(loop);
  Engine& engine = loop.engine();
  const Reach reach{.time_step = loop.time_step()};
  const StepOptions options;
  Mechanics mechanics;
  engine.evaluate(loop.state(), reach, mechanics).value();
  const auto made = discretise(mechanics, loop.state().velocity, reach.time_step, options, "quadruped");
  const auto problem = step_problem(mechanics, *made, reach.time_step, options, SampleFacts{});
  const int part = int(state.range(0));
  for (auto _ : state) {
    if (part == 0) engine.evaluate(loop.state(), reach, mechanics).value();
    if (part == 1) benchmark::DoNotOptimize(discretise(mechanics, loop.state().velocity, reach.time_step, options, "quadruped").value().bias.data());
    if (part == 2) benchmark::DoNotOptimize(make_delassus(*problem->primal(), problem->cones(), "block_sparse").value().get());
    if (part == 3) benchmark::DoNotOptimize(make_delassus(*problem->primal(), problem->cones(), "factored").value().get());
    if (part == 4) benchmark::DoNotOptimize(step_problem(mechanics, *made, reach.time_step, options, SampleFacts{})->rows());
    if (part == 5) {ContactProblemData d; d.cones = problem->cones(); d.delassus=make_block_sparse_delassus(problem->blocks()); d.primal=problem->primal(); d.bias=problem->bias(); d.free_term=problem->free_term(); benchmark::DoNotOptimize(ContactProblem::create(std::move(d))->rows());}
  }
  state.counters["contacts"]=double(problem->cones().contacts());
}
BENCHMARK(BM_Parts)->DenseRange(0,5);
BENCHMARK(BM_HeapDelassus)->Unit(benchmark::kMillisecond);

[[maybe_unused]] const int loops = [] {
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (scene.id == "file") continue;
    for (const char* solver : {"NSGS", "CASCADE"}) {
      const std::string name = "BM_Loop/" + scene.id + "/" + solver;
      benchmark::RegisterBenchmark(name.c_str(), [id = scene.id, solver](benchmark::State& state) {
        BM_Loop(state, id, solver);
      })->Iterations(200)->Unit(benchmark::kMicrosecond);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace conebench
