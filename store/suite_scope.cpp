#include "store/suite_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "store/store.hpp"

namespace conebench {

namespace {

/// By hash, or what stands for it: a source of each.
using ScopeProblems = std::map<std::string, std::string>;

/// Problem → configuration → tolerance and start.
using PartLists = std::map<std::string, std::map<std::string, std::vector<std::pair<double, std::string>>>>;

constexpr const char* not_looked_at = "not looked at: ";
constexpr const char* code_key = "code";
constexpr const char* code_hashes_key = "code_hashes";

bool asks_for(const SuiteScope& scope, const ScopeProblems& problems, const CellRecord& cell) {
  return problems.contains(cell.problem) && scope.configurations.contains(cell.configuration) &&
         scope.tolerances.contains(cell.tolerance) && scope.starts.contains(cell.start) &&
         cell.stop_by == scope.stop_by && cell.verdict == scope.verdict &&
         cell.max_iterations == scope.max_iterations && cell.limit_s == scope.limit_s &&
         cell.limit_mb == scope.limit_mb &&
         (!scope.part || scope.part->contains({cell.problem, cell.configuration, cell.tolerance, cell.start}));
}

/// The scope's problems. A source that no run has looked at stands for the latest problem that came from it.
ScopeProblems problems_of(const SuiteScope& scope, const std::vector<ProblemRecord>& records) {
  std::map<std::string, std::string> latest;
  for (const ProblemRecord& record : records) {
    latest[record.source] = record.hash;
    for (const std::string& copy : record.copies) latest[copy] = record.hash;
  }
  ScopeProblems problems;
  for (const auto& [source, hash] : scope.problems) {
    const auto known = latest.find(source);
    problems.emplace(!hash.empty() ? hash : known != latest.end() ? known->second : not_looked_at + source, source);
  }
  return problems;
}

/// What the scope asks for and `state` does not have.
void find_missing(const SuiteScope& scope, const ScopeProblems& problems, SuiteState& state) {
  for (const auto& [problem, source] : problems) {
    bool is_missing = false;
    for (const auto& [configuration, unused] : scope.configurations) {
      for (const double tolerance : scope.tolerances) {
        for (const std::string& start : scope.starts) {
          WantedCell cell{problem, configuration, tolerance, start};
          if (state.present.contains(cell) || (scope.part && !scope.part->contains(cell))) continue;
          state.missing.insert(std::move(cell));
          is_missing = true;
        }
      }
    }
    if (!is_missing) continue;
    const auto named = scope.names.find(source);
    state.sources[problem] = named != scope.names.end() ? named->second : NamedSource{{}, {}, source};
    if (problem.starts_with(not_looked_at)) state.known_by_name.insert(problem);
  }
  state.configurations = scope.configurations;
}

}  // namespace

std::string to_json_text(const SuiteScope& scope) {
  auto names = nlohmann::json::object();
  for (const auto& [source, named] : scope.names) names[source] = {named.name, named.family};
  auto configurations = nlohmann::json::array();
  auto labels = nlohmann::json::object();
  for (const auto& [hash, named] : scope.configurations) {
    configurations.push_back(hash);
    labels[hash] = {named.solver, named.label};
  }
  nlohmann::json json = {{"problems", scope.problems},
                         {"names", names},
                         {"configurations", configurations},
                         {"labels", labels},
                         {"tolerances", scope.tolerances},
                         {"starts", scope.starts},
                         {"stop_by", scope.stop_by},
                         {"verdict", scope.verdict},
                         {"max_iterations", scope.max_iterations},
                         {"limit_s", scope.limit_s},
                         {"limit_mb", scope.limit_mb}};
  if (!scope.code.empty()) json[code_key] = scope.code;
  if (!scope.code_hashes.empty()) json[code_hashes_key] = scope.code_hashes;
  if (scope.part) {
    PartLists part;
    for (const WantedCell& cell : *scope.part) {
      part[cell.problem][cell.configuration].emplace_back(cell.tolerance, cell.start);
    }
    json["part"] = part;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<SuiteScope> scope_of_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    SuiteScope scope;
    json.at("problems").get_to(scope.problems);
    for (const auto& hash : json.at("configurations")) scope.configurations[hash.get<std::string>()];
    const auto pairs = [&](const char* key, const auto& take) {
      const nlohmann::json known = json.value(key, nlohmann::json::object());
      for (const auto& [name, pair] : known.items()) {
        take(name, pair.at(0).template get<std::string>(), pair.at(1).template get<std::string>());
      }
    };
    pairs("names", [&](const std::string& source, const std::string& name, const std::string& family) {
      scope.names[source] = {name, family, source};
    });
    pairs("labels", [&](const std::string& hash, const std::string& solver, const std::string& label) {
      if (scope.configurations.contains(hash)) scope.configurations[hash] = {solver, label};
    });
    json.at("tolerances").get_to(scope.tolerances);
    json.at("starts").get_to(scope.starts);
    json.at("stop_by").get_to(scope.stop_by);
    json.at("verdict").get_to(scope.verdict);
    json.at("max_iterations").get_to(scope.max_iterations);
    json.at("limit_s").get_to(scope.limit_s);
    json.at("limit_mb").get_to(scope.limit_mb);
    if (json.contains(code_key)) json.at(code_key).get_to(scope.code);
    if (json.contains(code_hashes_key)) json.at(code_hashes_key).get_to(scope.code_hashes);
    if (json.contains("part")) {
      scope.part.emplace();
      for (const auto& [problem, configurations] : json.at("part").get<PartLists>()) {
        for (const auto& [configuration, cells] : configurations) {
          for (const auto& [tolerance, start] : cells) scope.part->insert({problem, configuration, tolerance, start});
        }
      }
    }
    return scope;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

namespace {

/// The scope of a text that has `key`: scopes are large, and few have code.
std::optional<SuiteScope> scope_with(const std::string& text, const char* key) {
  if (text.find(fmt::format("\"{}\":", key)) == std::string::npos) return std::nullopt;
  return scope_of_json(text);
}

}  // namespace

std::map<std::string, std::vector<std::string>> code_of_scope(const std::string& text) {
  return scope_with(text, code_key).value_or(SuiteScope{}).code;
}

std::map<std::string, std::string> code_hashes_of_scope(const std::string& text) {
  return scope_with(text, code_hashes_key).value_or(SuiteScope{}).code_hashes;
}

void fill_in(SuiteScope& scope, const SuiteScope& earlier) {
  for (auto& [source, hash] : scope.problems) {
    const auto known = earlier.problems.find(source);
    if (hash.empty() && known != earlier.problems.end()) hash = known->second;
  }
  // Filters of several runs add up; once the whole suite was asked for, it is.
  if (scope.part && earlier.part) scope.part->insert(earlier.part->begin(), earlier.part->end());
  if (!earlier.part) scope.part.reset();
}

std::map<std::string, SuiteScope> present_scopes(const std::vector<RunRecord>& runs) {
  std::map<std::string, SuiteScope> scopes;
  for (const RunRecord& run : runs) {
    if (auto scope = scope_of_json(run.scope_json)) scopes[run.suite_name] = std::move(*scope);
  }
  return scopes;
}

StoreContents present_contents(StoreContents contents) {
  const auto scopes = present_scopes(contents.runs);
  for (const RunRecord& run : contents.runs) {
    if (!scopes.contains(run.suite_name)) return contents;
  }
  std::vector<bool> wanted(contents.cells.size(), false);
  for (const auto& [name, scope] : scopes) {
    const auto problems = problems_of(scope, contents.problems);
    SuiteState state;
    state.name = name;
    for (std::size_t i = 0; i < contents.cells.size(); ++i) {
      const CellRecord& cell = contents.cells[i];
      if (!asks_for(scope, problems, cell)) continue;
      wanted[i] = true;
      state.present.insert({cell.problem, cell.configuration, cell.tolerance, cell.start});
    }
    find_missing(scope, problems, state);
    contents.suites.push_back(std::move(state));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contents.cells.size(); ++i) {
    if (!wanted[i]) continue;
    if (kept != i) contents.cells[kept] = std::move(contents.cells[i]);
    ++kept;
  }
  contents.outdated_cells += static_cast<long>(contents.cells.size() - kept);
  contents.cells.resize(kept);
  return contents;
}

Result<StoreContents> read_present(const std::filesystem::path& file) {
  CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
  CONEBENCH_TRY(auto contents, store.read_outcomes());
  return present_contents(std::move(contents));
}

}  // namespace conebench
