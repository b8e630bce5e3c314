#include "store/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "store/record_fields.hpp"

namespace conebench {

namespace {

using nlohmann::json;

/// Fills a JSON object from a record's fields.
class ObjectWriter {
 public:
  explicit ObjectWriter(json& object) : object_(object) { object_ = json::object(); }
  template <class T>
  void operator()(const char* name, const T& value) {
    object_[name] = value;
  }
  void operator()(const char* name, double value) { object_[name] = number(value); }
  void operator()(const char* name, const std::optional<double>& value) {
    object_[name] = value ? number(*value) : json(nullptr);
  }
  void operator()(const char* name, const std::optional<std::int64_t>& value) {
    object_[name] = value ? json(*value) : json(nullptr);
  }
  void json_text(const char* name, const std::string& text) {
    auto value = nlohmann::json::parse(text, nullptr, false);
    object_[name] = value.is_discarded() ? nlohmann::json(text) : std::move(value);
  }
  template <class Fields>
  void group(const char* name, Fields fields) {
    ObjectWriter inner(object_[name]);
    fields(inner);
  }

 private:
  static nlohmann::json number(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  }
  nlohmann::json& object_;
};

}  // namespace

json to_json(const RunRecord& run) {
  json out;
  ObjectWriter writer(out);
  visit_run(writer, run);
  out["id"] = run.id;
  return out;
}

json to_json(const ProblemRecord& problem) {
  json out;
  ObjectWriter writer(out);
  visit_problem(writer, problem);
  return out;
}

json to_json(const SettingRecord& setting) {
  json out;
  ObjectWriter writer(out);
  visit_setting(writer, setting);
  return out;
}

json to_json(const CellRecord& cell) {
  json out;
  ObjectWriter writer(out);
  visit_cell(writer, cell);
  auto& residuals = out["residuals"] = json::object();
  for (const auto& [name, residual] : cell.residuals) {
    ObjectWriter inner(residuals[name]);
    visit_residual(inner, residual);
  }
  auto& rounds = out["timed_rounds"] = json::array();
  for (const auto& round : cell.timed_rounds) {
    ObjectWriter inner(rounds.emplace_back());
    visit_round(inner, round);
  }
  out["answer_crc"] = cell.answer_crc ? json(*cell.answer_crc) : json(nullptr);
  if (!cell.reaction.empty()) {
    auto& reaction = out["reaction"] = json::array();
    for (const double value : cell.reaction) reaction.push_back(std::isfinite(value) ? json(value) : json(nullptr));
  }
  return out;
}

}  // namespace conebench
