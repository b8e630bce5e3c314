#include "runners/plan/problem_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "base/content_address.hpp"
#include "base/glob.hpp"
#include "base/plural.hpp"
#include "base/source_text.hpp"
#include "base/utf8.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_names.hpp"
#include "fclib_loader/recording.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/grid.hpp"
#include "runners/plan/source_names.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

/// The files of each folder are one sequence.
void make_sequences(std::vector<ProblemSource>& files, const ProblemEntry& entry) {
  std::stable_sort(files.begin(), files.end(),
                   [](const ProblemSource& a, const ProblemSource& b) { return comes_before(a.source, b.source); });
  for (std::size_t k = 0; k < files.size(); ++k) {
    files[k].position =
        SequencePosition{entry.where + '\n' + files[k].file.parent_path().string(), static_cast<long>(k)};
  }
}

/// Where relative globs start from.
struct Base {
  fs::path folder;
  std::optional<DataSet> set = {};
  std::string unasked = {};  ///< what the folder is where it was not named by --data
};

/// Files by where they were taken from, where nobody asked for that folder.
using Unasked = std::map<std::pair<fs::path, std::string>, long>;

void tell_unasked(const Unasked& found, const fs::path& data, const SceneWatch& watch) {
  if (!watch.note) return;
  for (const auto& [position, count] : found) {
    std::error_code ignored;
    const auto& [folder, what] = position;
    watch.note(fmt::format("taken from {}, {}, because --data {}: {}",
                           fs::weakly_canonical(folder.empty() ? "." : folder, ignored).string(), what,
                           data.empty() ? "is not given" : data.string() + " has none that fits",
                           plural(count, "file")));
  }
}

Result<std::vector<fs::path>> files_below(const ProblemEntry& entry, const Base& base) {
  if (!entry.fclib.empty()) {
    if (step_address(base.folder / entry.fclib)) return std::vector<fs::path>{entry.fclib};
    return glob_files(base.folder, entry.fclib);
  }
  std::vector<fs::path> files;
  for (const DataFile& file : base.set->files) files.emplace_back(file.path);
  return files;
}

/// Says of a source which file of the set it is.
Result<void> attribute(const DataSet& set, const fs::path& file, ProblemSource& source) {
  const DataFile* const known = set.find(file.generic_string());
  if (known == nullptr) {
    return Error{ErrorCode::bad_input, fmt::format("data set {} {}: {} is not in its manifest; `conebench data add {}` "
                                                   "again takes it in",
                                                   set.name, set.version, source.source, set.name)};
  }
  source.data_set = set.name;
  source.data_version = set.version;
  source.data_hash = known->hash;
  return {};
}

void make_step(ProblemSource& source, const StepAddress& address) {
  source.name = valid_utf8(address.problem_name());
  if (const auto number = address.number()) {
    source.position = SequencePosition{address.file.string(), static_cast<long>(*number)};
  }
}

/// Takes in a file, or each step of a recording. One that can't be read is a problem that fails.
void add_steps(const ProblemSource& file, std::vector<ProblemSource>& sources) {
  const auto steps = recording_steps(file.file);
  if (!steps || steps->empty()) return sources.push_back(file);
  for (const fs::path& address : *steps) {
    ProblemSource step = file;
    step.file = address;
    step.source += "/" + address.filename().string();
    make_step(step, *step_address(address));
    sources.push_back(std::move(step));
  }
}

Result<std::vector<ProblemSource>> files_of(const ProblemEntry& entry, std::vector<Base> bases, Unasked& unasked) {
  if (!entry.data.empty()) {
    CONEBENCH_TRY(auto set, find_data_set(entry.data).within(entry.where));
    bases = {{set.folder, std::move(set)}};
  }
  std::string searched;
  for (const Base& base : bases) {
    CONEBENCH_TRY(const auto files, files_below(entry, base).within(entry.where));
    if (files.empty()) {
      searched += (searched.empty() ? "" : ", ") + (base.folder.empty() ? std::string(".") : base.folder.string());
      continue;
    }
    std::vector<ProblemSource> sources;
    for (const fs::path& file : files) {
      ProblemSource source;
      source.file = file.is_absolute() ? file : base.folder / file;
      const auto step = step_address(source.file);
      source.name = valid_utf8((step ? step->file : file).stem().string());
      source.family = entry.family.empty() ? family_of_name(source.name) : entry.family;
      if (step) make_step(source, *step);
      source.source = valid_utf8(file.generic_string());
      if (!base.unasked.empty() && !file.is_absolute()) ++unasked[{base.folder, base.unasked}];
      if (base.set && !file.is_absolute()) {
        CONEBENCH_CHECK(attribute(*base.set, file, source));
        if (!entry.data.empty()) source.source = base.set->name + "/" + source.source;
      }
      add_steps(source, sources);
    }
    if (entry.sequence) make_sequences(sources, entry);
    return sources;
  }
  if (bases.empty()) {
    return Error{
        ErrorCode::bad_input,
        fmt::format("{}: '{}' needs a data folder; give it with --data or CONEBENCH_DATA", entry.where, entry.fclib)};
  }
  return Error{ErrorCode::bad_input, fmt::format("{}: '{}' matches no file in: {}; give the folder with --data",
                                                 entry.where, entry.fclib, searched)};
}

std::vector<ProblemSource> scenes_of(const ProblemEntry& entry, const SceneRow& row) {
  std::vector<ProblemSource> sources;
  for (std::size_t k = 0; k < entry.options.size(); ++k) {
    const OptionValues& options = entry.options[k];
    for (const std::uint64_t seed : entry.seeds) {
      ProblemSource source;
      source.family = entry.family.empty() ? entry.scene : entry.family;
      source.source = scene_text(entry.scene, effective_options(row.options, options), seed);
      source.scene = entry.scene;
      source.options = options;
      source.seed = seed;
      source.as_fclib = entry.as_fclib;
      if (entry.sequence)
        source.position = SequencePosition{fmt::format("{}\n{}", entry.where, seed), static_cast<long>(k)};
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

bool interrupted(const SceneWatch& watch) { return watch.interrupted != nullptr && *watch.interrupted; }

/// What is noted once for all simulations of a run.
struct Notes {
  bool no_picture = false;
  std::string no_engine;         ///< why nothing can be simulated
  std::set<std::string> scenes;  ///< that are not, therefore
};

/// The files of a folder's samples in order, simulated where they are not all there. Notes begin with
/// `before`.
Result<std::vector<std::string>> samples_in(const fs::path& folder, const SampledSimulation& plan, long steps,
                                            const SceneWatch& watch, const std::string& before, Notes& notes) {
  const auto note = [&](const std::string& line) {
    if (watch.note) watch.note(before + line);
  };
  auto samples = plan.made(folder);
  if (!samples) {
    note(fmt::format("simulating {}, {} steps", plan.name, steps));
    const auto made = watch.make ? watch.make(folder, plan, steps) : plan.make(folder, steps, watch.interrupted);
    if (interrupted(watch)) return std::vector<std::string>{};
    CONEBENCH_CHECK(made);
    samples = plan.made(folder);
    if (!samples) return Error{ErrorCode::bad_input, plan.name + ": its samples are gone from " + folder.string()};
    // For the report; one line says that there is none, however many simulations there are.
    if (!notes.no_picture && !samples->picture) {
      notes.no_picture = true;
      note("no picture of the scene could be drawn; conebench generate --picture says why");
    }
  }
  for (const std::string& line : samples->notes) note(line);
  return std::move(samples->files);
}

/// Those that a simulation may give, as far as it is known without it.
std::vector<ProblemSource> pending_samples(const ProblemEntry& entry, const SampledSimulation& plan,
                                           const std::string& name, long steps) {
  std::vector<ProblemSource> sources;
  for (long k = plan.every; k <= steps; k += plan.every) {
    ProblemSource source;
    source.name = fmt::format("{}_step={:05}", name, k);
    source.family = entry.family.empty() ? plan.family : entry.family;
    source.source = sample_text(entry.scene, plan, k);
    source.file = file_name(source.source);
    source.position = SequencePosition{fmt::format("{}\n{}\n{}", entry.where, name, plan.seed), k};
    source.pending = true;
    sources.push_back(std::move(source));
  }
  return sources;
}

/// The one source of a simulation that gives no samples: all that it takes to see it fail again, and why it did.
ProblemSource failed_simulation(const ProblemEntry& entry, const SampledSimulation& plan, const std::string& name,
                                long steps, const std::string& why) {
  ProblemSource source;
  source.name = name;
  source.family = entry.family.empty() ? plan.family : entry.family;
  source.source = fmt::format("{} steps={}", scene_text(entry.scene, plan.values, plan.seed), steps);
  source.file = file_name(source.source);
  source.failure = entry.where + ": " + why;
  return source;
}

/// The scene as far as its samples' content depends on it; the loop's solver has a text of its own.
std::string addressed_text(const std::string& scene, OptionValues effective, std::uint64_t seed) {
  effective.erase("solver_options");
  return scene_text(scene, effective, seed);
}

/// A simulated scene's model file is taken from where the command is called, or else from where the suite's problems
/// are.
ProblemEntry with_model_found(ProblemEntry entry, const std::vector<Base>& bases) {
  for (OptionValues& options : entry.options) {
    const auto option = options.find("path");
    const auto* const path = option == options.end() ? nullptr : std::get_if<std::string>(&option->second);
    std::error_code ignored;
    if (path == nullptr || path->empty() || fs::path(*path).is_absolute() || fs::exists(*path, ignored)) continue;
    const auto base = std::find_if(bases.begin(), bases.end(),
                                   [&](const Base& one) { return fs::is_regular_file(one.folder / *path, ignored); });
    if (base != bases.end()) option->second = (base->folder / *path).lexically_normal().string();
  }
  return entry;
}

/// Whether the suite has models of this name in several folders: simulations are called by the name alone.
bool shares_file_name(const Suite& suite, const std::string& file) {
  std::set<std::string> paths;
  for (const ProblemEntry& entry : suite.problems) {
    for (const OptionValues& options : entry.options) {
      const auto option = options.find("path");
      if (option == options.end() || !std::holds_alternative<std::string>(option->second)) continue;
      const auto& path = std::get<std::string>(option->second);
      if (fs::path(path).stem() == fs::path(file).stem()) paths.insert(path);
    }
  }
  return paths.size() > 1;
}

Result<std::vector<ProblemSource>> samples_of(const Suite& suite, const ProblemEntry& entry, const fs::path& cache,
                                              const SceneWatch& watch, Notes& notes) {
  const auto& specs = entry.simulated->options;
  const std::set<std::string> differing = solve_options_that_differ(suite, entry.scene, specs);
  std::vector<ProblemSource> sources;
  for (const OptionValues& options : entry.options) {
    for (const std::uint64_t seed : entry.seeds) {
      CONEBENCH_TRY(const auto plan, entry.simulated->plan(options, seed).within(entry.where));
      const std::string name = short_name(plan, differing);
      const std::string family = entry.family.empty() ? plan.family : entry.family;
      const long steps = entry.steps > 0 ? entry.steps : plan.steps;
      const auto fail = [&](const std::string& why) {
        sources.push_back(failed_simulation(entry, plan, name, steps, why));
        if (plan.missing.empty() || !watch.note || (watch.wanted && !watch.wanted(family))) return;
        sources.back().reported = true;
        notes.no_engine = plan.missing;
        notes.scenes.insert(plan.family);
      };
      if (!plan.model) {
        const Error& why = plan.model.error();
        if (why.code != ErrorCode::bad_input && why.code != ErrorCode::unsupported) return within(entry.where, why);
        fail(why.message);
        continue;
      }
      const std::string address =
          content_address({addressed_text(entry.scene, effective_options(specs, options), seed), *plan.model,
                           fmt::format("{} {}", steps, plan.version), plan.solver});
      const std::string folder = fmt::format("{}-{}", entry.scene, address.substr(0, 12));
      const bool there = plan.made(cache / folder).has_value();
      if (!there && !plan.missing.empty()) {
        fail(plan.name + ": " + plan.missing);
        continue;
      }
      const bool later = !watch.simulate || (watch.wanted && !watch.wanted(family));
      if (later && !there) {
        for (ProblemSource& source : pending_samples(entry, plan, name, steps)) sources.push_back(std::move(source));
        continue;
      }
      const std::string before = shares_file_name(suite, plan.model_file) ? plan.model_file + ": " : std::string();
      const auto files = samples_in(cache / folder, plan, steps, watch, before, notes);
      if (interrupted(watch)) return sources;
      if (!files) {
        fail(files.error().message);
        continue;
      }
      for (const std::string& file : *files) {
        ProblemSource source;
        const long step = step_of_name(file);
        source.name = fmt::format("{}_step={:05}", name, step);
        source.family = family;
        source.source = sample_text(entry.scene, plan, step);
        source.file = cache / folder / file;
        sources.push_back(std::move(source));
      }
    }
  }
  return sources;
}

/// Sources of so many problems each, in their order; what is left over is a smaller one.
std::vector<ProblemSource> batches_of(std::vector<ProblemSource> problems, const ProblemEntry& entry) {
  const auto size = static_cast<std::size_t>(entry.batch);
  std::vector<ProblemSource> batches;
  for (std::size_t begin = 0; begin < problems.size(); begin += size) {
    const std::size_t end = std::min(begin + size, problems.size());
    ProblemSource batch;
    batch.members.assign(std::make_move_iterator(problems.begin() + static_cast<std::ptrdiff_t>(begin)),
                         std::make_move_iterator(problems.begin() + static_cast<std::ptrdiff_t>(end)));
    const ProblemSource& first = batch.members.front();
    batch.family = first.family;
    batch.name = fmt::format("{}_batch={}-{}", first.family, begin + 1, end);
    batch.source = fmt::format("{} problems from {} to {}", end - begin, first.source, batch.members.back().source);
    batch.pending = std::ranges::any_of(batch.members, &ProblemSource::pending);
    batches.push_back(std::move(batch));
  }
  return batches;
}

ContactProblem named(const ContactProblem& problem, const ProblemSource& source, const std::string& name) {
  Provenance provenance = problem.provenance();
  provenance.name = name;
  if (!source.family.empty()) provenance.family = source.family;
  return problem.with_provenance(std::move(provenance));
}

}  // namespace

bool ProblemSource::kept(const std::string& category, std::optional<double> conditioning) const {
  return conditions.empty() ||
         std::any_of(conditions.begin(), conditions.end(),
                     [&](const FeatureCondition& condition) { return condition.holds(category, conditioning); });
}

fs::path data_folder_of_environment() {
  const char* const folder = std::getenv("CONEBENCH_DATA");
  return folder != nullptr ? folder : "";
}

Result<std::vector<ProblemSource>> list_sources(const Suite& suite, const fs::path& data, const fs::path& environment,
                                                const fs::path& cache, const SceneWatch& watch) {
  std::vector<Base> bases;
  for (const auto& [given, unasked] : {std::pair(data, ""), {environment, "CONEBENCH_DATA"}}) {
    CONEBENCH_TRY(auto set, data_set_of(given));
    if (set) {
      const fs::path folder = set->folder;
      bases.push_back({folder, std::move(set), unasked});
    } else if (!given.empty()) {
      bases.push_back({given, {}, unasked});
    }
  }
  std::error_code ignored;
  if (!data.empty() && !bases.front().set && !fs::is_directory(data, ignored)) {
    return Error{
        ErrorCode::bad_input,
        fmt::format("--data {}: no such folder, and no data set of that name; check the path, or see `conebench "
                    "data list`",
                    data.string())};
  }
  if (!suite.folder.empty()) bases.push_back({suite.folder, {}, "the suite's own folder"});
  std::vector<ProblemSource> sources;
  std::map<std::string, std::size_t> known;
  Notes notes;
  Unasked unasked;
  for (const ProblemEntry& entry : suite.problems) {
    std::vector<ProblemSource> found;
    if (entry.scene.empty()) {
      CONEBENCH_TRY(found, files_of(entry, bases, unasked));
    } else if (entry.simulated) {
      CONEBENCH_TRY(found, samples_of(suite, with_model_found(entry, bases), cache, watch, notes));
    } else {
      CONEBENCH_TRY(const auto row, require_scene(entry.scene));
      found = scenes_of(entry, *row);
    }
    if (entry.batch > 1) found = batches_of(std::move(found), entry);
    for (ProblemSource& source : found) {
      const std::string identity = source.scene + "\n" + (source.file.empty() ? source.source : source.file.string());
      if (!entry.condition.empty()) source.conditions = {entry.condition};
      const auto [found_before, is_new] = known.emplace(identity, sources.size());
      if (is_new) {
        sources.push_back(std::move(source));
        continue;
      }
      // Named twice: it is enough that it fits one of its entries.
      auto& conditions = sources[found_before->second].conditions;
      if (source.conditions.empty()) conditions.clear();
      if (!conditions.empty()) conditions.push_back(entry.condition);
    }
  }
  tell_unasked(unasked, data, watch);
  if (!notes.scenes.empty()) watch.note(fmt::format("{}: {}", fmt::join(notes.scenes, ", "), notes.no_engine));
  name_scenes(sources);
  make_names_unique(sources);
  return sources;
}

Result<void> altered_data(const std::vector<ProblemSource>& sources, const std::atomic<bool>* interrupted) {
  for (const ProblemSource& source : sources) {
    if (interrupted != nullptr && *interrupted) return {};
    CONEBENCH_CHECK(altered_data(source.members, interrupted));
    if (source.data_hash.empty() || file_xxh128(source.stored_in()) == source.data_hash) continue;
    std::error_code ignored;
    return Error{ErrorCode::bad_input,
                 fmt::format("data set {} {}: {} {}; `conebench data verify {}` lists all such files", source.data_set,
                             source.data_version, source.file.string(),
                             fs::exists(source.file, ignored) ? "holds other data than when it was added" : "is gone",
                             source.data_set)};
  }
  return {};
}

fs::path ProblemSource::stored_in() const {
  const auto step = step_address(file);
  return step ? step->file : file;
}

fs::path cached_file(const ProblemSource& source, const fs::path& cache) {
  return cache / fmt::format("{}-{}.hdf5", source.scene, content_address({source.source}).substr(0, 12));
}

Result<ContactProblem> load_source(const ProblemSource& source, const fs::path& cache, bool reuse) {
  if (!source.failure.empty()) return Error{ErrorCode::bad_input, source.failure};
  std::error_code failed;
  const fs::path file = cached_file(source, cache);
  if (reuse && source.as_fclib && fs::exists(file, failed)) return load_fclib(file);
  if (source.scene.empty()) {
    CONEBENCH_TRY(auto problem, load_fclib(source.file));
    return named(problem, source, source.name);
  }
  CONEBENCH_TRY(const auto row, require_scene(source.scene));
  CONEBENCH_TRY(auto made, row->make(source.options, source.seed).within(source.source));
  const std::string name = source.name.empty() ? made.provenance().name : source.name;
  if (!source.as_fclib) return named(made, source, name);

  fs::create_directories(cache, failed);
  if (failed) return Error{ErrorCode::bad_input, cache.string() + ": can't be made: " + failed.message()};
  CONEBENCH_CHECK(write_fclib(made, file));
  CONEBENCH_TRY(auto problem, load_fclib(file));
  return named(problem, source, name);
}

Result<std::vector<ContactProblem>> load_members(const ProblemSource& source, const fs::path& cache, bool reuse) {
  std::vector<ContactProblem> problems;
  if (source.members.empty()) {
    CONEBENCH_TRY(auto problem, load_source(source, cache, reuse));
    problems.push_back(std::move(problem));
  }
  for (const ProblemSource& member : source.members) {
    CONEBENCH_TRY(auto problem, load_source(member, cache, reuse));
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::string data_hash(std::span<const ContactProblem> members) {
  if (members.size() == 1) return members.front().data_hash();
  std::string hashes;
  for (const ContactProblem& member : members) hashes += member.data_hash();
  return content_address({"batch", hashes});
}

bool are_called(std::span<const ContactProblem> members, const std::string& hash) {
  return members.size() == 1 ? members.front().is_called(hash) : data_hash(members) == hash;
}

}  // namespace conebench
