#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/suggestion.hpp"
#include "papers/entry.hpp"

namespace conebench::papers {

namespace {

/// The built-in suite that `suite` is "like", with the rest of it as a merge patch (RFC 7396).
Result<void> fill_in(nlohmann::json& suite, const Entry& entry) {
  if (!suite.contains("like")) return {};
  const std::string name = suite["like"].is_string() ? suite["like"].get<std::string>() : suite["like"].dump();
  std::vector<std::string> names;
  for (const EmbeddedSuite& embedded : embedded_suites()) {
    names.emplace_back(embedded.name);
    if (embedded.name != name) continue;
    auto whole = nlohmann::json::parse(embedded.text);
    suite.erase("like");
    whole.merge_patch(suite);
    suite = std::move(whole);
    return {};
  }
  return Error{ErrorCode::wrong_usage, fmt::format("{}: suites: like: no built-in suite is called '{}'; {}", entry.id,
                                                   name, did_you_mean(name, names))};
}

Result<Suite> suite_of(const Entry& entry, const SuiteText& text, bool with_data,
                       std::span<const SampledScene> scenes) {
  if (text.embedded) return load_suite(text.json, scenes);
  auto json = nlohmann::json::parse(text.json);
  CONEBENCH_CHECK(fill_in(json, entry));
  if (with_data) json["problems"] = nlohmann::json::parse(entry.data_problems);
  json["name"] = with_data ? text.name + "-data" : text.name;
  auto suite = parse_suite(json.dump(2), entry.folder / (text.name + ".json"), scenes);
  if (suite) suite->folder = entry.folder;
  return suite;
}

}  // namespace

Result<std::vector<Suite>> suites_of(const Entry& entry, Size size, bool with_data, const std::vector<Entry>& entries,
                                     std::span<const SampledScene> scenes) {
  if (!entry.suites_of.empty()) {
    const auto other =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == entry.suites_of; });
    if (other == entries.end() || !other->suites_of.empty()) {
      return Error{ErrorCode::wrong_usage, fmt::format("{}: suites: no entry with suites of its own is called '{}'",
                                                       entry.id, entry.suites_of)};
    }
    return suites_of(*other, size, with_data, entries, scenes);
  }
  const auto& texts = size == Size::quick ? entry.quick : entry.full;
  if (texts.empty()) return Error{ErrorCode::wrong_usage, fmt::format("{}: has no suite", entry.id)};
  std::vector<Suite> suites;
  for (const SuiteText& text : texts) {
    CONEBENCH_TRY(auto suite, suite_of(entry, text, with_data && !entry.data_problems.empty(), scenes));
    suites.push_back(std::move(suite));
  }
  return suites;
}

}  // namespace conebench::papers
