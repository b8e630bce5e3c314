#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "metrics/residuals.hpp"
#include "problems/plural.hpp"
#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/generate.hpp"
#include "runners/cli/output.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/simulation/sample_folder.hpp"
#include "runners/simulation/scene_plan.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using simulation::SamplingSummary;
using simulation::StepRecord;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// A line a step, flushed as it goes.
class TrajectoryFile {
 public:
  explicit TrajectoryFile(const fs::path& path) : stream_(std::fopen(path.c_str(), "w")) {
    if (stream_ == nullptr) return;
    std::fputs(
        "step,time_s,rows,contacts,iterations,status,natural_map_scaled,configuration_residual,kinetic_J,potential_J,"
        "momentum_x,momentum_y,momentum_z,angular_x,angular_y,angular_z,joint_drift,r_primal,r_dual,r_ncp,r_nat\n",
        stream_.get());
  }
  bool open() const { return stream_ != nullptr; }

  /// Energy and momentum are those of the state that the step's problem was made at.
  void add(const StepRecord& record, simulation::Engine& engine) {
    const auto energy = engine.energy();
    const auto momentum = engine.momentum();
    const auto& p = momentum.linear;
    const auto& l = momentum.angular;
    std::string line = fmt::format(
        "{},{:.9g},{},{},{},{},{:.3g},{:.3g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.3g}",
        record.step, record.time, record.problem.rows(), record.problem.cones().contacts(), record.summary.iterations,
        to_string(record.summary.status), record.residual, record.configuration_residual, energy.kinetic,
        energy.potential, p[0], p[1], p[2], l[0], l[1], l[2], record.joint_drift);
    const Judgement judgement = record.problem.rows() > 0 ? judge(record.problem, record.impulse) : Judgement{};
    for (const char* name : {"r_primal", "r_dual", "r_ncp", "r_nat"}) {
      line += fmt::format(",{:.3g}", judgement.residuals.empty() ? 0.0 : judgement[name].value);
    }
    line += '\n';
    std::fputs(line.c_str(), stream_.get());
    std::fflush(stream_.get());
  }

 private:
  std::unique_ptr<std::FILE, FileCloser> stream_;
};

/// One line a fact, and none a sample: their names are in the list.
std::string summary_text(const simulation::SampleList& list, double time_step, const fs::path& folder) {
  const SamplingSummary& summary = list.summary;
  const auto& modes = summary.modes;
  std::string text =
      fmt::format("{} of {} of {:g} s in {}, {}\n", plural(summary.samples, "sample"), plural(summary.steps, "step"),
                  time_step, folder.string(), list.files.empty() ? "no files" : list.files.front() + " …");
  text += fmt::format("contacts   {} open, {} sticking, {} slipping\n", modes.open, modes.stick, modes.slip);
  text += fmt::format("loop       {}, worst residual {:.2g}, worst configuration residual {:.2g}\n", list.solver,
                      summary.worst_residual, summary.worst_configuration_residual);
  for (const simulation::Stratum& stratum : summary.strata) {
    text += fmt::format("stratum    {}: {} of {} wanted, {} met{}\n", stratum.name(), stratum.taken, stratum.wanted,
                        stratum.met, stratum.is_short() ? "; short" : "");
  }
  return text;
}

/// Makes room for the samples: what an earlier run of the same request left is replaced, anything else only where
/// asked.
Result<std::monostate> clear_folder(const fs::path& folder, const simulation::SampleRequest& request, bool replace) {
  std::error_code ignored;
  const auto earlier = simulation::read_list(folder);
  if (!earlier && fs::exists(folder / simulation::list_name, ignored)) {
    return Error{ErrorCode::bad_input, fmt::format("--out {}: its {} can't be read, so nobody knows which files are an "
                                                   "earlier run's; give another folder, or empty this one",
                                                   folder.string(), simulation::list_name)};
  }
  if (!earlier) {
    for (const char* name : {simulation::list_name, "trajectory.csv"}) {
      if (replace || !fs::exists(folder / name, ignored)) continue;
      return Error{ErrorCode::bad_input, fmt::format("--out {}: holds {} of another run; give another folder, or "
                                                     "--replace",
                                                     folder.string(), name)};
    }
    return std::monostate{};
  }
  const std::string differs = simulation::difference(earlier->request, request);
  if (!differs.empty() && !replace && simulation::has_samples(folder, *earlier)) {
    return Error{ErrorCode::bad_input,
                 fmt::format("--out {}: holds the samples of another run ({}); give another folder, or --replace",
                             folder.string(), differs)};
  }
  return simulation::remove_samples(folder, *earlier);
}

}  // namespace

Result<int> generate_samples(const SimulatedSceneRow& scene, const GenerateArguments& arguments) {
  const auto specs = simulation::all_options(scene);
  const auto values = parse_settings(arguments.settings, specs, arguments.scene);
  if (!values) return values.error();
  const auto plan = simulation::plan_scene(scene, *values, static_cast<std::uint64_t>(arguments.seed));
  if (!plan) return plan.error();
  auto simulation = simulation::simulate(*plan);
  if (!simulation) return simulation.error();
  const long steps = arguments.steps > 0 ? arguments.steps : static_cast<long>(plan->model.steps);
  const auto request = simulation::sample_request(*plan, steps);
  if (!request) return request.error();

  const fs::path folder(arguments.folder);
  if (auto cleared = clear_folder(folder, *request, arguments.replace); !cleared) return cleared.error();
  if (auto made = make_folder(arguments.folder); !made) return made.error();
  TrajectoryFile trajectory(folder / "trajectory.csv");
  if (!trajectory.open()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: cannot be written: {}", (folder / "trajectory.csv").string(), std::strerror(errno))};
  }
  const bool terminal = isatty(fileno(stderr)) != 0;
  const InterruptGuard guard;
  const simulation::SamplingWatch watch{.sample = {},
                                        .step =
                                            [&](const StepRecord& record) {
                                              trajectory.add(record, simulation->engine());
                                              if (terminal && record.step % 10 == 0) {
                                                std::fputs(fmt::format("\r{} of {} steps", record.step, steps).c_str(),
                                                           stderr);
                                              }
                                            },
                                        .interrupted = &guard.flag()};
  simulation::SampleList list;
  const auto ran = simulation::write_samples(*simulation, *plan, *request, folder, watch, list);
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!ran) {
    if (list.files.empty()) return ran.error();
    return Error{ran.error().code, fmt::format("{}; {} samples so far are in {}", ran.error().message,
                                               list.summary.samples, folder.string())};
  }
  // Asked for, not needed: where it can't be drawn, the samples stand.
  const auto drawn = arguments.picture ? simulation->engine().write_picture(folder / simulation::picture_name)
                                       : Result<std::monostate>(std::monostate{});
  if (!drawn) print_note(drawn.error().message);
  if (arguments.json) {
    nlohmann::json out = to_json(list.summary);
    if (arguments.picture)
      out["picture"] = drawn ? nlohmann::json((folder / simulation::picture_name).string()) : nullptr;
    out["files"] = nlohmann::json::array();
    for (const std::string& file : list.files) out["files"].push_back((folder / file).string());
    out["scene"] = arguments.scene;
    out["seed"] = arguments.seed;
    out["time_step_s"] = simulation->time_step();
    out["complete"] = list.complete;
    out["notes"] = simulation->notes();
    print_json("generate", out);
  } else {
    print_text(summary_text(list, simulation->time_step(), folder));
    for (const auto& note : simulation->notes()) print_note(note);
  }
  if (const auto warning = simulation::loop_warning(list)) print_note(*warning);
  if (const auto warning = simulation::trivial_warning(list)) print_note(*warning);
  if (const std::string why = list.summary.why_empty(plan->sampling, simulation::advice_without_rows(*plan));
      list.complete && !why.empty()) {
    print_error(fmt::format("{}: no samples: {}", arguments.scene, why));
    return nothing_measured;
  }
  if (list.complete) return done;
  print_error(fmt::format("interrupted after {} of {} steps; {} samples so far are in {}", list.summary.steps, steps,
                          list.summary.samples, folder.string()));
  return interrupted;
}

}  // namespace conebench::cli
