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
  std::map<std::string, NamedSetting> left_out;  // by label
  for (const SettingRecord& setting : contents.settings) {
    if (!reports::is_own(setting)) continue;
    own.insert(setting.hash);
    const std::string& label = setting.label.empty() ? setting.solver : setting.label;
    left_out[label] = {setting.solver, label};
  }
  std::erase_if(contents.settings, [&](const SettingRecord& setting) { return own.contains(setting.hash); });
  std::erase_if(contents.cells, [&](const CellRecord& cell) { return own.contains(cell.setting); });
  for (SuiteState& suite : contents.suites) {
    std::erase_if(suite.present, [&](const WantedCell& cell) { return own.contains(cell.setting); });
    std::erase_if(suite.missing, [&](const WantedCell& cell) { return own.contains(cell.setting); });
  }
  for (auto& [label, setting] : left_out) contents.own_left_out.push_back(std::move(setting));
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
  if (slice.criterion != "verdict") return paying;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    if (!has_run(slice, c)) continue;
    const std::string& looks = analysis.columns[c].setting->looks;
    some_free = some_free || looks == "free";
    if (looks == "paid") paying.push_back(c);
  }
  if (!some_free) paying.clear();
  return paying;
}

std::string criterion_text(const Analysis& analysis, const Slice& slice) {
  std::map<std::string, std::string> looks;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    const SettingRecord& setting = *analysis.columns[c].setting;
    if (has_run(slice, c)) looks[setting.solver] = setting.looks;
  }
  return criterion_text(slice.criterion, looks);
}

std::string criterion_text(const std::string& criterion, const std::map<std::string, std::string>& looks) {
  if (criterion == "verdict-paid") return "criterion verdict-paid (residual checks are in every time)";
  if (criterion == "own") return "criterion own (each solver's own test)";
  if (criterion != "verdict") return "criterion " + criterion;
  std::set<std::string> solvers;
  bool some_free = false;
  for (const auto& [solver, how] : looks) {
    some_free = some_free || how == "free";
    if (how == "paid") solvers.insert(solver);
  }
  if (solvers.empty() || !some_free) return "criterion verdict (residual checks are in no time)";
  return fmt::format("criterion verdict ({} {} for tests of {} own, residual checks of the others are free)",
                     fmt::join(solvers, ", "), solvers.size() == 1 ? "pays" : "pay",
                     solvers.size() == 1 ? "its" : "their");
}

bool is_own(const SettingRecord& setting) { return setting.origin == "own"; }

std::string own_legend(const Analysis& analysis) {
  const bool any = std::any_of(analysis.columns.begin(), analysis.columns.end(),
                               [](const Column& column) { return is_own(*column.setting); });
  return any ? own_legend_text : std::string();
}

std::optional<bool> pays_for_tests(const Slice& slice, const SettingRecord& setting) {
  if (slice.criterion != "verdict") return true;
  return setting.looks.empty() ? std::nullopt : std::optional(setting.looks == "paid");
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

std::string peer_text(const SettingRecord& setting) {
  std::vector<std::string> parts;
  if (!setting.peer_version.empty()) parts.push_back(setting.peer_version);
  if (!setting.peer_released.empty()) parts.push_back("released " + setting.peer_released);
  if (!setting.peer_build.empty()) parts.push_back(setting.peer_build);
  if (parts.empty()) return setting.origin == "peer" ? "version not known" : "";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> peer_lines(const Analysis& analysis) {
  std::map<std::string, std::set<std::string>> solvers;  // by library
  for (const Column& column : analysis.columns) {
    const std::string text = peer_text(*column.setting);
    if (!text.empty()) solvers[text].insert(column.setting->solver);
  }
  std::vector<std::string> lines;
  for (const auto& [text, ids] : solvers) lines.push_back(fmt::format("{}: {}", fmt::join(ids, ", "), text));
  return lines;
}

}  // namespace reports

}  // namespace conebench
