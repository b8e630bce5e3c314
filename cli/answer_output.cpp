#include "cli/answer_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/output.hpp"
#include "metrics/residuals.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::cli {

namespace {

/// The first row of a block, as the problem was given.
Index given_row(const ContactProblem& problem, Index block) {
  const Index first = problem.cones().block_row(block);
  if (!problem.given_rows()) return first;
  const std::vector<Index>& rows = problem.given_rows()->row;
  const Index end = first + problem.cones().block_size(block);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](Index row) { return row >= first && row < end; });
  return static_cast<Index>(found - rows.begin());
}

}  // namespace

std::string block_name(const ConeProduct& cones, Index block) {
  switch (cones.block_kind(block)) {
    case BlockKind::joint: return fmt::format("joint row {}", block);
    case BlockKind::limit: return fmt::format("limit {}", block - cones.first_limit_row());
    case BlockKind::interval: return fmt::format("interval {}", block - cones.first_interval_row());
    case BlockKind::contact: return fmt::format("contact {}", block - cones.first_contact_row());
  }
  throw std::logic_error("unknown kind of block");
}

std::string block_text(const ContactProblem& problem, Index block) {
  return problem.given_rows() ? fmt::format("row {} of the file", given_row(problem, block))
                              : block_name(problem.cones(), block);
}

void add_judgement(nlohmann::json& object, const ContactProblem& problem, const CellRecord& record) {
  object["solved"] = record.solved;
  object["tolerance"] = number(record.tolerance);
  object["verdict"] = record.verdict;
  object["verdict_value"] = number(record.verdict_value);
  auto& residuals = object["residuals"] = nlohmann::json::object();
  auto& missing = object["residuals_missing"] = nlohmann::json::object();
  auto& worst = object["worst_blocks"] = nlohmann::json::object();
  auto& worst_rows = object["worst_rows"] = nlohmann::json::object();
  // Every name is there, also where nothing was judged.
  for (const auto& row : residual_table()) {
    const auto found = record.residuals.find(row.name);
    if (!found) {
      residuals[row.name] = nullptr;
      missing[row.name] = "nothing was judged";
      continue;
    }
    residuals[row.name] = number(found->value);
    if (!found->missing.empty()) missing[row.name] = found->missing;
    if (found->worst_block < 0) continue;
    worst[row.name] = found->worst_block;
    worst_rows[row.name] = given_row(problem, found->worst_block);
  }
  object["modes"] = {{"open", record.open},
                     {"stick", record.stick},
                     {"slip", record.slip},
                     {"moment_stick", record.moment_stick},
                     {"moment_slip", record.moment_slip},
                     {"inside", record.inside},
                     {"at_lower", record.at_lower},
                     {"at_upper", record.at_upper}};
}

std::string judgement_text(const ContactProblem& problem, const CellRecord& record, bool all) {
  constexpr std::size_t few = 5;
  std::vector<std::string> shown;
  for (const std::string& name :
       {record.verdict, std::string("natural_map_scaled"), std::string("primal"), std::string("dual"),
        std::string("complementarity"), std::string("natural_map_relative")}) {
    if (shown.size() < few && std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(name);
  }
  std::string text = fmt::format("solved     {}: {} = {}, tolerance {:g}\n",
                                 record.solved             ? "yes"
                                 : passes_too_late(record) ? "no: passes, but came after the time limit"
                                                           : "no",
                                 record.verdict, short_number(record.verdict_value), record.tolerance);
  text += fmt::format("contacts   {} open, {} stick, {} slip\n", record.open, record.stick, record.slip);
  if (record.moment_stick + record.moment_slip > 0) {
    text += fmt::format("moments    {} stick, {} slip\n", record.moment_stick, record.moment_slip);
  }
  if (record.inside + record.at_lower + record.at_upper > 0) {
    text += fmt::format("intervals  {} inside, {} at the lower bound, {} at the upper\n", record.inside,
                        record.at_lower, record.at_upper);
  }
  text += "\n";
  long hidden = 0;
  std::vector<std::vector<std::string>> rows = {{"residual", "value", "unit", "worst at"}};
  for (const auto& row : residual_table()) {
    const auto found = record.residuals.find(row.name);
    if (!found) continue;
    if (!all && std::find(shown.begin(), shown.end(), row.name) == shown.end()) {
      ++hidden;
      continue;
    }
    const ResidualRecord& residual = *found;
    if (!residual.missing.empty()) {
      rows.push_back({row.name, "–", "", "unknown: " + residual.missing});
      continue;
    }
    rows.push_back({row.name, residual.value ? short_number(residual.value) : std::string("not finite"), row.unit,
                    residual.worst_block >= 0 ? block_text(problem, residual.worst_block) : std::string()});
  }
  if (rows.size() > 1) text += align_columns(rows);
  if (hidden > 0) text += fmt::format("{} more with --all\n", hidden);
  return text;
}

std::string feasibility_hint(const CellRecord& record, const std::string& file) {
  if (record.solved || passes_too_late(record)) return {};
  return fmt::format(
      "hint       conebench inspect --feasibility {} looks for a proof that the problem has no solution\n",
      reports::shell(file));
}

}  // namespace conebench::cli
