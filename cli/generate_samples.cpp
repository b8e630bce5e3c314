#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/child_process.hpp"
#include "base/folder.hpp"
#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/generate.hpp"
#include "cli/output.hpp"
#include "runners/execute/interrupt.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/trajectory.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using simulation::SamplingSummary;
using simulation::Simulation;
using simulation::StepRecord;

/// One line a fact, and none a sample: their names are in the list.
std::string summary_text(const simulation::SampleList& list, double time_step, const fs::path& folder) {
  const SamplingSummary& summary = list.summary;
  const auto& modes = summary.modes;
  std::string text =
      fmt::format("{} of {} of {:g} s in {}, {}\n", plural(summary.samples, "sample"), plural(summary.steps, "step"),
                  time_step, folder.string(), list.files.empty() ? "no files" : list.files.front() + " …");
  text += fmt::format("contacts   {} open, {} sticking, {} slipping\n", modes.open, modes.stick, modes.slip);
  text += fmt::format("loop       {}, worst residual {:.2g}, worst configuration residual {:.2g}\n", list.label,
                      summary.worst_residual, summary.worst_configuration_residual);
  for (const simulation::Stratum& stratum : summary.strata) {
    text += fmt::format("stratum    {}: {} of {} wanted, {} met{}\n", stratum.name(), stratum.taken, stratum.wanted,
                        stratum.met, stratum.is_short() ? "; short" : "");
  }
  return text;
}

Result<int> generate_here(const SimulatedSceneRow& scene, const GenerateArguments& arguments) {
  const auto specs = simulation::all_options(scene);
  CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, specs, arguments.scene));
  CONEBENCH_TRY(const auto plan, simulation::plan_scene(scene, values, static_cast<std::uint64_t>(arguments.seed)));
  auto simulated = simulation::simulate(plan);
  if (!simulated) {
    const bool known = find_solver(plan.options.solver) != nullptr;
    return known ? simulated.error() : with_foreign_code(simulated.error(), arguments.code);
  }
  Simulation& simulation = *simulated;
  const long steps = arguments.steps > 0 ? arguments.steps : static_cast<long>(plan.model.steps);
  CONEBENCH_TRY(const auto request, simulation::sample_request(plan, steps));

  CONEBENCH_CHECK(simulation::body_numbers(simulation.engine(), arguments.trajectory.bodies).within("--body"));
  const fs::path folder(arguments.folder);
  CONEBENCH_CHECK(clear_sample_folder(folder, request, arguments.replace));
  CONEBENCH_CHECK(make_folder(arguments.folder));
  CONEBENCH_TRY(auto trajectory, simulation::TrajectoryFiles::create(folder, arguments.trajectory, simulation));
  ProgressPrinter progress = progress_on_stderr();
  const InterruptGuard guard;
  const simulation::SamplingWatch watch{.sample = {},
                                        .step =
                                            [&](const StepRecord& record) {
                                              trajectory.add(record);
                                              progress.stepped(record.step, steps);
                                            },
                                        .interrupted = &guard.flag()};
  simulation::SampleList list;
  const auto ran = simulation::write_samples(simulation, plan, request, folder, watch, list);
  progress.clear();
  if (!ran) {
    if (list.files.empty()) return ran.error();
    return Error{ran.error().code, fmt::format("{}; {} samples so far are in {}", ran.error().message,
                                               list.summary.samples, folder.string())};
  }
  CONEBENCH_CHECK(trajectory.check());
  // Asked for, not needed: where it can't be drawn, the samples stand.
  const auto drawn =
      arguments.picture ? simulation.engine().write_picture(folder / simulation::picture_name) : Result<void>();
  if (!drawn) print_note(drawn.error().message);
  if (arguments.json) {
    nlohmann::json out = to_json(list.summary);
    if (arguments.picture)
      out["picture"] = drawn ? nlohmann::json((folder / simulation::picture_name).string()) : nullptr;
    out["files"] = nlohmann::json::array();
    for (const std::string& file : list.files) out["files"].push_back((folder / file).string());
    out["scene"] = arguments.scene;
    out["seed"] = arguments.seed;
    out["time_step_s"] = simulation.time_step();
    out["complete"] = list.complete;
    out["notes"] = simulation.notes();
    print_json("generate", out);
  } else {
    print_text(summary_text(list, simulation.time_step(), folder));
    for (const auto& note : simulation.notes()) print_note(note);
  }
  if (const auto warning = simulation::loop_warning(list)) print_note(*warning);
  if (const auto warning = simulation::trivial_warning(list)) print_note(*warning);
  if (const std::string why = list.summary.why_empty(plan.sampling, simulation::advice_without_rows(plan));
      list.complete && !why.empty()) {
    print_error(fmt::format("{}: no samples: {}", arguments.scene, why));
    return nothing_measured;
  }
  if (list.complete) return done;
  print_error(fmt::format("interrupted after {} of {} steps; {} samples so far are in {}", list.summary.steps, steps,
                          list.summary.samples, folder.string()));
  return interrupted;
}

pid_t generator = 0;

void forward(int signal) {
  if (generator > 0) ::kill(generator, signal);
}

}  // namespace

Result<void> clear_sample_folder(const fs::path& folder, const simulation::SampleRequest& request, bool replace) {
  std::error_code ignored;
  const auto earlier = simulation::read_list(folder);
  if (!earlier && fs::exists(folder / simulation::list_name, ignored)) {
    return Error{ErrorCode::bad_input, fmt::format("--out {}: its {} can't be read, so nobody knows which files are an "
                                                   "earlier run's; give another folder, or empty this one",
                                                   folder.string(), simulation::list_name)};
  }
  if (!earlier) {
    for (const char* name : {simulation::list_name, simulation::trajectory_name, simulation::impulses_name}) {
      if (replace || !fs::exists(folder / name, ignored)) continue;
      return Error{ErrorCode::bad_input, fmt::format("--out {}: holds {} of another run; give another folder, or "
                                                     "--replace",
                                                     folder.string(), name)};
    }
    return {};
  }
  const std::string differs = simulation::difference(earlier->request, request);
  if (!differs.empty() && !replace && simulation::has_samples(folder, *earlier)) {
    return Error{ErrorCode::bad_input,
                 fmt::format("--out {}: holds the samples of another run ({}); give another folder, or --replace",
                             folder.string(), differs)};
  }
  return simulation::remove_samples(folder, *earlier);
}

Result<int> generate_samples(const SimulatedSceneRow& scene, const GenerateArguments& arguments) {
  // The engine's library may crash on a model; this process then reports it.
  generator = fork_process({.keeps_streams = true}, [&] {
    const auto generated = generate_here(scene, arguments);
    if (!generated) print_error(generated.error().message);
    std::fflush(nullptr);
    return generated ? *generated : exit_code(generated.error().code);
  });
  if (generator < 0) return Error{ErrorCode::killed, arguments.scene + ": the system refused a new process; run again"};
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, forward);
  const int status = wait_for_end(generator);
  generator = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_DFL);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) ::raise(signal);
  return Error{
      ErrorCode::bad_input,
      fmt::format("{}: simulating it crashed in the engine's library or the loop's solver (signal {}: {}); correct the "
                  "model, or use fewer or coarser shapes or another solver",
                  arguments.scene, signal, ::strsignal(signal))};
}

}  // namespace conebench::cli
