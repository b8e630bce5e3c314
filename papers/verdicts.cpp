#include "papers/verdicts.hpp"

#include <nlohmann/json.hpp>

#include "papers/embedded_entries.hpp"
#include "papers/render.hpp"

namespace conebench::papers {

namespace {

using OrderedJson = nlohmann::ordered_json;

LastVerdicts one_of(const OrderedJson& json) {
  LastVerdicts last;
  json.at("entry").get_to(last.fingerprint);
  json.at("size").get_to(last.size);
  json.at("problems").get_to(last.problems);
  json.at("build").get_to(last.build);
  for (const auto& item : json.at("checks").items()) {
    last.checks.emplace_back(item.key(), item.value().get<std::string>());
  }
  return last;
}

}  // namespace

std::string to_json_text(const VerdictRecord& record) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [id, last] : record) {
    OrderedJson checks = OrderedJson::object();
    for (const auto& [check, verdict] : last.checks) checks[check] = verdict;
    json[id] = {{"entry", last.fingerprint},
                {"size", last.size},
                {"problems", last.problems},
                {"build", last.build},
                {"checks", checks}};
  }
  return json.dump(1) + "\n";
}

Result<VerdictRecord> parse_verdicts(const std::string& text) {
  VerdictRecord record;
  try {
    const OrderedJson document = OrderedJson::parse(text);
    for (const auto& item : document.items()) record[item.key()] = one_of(item.value());
  } catch (const OrderedJson::exception& error) {
    return Error{ErrorCode::bad_input, error.what()};
  }
  return record;
}

const VerdictRecord& embedded_verdicts() {
  static const VerdictRecord record = [] {
    const auto parsed = parse_verdicts(std::string(embedded_verdicts_text()));
    return parsed ? *parsed : VerdictRecord{};
  }();
  return record;
}

void put(VerdictRecord& record, const std::vector<EntryResult>& results, const std::vector<Entry>& entries,
         const std::string& size, const std::string& build) {
  for (const EntryResult& result : results) {
    if (!result.not_run.empty()) continue;
    LastVerdicts& last =
        record[result.entry->id] = {fingerprint(*result.entry, entries), size, result.problems, build, {}};
    for (std::size_t i = 0; i < result.checks.size(); ++i) {
      last.checks.emplace_back(result.entry->checks[i].id, verdict_text(result.checks[i]));
    }
  }
}

std::string verdicts_text(const VerdictRecord& record, const Entry& entry, const std::vector<Entry>& entries) {
  const auto found = record.find(entry.id);
  if (found == record.end()) return {};
  if (found->second.fingerprint != fingerprint(entry, entries)) return "changed since";
  std::string text;
  for (const auto& [check, verdict] : found->second.checks) text += (text.empty() ? "" : ", ") + check + " " + verdict;
  return text;
}

}  // namespace conebench::papers
