#include "reports/paper/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "problems/text_file.hpp"
#include "reports/paper/embedded_entries.hpp"
#include "reports/paper/entry_reader.hpp"
#include "runners/plan/json_reader.hpp"

namespace conebench::paper {

namespace {

constexpr std::uintmax_t largest_entry = 1 << 20;

}  // namespace

std::string to_string(State state) { return state_words()[static_cast<std::size_t>(state)]; }
std::string to_string(Size size) { return size == Size::quick ? "quick" : "full"; }

Result<std::vector<Entry>> parse_entries(const std::string& text, const std::filesystem::path& file) {
  const auto document = parse_json(text, file.string());
  if (!document) return document.error();
  const bool list = document->is_array();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < (list ? document->size() : 1); ++i) {
    const std::string where = list ? fmt::format("{}: [{}]", file.string(), i) : file.string();
    auto entry = read_entry(list ? (*document)[i] : *document, where);
    if (!entry) return entry.error();
    entry->folder = file.parent_path();
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::vector<Entry>> load_entries(const std::filesystem::path& file) {
  const auto text = read_text_file(file, largest_entry);
  if (!text) return text.error();
  auto entries = parse_entries(*text, file);
  if (!entries) return entries;
  for (Entry& entry : *entries) {
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
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
  return all;
}

}  // namespace conebench::paper
