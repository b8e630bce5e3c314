#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "papers/describe.hpp"
#include "papers/render.hpp"
#include "reports/terms.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

std::string pair_text(const std::optional<double>& value, const std::optional<double>& spread) {
  if (!value) return "–";
  return spread ? fmt::format("{} ± {}", reports::human_number(*value), reports::human_number(*spread))
                : number_text(*value);
}

std::string name_text(const TableLine& line) {
  return line.own ? fmt::format("{} {}", line.part.name, reports::own_mark) : line.part.name;
}

}  // namespace

std::string value_text(const Value& value, const Value& spread) { return pair_text(value.number, spread.number); }
std::string value_text(const Published& published) { return pair_text(published.value, published.spread); }

std::vector<std::vector<std::string>> table_texts(const Table& table,
                                                  const std::vector<std::vector<TableCell>>& cells) {
  const bool has_published = !table.published.empty();
  std::vector<std::vector<std::string>> rows = {{table.corner}};
  if (has_published) rows[0].push_back("");
  for (const TableLine& column : table.columns) rows[0].push_back(name_text(column));
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::vector<std::string> measured = {name_text(table.rows[r])};
    if (has_published) measured.push_back("measured");
    for (const TableCell& cell : cells[r]) measured.push_back(value_text(cell.value, cell.spread));
    rows.push_back(std::move(measured));
    const bool any =
        std::any_of(cells[r].begin(), cells[r].end(), [](const auto& c) { return c.published.value.has_value(); });
    if (!any) continue;
    std::vector<std::string> published = {"", "published"};
    for (const TableCell& cell : cells[r]) published.push_back(value_text(cell.published));
    rows.push_back(std::move(published));
  }
  return rows;
}

std::string own_legend(const Table& table) {
  const auto is_own = [](const TableLine& line) { return line.own; };
  const bool any = std::ranges::any_of(table.rows, is_own) || std::ranges::any_of(table.columns, is_own);
  return any ? reports::own_legend_text : "";
}

std::string source_text(const Entry& entry, const std::string& location) {
  if (entry.paper == own_tables) return {};
  return fmt::format("paper {}, {}", entry.paper, location.empty() ? entry.location : location);
}

std::string verdict_text(const CheckResult& result) {
  const bool unexplained = result.verdict == Verdict::fails && !result.expected;
  return to_string(result.verdict) + (unexplained ? " without a known reason" : "");
}

std::string measured_text(const Check& check, const CheckResult& result) {
  std::map<std::string, std::vector<Comparison>> by_part;
  std::vector<std::string> parts;  // in their order
  for (const auto& [part, comparison] : result.measured) {
    if (!by_part.contains(part)) parts.push_back(part);
    by_part[part].push_back(comparison);
  }
  std::string text;
  for (const std::string& part : parts) {
    std::vector<std::string> sentences;
    if (const std::string finding = finding_text(check.finding, by_part[part]); !finding.empty()) {
      sentences.push_back(finding);
    } else {
      for (const Comparison& comparison : by_part[part]) sentences.push_back(comparison_text(comparison));
    }
    if (!text.empty()) text += ". ";
    text += (part.empty() ? "" : part + ": ") + fmt::format("{}", fmt::join(sentences, ". "));
  }
  return text;
}

std::string claim_sentences(const Check& check, const CheckResult& result) {
  std::string text;
  for (const std::string& sentence :
       {reports::capital(check.claim), measured_text(check, result), reports::capital(reason_text(check, result))}) {
    if (sentence.empty()) continue;
    text += (text.empty() ? "" : " ") + sentence + (sentence.ends_with('.') ? "" : ".");
  }
  return text;
}

std::string reason_text(const Check& check, const CheckResult& result) {
  if (!check.known_failure || (result.verdict != Verdict::fails && result.verdict != Verdict::holds)) {
    return result.reason;
  }
  const KnownFailure& known = *check.known_failure;
  const auto range = fmt::format("{} to {}", number_text(known.low), number_text(known.high));
  if (result.verdict == Verdict::holds) return "It failed before, for this reason: " + known.reason;
  if (result.expected) return known.reason;
  if (!result.measure.known()) return known.reason + ". Whether that explains it is not known: there is no number";
  return fmt::format("{}. That explains a value of {}, not {}", known.reason, range,
                     number_text(*result.measure.number));
}

std::string claims_text(const EntryResult& result) {
  const std::size_t all = result.checks.size();
  if (all == 0) return {};
  std::map<std::string, std::size_t> counts;
  for (const CheckResult& check : result.checks) ++counts[verdict_text(check)];
  std::string text = fmt::format("{} of {} {}", counts["holds"], all, all == 1 ? "claim holds" : "claims hold");
  for (const auto& [verdict, count] : counts) {
    if (verdict == "holds") continue;
    const bool several = count > 1 && verdict.starts_with("fails");
    text += fmt::format(", {} {}", count, several ? "fail" + verdict.substr(5) : verdict);
  }
  return text;
}

std::vector<std::string> gaps_of(const Table& table, const std::vector<std::vector<TableCell>>& cells) {
  std::vector<std::string> gaps;
  if (!table.without_cells.empty())
    gaps.push_back(fmt::format("left out, as no cell was run: {}", fmt::join(table.without_cells, ", ")));
  std::set<std::string> reported;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    for (std::size_t c = 0; c < cells[r].size(); ++c) {
      const Value& value = cells[r][c].value;
      if (value.known() || value.reason.empty() || !reported.insert(value.reason).second) continue;
      const std::string& column = table.columns[c].part.name;
      gaps.push_back(
          fmt::format("{}{}{}: {}", table.rows[r].part.name, column.empty() ? "" : ", ", column, value.reason));
    }
  }
  return gaps;
}

}  // namespace conebench::papers
