#include "base/source_text.hpp"

namespace conebench {

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

}  // namespace

std::string source_word(std::string_view name, std::string_view value) {
  std::string word(name);
  word += '=';
  if (value.find_first_of(" \t\r\n\"\\") == std::string_view::npos) return word.append(value);
  word += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + '"';
}

std::optional<std::vector<std::string>> split_source_text(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = text.find_first_not_of(blanks); i < text.size(); i = text.find_first_not_of(blanks, i)) {
    std::string& word = words.emplace_back();
    bool quoted = false;
    for (; i < text.size() && (quoted || !is_blank(text[i])); ++i) {
      // Quotes open behind a = alone: a file's name may have them anywhere.
      if (quoted ? text[i] == '"' : text[i] == '"' && word.ends_with('=')) {
        quoted = !quoted;
      } else {
        if (quoted && text[i] == '\\' && i + 1 < text.size()) ++i;
        word += text[i];
      }
    }
    if (quoted) return std::nullopt;
  }
  return words;
}

std::string file_name(std::string text) {
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '=' || c == ',' || c == '+';
    if (!plain) c = '_';
  }
  return text + ".hdf5";
}

}  // namespace conebench
