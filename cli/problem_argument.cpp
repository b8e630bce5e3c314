#include "cli/problem_argument.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <vector>

#include "base/option_parsing.hpp"
#include "base/plural.hpp"
#include "base/source_text.hpp"
#include "base/suggestion.hpp"
#include "base/temporary_folder.hpp"
#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/isolation.hpp"
#include "fclib_loader/recording.hpp"
#include "reports/text.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/problem_source.hpp"
#include "scenes/scene_table.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench::cli {

namespace {

constexpr long max_steps_to_next = 200;

Result<std::optional<ContactProblem>> make_scene(const SceneRow& scene, std::vector<std::string> words) {
  std::uint64_t seed = 1;
  CONEBENCH_CHECK(take_number(words, "seed", seed));
  CONEBENCH_TRY(const auto values, parse_options({words.begin() + 1, words.end()}, scene.options, scene.id, ""));
  CONEBENCH_TRY(auto problem, scene.make(values, seed));
  return std::optional<ContactProblem>(problem);
}

/// The problem of one time step, by simulating to it.
Result<std::optional<ContactProblem>> make_sample(const SimulatedSceneRow& scene, std::vector<std::string> words) {
  std::uint64_t seed = 1, number = 0;
  CONEBENCH_CHECK(take_number(words, "seed", seed));
  CONEBENCH_CHECK(take_number(words, "step", number));
  const auto step = static_cast<long>(number);
  if (step < 1) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: this scene is simulated and has a problem for every step: add step=K for one of "
                             "them; `conebench generate {} --out DIR` writes them all",
                             fmt::join(words, " "), scene.id)};
  }
  auto specs = simulation::all_options(scene);
  const auto sampling = simulation::sampling_options();
  std::erase_if(specs, [&](const OptionSpec& spec) {
    return std::any_of(sampling.begin(), sampling.end(), [&](const OptionSpec& one) { return one.name == spec.name; });
  });
  CONEBENCH_TRY(auto values, parse_options({words.begin() + 1, words.end()}, specs, scene.id, ""));
  values["every"] = step;
  CONEBENCH_TRY(const auto plan, simulation::plan_scene(scene, values, seed));
  CONEBENCH_TRY(auto simulation, simulation::simulate(plan));
  CONEBENCH_TRY(const auto request, simulation::sample_request(plan, step));
  const TemporaryFolder folder;
  ProgressPrinter progress = progress_on_stderr();
  const simulation::SamplingWatch watch{
      .sample = {}, .step = [&](const simulation::StepRecord& record) { progress.stepped(record.step, step); }};
  simulation::SampleList list;
  const auto ran = simulation::write_samples(simulation, plan, request, folder.path(), watch, list);
  progress.clear();
  CONEBENCH_CHECK(ran);
  if (list.files.empty()) {
    std::string next;
    for (long later = step + 1; later <= step + max_steps_to_next && next.empty(); ++later) {
      const auto record = simulation.step();
      if (!record) break;
      if (record->problem.rows() > 0) next = fmt::format("; step={} is the next one", later);
    }
    return Error{ErrorCode::bad_input, fmt::format("{}: step {} is no problem: it has no contact, no active limit and "
                                                   "no joint's row{}",
                                                   plan.name, step, next)};
  }
  CONEBENCH_TRY(auto problem, load_fclib(folder.path() / list.files.front()));
  return std::optional<ContactProblem>(problem);
}

/// Splits a report's name of a scene: "box-stack_boxes=2_mass_ratio=1000". An option begins after a _ with a name that
/// the scene knows. Empty: the text is no such name.
std::vector<std::string> parts_of_name(const std::string& text, const std::string& scene,
                                       const std::vector<OptionSpec>& options) {
  if (!text.starts_with(scene + "_")) return {};
  // A file that is not there: ".hdf5", but not the ".5" of "friction=0.5".
  const std::string extension = std::filesystem::path(text).extension().string();
  if (extension.size() > 1 && std::isalpha(static_cast<unsigned char>(extension[1])) != 0) return {};
  const auto begins_option = [&](std::size_t at) {
    const auto is = [&](const std::string& name) { return text.compare(at, name.size() + 1, name + "=") == 0; };
    return is("seed") || is("step") ||
           std::any_of(options.begin(), options.end(), [&](const OptionSpec& spec) { return is(spec.name); });
  };
  std::vector<std::string> words = {scene};
  std::size_t begin = scene.size() + 1;
  if (!begins_option(begin)) return {};
  for (std::size_t end = text.find('_', begin); begin < text.size(); end = text.find('_', end + 1)) {
    // The first option's name may end as another's: mass_ratio, ratio.
    if (end != std::string::npos && (text.find('=', begin) > end || !begins_option(end + 1))) continue;
    words.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::string simulation_hint(const std::string& text) {
  std::string extension = std::filesystem::path(text).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; });
  if (extension != ".xml" && extension != ".mjcf" && extension != ".urdf") return {};
  return fmt::format("simulate it with `conebench generate file --set {} --out DIR`", reports::shell("path=" + text));
}

Result<void> check_problem_file(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::string hint = simulation_hint(file.string());
  if (hint.empty() || !std::filesystem::exists(file, ignored)) return {};
  if (load_fclib(file)) return {};
  return Error{ErrorCode::bad_input, fmt::format("{}: not a problem but a model of a robot or a scene; {}, then give "
                                                 "one of the files",
                                                 file.string(), hint)};
}

void add_read_limit(CLI::App& app) {
  const auto seconds = std::make_shared<double>(hdf5::default_read_seconds);
  add_real(app, "--read-seconds", *seconds, {.minimum = 0.1, .maximum = 1e6},
           "Processor time for reading a file [s], and a second more for each 4 MB of it (10)");
  app.parse_complete_callback([seconds] { hdf5::limit_reading(*seconds); });
}

std::filesystem::path find_problem_file(const std::string& file) {
  std::filesystem::path given(file);
  if (given.is_absolute() || names_problem_file(given)) return given;
  if (const auto data = data_folder_of_environment(); !data.empty()) {
    auto below = data_folder(data) / given;
    if (names_problem_file(below)) return below;
  }
  if (given.has_parent_path()) {
    const std::string name = given.begin()->string();
    const auto set = data_set_of(name);
    auto below = set && *set ? (*set)->folder / file.substr(name.size() + 1) : given;
    if (names_problem_file(below)) return below;
  }
  return given;
}

Result<void> take_number(std::vector<std::string>& words, const std::string& key, std::uint64_t& number) {
  for (std::size_t k = 1; k < words.size();) {
    const std::string& word = words[k];
    if (!word.starts_with(key + "=")) {
      ++k;
      continue;
    }
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data() + key.size() + 1, end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) {
      return Error{ErrorCode::wrong_usage, fmt::format("{}: {} must be a whole number", words.front(), word)};
    }
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return {};
}

std::vector<std::string> scene_words(const std::string& text) {
  auto words = split_source_text(text);
  const std::string first = words && !words->empty() ? words->front() : std::string();
  const auto is = [&](const auto& scene) { return scene.id == first; };
  if (std::ranges::any_of(scene_table(), is) || std::ranges::any_of(simulated_scene_table(), is)) return *words;
  for (const SceneRow& scene : scene_table()) {
    if (auto named = parts_of_name(text, scene.id, scene.options); !named.empty()) return named;
  }
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (auto named = parts_of_name(text, scene.id, simulation::all_options(scene)); !named.empty()) return named;
  }
  return {};
}

Result<std::optional<ContactProblem>> make_named_scene(const std::string& text) {
  if (names_problem_file(find_problem_file(text))) return std::optional<ContactProblem>();
  std::string known;
  std::vector<std::string> ids;
  const std::vector<std::string> words = scene_words(text);
  for (const SceneRow& scene : scene_table()) {
    if (!words.empty() && scene.id == words.front()) return make_scene(scene, words);
    known += (known.empty() ? "" : ", ") + scene.id;
    ids.push_back(scene.id);
  }
  for (const SimulatedSceneRow& scene : simulated_scene_table()) {
    if (!words.empty() && scene.id == words.front()) return make_sample(scene, words);
    ids.push_back(scene.id);
  }
  const auto parts = split_source_text(text);
  const std::string meant = did_you_mean(parts && !parts->empty() ? parts->front() : std::string(), ids);
  if (!meant.empty() || text.find('=') != std::string::npos) {
    return Error{ErrorCode::bad_input, fmt::format("{}: no such file or scene; {}scenes: {}", text, meant, known)};
  }
  return std::optional<ContactProblem>();
}

Result<LoadedProblem> load_given_problem(const std::string& text) {
  CONEBENCH_TRY(const auto scene, make_named_scene(text));
  if (scene) return LoadedProblem{*scene, {}};
  const auto file = find_problem_file(text);
  CONEBENCH_CHECK(check_problem_file(file));
  CONEBENCH_TRY(const auto steps, recording_steps(file));
  if (!steps.empty()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: is a recording of {}; name one, such as {}", text,
                             plural(static_cast<long>(steps.size()), "step"), steps.front().string())};
  }
  CONEBENCH_TRY(const auto problem, load_fclib(file));
  return LoadedProblem{problem, file};
}

}  // namespace conebench::cli
