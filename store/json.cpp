#include "store/json.hpp"

#include <cmath>

#include "store/json_fields.hpp"

namespace conebench {

using nlohmann::json;

json to_json(const RunRecord& run) {
  json out = json_of(run);
  out["id"] = run.id;
  return out;
}

json to_json(const ProblemRecord& problem) { return json_of(problem); }

json to_json(const ConfigurationRecord& configuration) { return json_of(configuration); }

json to_json(const CellRecord& cell) {
  json out = json_of(cell);
  auto& residuals = out["residuals"] = json::object();
  for (const auto& [name, residual] : cell.residuals) residuals[name] = json_of(residual);
  auto& rounds = out["timed_rounds"] = json::array();
  for (const auto& round : cell.timed_rounds) rounds.push_back(json_of(round));
  out["answer_crc"] = cell.answer_crc ? json(*cell.answer_crc) : json(nullptr);
  if (!cell.reaction.empty()) {
    auto& reaction = out["reaction"] = json::array();
    for (const double value : cell.reaction) reaction.push_back(std::isfinite(value) ? json(value) : json(nullptr));
  }
  return out;
}

}  // namespace conebench
