#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "scenes/scene_support.hpp"
#include "simulation/peer_loop.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/stage_clock.hpp"

namespace conebench::cli {

namespace {

using simulation::Stage;

constexpr const char* loop_footer =
    R"(Times the whole loop, one thread, with the scene's solver (--set solver=ID), and MuJoCo's own
mj_step of the same model and controls in turn with it: Newton, soft contacts, elliptic cones. The
two motions differ. For each step the shortest time of the rounds counts.

Kinematics, inertia and collision detection are MuJoCo's in both. Ours alone: assembly of the
problem, the solver's set-up and solve, and the rest (advance of the state, contacts' identities, the record).

Examples:
  conebench loop humanoid --set pose=falling
  conebench loop arm-on-wall --set passive=true --set self_contact=true --set solver=ADMM-NCP-SA --json)";

struct LoopArguments {
  std::string scene;
  std::vector<std::string> set_values;
  long steps = 1000;
  long rounds = 3;
  long seed = 1;
  bool json = false;
};

constexpr std::array<const char*, simulation::stage_count> loop_parts = {"assembly", "collision", "setup", "solve",
                                                                         "rest"};
constexpr std::array<const char*, 4> peer_parts = {"collision", "rows", "solve", "other"};

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Steps of one engine with the shortest time of each.
template <std::size_t Parts>
struct Timing {
  std::vector<std::array<double, Parts>> parts;  ///< [s], of each step
  std::vector<double> all;                       ///< [s], of each step
  double contacts = 0.0, iterations = 0.0;       ///< sums over the steps of one round
  long unsolved = 0;                             ///< steps above the tolerance, of one round
  std::string failure;                           ///< why it ended early; empty where it did not

  void add(std::size_t step, double seconds) {
    if (step == all.size()) all.push_back(seconds);
    all[step] = std::min(all[step], seconds);
  }
  void add(std::size_t step, const std::array<double, Parts>& seconds) {
    if (step == parts.size()) parts.push_back(seconds);
    for (std::size_t p = 0; p < Parts; ++p) parts[step][p] = std::min(parts[step][p], seconds[p]);
  }
  double total() const { return std::accumulate(all.begin(), all.end(), 0.0); }
  double steps() const { return std::max(1.0, static_cast<double>(all.size())); }
  double per_second() const { return all.empty() ? 0.0 : static_cast<double>(all.size()) / total(); }
  double part_ms(std::size_t p) const {
    double sum = 0.0;
    for (const auto& step : parts) sum += step[p];
    return 1e3 * sum / steps();
  }
};
using LoopTiming = Timing<simulation::stage_count>;
using PeerTiming = Timing<peer_parts.size()>;

/// One round of ours; keeps the controls that it had.
Result<void> run_loop(const simulation::ScenePlan& plan, long steps, LoopTiming& timing,
                      std::vector<Vector>& controls) {
  CONEBENCH_TRY(auto loop, simulation::simulate(plan));
  simulation::StageClock clock;
  loop.watch([&](Stage stage) { clock.begin(stage); });
  timing.contacts = timing.iterations = 0.0;
  timing.unsolved = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(steps); ++k) {
    clock.start(Stage::rest);
    const auto record = loop.step();
    clock.begin(Stage::rest);
    if (!record) {
      if (record.error().code != ErrorCode::bad_input) return record.error();
      timing.failure = record.error().message;
      break;
    }
    timing.add(k, clock.seconds());
    timing.add(k, std::accumulate(clock.seconds().begin(), clock.seconds().end(), 0.0));
    timing.contacts += static_cast<double>(record->problem.cones().contacts());
    timing.iterations += static_cast<double>(record->summary.iterations);
    timing.unsolved += record->summary.status == SolveStatus::converged ? 0 : 1;
    if (k == controls.size()) controls.push_back(loop.state().control);
  }
  return {};
}

/// One round of the peer's; without `clock` its parts are not reported.
void run_peer(simulation::PeerLoop& peer, const std::vector<Vector>& controls, double max_speed,
              simulation::PeerLoop::Clock clock, PeerTiming& timing) {
  peer.restart();
  timing.contacts = timing.iterations = 0.0;
  for (std::size_t k = 0; k < controls.size(); ++k) {
    const double start = now_s();
    const auto step = peer.step(controls[k], clock);
    const double seconds = now_s() - start;
    if (!step || peer.highest_speed() > max_speed) {
      timing.failure = step ? fmt::format("step {}: a velocity is above max_speed", k + 1) : step.error().message;
      return;
    }
    if (clock == nullptr) {
      timing.add(k, seconds);
    } else {
      timing.add(k, {step->collision, step->rows, step->solve,
                     std::max(0.0, step->all - step->collision - step->rows - step->solve)});
    }
    timing.contacts += static_cast<double>(step->contacts);
    timing.iterations += static_cast<double>(step->iterations);
  }
}

template <std::size_t Parts>
nlohmann::json json_of(const Timing<Parts>& timing, const std::array<const char*, Parts>& names) {
  nlohmann::json json = {{"steps", timing.all.size()},
                         {"finished", timing.failure.empty()},
                         {"failure", timing.failure},
                         {"steps_per_s", number(timing.per_second())},
                         {"step_ms", number(1e3 * timing.total() / timing.steps())},
                         {"contacts", timing.contacts / timing.steps()},
                         {"iterations", timing.iterations / timing.steps()},
                         {"unsolved_steps", timing.unsolved}};
  for (std::size_t p = 0; p < Parts; ++p) json[std::string(names[p]) + "_ms"] = number(timing.part_ms(p));
  return json;
}

template <std::size_t Parts>
std::string text_of(const Timing<Parts>& timing, const std::array<const char*, Parts>& names) {
  std::string text =
      fmt::format("{:.4g} steps/s, {:.3g} ms a step:", timing.per_second(), 1e3 * timing.total() / timing.steps());
  for (std::size_t p = 0; p < Parts; ++p) text += fmt::format(" {} {:.3g}", names[p], timing.part_ms(p));
  text += fmt::format("; {:.3g} contacts, {:.3g} iterations\n", timing.contacts / timing.steps(),
                      timing.iterations / timing.steps());
  if (!timing.failure.empty()) {
    text += fmt::format("           ended after {}: {}\n", plural(static_cast<long>(timing.all.size()), "step"),
                        timing.failure);
  }
  return text;
}

Result<int> run_both(const LoopArguments& arguments) {
  CONEBENCH_TRY(const auto scene, require_simulated_scene(arguments.scene));
  CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, simulation::all_options(*scene), scene->id));
  CONEBENCH_TRY(const auto plan, simulation::plan_scene(*scene, values, static_cast<std::uint64_t>(arguments.seed)));
  LoopTiming ours;
  std::vector<Vector> controls;
  CONEBENCH_TRY(auto first, simulation::simulate(plan));
  const double time_step = first.time_step();
  CONEBENCH_TRY(auto peer, simulation::load_peer_loop(plan.model, plan.name, plan.options.engine(), time_step));
  PeerTiming theirs;
  for (long round = 0; round < arguments.rounds; ++round) {
    CONEBENCH_CHECK(run_loop(plan, arguments.steps, ours, controls));
    run_peer(*peer, controls, plan.options.max_speed, nullptr, theirs);
  }
  run_peer(*peer, controls, plan.options.max_speed, now_s, theirs);

  const double ratio = theirs.all.empty() ? 0.0 : ours.per_second() / theirs.per_second();
  const std::string engine = "MuJoCo " + simulation::engine_version();
  if (arguments.json) {
    print_json("loop", {{"scene", plan.name},
                        {"solver", plan.options.solver},
                        {"time_step", time_step},
                        {"rounds", arguments.rounds},
                        {"loop", json_of(ours, loop_parts)},
                        {"peer", json_of(theirs, peer_parts)},
                        {"peer_engine", engine},
                        {"ratio", number(ratio)}});
  } else {
    print_text(
        fmt::format("scene      {}, time step {:g} s, {}\n{:10} {}{:10} {}ratio      {:.3g} times mj_step's rate\n",
                    plan.name, time_step, plural(arguments.rounds, "round"), plan.options.solver,
                    text_of(ours, loop_parts), "mj_step", text_of(theirs, peer_parts), ratio));
  }
  return done;
}

}  // namespace

Command add_loop(CLI::App& root) {
  auto arguments = std::make_shared<LoopArguments>();
  CLI::App* app = root.add_subcommand("loop", "Steps per second of a simulated scene, compared with MuJoCo's mj_step");
  app->footer(loop_footer);
  app->add_option("SCENE", arguments->scene, "Simulated scene, see `conebench list scenes`")->required();
  add_set_option(*app, arguments->set_values, "Set an option of the scene; may be repeated");
  add_integer(*app, "--steps", arguments->steps, {.minimum = 1.0, .maximum = 1e7}, "Time steps of a round");
  add_integer(*app, "--rounds", arguments->rounds, {.minimum = 1.0, .maximum = 1000.0},
              "Number of times that both are simulated, in turn");
  add_integer(*app, "--seed", arguments->seed, {.minimum = 0.0}, "Seed of the random numbers");
  app->add_flag("--json", arguments->json, "Print one JSON object");
  return {app, [arguments] { return run_both(*arguments); }};
}

}  // namespace conebench::cli
