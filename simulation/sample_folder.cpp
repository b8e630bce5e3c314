#include "simulation/sample_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "base/plural.hpp"
#include "base/source_text.hpp"
#include "base/text_file.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/model_sizes.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench::simulation {

namespace fs = std::filesystem;

namespace {

constexpr int format_version = 2;
/// Bytes; a sample takes a line of some hundred.
constexpr std::uintmax_t max_list_bytes = 64 << 20;

Error unwritable(const fs::path& path, const std::string& why) {
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", path.string(), why)};
}

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json to_json(const std::vector<LeftOut>& left_out) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& [element, reason] : left_out) json.push_back({{"element", element}, {"reason", reason}});
  return json;
}

nlohmann::json to_json(const SampleList& list) {
  const SampleRequest& request = list.request;
  const SamplingSummary& summary = list.summary;
  nlohmann::json json = {{"format", format_version},
                         {"scene", request.scene},
                         {"name", request.name},
                         {"options", request.options},
                         {"seed", request.seed},
                         {"steps", request.steps},
                         {"model", request.model},
                         {"engine", request.engine},
                         {"solver_code", request.code},
                         {"solver", list.solver},
                         {"solver_label", list.label},
                         {"tolerance", list.tolerance},
                         {"complete", list.complete},
                         {"blown_up", list.blown_up},
                         {"failure", list.failure},
                         {"steps_done", summary.steps},
                         {"unsolved_steps", summary.unsolved},
                         {"worst_residual", number(summary.worst_residual)},
                         {"model_sizes", list.sizes},
                         {"notes", list.notes},
                         {"left_out", to_json(list.left_out)},
                         {"files", list.files},
                         {"unsolved_files", list.unsolved}};
  const nlohmann::json samples = to_json(summary);
  for (const char* key : {"infeasible_steps", "frictionless_steps", "worst_configuration_residual", "contacts",
                          "trivial", "why_trivial", "strata"}) {
    json[key] = samples.at(key);
  }
  return json;
}

SampleList from_json(const nlohmann::json& json) {
  SampleList list;
  SampleRequest& request = list.request;
  if (json.at("format") != format_version) throw std::domain_error("another format");
  json.at("scene").get_to(request.scene);
  json.at("name").get_to(request.name);
  json.at("options").get_to(request.options);
  json.at("seed").get_to(request.seed);
  json.at("steps").get_to(request.steps);
  json.at("model").get_to(request.model);
  json.at("engine").get_to(request.engine);
  request.code = json.value("solver_code", "");
  json.at("solver").get_to(list.solver);
  list.label = json.value("solver_label", list.solver);
  json.at("tolerance").get_to(list.tolerance);
  json.at("complete").get_to(list.complete);
  list.blown_up = json.value("blown_up", false);
  list.failure = json.value("failure", "");
  json.at("steps_done").get_to(list.summary.steps);
  json.at("unsolved_steps").get_to(list.summary.unsolved);
  for (const auto& step : json.value("infeasible_steps", nlohmann::json::array())) {
    InfeasibleStep infeasible;
    step.at("step").get_to(infeasible.step);
    step.at("bodies").get_to(infeasible.bodies);
    if (!step.at("margin").is_null()) step.at("margin").get_to(infeasible.margin);
    list.summary.infeasible.push_back(std::move(infeasible));
  }
  const auto& worst = json.at("worst_residual");
  list.summary.worst_residual = worst.is_null() ? HUGE_VAL : worst.get<double>();
  json.at("contacts").at("open").get_to(list.summary.modes.open);
  json.at("contacts").at("stick").get_to(list.summary.modes.stick);
  json.at("contacts").at("slip").get_to(list.summary.modes.slip);
  for (const auto& stratum : json.at("strata")) list.summary.strata.push_back(stratum_of_json(stratum));
  list.summary.frictionless = json.value("frictionless_steps", 0L);
  json.at("files").get_to(list.files);
  list.unsolved = json.value("unsolved_files", std::vector<std::string>());
  if (json.contains("model_sizes")) {
    // null: not finite, of a model with masses beyond all numbers.
    for (const auto& [name, size] : json.at("model_sizes").items()) {
      list.sizes[name] = size.is_null() ? std::nan("") : size.get<double>();
    }
  }
  if (json.contains("notes")) json.at("notes").get_to(list.notes);
  for (const auto& left : json.value("left_out", nlohmann::json::array())) {
    list.left_out.push_back({left.at("element").get<std::string>(), left.at("reason").get<std::string>()});
  }
  list.summary.samples = static_cast<long>(list.files.size());
  for (const std::string& file : list.files) {
    if (fs::path(file).filename() != file) throw std::domain_error("a file elsewhere");
  }
  return list;
}

Result<void> write_list(const SampleList& list, const fs::path& folder) {
  return write_text_file(folder / list_name,
                         to_json(list).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

Result<SampleRequest> sample_request(const ScenePlan& plan, long steps) {
  CONEBENCH_TRY(const auto model, model_hash(plan.model, plan.name));
  SampleRequest request{plan.family,
                        plan.name,
                        {},
                        plan.seed,
                        steps,
                        model,
                        (plan.model.soft ? "" : "MuJoCo ") + engine_version(plan.model),
                        code_of_solver(plan.options.solver)};
  for (const auto& [name, value] : plan.values) request.options[name] = to_text(value);
  return request;
}

std::string difference(const SampleRequest& earlier, const SampleRequest& request) {
  std::string differences;
  const auto compare = [&](const std::string& what, const std::string& before, const std::string& now) {
    const auto shown = [](const std::string& text) { return text.empty() ? std::string("not set") : text; };
    if (before == now) return;
    differences += fmt::format("{}{} {}, {}{}", differences.empty() ? "" : "; ", what, shown(before),
                               now.empty() ? "now " : "not ", shown(now));
  };
  const auto option = [](const SampleRequest& of, const std::string& name) {
    const auto found = of.options.find(name);
    return found == of.options.end() ? std::string() : found->second;
  };
  compare("scene", earlier.scene, request.scene);
  std::map<std::string, std::string> all = earlier.options;
  all.insert(request.options.begin(), request.options.end());
  for (const auto& [name, unused] : all) compare(name, option(earlier, name), option(request, name));
  compare("seed", std::to_string(earlier.seed), std::to_string(request.seed));
  compare("steps", std::to_string(earlier.steps), std::to_string(request.steps));
  if (!differences.empty()) return differences;
  if (earlier.model != request.model) return "the model or a file that it names has changed";
  if (earlier.code != request.code) return "the files of the loop's solver have changed";
  compare("engine", earlier.engine, request.engine);
  return differences;
}

std::optional<SampleList> read_list(const fs::path& folder) {
  const auto text = read_text_file(folder / list_name, max_list_bytes);
  if (!text) return std::nullopt;
  try {
    return from_json(nlohmann::json::parse(*text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<SampleList> whole_list(const fs::path& folder) {
  auto list = read_list(folder);
  std::error_code ignored;
  const auto is_there = [&](const std::string& file) { return fs::exists(folder / file, ignored); };
  if (!list || !list->complete || list->files.empty()) return std::nullopt;
  return std::all_of(list->files.begin(), list->files.end(), is_there) ? std::move(list) : std::nullopt;
}

/// A killed run has not listed what it wrote.
static std::vector<std::string> samples_of(const fs::path& folder, const SampleList& list) {
  std::vector<std::string> files = list.files;
  if (list.complete) return files;
  std::error_code failed;
  std::string begin = file_name(list.request.name + "_step=");
  begin.resize(begin.size() - std::string(".hdf5").size());
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(begin) && file.ends_with(".hdf5")) files.push_back(file);
  }
  return files;
}

bool has_samples(const fs::path& folder, const SampleList& list) { return !samples_of(folder, list).empty(); }

Result<void> remove_samples(const fs::path& folder, const SampleList& list) {
  std::error_code failed;
  std::vector<std::string> files = samples_of(folder, list);
  if (fs::exists(folder / picture_name, failed)) files.emplace_back(picture_name);
  for (const std::string& file : files) {
    if (fs::remove(folder / file, failed); failed) return unwritable(folder / file, failed.message());
  }
  if (fs::remove(folder / list_name, failed); failed) return unwritable(folder / list_name, failed.message());
  return {};
}

Result<fs::path> write_sample(const StepRecord& record, const fs::path& folder) {
  fs::path file = folder / file_name(record.problem.provenance().name);
  CONEBENCH_CHECK(write_fclib(record.problem, file));
  return file;
}

Result<void> write_samples(Simulation& simulation, const ScenePlan& plan, const SampleRequest& request,
                           const fs::path& folder, const SamplingWatch& watch, SampleList& list) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return unwritable(folder, failed.message());
  list = {.request = request,
          .solver = plan.options.solver,
          .label = simulation.solver(),
          .tolerance = plan.options.tolerance};
  CONEBENCH_CHECK(write_list(list, folder));
  SamplingWatch writing = watch;
  writing.sample = [&](const StepRecord& record) -> Result<void> {
    CONEBENCH_TRY(const auto file, write_sample(record, folder));
    list.files.push_back(file.filename().string());
    if (!record.solved) list.unsolved.push_back(list.files.back());
    if (watch.sample) return watch.sample(record);
    return {};
  };
  // At the start loops are closed; later their drift makes redundant rows independent.
  writing.step = [&](const StepRecord& record) {
    if (record.step == 1) list.sizes = model_sizes(simulation);
    if (watch.step) watch.step(record);
  };
  const auto ran = sample(simulation, request.steps, list.tolerance, plan.sampling, writing, list.summary);
  list.notes = simulation.notes();
  list.left_out = simulation.engine().left_out();
  if (list.sizes.empty()) list.sizes = model_sizes(simulation);
  list.blown_up = simulation.has_blown_up();
  if (!ran) list.failure = ran.error().message;
  list.complete = ran && (list.summary.steps == request.steps || list.summary.full);
  if (auto ended = write_list(list, folder); !ended && ran) return ended.error();
  return ran;
}

Result<void> make_samples(const fs::path& folder, const ScenePlan& plan, long steps,
                          const std::atomic<bool>* interrupted) {
  CONEBENCH_TRY(auto simulation, simulate(plan));
  CONEBENCH_TRY(const auto request, sample_request(plan, steps));
  if (const auto earlier = read_list(folder)) CONEBENCH_CHECK(remove_samples(folder, *earlier));
  SampleList list;
  const SamplingWatch watch{.sample = {}, .step = {}, .interrupted = interrupted};
  CONEBENCH_CHECK(write_samples(simulation, plan, request, folder, watch, list));
  if (list.complete && list.files.empty()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: no samples: {}", plan.name,
                                                   list.summary.why_empty(plan.sampling, advice_without_rows(plan)))};
  }
  // Samples do without where it can't be drawn.
  if (list.complete) static_cast<void>(simulation.engine().write_picture(folder / picture_name));
  return {};
}

/// What of the scene makes contacts slip or open.
static std::string advice_of(const SampleRequest& request) {
  constexpr const char* moving[] = {"push", "slope", "speed", "tilt", "spin", "amplitude", "friction"};
  const auto scene = require_simulated_scene(request.scene);
  // A file goes by its own name, which may be that of a scene.
  if (!scene || request.options.contains("path")) return "a model with a push, a slope or less friction, or more steps";
  const auto& options = (*scene)->options;
  const auto has = [&](const char* name) {
    return std::any_of(options.begin(), options.end(), [&](const OptionSpec& spec) { return spec.name == name; });
  };
  std::vector<std::string> found;
  for (const char* const name : moving) {
    if (has(name)) found.emplace_back(name);
  }
  if (found.empty()) return "more steps";
  return fmt::format("other values of {}, or more steps", fmt::join(found, ", "));
}

std::optional<std::string> trivial_warning(const SampleList& list) {
  if (list.summary.samples > 0 && list.unsolved.size() == list.files.size()) return std::nullopt;
  const std::string why = list.summary.why_trivial();
  if (why.empty()) return std::nullopt;
  return fmt::format("{}: easy samples, on which solvers hardly differ: {}; try {}", list.request.name, why,
                     advice_of(list.request));
}

std::optional<std::string> strata_warning(const SampleList& list) {
  constexpr std::size_t max_named = 3;
  std::vector<std::string> named;
  std::size_t count = 0;
  for (const Stratum& stratum : list.summary.strata) {
    if (!stratum.is_short() || ++count > max_named) continue;
    named.push_back(fmt::format("{}: {} of {}", stratum.name(), stratum.taken, stratum.wanted));
  }
  if (count == 0) return std::nullopt;
  if (count > max_named) named.push_back(fmt::format("and {} more", count - max_named));
  return fmt::format("{}: {} without as many samples as wanted after {} ({}); more steps may give them",
                     list.request.name, count == 1 ? "1 stratum is" : fmt::format("{} strata are", count),
                     plural(list.summary.steps, "step"), fmt::join(named, "; "));
}

/// " increment=0.1 ratio=5" where the loop's solver did not have its defaults.
static std::string changed_options(const SampleList& list) {
  const auto set = list.request.options.find("solver_options");
  if (set == list.request.options.end()) return {};
  const auto solver = loop_solver(list.solver, set->second);
  return solver ? solver->label().substr(list.solver.size()) : std::string();
}

/// "1 of the first 20 of these has no solution (certified), the first is step 3: base and link ask for a velocity that
/// no impulse gives, 0.6 m/s short; …".
static std::string describe_infeasible(const SamplingSummary& summary) {
  const InfeasibleStep& first = summary.infeasible.front();
  const auto count = static_cast<long>(summary.infeasible.size());
  const std::string who =
      first.bodies.empty() ? "a joint or limit asks" : fmt::format("{} ask", fmt::join(first.bodies, " and "));
  return fmt::format(
      "{} of {}these {} no solution (certified), the first is step {}: {} for a velocity that no impulse "
      "gives, {:.2g} m/s short; leave out contacts of parts that can't move, or start without overlap",
      count, summary.unsolved > max_feasibility_checks ? fmt::format("the first {} of ", max_feasibility_checks) : "",
      count == 1 ? "has" : "have", first.step, who, -first.margin);
}

std::optional<std::string> loop_warning(const SampleList& list) {
  const auto integrator = list.request.options.find("integrator");
  const bool solved = integrator == list.request.options.end() || !is_experiment(integrator->second);
  if (list.summary.unsolved == 0 || !solved) return std::nullopt;
  constexpr double rounding = 1e-10;
  const std::string changed = changed_options(list);
  const std::string help = !list.summary.infeasible.empty() ? describe_infeasible(list.summary)
                           : list.summary.worst_residual <= rounding
                               ? fmt::format("a tolerance of {:g} or more is out of rounding's way", rounding)
                           : !changed.empty()
                               ? "other solver_options, or none, another solver or a smaller time_step may help"
                           : list.solver == "CASCADE" ? "more max_iterations or a smaller time_step may help"
                                                      : "solver=CASCADE or a smaller time_step may help";
  return fmt::format(
      "warning: {}: {}{} missed its tolerance {:g} in {} of {} steps (worst residual {:.2g}), and later steps follow "
      "from these; each sample tells what its own impulses leave (reference/residuals); {}",
      list.request.name, list.solver, changed.empty() ? changed : fmt::format(" (with{})", changed), list.tolerance,
      list.summary.unsolved, list.summary.steps, list.summary.worst_residual, help);
}

}  // namespace conebench::simulation
