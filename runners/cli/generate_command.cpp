#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fclib_loader/fclib_file.hpp"
#include "problems/scenes/scene_table.hpp"
#include "runners/cli/arguments.hpp"
#include "runners/cli/command.hpp"
#include "runners/cli/output.hpp"

namespace conebench::cli {

namespace {

constexpr const char* footer = R"(The file is FCLIB HDF5, with the known answer as its /solution where the scene has
one. The same scene, options and seed give the same problem.

Examples:
  conebench generate box-stack --out problems --set boxes=5 --set mass_ratio=1000
  conebench generate known-solution --out problems --seed 7)";

struct GenerateArguments {
  std::string scene;
  std::string folder;
  std::vector<std::string> settings;
  long steps = 1;
  long seed = 1;
  bool json = false;
};

/// A problem's name as a file name.
std::string file_name(std::string name) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '=' || c == ',' || c == '+';
    if (!plain) c = '_';
  }
  return name + ".hdf5";
}

Result<int> run_generate(const GenerateArguments& arguments) {
  const auto scene = require_scene(arguments.scene);
  if (!scene) return scene.error();
  const auto values = parse_settings(arguments.settings, (*scene)->options, arguments.scene);
  if (!values) return values.error();
  if (arguments.steps > 1) {
    return Error{ErrorCode::unsupported,
                 fmt::format("--steps {}: scene {} is one problem, not a simulation; use --steps 1 and another --seed "
                             "for each problem",
                             arguments.steps, arguments.scene)};
  }
  const auto problem = (*scene)->make(*values, static_cast<std::uint64_t>(arguments.seed));
  if (!problem) return problem.error();

  FclibWriteOptions options;
  if (const auto& reference = problem->reference()) {
    Vector velocity(problem->rows());
    problem->velocity(reference->reaction, velocity);
    options.solution = FclibAnswer{reference->reaction, velocity};
  }
  std::error_code failure;
  std::filesystem::create_directories(arguments.folder, failure);
  if (failure) {
    return Error{ErrorCode::bad_input,
                 fmt::format("--out {}: the folder cannot be made: {}", arguments.folder, failure.message())};
  }
  const auto file = std::filesystem::path(arguments.folder) / file_name(problem->provenance().name);
  if (auto written = write_fclib(*problem, file, options); !written) return written.error();
  if (arguments.json) {
    print_json({{"files", {file.string()}},
                {"scene", arguments.scene},
                {"seed", arguments.seed},
                {"problem_hash", problem->content_hash()}});
  } else {
    print_text(file.string() + "\n");
  }
  return done;
}

}  // namespace

Command add_generate(CLI::App& root) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* app = root.add_subcommand("generate", "Write a problem of a built-in scene as FCLIB HDF5");
  app->footer(footer);
  app->add_option("SCENE", arguments->scene, "Scene, see `conebench list scenes`")->required();
  app->add_option("--out", arguments->folder, "Folder for the file, made where it is missing")
      ->required()
      ->type_name("DIR");
  add_settings(*app, arguments->settings, "Set an option of the scene, as often as wanted");
  add_integer(*app, "--steps", arguments->steps, {.minimum = 1.0}, "Problems of a simulation, one a time step");
  add_integer(*app, "--seed", arguments->seed, {.minimum = 0.0}, "Seed of what is random");
  app->add_flag("--json", arguments->json, "Print one JSON object");
  return {app, [arguments] { return run_generate(*arguments); }};
}

}  // namespace conebench::cli
