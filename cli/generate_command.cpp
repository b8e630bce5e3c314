#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/folder.hpp"
#include "base/plural.hpp"
#include "base/source_text.hpp"
#include "base/suggestion.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/generate.hpp"
#include "cli/generate_all.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "reports/text.hpp"
#include "scenes/scene_table.hpp"

namespace conebench::cli {

namespace {

constexpr const char* perturb_word = "perturb";

constexpr const char* generate_footer =
    R"(The file is FCLIB HDF5, with the known answer as its /solution where the scene has
one. The same scene, options and seed give the same problem. A simulated scene gives
one file for each sample, with the loop's answer, and trajectory.csv; see docs/simulation.md.
`perturb` instead of a scene writes DIR/FAMILY/NAME-copyK.hdf5: copies of FCLIB files whose free
term and friction are changed at random, by path, copies, free_term and friction.
`--all DIR` instead of a scene simulates every MJCF and URDF model below DIR, each in a process of its own, 50 steps
if not given, and prints what became of it; samples are kept with --out alone, in a folder for each model.

Examples:
  conebench generate box-stack --out problems --set boxes=5 --set mass_ratio=1000
  conebench generate known-solution --out problems --seed 7
  conebench generate box-on-plane --out samples --set speed=2 --set every=5
  conebench generate cube-sliding --out cube --state --impulses
  conebench generate quadruped --out feet --body front_left3
  conebench generate file --out samples --set path=robot.xml --steps 500
  conebench generate file --out samples --set path=robot.xml --plugin mine.so --set solver=MINE
  conebench generate --all models --steps 20
  conebench generate perturb --out copies --set "path=problems/*.hdf5" --set copies=4)";

struct WrittenProblem {
  std::string file, hash;
};

/// What was written and what can be done with it; beside the names, which scripts read.
std::string written_text(const std::vector<std::string>& files, const ContactProblem& first) {
  const std::string command = "conebench inspect " + reports::shell(files.front());
  const std::string size =
      fmt::format("{}, {}", plural(first.cones().contacts(), "contact"), plural(first.rows(), "row"));
  if (files.size() == 1) return fmt::format("{}; look at it: {}", size, command);
  return fmt::format("{}, the first with {}; look at it: {}", plural(static_cast<long>(files.size()), "problem"), size,
                     command);
}

Result<WrittenProblem> write_problem(const ContactProblem& problem, const std::string& folder) {
  FclibWriteOptions options;
  if (const auto& reference = problem.reference()) {
    Vector velocity(problem.rows());
    problem.velocity(reference->reaction, velocity);
    options.solution = FclibAnswer{reference->reaction, velocity};
  }
  const auto file = std::filesystem::path(folder) / file_name(problem.provenance().name);
  CONEBENCH_CHECK(write_fclib(problem, file, options));
  return WrittenProblem{file.string(), problem.content_hash()};
}

/// Every other scene is one problem a seed; --steps N of a random one takes N seeds from --seed on.
Result<int> generate_problems(const SceneRow& scene, GenerateArguments arguments) {
  const long count = scene.seeded ? std::max(1L, arguments.steps) : 1;
  if (scene.seeded) arguments.steps = 0;
  CONEBENCH_CHECK(refuse_simulation(arguments));
  CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, scene.options, arguments.scene));
  CONEBENCH_CHECK(make_folder(arguments.folder));
  std::vector<std::string> files, hashes;
  std::optional<ContactProblem> first;
  for (long k = 0; k < count; ++k) {
    CONEBENCH_TRY(const auto problem, scene.make(values, static_cast<std::uint64_t>(arguments.seed + k)));
    CONEBENCH_TRY(const auto written, write_problem(problem, arguments.folder));
    if (!first) first = problem;
    files.push_back(written.file);
    hashes.push_back(written.hash);
    if (!arguments.json) print_text(written.file + "\n");
  }
  if (!arguments.json) {
    print_note(written_text(files, *first));
    return done;
  }
  nlohmann::json object = {{"files", files}, {"scene", arguments.scene}, {"seed", arguments.seed}};
  if (count == 1) {
    object["problem_hash"] = hashes.front();
  } else {
    object["problem_hashes"] = hashes;
  }
  print_json("generate", object);
  return done;
}

/// A plug-in or program that no option names would not be in the loop.
Result<void> load_loop_code(const GenerateArguments& arguments) {
  const auto names_solver = [](const std::string& set) {
    return set.starts_with("solver=") || set.starts_with("reference=");
  };
  const ForeignCode& code = arguments.code;
  if (!(code.plugins.empty() && code.programs.empty()) &&
      std::none_of(arguments.set_values.begin(), arguments.set_values.end(), names_solver)) {
    return Error{ErrorCode::wrong_usage,
                 "generate: --plugin and --program bring solvers; say which is in the loop by --set solver=ID"};
  }
  return load_foreign_code(code);
}

Result<int> run_generate(const GenerateArguments& arguments) {
  if (!arguments.all.empty()) {
    CONEBENCH_CHECK(load_loop_code(arguments));
    return generate_all(arguments);
  }
  for (const auto& [missing, name] :
       {std::pair(arguments.scene.empty(), "SCENE"), {arguments.folder.empty(), "--out"}}) {
    if (missing) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("generate: {} is required (see conebench generate --help)", name)};
    }
  }
  if (arguments.scene == perturb_word) return generate_perturbed(arguments);
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (scene.id != arguments.scene) continue;
    CONEBENCH_CHECK(load_loop_code(arguments));
    return generate_samples(scene, arguments);
  }
  const auto scene = require_scene(arguments.scene);
  if (scene) return generate_problems(**scene, arguments);
  if (const std::string hint = simulation_hint(arguments.scene); !hint.empty()) {
    return Error{scene.error().code, fmt::format("{}: not a scene but a file; {}", arguments.scene, hint)};
  }
  std::string known;
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    known += (known.empty() ? "" : ", ") + id;
    ids.push_back(id);
  };
  add(perturb_word);
  for (const SceneRow& row : scene_table()) add(row.id);
  for (const SimulatedSceneRow& row : simulated_scene_table()) add(row.id);
  return Error{scene.error().code, fmt::format("unknown scene '{}'; {}known: {}", arguments.scene,
                                               did_you_mean(arguments.scene, ids), known)};
}

struct UrdfFlags {
  std::vector<std::string> package_dirs;
  bool self_collision = false;
};

/// Adds the flags to the options that are set. Errors (wrong_usage): the scene has no URDF.
Result<void> set_urdf_flags(const UrdfFlags& flags, GenerateArguments& arguments) {
  if (flags.package_dirs.empty() && !flags.self_collision) return {};
  if (arguments.scene != "file" && arguments.all.empty()) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: is for URDF files; leave it out, or take scene `file` or --all",
                             flags.self_collision ? "--self-collision" : "--package-dir")};
  }
  if (flags.self_collision) arguments.set_values.emplace_back("self_collision=true");
  if (!flags.package_dirs.empty()) {
    arguments.set_values.push_back(fmt::format("package_dir={}", fmt::join(flags.package_dirs, ":")));
  }
  return {};
}

/// The same as an option of the scene. Errors (wrong_usage): that is set, too.
Result<void> set_on_unsolved(GenerateArguments& arguments) {
  if (arguments.on_unsolved.empty()) return {};
  for (const std::string& value : arguments.set_values) {
    if (!value.starts_with("fallback=")) continue;
    return Error{ErrorCode::wrong_usage,
                 "--on-unsolved: sets fallback, and so does --set " + value + "; leave one of them out"};
  }
  if (arguments.on_unsolved != "continue") arguments.set_values.push_back("fallback=" + arguments.on_unsolved);
  return {};
}

}  // namespace

Result<void> refuse_simulation(const GenerateArguments& arguments) {
  if (arguments.steps > 1) {
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("--steps {}: scene {} is one problem, whatever the seed; leave it out, or set another of its "
                    "options for each problem",
                    arguments.steps, arguments.scene)};
  }
  const auto& trajectory = arguments.trajectory;
  for (const auto& [given, name] : {std::pair(arguments.picture, "--picture"),
                                    {!arguments.code.plugins.empty(), "--plugin"},
                                    {!arguments.code.programs.empty(), "--program"},
                                    {!arguments.on_unsolved.empty(), "--on-unsolved"},
                                    {trajectory.state, "--state"},
                                    {!trajectory.bodies.empty(), "--body"},
                                    {trajectory.impulses, "--impulses"},
                                    {trajectory.conditioning, "--conditioning"}}) {
    if (!given) continue;
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("{}: scene {} is one problem without a simulation; leave it out, or take a simulated scene "
                    "(conebench list scenes)",
                    name, arguments.scene)};
  }
  return {};
}

Command add_generate(CLI::App& root) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* app = root.add_subcommand("generate", "Write a scene's problem, or a simulation's, as FCLIB HDF5");
  app->footer(generate_footer);
  app->add_option("SCENE", arguments->scene, "Scene, see `conebench list scenes`, or `perturb`; or --all");
  app->add_option("--out", arguments->folder,
                  "Folder for the files, made where it is missing; may be left out with --all")
      ->type_name("DIR");
  auto* const all =
      app->add_option("--all", arguments->all, "Instead of SCENE: every MJCF and URDF model below this folder")
          ->type_name("DIR");
  add_real(*app, "--time-limit", arguments->time_limit, {.minimum = 0.0, .maximum = 1e6, .above_minimum = true},
           "With --all: seconds for each model")
      ->needs(all);
  add_set_option(*app, arguments->set_values, "Set an option of the scene; may be repeated");
  auto urdf = std::make_shared<UrdfFlags>();
  app->add_option("--package-dir", urdf->package_dirs,
                  "Search this folder, too, for the packages that a URDF names; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_flag("--self-collision", urdf->self_collision,
                "With the contacts of a URDF's links that are adjacent, overlap at the start or are in its SRDF");
  add_integer(*app, "--steps", arguments->steps, {.minimum = 1.0},
              "Time steps of a simulation; the scene's own number if not given")
      ->default_str("");
  add_integer(*app, "--seed", arguments->seed, {.minimum = 0.0}, "Seed of the random numbers");
  app->add_flag("--replace", arguments->replace, "Replace another simulation's samples in the folder");
  app->add_flag("--picture", arguments->picture, "Draw the simulation's last step as picture.png");
  app->add_flag("--state", arguments->trajectory.state,
                "Add positions q1, q2, … and velocities v1, v2, … to trajectory.csv");
  app->add_option("--body", arguments->trajectory.bodies,
                  "Add this body's pose and the contacts' force on it to trajectory.csv; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_flag("--impulses", arguments->trajectory.impulses,
                "Write every contact's point and force of every step as impulses.csv");
  app->add_flag("--conditioning", arguments->trajectory.conditioning,
                "Add the conditioning of each step's G + R to trajectory.csv, which takes time");
  add_foreign_code(*app, arguments->code, false);
  app->add_option("--on-unsolved", arguments->on_unsolved,
                  "After a step that is not solved: go on with its last impulses (the default), stop, or go on with "
                  "those of the step without friction; sets the option fallback")
      ->type_name("WORD")
      ->check(CLI::IsMember({"continue", "stop", "frictionless"}));
  app->add_flag("--json", arguments->json, "Print one JSON object");
  return {app, [arguments, urdf]() -> Result<int> {
            CONEBENCH_CHECK(set_urdf_flags(*urdf, *arguments));
            CONEBENCH_CHECK(set_on_unsolved(*arguments));
            return run_generate(*arguments);
          }};
}

}  // namespace conebench::cli
