#include "reports/terms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/report.hpp"

namespace conebench {

StoreContents without_own(StoreContents contents) {
  std::set<std::string> own, labels;
  for (const SettingRecord& setting : contents.settings) {
    if (!reports::is_own(setting)) continue;
    own.insert(setting.hash);
    labels.insert(setting.label.empty() ? setting.solver : setting.label);
  }
  std::erase_if(contents.settings, [&](const SettingRecord& setting) { return own.contains(setting.hash); });
  std::erase_if(contents.cells, [&](const CellRecord& cell) { return own.contains(cell.setting); });
  for (SuiteState& suite : contents.suites) {
    std::erase_if(suite.present, [&](const WantedCell& cell) { return own.contains(cell.setting); });
    std::erase_if(suite.missing, [&](const WantedCell& cell) { return own.contains(cell.setting); });
  }
  contents.own_left_out.assign(labels.begin(), labels.end());
  return contents;
}

namespace reports {

std::vector<std::size_t> paying_alone(const Analysis& analysis, const Slice& slice) {
  std::vector<std::size_t> paying;
  bool some_free = false;
  if (slice.criterion != "verdict") return paying;
  for (std::size_t c = 0; c < analysis.columns.size(); ++c) {
    const bool has_run = std::any_of(slice.grid.begin(), slice.grid.end(),
                                     [c](const auto& row) { return outcome(row[c]) != Outcome::not_run; });
    if (!has_run) continue;
    const std::string& looks = analysis.columns[c].setting->looks;
    some_free = some_free || looks == "free";
    if (looks == "paid") paying.push_back(c);
  }
  if (!some_free) paying.clear();
  return paying;
}

std::string criterion_text(const Analysis& analysis, const Slice& slice) {
  if (slice.criterion == "verdict-paid") return "criterion verdict-paid (residual checks are in every time)";
  if (slice.criterion == "own") return "criterion own (each solver's own test)";
  if (slice.criterion != "verdict") return "criterion " + slice.criterion;
  std::set<std::string> solvers;
  for (const std::size_t c : paying_alone(analysis, slice)) solvers.insert(analysis.columns[c].setting->solver);
  if (solvers.empty()) return "criterion verdict (residual checks are in no time)";
  return fmt::format("criterion verdict ({} {} for tests of {} own, residual checks of the others are free)",
                     fmt::join(solvers, ", "), solvers.size() == 1 ? "pays" : "pay",
                     solvers.size() == 1 ? "its" : "their");
}

bool is_own(const SettingRecord& setting) { return setting.origin == "own"; }

std::string own_legend(const Analysis& analysis) {
  const bool any = std::any_of(analysis.columns.begin(), analysis.columns.end(),
                               [](const Column& column) { return is_own(*column.setting); });
  return any ? std::string(own_mark) + " by Conebench's authors" : std::string();
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
