#include "runners/store/suite_scope.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace conebench {

namespace {

/// Where a cell stands in its suite; limits, criterion and verdict are the same for all.
using Place = std::tuple<std::string, std::string, double, std::string>;  // problem, setting, tolerance, start

bool asks_for(const SuiteScope& scope, const std::set<std::string>& problems, const CellRecord& cell) {
  return problems.contains(cell.problem) && scope.settings.contains(cell.setting) &&
         scope.tolerances.contains(cell.tolerance) && scope.starts.contains(cell.start) &&
         cell.criterion == scope.criterion && cell.verdict == scope.verdict &&
         cell.max_iterations == scope.max_iterations && cell.limit_s == scope.limit_s &&
         cell.limit_mb == scope.limit_mb;
}

/// Hashes of the scope's problems. A source that no run has looked at stands for the latest problem that came from it.
std::set<std::string> problems_of(const SuiteScope& scope, const std::vector<ProblemRecord>& records) {
  std::map<std::string, std::string> latest;
  for (const ProblemRecord& record : records) {
    latest[record.source] = record.hash;
    for (const std::string& copy : record.copies) latest[copy] = record.hash;
  }
  std::set<std::string> hashes;
  for (const auto& [source, hash] : scope.problems) {
    const auto known = latest.find(source);
    hashes.insert(!hash.empty() ? hash : known != latest.end() ? known->second : "not looked at: " + source);
  }
  return hashes;
}

}  // namespace

std::string to_json_text(const SuiteScope& scope) {
  const nlohmann::json json = {{"problems", scope.problems},
                               {"settings", scope.settings},
                               {"tolerances", scope.tolerances},
                               {"starts", scope.starts},
                               {"criterion", scope.criterion},
                               {"verdict", scope.verdict},
                               {"max_iterations", scope.max_iterations},
                               {"limit_s", scope.limit_s},
                               {"limit_mb", scope.limit_mb}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<SuiteScope> scope_of_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    SuiteScope scope;
    json.at("problems").get_to(scope.problems);
    json.at("settings").get_to(scope.settings);
    json.at("tolerances").get_to(scope.tolerances);
    json.at("starts").get_to(scope.starts);
    json.at("criterion").get_to(scope.criterion);
    json.at("verdict").get_to(scope.verdict);
    json.at("max_iterations").get_to(scope.max_iterations);
    json.at("limit_s").get_to(scope.limit_s);
    json.at("limit_mb").get_to(scope.limit_mb);
    return scope;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void fill_in(SuiteScope& scope, const SuiteScope& earlier) {
  for (auto& [source, hash] : scope.problems) {
    const auto known = earlier.problems.find(source);
    if (hash.empty() && known != earlier.problems.end()) hash = known->second;
  }
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
    std::set<Place> present;
    for (std::size_t i = 0; i < contents.cells.size(); ++i) {
      const CellRecord& cell = contents.cells[i];
      if (!asks_for(scope, problems, cell)) continue;
      wanted[i] = true;
      present.emplace(cell.problem, cell.setting, cell.tolerance, cell.start);
    }
    SuiteState state{name, 0, static_cast<long>(present.size())};
    state.cells =
        static_cast<long>(problems.size() * scope.settings.size() * scope.tolerances.size() * scope.starts.size());
    contents.suites.push_back(std::move(state));
  }
  std::vector<CellRecord> kept;
  for (std::size_t i = 0; i < contents.cells.size(); ++i) {
    if (wanted[i]) {
      kept.push_back(std::move(contents.cells[i]));
    } else {
      ++contents.outdated_cells;
    }
  }
  contents.cells = std::move(kept);
  return contents;
}

}  // namespace conebench
