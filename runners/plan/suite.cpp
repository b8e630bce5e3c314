#include "runners/plan/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/json_reader.hpp"
#include "base/suggestion.hpp"
#include "base/text_file.hpp"
#include "base/utf8.hpp"
#include "metrics/features.hpp"
#include "metrics/residuals.hpp"
#include "runners/plan/foreign_solvers.hpp"
#include "runners/plan/grid.hpp"
#include "runners/plan/scene_options.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;

/// More would be a slip of the pen; every point becomes problems × tolerances cells.
constexpr std::size_t max_grid_points = 100'000;
/// Bytes; a suite is written by a person.
constexpr std::uintmax_t largest_suite = 4 << 20;
/// Bytes; a file system takes 255, with the store's extension and those of its side files.
constexpr std::size_t max_name = 200;

constexpr const char* refused = "this suite runs code that is not part of Conebench; read it, then give --allow-code";

class SuiteReader {
 public:
  SuiteReader(const std::filesystem::path& file, CodeInSuite code, std::span<const SampledScene> scenes)
      : name_(valid_utf8(file.stem().string())),
        file_(file.string()),
        folder_(file.parent_path()),
        code_(code),
        scenes_(scenes),
        read_(file_) {}

  Result<Suite> suite(const Json& document) {
    Suite suite;
    if (!read_.is_object(document, "",
                         {"name", "description", "seed", "problems", "plugins", "solvers", "tolerances", "verdict",
                          "stop_by", "criterion", "start", "limits", "repeats", "threads", "traces"})) {
      return *read_.error();
    }
    suite.name = name_;
    if (const Json* value = find(document, "name")) suite.name = name(*value);
    if (const Json* value = find(document, "description")) suite.description = read_.text(*value, "description");
    if (const Json* value = find(document, "seed")) suite.seed = seed(*value, "seed");
    if (const Json* value = required(document, "problems")) problems(*value, suite);
    if (const Json* value = find(document, "plugins")) plugins(*value);
    if (const Json* value = find(document, "threads")) threads(*value);
    if (const Json* value = required(document, "solvers")) solvers(*value, suite);
    if (threads_.back() > 1 && !read_.error() && !shares_work_) {
      read_.fail("threads",
                 "no solver of the suite can share its work; those with an option threads can "
                 "(docs/options.md), Gauss-Seidel with order=coloured");
    }
    if (const Json* value = find(document, "tolerances")) tolerances(*value, suite);
    if (const Json* value = find(document, "verdict")) suite.verdict = read_.choice(*value, "verdict", verdicts());
    const Json* stated = find(document, "stop_by");
    if (const Json* const older = find(document, "criterion")) {  // its older name
      if (stated != nullptr) read_.fail("criterion", "is the older name of stop_by, which is there, too");
      stated = older;
    }
    suite.stop_by = stated != nullptr ? stop_by(*stated) : fair_stop_by(all_checks_are_free_);
    if (const Json* value = find(document, "start")) starts(*value, suite);
    for (const ProblemEntry& entry : suite.problems) {
      const bool warm = std::ranges::count(suite.starts, Start::previous) > 0;
      if (warm && entry.batch > 1) read_.fail("start", "\"previous\" is for sequences; a problem's \"batch\" is none");
    }
    if (const Json* value = find(document, "limits")) limits(*value, suite.limits);
    if (const Json* value = find(document, "repeats")) repeats(*value, suite.repeats);
    if (const Json* value = find(document, "traces")) suite.traces = read_.integer(*value, "traces", 0, 1'000'000);
    if (read_.error()) return *read_.error();
    return suite;
  }

 private:
  static const Json* find(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  const Json* required(const Json& object, const char* key) {
    const Json* const value = find(object, key);
    if (value == nullptr) read_.fail(key, "is missing");
    return value;
  }
  /// Visits the entries of a list that must not be empty.
  template <class Visit>
  void each(const Json& list, const std::string& path, Visit visit) {
    if (!list.is_array() || list.empty()) return read_.fail(path, "must be a list [...] with at least one entry");
    for (std::size_t i = 0; i < list.size(); ++i) visit(list[i], child_path(path, i));
  }

  /// The store is called by it.
  std::string name(const Json& value) {
    const std::string text = read_.text(value, "name");
    const bool plain = text.find('/') == std::string::npos && one_line(text) == text && !text.starts_with('.');
    if (!plain || text.size() > max_name) {
      read_.fail("name",
                 fmt::format("'{}' is no plain file name: no '/', no '.' in front, {} bytes at most", text, max_name));
    }
    return text;
  }

  std::uint64_t seed(const Json& value, const std::string& path) {
    return static_cast<std::uint64_t>(read_.integer(value, path, 0, std::numeric_limits<long>::max()));
  }

  /// A list, or {"first": 1, "last": 100}.
  void seeds(const Json& value, const std::string& path, std::vector<std::uint64_t>& found) {
    if (!value.is_object()) {
      return each(value, path, [&](const Json& item, const std::string& at) { found.push_back(seed(item, at)); });
    }
    read_.is_object(value, path, {"first", "last"});
    for (const char* const end : {"first", "last"}) {
      if (!value.contains(end)) return read_.fail(path, fmt::format("has no \"{}\"", end));
    }
    const std::uint64_t first = seed(value["first"], child_path(path, "first"));
    const std::uint64_t last = seed(value["last"], child_path(path, "last"));
    if (last < first) return read_.fail(path, "is an empty range");
    if (last - first >= max_grid_points) {
      return read_.fail(path, fmt::format("makes more than {} problems", max_grid_points));
    }
    for (std::uint64_t s = first; s <= last; ++s) found.push_back(s);
  }

  static std::vector<std::string> verdicts() {
    std::vector<std::string> names;
    for (const ResidualInfo& residual : residual_table()) {
      if (residual.usable_as_verdict) names.push_back(residual.name);
    }
    return names;
  }

  StopBy stop_by(const Json& value) {
    if (value.is_string()) {
      if (const auto named = stop_by_named(value.get<std::string>())) return *named;
    }
    read_.choice(value, "stop_by",
                 {to_string(StopBy::solver), to_string(StopBy::judge), to_string(StopBy::judge_timed)});
    return StopBy::judge;
  }

  /// "options" and "grid" of one entry: every point of the grid over the fixed options.
  std::vector<OptionValues> points(const Json& entry, const std::string& path) {
    OptionValues fixed;
    std::map<std::string, std::vector<OptionValue>> axes;
    if (const Json* options = find(entry, "options")) {
      const std::string here = child_path(path, "options");
      if (!options->is_object()) read_.fail(here, "must be an object {…}");
      for (const auto& item : options->items()) {
        fixed[item.key()] = read_.option(item.value(), child_path(here, item.key()), item.key());
      }
    }
    std::size_t count = 1;
    if (const Json* grid = find(entry, "grid")) {
      const std::string here = child_path(path, "grid");
      if (!grid->is_object()) read_.fail(here, "must be an object {…}");
      for (const auto& item : grid->items()) {
        const std::string axis = child_path(here, item.key());
        if (fixed.contains(item.key())) read_.fail(axis, "is fixed in \"options\" already");
        each(item.value(), axis, [&](const Json& value, const std::string& at) {
          axes[item.key()].push_back(read_.option(value, at, item.key()));
        });
        count *= std::max<std::size_t>(1, axes[item.key()].size());
        if (count > max_grid_points) {
          read_.fail(here, fmt::format("has more than {} points", max_grid_points));
          return {};
        }
      }
    }
    return read_.error() ? std::vector<OptionValues>{} : cartesian(fixed, axes);
  }

  void problems(const Json& list, Suite& suite) {
    each(list, "problems", [&](const Json& value, const std::string& path) {
      if (!value.is_object()) return read_.fail(path, "must be {\"fclib\": …}, {\"data\": …} or {\"scene\": …}");
      const bool files = value.contains("fclib") || value.contains("data");
      if (files == value.contains("scene")) {
        return read_.fail(path, "must have either \"fclib\" or \"data\", or \"scene\"");
      }
      ProblemEntry entry;
      entry.where = file_ + ": " + path;
      if (const Json* family = find(value, "family")) entry.family = read_.text(*family, child_path(path, "family"));
      if (const Json* flag = find(value, "sequence")) entry.sequence = read_.flag(*flag, child_path(path, "sequence"));
      if (const Json* size = find(value, "batch")) entry.batch = batch(*size, value, path);
      if (files) {
        read_.is_object(value, path, {"fclib", "data", "family", "sequence", "batch", "category", "conditioning"});
        if (const Json* glob = find(value, "fclib")) entry.fclib = read_.text(*glob, child_path(path, "fclib"));
        if (const Json* data = find(value, "data")) entry.data = read_.text(*data, child_path(path, "data"));
      } else {
        scene(value, path, entry);
      }
      condition(value, path, entry.condition);
      suite.problems.push_back(std::move(entry));
    });
  }

  /// How many problems are one cell's.
  long batch(const Json& value, const Json& entry, const std::string& path) {
    const std::string here = child_path(path, "batch");
    for (const char* const other : {"sequence", "category", "conditioning"}) {
      if (entry.contains(other)) read_.fail(here, fmt::format("can't be used together with \"{}\"", other));
    }
    return read_.integer(value, here, 2, static_cast<long>(max_grid_points));
  }

  /// "category": a name or a list of them; "conditioning": [minimum, maximum].
  void condition(const Json& value, const std::string& path, FeatureCondition& condition) {
    if (const Json* category = find(value, "category")) {
      const std::string here = child_path(path, "category");
      const auto add = [&](const Json& item, const std::string& at) {
        const std::string name = read_.text(item, at);
        const auto known = category_of(name);
        if (!known) return read_.fail(at, unknown_category(name));
        condition.categories.push_back(to_string(*known));
      };
      if (category->is_array()) {
        each(*category, here, add);
      } else {
        add(*category, here);
      }
    }
    if (const Json* range = find(value, "conditioning")) {
      const std::string here = child_path(path, "conditioning");
      if (!range->is_array() || range->size() != 2) return read_.fail(here, "must be [minimum, maximum]");
      condition.min_conditioning = read_.number((*range)[0], child_path(here, 0), 1.0, 1e300);
      condition.max_conditioning = read_.number((*range)[1], child_path(here, 1), 1.0, 1e300);
      if (*condition.max_conditioning < *condition.min_conditioning) read_.fail(here, "is an empty range");
    }
  }

  void scene(const Json& value, const std::string& path, ProblemEntry& entry) {
    entry.scene = read_.text(value["scene"], child_path(path, "scene"));
    const auto options = scene_options(entry.scene, scenes_);
    if (!options) return read_.fail(child_path(path, "scene"), options.error().message);
    entry.simulated = options->simulated;
    if (entry.simulated) {
      read_.is_object(value, path,
                      {"scene", "options", "grid", "seed", "seeds", "steps", "every", "family", "batch", "category",
                       "conditioning"});
    } else {
      read_.is_object(value, path,
                      {"scene", "options", "grid", "seed", "seeds", "as", "family", "sequence", "batch", "category",
                       "conditioning"});
    }
    entry.options = points(value, path);
    if (const Json* steps = find(value, "steps")) {
      entry.steps = read_.integer(*steps, child_path(path, "steps"), 1, 1'000'000'000);
    }
    if (const Json* every = find(value, "every")) {
      const long n = read_.integer(*every, child_path(path, "every"), 1, 1'000'000'000);
      for (OptionValues& point : entry.options) {
        if (!point.emplace("every", n).second) read_.fail(child_path(path, "every"), "is among the options already");
      }
    }
    for (OptionValues& point : entry.options) {
      if (const auto checked = options->check(point); !checked) {
        return read_.fail(path, entry.scene + ": " + checked.error().message);
      }
    }
    if (value.contains("seed") && value.contains("seeds")) read_.fail(path, "has both \"seed\" and \"seeds\"");
    if (const Json* one = find(value, "seed")) entry.seeds.push_back(seed(*one, child_path(path, "seed")));
    if (const Json* many = find(value, "seeds")) seeds(*many, child_path(path, "seeds"), entry.seeds);
    if (entry.seeds.empty()) entry.seeds.push_back(1);
    points_ += entry.seeds.size() * entry.options.size();
    if (points_ > max_grid_points) read_.fail(path, fmt::format("makes more than {} problems", max_grid_points));
    if (const Json* as = find(value, "as")) {
      entry.as_fclib = read_.choice(*as, child_path(path, "as"), {"fclib", "memory"}) == "fclib";
    }
  }

  /// Files, relative to the suite's folder.
  void plugins(const Json& value) {
    if (code_ == CodeInSuite::leave_out) return;
    if (code_ == CodeInSuite::refuse) {
      return read_.fail("plugins", refused);
    }
    each(value, "plugins", [&](const Json& item, const std::string& path) {
      const std::string file = read_.text(item, path);
      if (read_.error()) return;
      if (const auto added = add_plugin(folder_ / file); !added) read_.fail(path, added.error().message);
    });
  }

  /// The id of its solver. Words that are files in the suite's folder are those.
  std::string program(const Json& value, const std::string& path) {
    if (code_ == CodeInSuite::refuse) {
      read_.fail(path, refused);
      return {};
    }
    std::vector<std::string> command;
    each(value, path, [&](const Json& item, const std::string& at) {
      std::string word = read_.text(item, at);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(folder_ / word, ignored)) word = (folder_ / word).string();
      command.push_back(std::move(word));
    });
    if (read_.error()) return {};
    const auto id = add_program(command);
    if (id) return *id;
    read_.fail(path, id.error().message);
    return {};
  }

  void solvers(const Json& value, Suite& suite) {
    if (is_group(value)) return solver_group(value, "solvers", suite);
    if (value.is_string()) return read_.fail("solvers", R"(must be "all", "without-peers" or a list, as in ["NSGS"])");
    each(value, "solvers", [&](const Json& item, const std::string& path) {
      if (is_group(item)) return solver_group(item, path, suite);
      SolverEntry entry;
      entry.where = path;
      bool optional = false;
      if (item.is_string()) {
        entry.id = read_.text(item, path);
        entry.options = {{}};
      } else {
        if (!read_.is_object(item, path, {"id", "program", "options", "grid", "optional"})) return;
        if (item.contains("program") && code_ == CodeInSuite::leave_out) return;
        if (!item.contains("id") && !item.contains("program")) return read_.fail(child_path(path, "id"), "is missing");
        if (item.contains("id") && item.contains("program")) return read_.fail(path, "has both \"id\" and \"program\"");
        if (const Json* command = find(item, "program")) entry.id = program(*command, child_path(path, "program"));
        if (read_.error()) return;
        if (const Json* flag = find(item, "optional")) optional = read_.flag(*flag, child_path(path, "optional"));
        if (item.contains("id")) entry.id = read_.text(item["id"], child_path(path, "id"));
        entry.options = points(item, path);
      }
      const auto row = require_solver(entry.id);
      look_at(entry.id);
      if (!row && optional && row.error().code == ErrorCode::unsupported) return;  // its library is not in this build
      if (!row && code_ == CodeInSuite::leave_out) return;
      if (!row) return read_.fail(path, row.error().message);
      for (const OptionValues& point : entry.options) {
        if (const auto checked = (*row)->effective_options(point); !checked) {
          return read_.fail(path, checked.error().message);
        }
      }
      add(**row, std::move(entry), suite);
    });
  }

  /// Every configuration that can share its work, with each number of threads; the others as they are.
  void add(const SolverRow& row, SolverEntry entry, Suite& suite) {
    std::vector<OptionValues> all;
    for (const OptionValues& point : entry.options) {
      if (point.contains("threads")) {
        all.push_back(point);
        shares_work_ = true;
        continue;
      }
      bool any = false, several = threads_.back() == 1;
      for (const long count : threads_) {
        OptionValues shared = point;
        if (count > 1) shared["threads"] = count;
        if (!row.effective_options(shared)) continue;
        shares_work_ = shares_work_ || count > 1;
        several = several || count > 1;
        any = true;
        all.push_back(std::move(shared));
      }
      if (!any) all.push_back(point);
      if (several) continue;
      std::string left = entry.id;
      for (const auto& [name, value] : point) left += fmt::format(" {}={}", name, to_text(value));
      suite.not_threaded.push_back(std::move(left));
    }
    entry.options = std::move(all);
    suite.solvers.push_back(std::move(entry));
  }

  static bool is_group(const Json& value) { return value == "all" || value == "without-peers"; }

  void solver_group(const Json& group, const std::string& path, Suite& suite) {
    const auto is_meant = [&](const SolverRow& row) {
      return group == "all" || (row.info.origin != Origin::peer && row.info.origin != Origin::foreign);
    };
    for (const SolverRow& row : solver_table()) {
      if (is_meant(row)) add(row, {row.info.id, {{}}, path}, suite);
    }
    for (const SolverRow& row : solver_catalogue()) {
      if (is_meant(row)) look_at(row.info.id);
    }
  }

  /// Solvers that this build lacks count, too: a suite has one stop_by, whatever is installed.
  void look_at(const std::string& id) {
    if (find_peer_program(id) != nullptr) all_checks_are_free_ = false;
    for (const SolverRow& row : solver_catalogue()) {
      if (row.info.id == id) all_checks_are_free_ = all_checks_are_free_ && checks_are_free(row.info);
    }
  }

  void threads(const Json& value) {
    threads_.clear();
    each(value, "threads", [&](const Json& item, const std::string& path) {
      const long count = read_.integer(item, path, 1, 256);
      if (!threads_.empty() && count <= threads_.back()) return read_.fail(path, "must be more than the one before");
      threads_.push_back(count);
    });
    if (threads_.empty()) threads_ = {1};
  }

  void tolerances(const Json& value, Suite& suite) {
    suite.tolerances.clear();
    std::set<double> known;
    each(value, "tolerances", [&](const Json& item, const std::string& path) {
      const double tolerance = read_.number(item, path, 1e-16, 1.0);
      if (!known.insert(tolerance).second) return read_.fail(path, "is there already");
      suite.tolerances.push_back(tolerance);
    });
  }

  Start start(const Json& value, const std::string& path) {
    const std::string word = read_.choice(value, path, {"cold", "guess", "previous"});
    for (const Start known : {Start::guess, Start::previous}) {
      if (word == to_string(known)) return known;
    }
    return Start::cold;
  }

  /// One word, or a list of them: a cell for each.
  void starts(const Json& value, Suite& suite) {
    suite.starts.clear();
    if (!value.is_array()) return suite.starts.push_back(start(value, "start"));
    each(value, "start", [&](const Json& item, const std::string& path) {
      const Start one = start(item, path);
      if (std::count(suite.starts.begin(), suite.starts.end(), one) > 0) return read_.fail(path, "is there already");
      suite.starts.push_back(one);
    });
  }

  void limits(const Json& value, SuiteLimits& limits) {
    if (!read_.is_object(value, "limits",
                         {"iterations", "seconds", "memory_mb", "load_seconds", "read_seconds", "simulation_seconds"}))
      return;
    if (const Json* item = find(value, "iterations")) {
      limits.iterations = read_.integer(*item, "limits.iterations", 1, 1'000'000'000'000);
    }
    if (const Json* item = find(value, "seconds")) limits.seconds = read_.number(*item, "limits.seconds", 1e-3, 1e6);
    if (const Json* item = find(value, "memory_mb")) {
      limits.memory_mb = read_.integer(*item, "limits.memory_mb", 16, 100'000'000);
    }
    if (const Json* item = find(value, "load_seconds")) {
      limits.load_seconds = read_.number(*item, "limits.load_seconds", 0.1, 1e6);
    }
    if (const Json* item = find(value, "read_seconds")) {
      limits.read_seconds = read_.number(*item, "limits.read_seconds", 0.1, 1e6);
    }
    if (const Json* item = find(value, "simulation_seconds")) {
      limits.simulation_seconds = read_.number(*item, "limits.simulation_seconds", 0.1, 1e7);
    }
  }

  void repeats(const Json& value, SuiteRepeats& repeats) {
    if (!read_.is_object(value, "repeats", {"min", "min_ms", "max", "precision", "rounds"})) return;
    // A suite that says how many wants so many.
    if (find(value, "min") || find(value, "min_ms") || find(value, "max")) repeats.precision = 0.0;
    if (const Json* item = find(value, "precision")) {
      repeats.precision = read_.number(*item, "repeats.precision", 0.0, 1.0);
    }
    if (const Json* item = find(value, "min")) {
      repeats.minimum = static_cast<int>(read_.integer(*item, "repeats.min", 1, 1'000'000));
    }
    if (const Json* item = find(value, "min_ms")) repeats.minimum_ms = read_.number(*item, "repeats.min_ms", 0.0, 1e9);
    if (const Json* item = find(value, "max")) {
      repeats.maximum = static_cast<int>(read_.integer(*item, "repeats.max", 1, 1'000'000));
    }
    if (const Json* item = find(value, "rounds")) {
      repeats.rounds = static_cast<int>(read_.integer(*item, "repeats.rounds", 1, 1000));
    }
    if (repeats.maximum < repeats.minimum) read_.fail("repeats.max", "is smaller than repeats.min");
  }

  std::string name_;  ///< of a suite that has none of its own
  std::string file_;
  std::filesystem::path folder_;
  CodeInSuite code_;
  std::span<const SampledScene> scenes_;
  bool all_checks_are_free_ = true;  ///< of the solvers so far
  std::vector<long> threads_ = {1};  ///< ascending
  bool shares_work_ = false;         ///< one of the solvers so far, with several of them
  std::size_t points_ = 0;           ///< of scenes so far: options times seeds
  JsonReader read_;
};

}  // namespace

bool FeatureCondition::holds(const std::string& category, std::optional<double> conditioning) const {
  if (!categories.empty() && std::find(categories.begin(), categories.end(), category) == categories.end())
    return false;
  if (!min_conditioning && !max_conditioning) return true;
  return conditioning && *conditioning >= min_conditioning.value_or(0.0) &&
         *conditioning <= max_conditioning.value_or(std::numeric_limits<double>::infinity());
}

Result<Suite> parse_suite(const std::string& text, const std::filesystem::path& file, CodeInSuite code,
                          std::span<const SampledScene> scenes) {
  CONEBENCH_TRY(const auto document, parse_json(text, file.string()));
  CONEBENCH_TRY(auto suite, SuiteReader(file, code, scenes).suite(document));
  suite.folder = file.parent_path();
  suite.text = text;
  return suite;
}

Result<Suite> parse_suite(const std::string& text, const std::filesystem::path& file,
                          std::span<const SampledScene> scenes) {
  return parse_suite(text, file, CodeInSuite::refuse, scenes);
}

Result<Suite> load_suite(const std::filesystem::path& file, std::span<const SampledScene> scenes) {
  return load_suite(file, CodeInSuite::refuse, scenes);
}

/// did_you_mean of the suites in the folder where there is no such file.
static std::string suite_file_meant(const std::filesystem::path& file) {
  std::vector<std::string> names;
  std::error_code failed;
  const std::filesystem::path folder = file.parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return did_you_mean(file.filename().string(), names);
}

Result<Suite> load_suite(const std::filesystem::path& file, CodeInSuite code, std::span<const SampledScene> scenes) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    std::string names;
    std::vector<std::string> suites;
    for (const EmbeddedSuite& embedded : embedded_suites()) {
      if (embedded.name == file.string()) return parse_suite(embedded.text, embedded.name, scenes);
      names += (names.empty() ? "" : ", ") + embedded.name;
      suites.push_back(embedded.name);
    }
    const std::string meant = suite_file_meant(file);
    return Error{ErrorCode::bad_input, file.string() + ": no such suite file; " +
                                           (meant.empty() ? did_you_mean(file.stem().string(), suites) : meant) +
                                           "built in are: " + names};
  }
  CONEBENCH_TRY(const auto text, read_text_file(file, largest_suite));
  auto suite = parse_suite(text, file, code, scenes);
  if (suite && suite->folder.empty()) suite->folder = ".";
  return suite;
}

}  // namespace conebench
