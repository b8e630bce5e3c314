#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/folder.hpp"
#include "base/plural.hpp"
#include "base/source_text.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "cli/run_self.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "reports/write_files.hpp"
#include "runners/execute/interrupt.hpp"
#include "runners/plan/data_set.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* data_footer =
    R"(A set is a manifest, NAME.json, in CONEBENCH_DATA_HOME (else XDG_DATA_HOME/conebench, else
~/.local/share/conebench), next to clones and scenes in NAME/. `--data NAME` and a suite's
"data": "NAME" use it. The manifest is JSON: schema (conebench.data_set/1), name, version, licence,
source, revision (commit of a clone), only, folder (absolute, or relative to the manifest) and files, each
with path, bytes and xxh128, as `xxhsum -H2` prints it. docs/data_sets.md

Examples:
  conebench data add fclib-library --only Local/siconos/Capsules
  conebench data add mine ~/problems --licence CC-BY-4.0
  conebench data add stacks --scene "box-stack boxes=5" --scene "box-stack boxes=10"
  conebench data verify
  conebench run fclib --data fclib-library --db capsules.sqlite)";

constexpr const char* add_footer =
    R"(A Git source is cloned into the folder of the sets, a folder is used where it is, scenes are written as FCLIB files.
A set has the files .hdf5, .h5 and those .dat that hold a problem in Siconos' text. The same command again takes over
what has changed; the version changes with the files. It ends with 3 where the source cannot be read, or Git LFS left
pointers instead of data: the line has the command that fetches them.)";

constexpr const char* verify_footer =
    "It ends with 3 where a file is gone, new, a Git LFS pointer, or holds other data than when it was added.";

struct DataArguments {
  std::string name, source, licence;
  std::vector<std::string> names, only, scenes;
  bool json = false;
};

Error usage(std::string message) { return {ErrorCode::wrong_usage, std::move(message)}; }

std::string size_text(std::uintmax_t bytes) {
  constexpr double mega = 1e6;
  const double in_mb = static_cast<double>(bytes) / mega;
  return in_mb < 1.0 ? fmt::format("{:.0f} kB", 1e3 * in_mb) : fmt::format("{:.1f} MB", in_mb);
}

std::string licence_text(const DataSet& set) { return set.licence.empty() ? "licence not stated" : set.licence; }

nlohmann::json set_json(const DataSet& set) {
  return {{"name", set.name},
          {"version", set.version},
          {"licence", set.licence},
          {"source", set.source},
          {"revision", set.revision},
          {"only", set.only},
          {"folder", set.folder.string()},
          {"files", set.files.size()},
          {"bytes", set.bytes()}};
}

bool is_url(const std::string& text) {
  return text.find("://") != std::string::npos || (text.find('@') < text.find(':') && text.find('/') > text.find(':'));
}

/// Git in the set's folder, which neither asks nor fetches data behind pointers by itself.
Result<ChildEnding> git(const DataSet& set, const std::vector<std::string>& arguments, const std::atomic<bool>& stop) {
  std::vector<std::string> all = {"env",
                                  "-u",
                                  "GIT_DIR",
                                  "-u",
                                  "GIT_WORK_TREE",
                                  "-u",
                                  "GIT_INDEX_FILE",
                                  "GIT_TERMINAL_PROMPT=0",
                                  "GIT_LFS_SKIP_SMUDGE=1",
                                  "git",
                                  "-C",
                                  set.folder.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(all, &stop);
}

/// Folders of the clone that are checked out; licences come along.
std::string sparse_patterns(const DataSet& set) {
  std::string text = set.only.empty() ? "/*\n" : "/LICEN[CS]E*\n/COPYING*\n";
  for (const std::string& part : set.only) text += "/" + part + "/\n";
  return text;
}

/// A shallow clone of the newest commit in the set's folder, or that folder brought up to date. `pull_failure`: what
/// Git LFS says where it could not fetch, which matters where pointers came.
Result<void> clone(DataSet& set, const std::atomic<bool>& stop, std::string& pull_failure) {
  CONEBENCH_CHECK(make_folder(set.folder / ".git/info"));
  const std::vector<std::vector<std::string>> steps = {{"init", "-q"},
                                                       {"config", "remote.origin.url", set.source},
                                                       {"config", "core.sparseCheckout", "true"},
                                                       {"fetch", "-q", "--depth", "1", "origin", "HEAD"},
                                                       {"checkout", "-q", "--force", "--detach", "FETCH_HEAD"},
                                                       {"read-tree", "-mu", "HEAD"}};
  for (const auto& step : steps) {
    if (step.front() == "fetch") {
      std::ofstream(set.folder / ".git/info/sparse-checkout") << sparse_patterns(set);
      // Without Git LFS this fails, and what comes are pointers, which are reported.
      CONEBENCH_CHECK(git(set, {"lfs", "install", "--local"}, stop));
    }
    CONEBENCH_TRY(const auto done, git(set, step, stop));
    if (done.interrupted) return {};
    if (done.code == 0) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: `git {}` from {} failed: {}", set.name, step.front(), set.source,
                             done.last_output.empty() ? "is Git installed?" : done.last_output)};
  }
  std::vector<std::string> pull = {"lfs", "pull"};
  if (!set.only.empty()) pull.insert(pull.end(), {"--include", fmt::format("{}", fmt::join(set.only, ","))});
  CONEBENCH_TRY(const auto pulled, git(set, pull, stop));
  if (pulled.code != 0) pull_failure = pulled.last_output;
  std::ifstream(set.folder / ".git/HEAD") >> set.revision;
  return {};
}

Result<void> generate(const DataSet& set, const std::vector<std::string>& scenes) {
  CONEBENCH_CHECK(make_folder(set.folder));
  for (const std::string& text : scenes) {
    CONEBENCH_TRY(const auto problem, make_named_scene(text));
    if (!problem) return usage(fmt::format("--scene {}: no such scene; see `conebench list scenes`", text));
    const auto file = set.folder / file_name(text);
    CONEBENCH_CHECK(write_fclib(*problem, file));
  }
  return {};
}

/// The first line of the licence file in the data.
std::string licence_beside(const fs::path& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    const bool fits = name.starts_with("LICENSE") || name.starts_with("LICENCE") || name.starts_with("COPYING");
    if (!fits || !entry.is_regular_file(failed)) continue;
    std::ifstream stream(entry.path());
    std::string line;
    while (line.empty() && std::getline(stream, line)) {
      constexpr std::size_t widest = 80;
      line = shorten(one_line(valid_utf8(line)), widest);
      line.erase(0, line.find_first_not_of(' ') == std::string::npos ? line.size() : line.find_first_not_of(' '));
    }
    if (!line.empty()) return line + " (" + name + ")";
  }
  return {};
}

/// What the set is to be, from the arguments and the set of that name.
Result<DataSet> planned_set(const DataArguments& arguments, const std::optional<DataSet>& before) {
  if (!is_data_name(arguments.name)) {
    return usage(fmt::format("data add {}: a name has letters, digits, '.', '_' and '-', the first a letter or digit",
                             one_line(arguments.name)));
  }
  DataSet set;
  set.name = arguments.name;
  set.source = arguments.source;
  for (const KnownSource& known : known_sources()) {
    if (set.source.empty() && arguments.scenes.empty() && set.name == known.name) set.source = known.url;
  }
  if (before && set.source.empty() && arguments.scenes.empty()) set.source = before->source;
  if (!arguments.scenes.empty()) {
    if (!arguments.source.empty() || !arguments.only.empty()) return usage("--scene goes with no SOURCE and no --only");
    set.source = fmt::format("{}", fmt::join(arguments.scenes, "; "));
    set.folder = data_home() / set.name;
  } else if (set.source.empty()) {
    return usage(fmt::format("data add {}: from where? give a folder, a Git URL or --scene", set.name));
  } else if (std::error_code ignored; fs::is_directory(set.source, ignored)) {
    set.folder = fs::canonical(set.source, ignored);
    set.source = set.folder.string();
  } else if (is_url(set.source)) {
    set.folder = data_home() / set.name;
  } else {
    return Error{ErrorCode::bad_input, fmt::format("{}: no such folder, and no URL that Git takes", set.source)};
  }
  for (const std::string& part : arguments.only) {
    const fs::path path = fs::path(part).lexically_normal();
    const bool inside = !path.empty() && !path.is_absolute() && *path.begin() != ".." && *path.begin() != "." &&
                        part.find('\n') == std::string::npos;
    if (!inside) return usage(fmt::format("--only {}: must be a folder within the source", one_line(part)));
    set.only.push_back((path.has_filename() ? path : path.parent_path()).generic_string());
  }
  if (before) {
    if (before->source != set.source) {
      return usage(fmt::format("data add {}: it is there already, from {}; give another name, or delete {} first",
                               set.name, before->source, manifest_file(set.name).string()));
    }
    if (!set.only.empty() && !before->only.empty())
      set.only.insert(set.only.end(), before->only.begin(), before->only.end());
    set.licence = before->licence;
  }
  std::sort(set.only.begin(), set.only.end());
  set.only.erase(std::unique(set.only.begin(), set.only.end()), set.only.end());
  if (!arguments.licence.empty()) set.licence = arguments.licence;
  return set;
}

Result<int> add_set(const DataArguments& arguments) {
  if (data_home().empty()) return Error{ErrorCode::bad_input, "no folder for data sets; set CONEBENCH_DATA_HOME"};
  std::optional<DataSet> before;
  if (std::error_code ignored; is_data_name(arguments.name) && fs::exists(manifest_file(arguments.name), ignored)) {
    CONEBENCH_TRY(before, find_data_set(arguments.name));
  }
  CONEBENCH_TRY(auto set, planned_set(arguments, before));
  const InterruptGuard guard;
  std::string pull_failure;
  if (!arguments.scenes.empty()) {
    CONEBENCH_CHECK(generate(set, arguments.scenes));
  } else if (is_url(set.source)) {
    print_note("fetching " + set.source);
    CONEBENCH_CHECK(clone(set, guard.flag(), pull_failure));
  }
  if (guard.flag()) return interrupted;
  if (const auto taken = take_files(set); !taken) {
    Error error = taken.error();
    if (!pull_failure.empty()) error.message += fmt::format(" (`git lfs pull` failed: {})", pull_failure);
    return error;
  }
  if (set.licence.empty()) set.licence = licence_beside(set.folder);
  CONEBENCH_CHECK(write_files(data_home(), std::vector<ReportFile>{{set.name + ".json", manifest_text(set)}}));
  if (arguments.json) {
    auto json = set_json(set);
    json["version_before"] = before ? nlohmann::json(before->version) : nlohmann::json();
    print_json("data_add", std::move(json));
    return done;
  }
  print_text(fmt::format("{} {}{}: {}, {}, {}; {}\n", set.name, set.version,
                         before && before->version != set.version ? " (before: " + before->version + ")" : "",
                         plural(static_cast<long>(set.files.size()), "file"), size_text(set.bytes()), licence_text(set),
                         set.folder.string()));
  return done;
}

Result<int> list_sets(const DataArguments& arguments) {
  nlohmann::json sets = nlohmann::json::array(), known = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows = {{"name", "version", "files", "size", "licence", "folder"}};
  const auto names = data_set_names();
  std::string broken;
  for (const std::string& name : names) {
    const auto set = find_data_set(name);
    if (!set) {
      sets.push_back({{"name", name}, {"error", set.error().message}});
      broken += set.error().message + "\n";
      continue;
    }
    sets.push_back(set_json(*set));
    rows.push_back({name, set->version, std::to_string(set->files.size()), size_text(set->bytes()), licence_text(*set),
                    set->folder.string()});
  }
  std::string more;
  for (const KnownSource& source : known_sources()) {
    if (std::find(names.begin(), names.end(), source.name) != names.end()) continue;
    known.push_back({{"name", source.name}, {"source", source.url}, {"what", source.what}});
    more += fmt::format("{}: {}; `{}` fetches it\n", source.name, source.what, add_command(source.name));
  }
  if (arguments.json) {
    print_json("data_list", {{"home", data_home().string()}, {"sets", sets}, {"known", known}});
  } else {
    print_text((rows.size() > 1 ? align_columns(rows) : std::string()) + broken + more);
  }
  return done;
}

Result<int> verify_sets(const DataArguments& arguments) {
  const auto names = arguments.names.empty() ? data_set_names() : arguments.names;
  if (names.empty())
    return Error{ErrorCode::bad_input, "there is no data set; `conebench data add NAME FOLDER` adds one"};
  nlohmann::json sets = nlohmann::json::array();
  std::string text, bad;
  for (const std::string& name : names) {
    CONEBENCH_TRY(const auto set, find_data_set(name));
    nlohmann::json json = set_json(set);
    json["faults"] = nlohmann::json::array();
    const auto faults = check_data_set(set);
    for (const DataFault& fault : faults) {
      json["faults"].push_back({{"path", fault.path}, {"what", fault.what}});
      text += fmt::format("{}: {} {}\n", name, fault.path, fault.what);
    }
    sets.push_back(std::move(json));
    if (faults.empty()) {
      text +=
          fmt::format("{} {}: {} as added\n", name, set.version, plural(static_cast<long>(set.files.size()), "file"));
    } else {
      bad += fmt::format("{}{}: {} not as added", bad.empty() ? "" : ", ", name,
                         plural(static_cast<long>(faults.size()), "file"));
    }
  }
  if (arguments.json) {
    print_json("data_verify", {{"sets", sets}});
  } else {
    print_text(text);
  }
  if (bad.empty()) return done;
  print_error(bad + "; `conebench data add` with the same arguments takes them as they are, or restores a clone");
  return exit_code(ErrorCode::bad_input);
}

}  // namespace

Command add_data(CLI::App& root) {
  auto arguments = std::make_shared<DataArguments>();
  CLI::App* app = root.add_subcommand("data", "Sets of problems by name: list, add, verify");
  CLI::App* list = app->add_subcommand("list", "Sets on this machine, and those that can be fetched");
  CLI::App* add = app->add_subcommand("add", "Add a set, or update one");
  add->footer(add_footer);
  add->add_option("NAME", arguments->name, "Name of the set; fclib-library has a known source")->required();
  add->add_option("SOURCE", arguments->source, "A folder, or a Git URL");
  add->add_option("--only", arguments->only, "Only this folder of the source; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add->add_option("--scene", arguments->scenes, "A scene with its options instead of SOURCE; may be repeated")
      ->type_name("SCENE")
      ->allow_extra_args(false);
  add->add_option("--licence", arguments->licence, "Text of the licence; else the first line of a LICENSE in the data")
      ->type_name("TEXT");
  CLI::App* verify = app->add_subcommand("verify", "Compare the files of sets with their manifests");
  verify->footer(verify_footer);
  verify->add_option("NAME", arguments->names, "Sets; else all");
  for (CLI::App* command : {list, add, verify}) command->add_flag("--json", arguments->json, "Print one JSON object");
  app->footer(data_footer);  // last, because its commands would inherit it
  app->require_subcommand(1);
  return {app, [arguments, list, add]() -> Result<int> {
            if (list->parsed()) return list_sets(*arguments);
            return add->parsed() ? add_set(*arguments) : verify_sets(*arguments);
          }};
}

}  // namespace conebench::cli
