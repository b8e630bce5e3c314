#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/foreign_code.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "runners/execute/solve_cell.hpp"
#include "scenes/scene_table.hpp"
#include "simulation/scene_plan.hpp"
#include "solvers/inverse_dynamics/inverse_dynamics.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

namespace {

constexpr const char* inverse_dynamics_footer =
    R"(Finds the torque and the impulses that give every contact the velocity X,Y,Z, by
paper Carpentier24 Alg. 2: v_ref is the least velocity with that (joints and limits at rest),
the torque is what the step needs in addition to the scene's controls and gravity.
Without compliance the impulses are not unique: of contacts that slide every normal
impulse will do, and the start (--press) chooses. The answer is then put into the
forward dynamics, which --solver has to give back.

Exit code 1 where the inversion does not converge, forward dynamics differ, or no
joint velocity gives the contacts theirs.

Examples:
  conebench inverse-dynamics arm-on-wall --press 0.1
  conebench inverse-dynamics arm-on-wall --ccp --max-iterations 5 --json
  conebench inverse-dynamics sliding-box --set friction=0.3 --velocity 0.1,0,0
  conebench inverse-dynamics sample.hdf5 --velocity 0,0,0.2)";

struct InverseArguments {
  std::string problem;
  std::vector<std::string> set_values;
  long step = 0;
  long seed = 1;
  std::string velocity = "0.05,0,0";
  double press = 0.0;
  ContactInversionOptions options;
  bool ccp = false;
  std::string solver = "CASCADE";
  ForeignCode code;
  bool json = false;
};

Result<std::array<double, 3>> parse_velocity(const std::string& text) {
  std::array<double, 3> parts{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto read = std::from_chars(at, end, parts.at(i));
    const bool last = i + 1 == parts.size();
    if (read.ec != std::errc{} || !std::isfinite(parts.at(i)) ||
        (last ? read.ptr != end : read.ptr == end || *read.ptr != ',')) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("--velocity {}: must be three numbers in m/s with commas between them, as 0.05,0,0: two "
                               "tangents, then the normal",
                               text)};
    }
    at = last ? end : read.ptr + 1;
  }
  return parts;
}

/// The problem of the wanted step; without one, of the first step with a contact.
Result<ContactProblem> simulated_problem(const SimulatedSceneRow& scene, const InverseArguments& arguments) {
  CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, simulation::all_options(scene), scene.id));
  CONEBENCH_TRY(const auto plan, simulation::plan_scene(scene, values, static_cast<std::uint64_t>(arguments.seed)));
  CONEBENCH_TRY(auto simulation, simulation::simulate(plan));
  const long last = arguments.step > 0 ? arguments.step : static_cast<long>(plan.model.steps);
  for (long step = 1; step <= last; ++step) {
    CONEBENCH_TRY(auto record, simulation.step());
    const bool touches = record.problem.cones().contacts() > 0;
    if (arguments.step > 0 ? step == last : touches) {
      if (touches) return record.problem;
      break;
    }
  }
  return Error{ErrorCode::unsupported,
               fmt::format("{}: no contact in {}; give another --step", scene.id,
                           arguments.step > 0 ? fmt::format("step {}", last) : plural(last, "step"))};
}

Result<ContactProblem> find_problem(const InverseArguments& arguments) {
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (scene.id == arguments.problem) return simulated_problem(scene, arguments);
  }
  if (arguments.step > 0) {
    return Error{ErrorCode::wrong_usage, fmt::format("--step {}: {} is one problem, not a simulation; leave it out",
                                                     arguments.step, arguments.problem)};
  }
  for (const SceneRow& scene : scene_table()) {
    if (scene.id != arguments.problem) continue;
    CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, scene.options, scene.id));
    return scene.make(values, static_cast<std::uint64_t>(arguments.seed));
  }
  if (!arguments.set_values.empty()) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("--set: {} is no scene; conebench list scenes has them", arguments.problem)};
  }
  CONEBENCH_TRY(auto given, load_given_problem(arguments.problem));
  return std::move(given.problem);
}

/// What forward dynamics make of the torque.
struct Forward {
  bool solved = false;
  double velocity = 0.0;  ///< ‖σ − σ of the inversion‖_∞ [m/s]
  double impulse = 0.0;   ///< ‖λ − λ of the inversion‖_∞ [N s]
};

Result<Forward> run_forward(const ContactProblem& problem, const InverseDynamics& found, const std::string& solver) {
  CONEBENCH_TRY(const auto forward, with_torque(problem, found.torque));
  CellRequest request;
  request.solver = solver;
  request.tolerance = 1e-10;
  request.repeats.maximum = 1;
  CONEBENCH_TRY(const auto record, solve_cell(forward, request));
  Forward result{.solved = record.solved};
  if (static_cast<Index>(record.reaction.size()) != problem.rows()) return result;
  const Vector impulse = Eigen::Map<const Vector>(record.reaction.data(), problem.rows());
  Vector sigma(problem.rows());
  forward.velocity(impulse, sigma);
  result.velocity = (sigma - found.contacts.velocity).lpNorm<Eigen::Infinity>();
  result.impulse = (impulse - found.contacts.impulse).lpNorm<Eigen::Infinity>();
  return result;
}

nlohmann::json numbers(const Vector& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Result<int> run_inverse_dynamics(const InverseArguments& arguments) {
  CONEBENCH_TRY(const auto wanted, parse_velocity(arguments.velocity));
  CONEBENCH_CHECK(load_foreign_code(arguments.code));
  CONEBENCH_CHECK(require_solver(arguments.solver));
  CONEBENCH_TRY(const auto problem, find_problem(arguments));
  const ConeProduct& cones = problem.cones();
  if (cones.contacts() == 0 || cones.contact_type() != ConeType::coulomb_space) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: inverse dynamics needs contacts in space", arguments.problem)};
  }
  Vector target = Vector::Zero(problem.rows()), start = Vector::Zero(problem.rows());
  for (Index i = 0; i < cones.contacts(); ++i) {
    target.segment<3>(cones.contact_row(i)) = Eigen::Map<const Eigen::Vector3d>(wanted.data());
    start[cones.contact_row(i) + 2] = arguments.press;
  }
  ContactInversionOptions options = arguments.options;
  options.de_saxce = !arguments.ccp;
  CONEBENCH_TRY(const auto found, inverse_dynamics(problem, target, start, options));
  const ContactInversion& contacts = found.contacts;
  CONEBENCH_TRY(const auto forward, run_forward(problem, found, arguments.solver));
  // The forward solver stops at 1e-10 of the free velocity.
  const double allowed = std::max(arguments.options.tolerance, 1e-8);
  const bool agrees = forward.solved && forward.velocity <= allowed && found.missed <= allowed;

  const auto& configuration = problem.configuration();
  const std::optional<double> time_step = configuration ? configuration->time_step : std::nullopt;
  const double duration = time_step.value_or(1.0);
  const Vector torque = found.torque / duration;
  const Vector contact_torque = problem.primal()->jacobian.transpose() * contacts.impulse / duration;  // τ_c = Jᵀ λ
  if (arguments.json) {
    print_json("inverse-dynamics", {{"problem", arguments.problem},
                                    {"problem_hash", problem.content_hash()},
                                    {"contacts", cones.contacts()},
                                    {"formulation", arguments.ccp ? "CCP" : "NCP"},
                                    {"converged", contacts.converged},
                                    {"iterations", contacts.iterations},
                                    {"residual", number(contacts.residual)},
                                    {"missed", found.missed},
                                    {"velocity", numbers(found.velocity)},
                                    {"impulse", numbers(contacts.impulse)},
                                    {"impulse_norm", number(contacts.impulse.norm())},
                                    {"impulse_norms", numbers(contacts.growth)},
                                    {"torque", numbers(torque)},
                                    {"torque_norm", number(torque.norm())},
                                    {"contact_torque_norm", number(contact_torque.norm())},
                                    {"torque_unit", time_step ? "N, N m" : "N s, N m s"},
                                    {"time_step", time_step ? nlohmann::json(*time_step) : nullptr},
                                    {"forward",
                                     {{"solver", arguments.solver},
                                      {"solved", forward.solved},
                                      {"velocity_difference", forward.velocity},
                                      {"impulse_difference", forward.impulse},
                                      {"agrees", agrees}}}});
  } else {
    std::string text = fmt::format("problem    {} ({}, {} velocities)\n", arguments.problem,
                                   plural(cones.contacts(), "contact"), found.velocity.size());
    text += fmt::format("inversion  {} {} after {}, residual {:.2g} m/s\n", arguments.ccp ? "CCP" : "NCP",
                        contacts.converged ? "converged" : "did not converge", plural(contacts.iterations, "iteration"),
                        contacts.residual);
    if (found.missed > 0.0) text += fmt::format("missed     {:.2g} m/s of the contacts' velocity\n", found.missed);
    text += fmt::format("impulse    norm {:.4g} N s\n", contacts.impulse.norm());
    text += fmt::format("torque     norm {:.4g}, largest {:.4g} {}\n", torque.norm(), torque.lpNorm<Eigen::Infinity>(),
                        time_step ? "N, N m" : "N s, N m s (the time step is not known)");
    text += fmt::format("forward    {} {}: velocities differ by {:.2g} m/s, impulses by {:.2g} N s\n", arguments.solver,
                        forward.solved ? "solved" : "did not solve", forward.velocity, forward.impulse);
    print_text(text);
  }
  return contacts.converged && agrees ? done : gate_failed;
}

}  // namespace

Command add_inverse_dynamics(CLI::App& root) {
  auto arguments = std::make_shared<InverseArguments>();
  CLI::App* app = root.add_subcommand("inverse-dynamics", "Torque and impulses that cause given contact velocities");
  app->footer(inverse_dynamics_footer);
  app->add_option("SCENE", arguments->problem, "Scene, see `conebench list scenes`, or FCLIB HDF5 file with M and J")
      ->required();
  add_set_option(*app, arguments->set_values, "Set an option of the scene; may be repeated");
  add_integer(*app, "--step", arguments->step, {.minimum = 1.0},
              "Step of a simulation; its first with a contact if not given")
      ->default_str("");
  add_integer(*app, "--seed", arguments->seed, {.minimum = 0.0}, "Seed of the random numbers");
  app->add_option("--velocity", arguments->velocity, "Velocity of every contact, in its frame: tangents, normal [m/s]")
      ->type_name("X,Y,Z")
      ->capture_default_str();
  add_real(*app, "--press", arguments->press, {.minimum = 0.0}, "Normal impulse that the iteration starts from [N s]");
  add_real(*app, "--rho", arguments->options.rho, {.minimum = 0.0, .above_minimum = true},
           "ρ of the proximal term [1/kg]");
  add_real(*app, "--tolerance", arguments->options.tolerance, {.minimum = 0.0, .above_minimum = true},
           "Of the residual of Carpentier24 eq. (47) [m/s]");
  add_integer(*app, "--max-iterations", arguments->options.max_iterations, {.minimum = 1.0}, "Limit on iterations");
  app->add_flag("--ccp", arguments->ccp,
                "Without De Saxcé's term: the cone problem, which has no answer where contacts slide");
  app->add_option("--solver", arguments->solver, "Of the forward dynamics")->type_name("ID")->capture_default_str();
  add_foreign_code(*app, arguments->code, false);
  app->add_flag("--json", arguments->json, "Print one JSON object");
  add_read_limit(*app);
  return {app, [arguments] { return run_inverse_dynamics(*arguments); }};
}

}  // namespace conebench::cli
