#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/generate.hpp"
#include "runners/cli/output.hpp"
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
        "momentum_x,momentum_y,momentum_z,angular_x,angular_y,angular_z\n",
        stream_.get());
  }
  bool open() const { return stream_ != nullptr; }

  /// Energy and momentum are those of the state that the step's problem was made at.
  void add(const StepRecord& record, simulation::Engine& engine) {
    const auto energy = engine.energy();
    const auto momentum = engine.momentum();
    const auto& p = momentum.linear;
    const auto& l = momentum.angular;
    const std::string line = fmt::format(
        "{},{:.9g},{},{},{},{},{:.3g},{:.3g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}\n", record.step,
        record.time, record.problem.rows(), record.problem.cones().contacts(), record.summary.iterations,
        to_string(record.summary.status), record.residual, record.configuration_residual, energy.kinetic,
        energy.potential, p[0], p[1], p[2], l[0], l[1], l[2]);
    std::fputs(line.c_str(), stream_.get());
    std::fflush(stream_.get());
  }

 private:
  std::unique_ptr<std::FILE, FileCloser> stream_;
};

void report(const SamplingSummary& summary, const fs::path& folder, const std::vector<std::string>& notes) {
  const auto& modes = summary.modes;
  print_note(
      fmt::format("{} samples of {} steps in {}: contacts {} open, {} sticking, {} slipping; worst r_pen {:.2g}, "
                  "worst residual {:.2g}, {} steps above the tolerance{}",
                  summary.samples, summary.steps, folder.string(), modes.open, modes.stick, modes.slip,
                  summary.worst_configuration_residual, summary.worst_residual, summary.unsolved,
                  modes.all() > 0 && summary.trivial() ? "; trivial: under 10 % slip or under 5 % open" : ""));
  for (const auto& note : notes) print_note(note);
}

nlohmann::json summary_json(const SamplingSummary& summary) {
  return {{"steps", summary.steps},
          {"samples", summary.samples},
          {"unsolved_steps", summary.unsolved},
          {"worst_residual", number(summary.worst_residual)},
          {"worst_configuration_residual", number(summary.worst_configuration_residual)},
          {"contacts", {{"open", summary.modes.open}, {"stick", summary.modes.stick}, {"slip", summary.modes.slip}}},
          {"trivial", summary.trivial()}};
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

  if (auto made = make_folder(arguments.folder); !made) return made.error();
  const fs::path folder(arguments.folder);
  TrajectoryFile trajectory(folder / "trajectory.csv");
  if (!trajectory.open()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: cannot be written: {}", (folder / "trajectory.csv").string(), std::strerror(errno))};
  }
  const long steps = arguments.steps > 0 ? arguments.steps : static_cast<long>(plan->model.steps);
  const bool terminal = isatty(fileno(stderr)) != 0;
  nlohmann::json files = nlohmann::json::array();
  SamplingSummary summary;
  const simulation::SamplingWatch watch{.sample = [&](const StepRecord& record) -> Result<std::monostate> {
                                          const auto file = simulation::write_sample(record, folder);
                                          if (!file) return file.error();
                                          if (arguments.json) {
                                            files.push_back(file->string());
                                          } else {
                                            print_text(file->string() + "\n");
                                          }
                                          return std::monostate{};
                                        },
                                        .step =
                                            [&](const StepRecord& record) {
                                              trajectory.add(record, simulation->engine());
                                              if (terminal && record.step % 10 == 0) {
                                                std::fputs(fmt::format("\r{} of {} steps", record.step, steps).c_str(),
                                                           stderr);
                                              }
                                            }};
  const auto ran = simulation::sample(*simulation, steps, plan->options.tolerance, plan->sampling, watch, summary);
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!ran) {
    return Error{ran.error().code,
                 fmt::format("{}; {} samples so far are in {}", ran.error().message, summary.samples, folder.string())};
  }
  if (arguments.json) {
    nlohmann::json out = summary_json(summary);
    out["files"] = files;
    out["scene"] = arguments.scene;
    out["seed"] = arguments.seed;
    out["notes"] = simulation->engine().notes();
    print_json(out);
  } else {
    report(summary, folder, simulation->engine().notes());
  }
  return done;
}

}  // namespace conebench::cli
