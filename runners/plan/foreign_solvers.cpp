#include "runners/plan/foreign_solvers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/content_address.hpp"
#include "base/json_reader.hpp"
#include "base/temporary_folder.hpp"
#include "conebench/solver_plugin.h"
#include "runners/programs/keeper.hpp"
#include "runners/programs/program_solver.hpp"
#include "solvers/common_options.hpp"
#include "solvers/plugin/declared_row.hpp"
#include "solvers/plugin/plugin_description.hpp"
#include "solvers/plugin/plugin_file.hpp"
#include "solvers/plugin/plugin_solver.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;

constexpr double any = std::numeric_limits<double>::infinity();

class DescriptionReader {
 public:
  explicit DescriptionReader(const std::string& where) : read_(where) {}

  Result<SolverDescription> description(const Json& value) {
    SolverDescription read;
    SolverInfo& info = read.info;
    info.own_process = true;
    info.origin = Origin::foreign;
    if (!read_.is_object(value, "",
                         {"id",
                          "name",
                          "citation",
                          "summary",
                          "version",
                          "formulation",
                          "joints",
                          "limits",
                          "compliance",
                          "two_dimensional",
                          "rolling",
                          "intervals",
                          "friction_cones",
                          "needs_symmetry",
                          "rotation_invariant",
                          "scale_invariant",
                          "observed_every_iteration",
                          "allocates",
                          "uses",
                          "options",
                          "serve",
                          "protocol",
                          "number",
                          "peer",
                          "many"})) {
      return failure();
    }
    info.id = name(value, "", "id", "-._");
    info.name = line(value, "", "name", true);
    info.citation = line(value, "", "citation");
    info.summary = line(value, "", "summary");
    if (value.contains("version")) {
      info.version = static_cast<int>(read_.integer(value["version"], "version", 1, 1'000'000));
    }
    const std::map<std::string, Formulation> formulations = {
        {"NCP", Formulation::ncp}, {"CCP", Formulation::ccp}, {"LCP", Formulation::lcp}, {"model", Formulation::model}};
    info.formulation = choice(value, "formulation", formulations, info.formulation);
    const std::map<std::string, Allocation> allocations = {
        {"no", Allocation::none}, {"refactor", Allocation::refactorization}, {"yes", Allocation::iteration}};
    info.allocates = choice(value, "allocates", allocations, Allocation::iteration);
    for (const auto& [key, flag] :
         std::map<const char*, bool*>{{"joints", &info.joints},
                                      {"limits", &info.limits},
                                      {"compliance", &info.compliance},
                                      {"two_dimensional", &info.two_dimensional},
                                      {"rolling", &info.rolling},
                                      {"intervals", &info.intervals},
                                      {"friction_cones", &info.friction_cones},
                                      {"needs_symmetry", &info.needs_symmetry},
                                      {"rotation_invariant", &info.rotation_invariant},
                                      {"scale_invariant", &info.scale_invariant},
                                      {"observed_every_iteration", &info.observed_every_iteration}}) {
      if (value.contains(key)) *flag = read_.flag(value[key], key);
    }
    if (value.contains("peer")) peer(value["peer"], info.peer);
    if (value.contains("protocol")) {
      read.protocol = static_cast<int>(read_.integer(value["protocol"], "protocol", 1, newest_protocol));
    }
    if (value.contains("many")) read.many = read_.flag(value["many"], "many");
    if (value.contains("serve")) read.serves = read_.flag(value["serve"], "serve");
    list(value, "uses", [&](const Json& item, const std::string& path) {
      read.uses.push_back(read_.choice(item, path, {"blocks", "dense", "primal"}));
    });
    list(value, "options",
         [&](const Json& item, const std::string& path) { read.options.push_back(option(item, path)); });
    if (read_.error()) return failure();
    return read;
  }

 private:
  Error failure() const { return {ErrorCode::bad_input, read_.error()->message}; }

  std::string line(const Json& value, const std::string& path, const char* key, bool required = false) {
    const std::string here = child_path(path, key);
    if (!value.contains(key) || value[key] == "") {
      if (required) read_.fail(here, "is missing");
      return {};
    }
    return read_.text(value[key], here);
  }

  /// Whose code the solver wraps: "version", "released" (an ISO date), "build".
  void peer(const Json& value, PeerBuild& peer) {
    if (!read_.is_object(value, "peer", {"version", "released", "build"})) return;
    peer = {line(value, "peer", "version"), line(value, "peer", "released"), line(value, "peer", "build")};
    if (!peer.released.empty() && !is_date(peer.released)) {
      read_.fail("peer.released", "'" + peer.released + "' must be a date as 2026-01-31");
    }
  }

  static bool is_date(const std::string& text) {
    constexpr std::string_view form = "0000-00-00";
    return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), [](char c, char f) {
             return f == '0' ? c >= '0' && c <= '9' : c == f;
           });
  }

  /// Of letters, digits and what of `others`.
  std::string name(const Json& value, const std::string& path, const char* key, const std::string& others) {
    const std::string text = line(value, path, key, true);
    const bool plain = std::all_of(text.begin(), text.end(), [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             others.find(c) != std::string::npos;
    });
    if (!plain) {
      read_.fail(child_path(path, key), "'" + text + "' must be of letters, digits and " + others + " alone");
    }
    return text;
  }

  template <class Value>
  Value choice(const Json& value, const char* key, const std::map<std::string, Value>& known, Value otherwise) {
    if (!value.contains(key)) return otherwise;
    std::vector<std::string> all;
    for (const auto& [word, unused] : known) all.push_back(word);
    const auto found = known.find(read_.choice(value[key], key, all));
    return found == known.end() ? otherwise : found->second;
  }

  template <class Visit>
  void list(const Json& value, const char* key, Visit visit) {
    if (!value.contains(key)) return;
    if (!value[key].is_array()) return read_.fail(key, "must be a list [...]");
    for (std::size_t i = 0; i < value[key].size(); ++i) visit(value[key][i], child_path(key, i));
  }

  OptionSpec option(const Json& value, const std::string& path) {
    OptionSpec spec;
    if (!read_.is_object(value, path,
                         {"name", "doc", "type", "default", "minimum", "maximum", "unit", "logarithmic", "choices"})) {
      return spec;
    }
    spec.name = name(value, path, "name", "_");
    spec.doc = line(value, path, "doc", true);
    spec.unit = line(value, path, "unit");
    if (value.contains("logarithmic") && read_.flag(value["logarithmic"], child_path(path, "logarithmic"))) {
      spec.scale = OptionScale::logarithmic;
    }
    for (const auto& [key, bound] : {std::pair{"minimum", &spec.minimum}, {"maximum", &spec.maximum}}) {
      if (value.contains(key) && !value[key].is_null()) {
        *bound = read_.number(value[key], child_path(path, key), -any, any);
      }
    }
    if (value.contains("choices")) {
      if (!value["choices"].is_array()) read_.fail(child_path(path, "choices"), "must be a list [...]");
      for (const Json& word : value["choices"]) spec.choices.push_back(read_.text(word, child_path(path, "choices")));
    }
    const std::string here = child_path(path, "default");
    if (!value.contains("default")) {
      read_.fail(here, "is missing");
      return spec;
    }
    const Json& given = value["default"];
    const std::string type = value.contains("type") ? read_.choice(value["type"], child_path(path, "type"),
                                                                   {"real", "integer", "flag", "text"})
                                                    : "";
    if (type == "real") spec.default_value = read_.number(given, here, -any, any);
    if (type == "integer") {
      spec.default_value =
          read_.integer(given, here, std::numeric_limits<long>::min(), std::numeric_limits<long>::max());
    }
    if (type == "flag") spec.default_value = read_.flag(given, here);
    if (type == "text") spec.default_value = given == "" ? std::string() : read_.text(given, here);
    if (type.empty()) read_.fail(child_path(path, "type"), "is missing");
    return spec;
  }

  JsonReader read_;
};

unsigned uses_flags(const std::vector<std::string>& names) {
  unsigned flags = 0;
  for (const std::string& name : names) {
    flags |= name == "blocks" ? CONEBENCH_BLOCKS : name == "dense" ? CONEBENCH_DENSE : CONEBENCH_PRIMAL;
  }
  return flags;
}

/// Makes the paths of the program and of arguments that are files absolute; returns a hash of arguments and contents.
std::string hash_of(SolverProgram& program) {
  std::string hash;
  for (std::string& word : program.command) {
    std::error_code failure;
    std::string content = word;
    if (std::filesystem::is_regular_file(word, failure)) {
      word = std::filesystem::absolute(word).string();
      program.files.push_back(FileStamp::of(word));
      content = file_address(word);
    }
    hash = content_address({hash, content});
  }
  return hash;
}

/// The command as `--program` takes it; empty if an argument has blanks, which `--program` can't take.
std::string program_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (word.empty() || word.find_first_of(" \t\r\n\"") != std::string::npos) return {};
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Error taken(const std::string& id, const std::string& option) {
  return {ErrorCode::bad_input,
          fmt::format("{}: option '{}' is one that Conebench gives it; call it something else", id, option)};
}

/// The row with the options that solvers have in common. Errors (bad_input): one of its own has such a name.
Result<SolverRow> with_common(SolverRow row) {
  const StallTest stall = row.info.observed_every_iteration ? StallTest::on_shown : StallTest::none;
  SolverRow all = with_common_options(std::move(row), stall);
  for (const OptionSpec& common : all.common) {
    for (const OptionSpec& own : all.options) {
      if (own.name == common.name) return taken(all.info.id, own.name);
    }
  }
  return all;
}

/// A program with a folder of this process. Errors (bad_input): it can't be made.
Result<SolverProgram> program_of(const std::vector<std::string>& command) {
  static const TemporaryFolder scratch;
  if (scratch.path().empty()) return Error{ErrorCode::bad_input, "no folder for programs could be made in TMPDIR"};
  SolverProgram program;
  program.command = command;
  program.scratch = scratch.path();
  return program;
}

/// Of what the program says of itself; starts the keeper where it serves. `where`: prefix of error messages.
Result<SolverRow> row_of(SolverProgram program, const Json& described, const std::string& where) {
  CONEBENCH_TRY(auto read, read_description(described, where));
  for (const auto& [key, declared] :
       {std::pair{"intervals", read.info.intervals}, {"friction_cones", read.info.friction_cones}}) {
    if (!declared || read.protocol >= protocol_with_cones) continue;
    return Error{ErrorCode::bad_input, fmt::format("{}: {} needs \"protocol\": {} (docs/program_protocol.md)", where,
                                                   key, protocol_with_cones)};
  }
  program.serves = read.serves;
  program.protocol = read.protocol;
  if (program.serves) {
    program.command.emplace_back("-");
    CONEBENCH_CHECK(start_keeper(program.scratch));
  }
  read.info.observed_every_iteration = false;
  for (const OptionSpec& own : read.options) {
    if (own.name != times_option().name) continue;
    const Error error = taken(read.info.id, own.name);
    return Error{error.code, where + ": " + error.message};
  }
  read.options.push_back(times_option());
  const bool primal = std::count(read.uses.begin(), read.uses.end(), "primal") > 0;
  const ForeignCode kind = program.serves ? ForeignCode::kept_program : ForeignCode::program;
  const auto make = [program = std::move(program), primal](const SolverInfo& info, const OptionValues& values) {
    return make_program_solver(program, info, values, primal);
  };
  CONEBENCH_TRY(auto row, declared_row(read.info, read.options, make).within(where));
  row.foreign = kind;
  return row;
}

}  // namespace

Result<std::string> add_program(const std::vector<std::string>& command) {
  if (command.empty()) return Error{ErrorCode::wrong_usage, "a program without a name"};
  CONEBENCH_TRY(auto program, program_of(command));
  const std::string hash = hash_of(program);
  const std::string text = program_text(program.command);
  CONEBENCH_TRY(const auto described, describe_program(program));
  CONEBENCH_TRY(auto row, row_of(std::move(program), Json::parse(described, nullptr, false), command.front()));
  row.content_hash = hash;
  if (!text.empty()) row.command_arguments = {"--program", text};
  const std::string id = row.info.id;
  CONEBENCH_CHECK(add_solver(std::move(row)).within(command.front()));
  return id;
}

Result<void> add_peer(const PeerProgram& peer, const std::vector<std::string>& command,
                      const std::vector<std::filesystem::path>& code) {
  CONEBENCH_TRY(auto program, program_of(command));
  std::string hash;
  for (const std::filesystem::path& file : code) {
    program.files.push_back(FileStamp::of(file));
    hash = content_address({hash, file.filename().string(), file_address(file)});
  }
  const auto described = describe_program(program);
  if (!described) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: {}; CONEBENCH_PYTHON names another Python", peer.id, described.error().message)};
  }
  const Json description = Json::parse(*described, nullptr, false);
  if (description.is_object() && description.contains("missing")) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: needs {}: pip install 'conebench[{}]'", peer.id,
                             fmt::join(description["missing"].get<std::vector<std::string>>(), ", "), peer.extra)};
  }
  CONEBENCH_TRY(auto row, row_of(std::move(program), description, peer.id));
  if (row.info.id != peer.id) {
    return Error{ErrorCode::bad_input, fmt::format("{}: its program is of {}", peer.id, row.info.id)};
  }
  row.info.origin = Origin::peer;
  row.content_hash = content_address({hash, *described});
  return add_solver(std::move(row));
}

Result<SolverDescription> read_description(const Json& value, const std::string& where) {
  return DescriptionReader(where).description(value);
}

Result<void> add_plugin(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code failure;
  const FileStamp stamp = FileStamp::of(std::filesystem::absolute(file, failure));
  CONEBENCH_TRY(const auto described, describe_plugin(file));
  const std::string hash = file_address(stamp.file);
  if (!stamp.same_now()) return Error{ErrorCode::bad_input, name + ": was written to meanwhile; run again"};
  const Json list = Json::parse(described, nullptr, false);
  for (std::size_t k = 0; k < list.size(); ++k) {
    CONEBENCH_TRY(auto read, read_description(list[k], name));
    const auto make = [stamp, k, specs = read.options, uses = uses_flags(read.uses)](const SolverInfo& info,
                                                                                     const OptionValues& values) {
      return make_plugin_solver(stamp, k, info, specs, values, uses);
    };
    CONEBENCH_TRY(auto row, declared_row(read.info, read.options, make).within(name));
    row.content_hash = hash;
    row.foreign = ForeignCode::plugin;
    if (read.many) {
      row.make_many = [stamp, k, info = read.info, specs = read.options, uses = uses_flags(read.uses),
                       effective =
                           row.effective_options](const OptionValues& values) -> Result<std::unique_ptr<ManySolver>> {
        CONEBENCH_TRY(const auto all, effective(values));
        return make_plugin_many_solver(stamp, k, info, specs, all, uses);
      };
    }
    row.load = [stamp] { open_plugin(stamp.file.string()); };
    row.command_arguments = {"--plugin", stamp.file.lexically_normal().string()};
    CONEBENCH_TRY(row, with_common(std::move(row)).within(name));
    CONEBENCH_CHECK(add_solver(std::move(row)).within(name));
  }
  return {};
}

}  // namespace conebench
