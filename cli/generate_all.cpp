#include "cli/generate_all.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "base/folder.hpp"
#include "base/glob.hpp"
#include "base/plural.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "runners/execute/interrupt.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scene_plan.hpp"

namespace conebench::simulation {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LeftOut, element, reason)

}  // namespace conebench::simulation

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;
using simulation::LeftOut;
using simulation::StepRecord;

constexpr long default_steps = 50;

/// What became of a model, in the order of what is found first.
enum class ModelStatus {
  not_loaded,  ///< it can't be read
  refused,     ///< no problem can hold an element of it
  crashed,
  timed_out,
  blown_up,  ///< a velocity passed max_speed
  stopped,   ///< a step failed otherwise
  no_rows,   ///< no step had a contact, a limit or another row
  partial,   ///< a part of it is left out
  whole
};
NLOHMANN_JSON_SERIALIZE_ENUM(ModelStatus, {{ModelStatus::not_loaded, "not_loaded"},
                                           {ModelStatus::refused, "refused"},
                                           {ModelStatus::crashed, "crashed"},
                                           {ModelStatus::timed_out, "timed_out"},
                                           {ModelStatus::blown_up, "blown_up"},
                                           {ModelStatus::stopped, "stopped"},
                                           {ModelStatus::no_rows, "no_rows"},
                                           {ModelStatus::partial, "partial"},
                                           {ModelStatus::whole, "whole"}})

/// Facts of one model, as --json prints them.
struct ModelReport {
  std::string path;  ///< below the folder
  ModelStatus status = ModelStatus::crashed;
  bool loaded = false;                   ///< MuJoCo has read it
  double seconds = 0.0;                  ///< of its process
  long steps = 0;                        ///< done
  std::map<std::string, long> rows;      ///< the most of a step, by type
  std::map<std::string, long> contacts;  ///< the most of a step, by their number of rows
  std::vector<LeftOut> left_out;
  long unsolved_steps = 0;
  long infeasible_steps = 0;  ///< of the first max_feasibility_checks unsolved ones
  long cut_steps = 0;         ///< with contacts missing
  long samples = 0;           ///< written
  std::string reason;         ///< of not_loaded … stopped, by who stopped it

  bool ran() const { return status >= ModelStatus::blown_up; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelReport, path, status, loaded, seconds, steps, rows, contacts, left_out,
                                   unsolved_steps, infeasible_steps, cut_steps, samples, reason)

struct ModelFile {
  fs::path path;  ///< below the folder
  bool urdf = false;
  bool included = false;  ///< by another one
};

/// The root element of an XML file, null where there is none, with the document that holds it.
struct XmlRoot {
  pugi::xml_document document;
  pugi::xml_node element;

  explicit XmlRoot(const fs::path& file) {
    document.load_file(file.c_str());  // what is before an error
    element = document.document_element();
  }
};

/// Whether a model's root or a file that it includes has a <worldbody>. MuJoCo looks for all of them in the model's
/// folder; `included` gets them.
bool has_world(const pugi::xml_node& root, const fs::path& folder, std::set<fs::path>& included) {
  bool found = static_cast<bool>(root.child("worldbody"));
  for (const pugi::xpath_node& include : root.select_nodes(".//include")) {
    const fs::path file = (folder / include.node().attribute("file").value()).lexically_normal();
    std::error_code ignored;
    if (!included.insert(file).second || !fs::is_regular_file(file, ignored)) continue;
    if (has_world(XmlRoot(file).element, folder, included)) found = true;
  }
  return found;
}

/// Sorted by their paths. Errors: those of glob_files.
Result<std::vector<ModelFile>> find_models(const fs::path& folder) {
  std::vector<ModelFile> models;
  std::set<fs::path> included;
  for (const char* pattern : {"**/*.xml", "**/*.urdf"}) {
    CONEBENCH_TRY(const auto files, glob_files(folder, pattern));
    for (const fs::path& file : files) {
      std::error_code ignored;
      if (!fs::is_regular_file(folder / file, ignored)) continue;
      const XmlRoot root(folder / file);
      const std::string name = root.element.name();
      std::set<fs::path> own;
      if (name == "robot") {
        models.push_back({.path = file, .urdf = true});
      } else if (name == "mujoco" && has_world(root.element, (folder / file).parent_path(), own)) {
        models.push_back({.path = file});
      }
      included.merge(own);
    }
  }
  for (ModelFile& model : models) model.included = included.contains((folder / model.path).lexically_normal());
  std::ranges::sort(models, {}, &ModelFile::path);
  return models;
}

struct Survey {
  const SimulatedSceneRow* scene = nullptr;
  OptionValues values;
  std::uint64_t seed = 1;
  long steps = default_steps;
  fs::path folder;
  fs::path out;  ///< empty: no samples are kept
  bool replace = false;
  std::chrono::milliseconds limit;
};

/// What a model's process tells before its end.
struct Stage {
  std::atomic<bool> loaded = false;
  std::atomic<long> steps = 0;
};

void count_rows(const ConeProduct& cones, ModelReport& report) {
  const auto raise = [](std::map<std::string, long>& most, const std::string& type, long rows) {
    if (rows > 0) most[type] = std::max(most[type], rows);
  };
  raise(report.rows, "bilateral", cones.joints());
  raise(report.rows, "unilateral", cones.limits());
  raise(report.rows, "interval", static_cast<long>(cones.intervals().size()));
  raise(report.rows, "contact", cones.rows() - cones.first_contact_row());
  std::map<std::string, long> now;
  for (Index c = 0; c < cones.contacts(); ++c) ++now[std::to_string(cones.contact_rows(c))];
  for (const auto& [rows, count] : now) raise(report.contacts, rows, count);
}

/// The message without the model's name in front, which `path` has.
std::string without_name(std::string message, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (message.starts_with(name + ": ")) message.erase(0, name.size() + 2);
  }
  return message;
}

/// In the model's own process.
ModelReport run_model(const ModelFile& file, const Survey& survey, Stage& stage) {
  ModelReport report;
  OptionValues values = survey.values;
  // The scene's own options are of URDF files.
  if (!file.urdf) {
    for (const OptionSpec& spec : survey.scene->options) values.erase(spec.name);
  }
  values["path"] = (survey.folder / file.path).string();
  const auto plan = simulation::plan_scene(*survey.scene, values, survey.seed);
  const auto fail = [&](const Error& error, ModelStatus status) {
    const std::string file_name = (survey.folder / file.path).string();
    report.status = status;
    report.reason = without_name(error.message, {"scene 'file'", file_name, plan ? plan->name : file_name});
    return report;
  };
  const auto not_begun = [&](const Error& error) {
    return fail(error, error.code == ErrorCode::unsupported ? ModelStatus::refused : ModelStatus::not_loaded);
  };
  if (!plan) return not_begun(plan.error());
  auto simulation = simulation::simulate(*plan);
  if (!simulation) {
    // Its elements are looked at once it is loaded.
    report.loaded = simulation.error().code == ErrorCode::unsupported;
    return not_begun(simulation.error());
  }
  stage.loaded = report.loaded = true;
  report.left_out = simulation->engine().left_out();

  bool constrained = false;
  simulation::SamplingWatch watch;
  watch.step = [&](const StepRecord& record) {
    constrained = constrained || record.problem.rows() > 0;
    count_rows(record.problem.cones(), report);
    stage.steps = record.step;
  };
  simulation::SampleList list;
  const auto run = [&]() -> Result<void> {
    if (!survey.out.empty()) {
      const fs::path folder = survey.out / file.path;
      CONEBENCH_TRY(const auto request, simulation::sample_request(*plan, survey.steps));
      CONEBENCH_CHECK(clear_sample_folder(folder, request, survey.replace));
      return simulation::write_samples(*simulation, *plan, request, folder, watch, list);
    }
    auto none = plan->sampling;
    none.sample = "steps";
    none.every = survey.steps + 1;
    return simulation::sample(*simulation, survey.steps, plan->options.tolerance, none, watch, list.summary);
  };
  const auto ran = run();
  report.steps = list.summary.steps;
  report.unsolved_steps = list.summary.unsolved;
  report.infeasible_steps = static_cast<long>(list.summary.infeasible.size());
  report.cut_steps = list.summary.cut;
  report.samples = static_cast<long>(list.files.size());
  if (!ran) return fail(ran.error(), simulation->has_blown_up() ? ModelStatus::blown_up : ModelStatus::stopped);
  if (!constrained) {
    report.status = ModelStatus::no_rows;
  } else {
    report.status = report.left_out.empty() && report.cut_steps == 0 ? ModelStatus::whole : ModelStatus::partial;
  }
  return report;
}

/// Runs a model in a process of its own. Errors (killed): the system refuses one.
Result<ModelReport> run_apart(const ModelFile& file, const Survey& survey, Stage& stage,
                              const std::atomic<bool>& interrupted) {
  using Clock = std::chrono::steady_clock;
  auto channel = make_channel();
  if (!channel) return Error{ErrorCode::killed, "the system refused a socket; run again"};
  stage.loaded = false;
  stage.steps = 0;
  OutputCatcher output;
  const auto begin = Clock::now();
  const pid_t child = fork_process({.channel = channel->second.number(), .output = output.descriptor()}, [&] {
    limit_this_process({.oom_score = 1000});
    const std::string text =
        nlohmann::json(run_model(file, survey, stage)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return write_all(child_channel, text) ? 0 : 1;
  });
  if (child < 0) return Error{ErrorCode::killed, "the system refused a new process; run again"};
  channel->second.close();
  const auto answer = read_to_end(channel->first.number(), [&] {
    const auto left = survey.limit - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    return interrupted ? std::chrono::milliseconds::zero() : left;
  });
  if (!answer) ::kill(-child, SIGKILL);
  const int status = wait_for_end(child);

  ModelReport report;
  const nlohmann::json told = nlohmann::json::parse(answer.value_or(""), nullptr, false);
  if (told.is_object()) {
    told.get_to(report);
  } else {
    report.status = answer ? ModelStatus::crashed : ModelStatus::timed_out;
    report.steps = stage.steps;
    report.reason = answer ? ending_text(status) : fmt::format("{:g} s", 1e-3 * double(survey.limit.count()));
    if (const std::string last = output.last_output(); answer && !last.empty()) report.reason += ": " + last;
    report.loaded = stage.loaded;
  }
  report.path = file.path.string();
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report;
}

/// "not loaded"
std::string words(std::string status) {
  std::ranges::replace(status, '_', ' ');
  return status;
}
std::string words(ModelStatus status) { return words(nlohmann::json(status).get<std::string>()); }

std::string left_out_text(const std::vector<LeftOut>& parts) {
  std::string text;
  for (const LeftOut& part : parts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", part.element, part.reason);
  }
  return text;
}

std::string what_text(const ModelReport& report) {
  std::vector<std::string> parts;
  switch (report.status) {
    case ModelStatus::not_loaded:
    case ModelStatus::refused:
    case ModelStatus::crashed: parts.push_back(words(report.status) + ": " + report.reason); break;
    case ModelStatus::timed_out:
      parts.push_back(fmt::format("not {} in {}", report.loaded ? "done" : "loaded", report.reason));
      break;
    case ModelStatus::blown_up:
    case ModelStatus::stopped: parts.push_back(report.reason); break;
    case ModelStatus::no_rows: parts.push_back("no constraint in any step"); break;
    case ModelStatus::partial:
    case ModelStatus::whole: break;
  }
  if (!report.left_out.empty()) parts.push_back("left out: " + left_out_text(report.left_out));
  if (report.unsolved_steps > 0) parts.push_back(plural(report.unsolved_steps, "unsolved step"));
  if (report.cut_steps > 0) parts.push_back(plural(report.cut_steps, "step") + " with contacts missing");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Of the models, how many …
struct Totals {
  long models = 0, loaded = 0, whole = 0, left_out = 0, no_contact = 0, infeasible = 0;
  std::map<std::string, long> statuses;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Totals, models, loaded, whole, left_out, no_contact, infeasible, statuses)

Totals totals_of(const std::vector<ModelReport>& reports) {
  Totals totals;
  for (const ModelReport& report : reports) {
    ++totals.models;
    ++totals.statuses[nlohmann::json(report.status)];
    totals.loaded += report.loaded ? 1 : 0;
    totals.whole += report.status == ModelStatus::whole ? 1 : 0;
    totals.left_out += report.left_out.empty() ? 0 : 1;
    totals.no_contact += report.ran() && report.contacts.empty() ? 1 : 0;
    totals.infeasible += report.infeasible_steps > 0 ? 1 : 0;
  }
  return totals;
}

std::string table_text(const std::vector<ModelReport>& reports) {
  const auto mark = [](bool is) { return std::string(is ? "yes" : "–"); };
  const auto count = [](long number) { return number > 0 ? std::to_string(number) : std::string("–"); };
  std::vector<std::vector<std::string>> rows = {
      {"model", "loaded", "whole", "left out", "no contact", "infeasible", "steps", "s", "what"}};
  for (const ModelReport& report : reports) {
    rows.push_back({report.path, mark(report.loaded), mark(report.status == ModelStatus::whole),
                    count(static_cast<long>(report.left_out.size())), mark(report.ran() && report.contacts.empty()),
                    count(report.infeasible_steps), std::to_string(report.steps), fmt::format("{:.1f}", report.seconds),
                    what_text(report)});
  }
  const Totals all = totals_of(reports);
  std::map<std::string, long> statuses;
  for (const auto& [status, number] : all.statuses) statuses[words(status)] = number;
  rows.push_back({plural(all.models, "model"), std::to_string(all.loaded), std::to_string(all.whole),
                  std::to_string(all.left_out), std::to_string(all.no_contact), std::to_string(all.infeasible), "", "",
                  counts_text(statuses)});
  return align_columns(rows, output_columns());
}

Result<void> refuse_of_one_simulation(const GenerateArguments& arguments) {
  const auto& trajectory = arguments.trajectory;
  for (const auto& [given, name] : {std::pair(!arguments.scene.empty(), "SCENE"),
                                    {arguments.picture, "--picture"},
                                    {trajectory.state, "--state"},
                                    {!trajectory.bodies.empty(), "--body"},
                                    {trajectory.impulses, "--impulses"},
                                    {trajectory.conditioning, "--conditioning"}}) {
    if (given) return Error{ErrorCode::wrong_usage, fmt::format("{}: not with --all; leave it out", name)};
  }
  return {};
}

Result<Survey> plan_survey(const GenerateArguments& arguments) {
  CONEBENCH_CHECK(refuse_of_one_simulation(arguments));
  Survey survey;
  CONEBENCH_TRY(survey.scene, require_simulated_scene("file"));
  const auto specs = simulation::all_options(*survey.scene);
  CONEBENCH_TRY(survey.values, parse_set_values(arguments.set_values, specs, "--all"));
  if (survey.values.contains("path")) {
    return Error{ErrorCode::wrong_usage, "--set path: not with --all, which takes every model; leave it out"};
  }
  const auto text = [&](const char* name) {
    const auto found = survey.values.find(name);
    return found == survey.values.end() ? std::string() : to_text(found->second);
  };
  const std::string solver = text("solver");
  CONEBENCH_CHECK(simulation::loop_solver(solver.empty() ? simulation::SimulationOptions().solver : solver,
                                          text("solver_options")));
  if (simulation::engine_version().empty()) return Error{ErrorCode::unsupported, simulation::missing_engine};
  survey.seed = static_cast<std::uint64_t>(arguments.seed);
  if (arguments.steps > 0) survey.steps = arguments.steps;
  survey.folder = arguments.all;
  survey.out = arguments.folder;
  survey.replace = arguments.replace;
  survey.limit = std::chrono::milliseconds(static_cast<long>(1e3 * arguments.time_limit));
  return survey;
}

}  // namespace

Result<int> generate_all(const GenerateArguments& arguments) {
  CONEBENCH_TRY(const auto survey, plan_survey(arguments));
  std::error_code ignored;
  if (!fs::is_directory(survey.folder, ignored)) {
    return Error{ErrorCode::bad_input, fmt::format("--all {}: no such folder", arguments.all)};
  }
  CONEBENCH_TRY(const auto files, find_models(survey.folder).within("--all " + arguments.all));
  if (files.empty()) {
    return Error{ErrorCode::bad_input, fmt::format("--all {}: no MJCF or URDF model below it", arguments.all)};
  }
  if (!arguments.folder.empty()) CONEBENCH_CHECK(make_folder(arguments.folder));

  void* const shared = ::mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Error{ErrorCode::killed, "the system refused memory; run again"};
  auto& stage = *new (shared) Stage;
  const InterruptGuard guard;
  ProgressPrinter progress = progress_on_stderr();
  std::vector<ModelReport> reports;
  long looked_at = 0;
  for (const ModelFile& file : files) {
    CONEBENCH_TRY(auto report, run_apart(file, survey, stage, guard.flag()));
    if (guard.flag()) break;
    ++looked_at;
    if (file.included && report.status == ModelStatus::not_loaded) continue;
    progress.note(fmt::format("{}/{} {}: {}", looked_at, files.size(), report.path, words(report.status)));
    reports.push_back(std::move(report));
  }
  progress.clear();
  ::munmap(shared, sizeof(Stage));

  const Totals totals = totals_of(reports);
  if (arguments.json) {
    print_json("generate-all", {{"folder", arguments.all},
                                {"steps", survey.steps},
                                {"engine", simulation::engine_version()},
                                {"models", reports},
                                {"totals", totals}});
  } else {
    print_text(table_text(reports));
  }
  if (guard.flag()) {
    print_error(fmt::format("interrupted after {} of {}", looked_at, plural(static_cast<long>(files.size()), "model")));
    return interrupted;
  }
  if (totals.statuses.contains("crashed")) return not_run;
  return totals.loaded > 0 ? done : nothing_measured;
}

}  // namespace conebench::cli
