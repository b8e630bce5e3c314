#include "reports/terms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "reports/report.hpp"
#include "store/time_doubts.hpp"

namespace conebench {

StoreContents without_own(StoreContents contents) {
  std::set<std::string> own;
  std::map<std::string, NamedConfiguration> left_out;  // by label
  for (const ConfigurationRecord& configuration : contents.configurations) {
    if (!reports::is_own(configuration)) continue;
    own.insert(configuration.hash);
    const std::string& label = configuration.label.empty() ? configuration.solver : configuration.label;
    left_out[label] = {configuration.solver, label};
  }
  std::erase_if(contents.configurations,
                [&](const ConfigurationRecord& configuration) { return own.contains(configuration.hash); });
  std::erase_if(contents.cells, [&](const CellRecord& cell) { return own.contains(cell.configuration); });
  for (SuiteState& suite : contents.suites) {
    std::erase_if(suite.present, [&](const WantedCell& cell) { return own.contains(cell.configuration); });
    std::erase_if(suite.missing, [&](const WantedCell& cell) { return own.contains(cell.configuration); });
  }
  for (auto& [label, configuration] : left_out) contents.own_left_out.push_back(std::move(configuration));
  return contents;
}

namespace reports {

namespace {

bool has_run(const Slice& slice, std::size_t column) {
  return std::any_of(slice.grid.begin(), slice.grid.end(),
                     [column](const auto& row) { return outcome(row[column]) != Outcome::not_run; });
}

}  // namespace

std::vector<std::size_t> paying_alone(const Analysis& analysis, const Slice& slice) {
  std::vector<std::size_t> paying;
  bool some_free = false;
  if (slice.stop_by != "judge") return paying;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    if (!has_run(slice, c)) continue;
    const std::string& checks = analysis.columns[c].configuration->checks;
    some_free = some_free || checks == "free";
    if (checks == "paid") paying.push_back(c);
  }
  if (!some_free) paying.clear();
  return paying;
}

std::string stop_by_text(const Analysis& analysis, const Slice& slice) {
  std::map<std::string, std::string> checks;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    const ConfigurationRecord& configuration = *analysis.columns[c].configuration;
    if (has_run(slice, c)) checks[configuration.solver] = configuration.checks;
  }
  return stop_by_text(slice.stop_by, checks);
}

std::string stop_by_text(const std::string& stop_by, const std::map<std::string, std::string>& checks) {
  if (stop_by == "judge_timed") return "stop_by judge_timed (residual checks are in all times)";
  if (stop_by == "solver") return "stop_by solver (each solver's own test)";
  if (stop_by != "judge") return "stop_by " + stop_by;
  std::set<std::string> solvers;
  bool some_free = false;
  for (const auto& [solver, how] : checks) {
    some_free = some_free || how == "free";
    if (how == "paid") solvers.insert(solver);
  }
  if (solvers.empty() || !some_free) return "stop_by judge (residual checks are not in the times)";
  return fmt::format("stop_by judge ({} {} for tests of {} own, residual checks of the others are free)",
                     fmt::join(solvers, ", "), solvers.size() == 1 ? "pays" : "pay",
                     solvers.size() == 1 ? "its" : "their");
}

bool is_own(const ConfigurationRecord& configuration) { return configuration.origin == "own"; }

std::string own_legend(const Analysis& analysis) {
  const bool any = std::any_of(analysis.columns.begin(), analysis.columns.end(),
                               [](const Column& column) { return is_own(*column.configuration); });
  return any ? own_legend_text : std::string();
}

std::optional<bool> pays_for_tests(const Slice& slice, const ConfigurationRecord& configuration) {
  if (slice.stop_by != "judge") return true;
  return configuration.checks.empty() ? std::nullopt : std::optional(configuration.checks == "paid");
}

std::string doubt_text(const Analysis& analysis, const Ranking& ranking) {
  std::vector<std::string> rows;
  for (const RankingRow& row : ranking.rows) {
    if (row.doubts.empty()) continue;
    std::vector<std::string> doubts;
    for (const auto& [code, cells] : row.doubts) {
      doubts.push_back(fmt::format("{}: {}", plural(cells, "cell"), describe_doubts({code})));
    }
    rows.push_back(fmt::format("{} ({})", analysis.columns[row.column].label, fmt::join(doubts, "; ")));
  }
  return rows.empty() ? std::string() : fmt::format("doubtful times: {}", fmt::join(rows, ", "));
}

std::string peer_text(const ConfigurationRecord& configuration) {
  std::vector<std::string> parts;
  if (!configuration.peer_version.empty()) parts.push_back(configuration.peer_version);
  if (!configuration.peer_released.empty()) parts.push_back("released " + configuration.peer_released);
  if (!configuration.peer_build.empty()) parts.push_back(configuration.peer_build);
  if (parts.empty()) return configuration.origin == "peer" ? "version not known" : "";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> peer_lines(const Analysis& analysis) {
  std::map<std::string, std::set<std::string>> solvers;  // by library
  for (const Column& column : analysis.columns) {
    const std::string text = peer_text(*column.configuration);
    if (!text.empty()) solvers[text].insert(column.configuration->solver);
  }
  std::vector<std::string> lines;
  for (const auto& [text, ids] : solvers) lines.push_back(fmt::format("{}: {}", fmt::join(ids, ", "), text));
  return lines;
}

}  // namespace reports

}  // namespace conebench
