#include "papers/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/content_address.hpp"
#include "base/json_reader.hpp"
#include "base/text_file.hpp"
#include "papers/embedded_entries.hpp"
#include "papers/entry_reader.hpp"

namespace conebench::papers {

namespace {

constexpr std::uintmax_t largest_entry = 1 << 20;

/// The id with its numbers as long as each other, so that fig-9 comes before fig-10.
std::string sort_key(const std::string& id) {
  constexpr std::size_t max_number = 6;
  std::string key, digits;
  for (const char c : id + " ") {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      continue;
    }
    if (!digits.empty()) key += std::string(max_number - std::min(digits.size(), max_number), '0') + digits;
    digits.clear();
    key += c;
  }
  return key;
}

/// What determines numbers and verdicts: not the words in which a finding is told.
std::string text_without_findings(nlohmann::json document) {
  const auto checks = document.find("checks");
  if (checks != document.end() && checks->is_array()) {
    for (auto& check : *checks) {
      if (check.is_object()) check.erase("finding");
    }
  }
  return document.dump();
}

/// Adds the entry and its variants: the same document with a merge patch (RFC 7396) each.
Result<void> add(nlohmann::json document, const std::string& where, std::vector<Entry>& entries) {
  auto variants = nlohmann::json::object();
  if (document.is_object() && document.contains("variants")) {
    variants = document["variants"];
    document.erase("variants");
    if (!variants.is_object()) return Error{ErrorCode::wrong_usage, where + ": variants: must be {\"NAME\": {…}, …}"};
  }
  const auto read = [&](const nlohmann::json& one, const std::string& location) -> Result<void> {
    CONEBENCH_TRY(auto entry, read_entry(one, location));
    entry.text = text_without_findings(one);
    entries.push_back(std::move(entry));
    return {};
  };
  CONEBENCH_CHECK(read(document, where));
  const std::string id = entries.back().id;
  for (const auto& [name, patch] : variants.items()) {
    nlohmann::json changed = document;
    changed.merge_patch(patch);
    changed["id"] = id + "-" + name;
    CONEBENCH_CHECK(read(changed, where + ": variants." + name));
    entries.back().variant = name;
    entries.back().variant_of = id;
  }
  return {};
}

}  // namespace

std::string to_string(State state) { return state_names()[static_cast<std::size_t>(state)]; }
std::string to_string(Size size) { return size == Size::quick ? "quick" : "full"; }

Result<std::vector<Entry>> parse_entries(const std::string& text, const std::filesystem::path& file) {
  CONEBENCH_TRY(const auto document, parse_json(text, file.string()));
  const bool list = document.is_array();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < (list ? document.size() : 1); ++i) {
    const std::string where = list ? fmt::format("{}: [{}]", file.string(), i) : file.string();
    CONEBENCH_CHECK(add(list ? document[i] : document, where, entries));
  }
  for (Entry& entry : entries) entry.folder = file.parent_path();
  return entries;
}

Result<std::vector<Entry>> load_entries(const std::filesystem::path& file) {
  CONEBENCH_TRY(const auto text, read_text_file(file, largest_entry));
  CONEBENCH_TRY(auto entries, parse_entries(text, file));
  for (Entry& entry : entries) {
    if (entry.folder.empty()) entry.folder = ".";
  }
  return entries;
}

Result<std::vector<Entry>> embedded_entries() {
  std::vector<Entry> all;
  for (const auto& [name, text] : embedded_entry_texts()) {
    auto entries = parse_entries(text, name + ".json");
    if (!entries) return Error{ErrorCode::internal, "built-in entry " + entries.error().message};
    std::move(entries->begin(), entries->end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return sort_key(a.id) < sort_key(b.id); });
  return all;
}

std::string fingerprint(const Entry& entry, const std::vector<Entry>& entries) {
  const auto owner =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == entry.suites_of; });
  return content_address({entry.text, owner == entries.end() ? std::string_view("") : std::string_view(owner->text)});
}

}  // namespace conebench::papers
