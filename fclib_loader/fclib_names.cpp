#include "fclib_loader/fclib_names.hpp"

#include <algorithm>
#include <cctype>

#include "fclib_loader/hdf5_file.hpp"

namespace conebench {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_delimiter(char c) { return c == '-' || c == '_' || c == '.' || c == ' '; }

/// `2D`, `3d`: a dimension, not a counter.
bool is_dimension(const std::string& name, std::size_t digit) {
  return digit + 1 < name.size() && (name[digit] == '2' || name[digit] == '3') &&
         (name[digit + 1] == 'D' || name[digit + 1] == 'd') && (digit == 0 || !is_digit(name[digit - 1]));
}

/// `_100_` before a word that begins with a letter, as in `LMGC_100_PR_PerioBox`: part of the name.
bool is_middle_word(const std::string& name, std::size_t begin) {
  std::size_t end = begin;
  while (end < name.size() && is_digit(name[end])) ++end;
  const bool framed = (begin == 0 || name[begin - 1] == '_') && end < name.size() && name[end] == '_';
  return framed && end + 1 < name.size() && std::isalpha(static_cast<unsigned char>(name[end + 1])) != 0;
}

}  // namespace

std::string family_of_name(const std::string& name) {
  const std::string clean = hdf5::one_line(name);
  // Conebench's own names: a scene and what was set, as in `box-stack_boxes=2` or `quadruped_step=00010`.
  const std::size_t scene = clean.find('_');
  if (scene > 0 && scene < clean.find('=') && clean.find('=') != std::string::npos) return clean.substr(0, scene);
  std::size_t end = clean.size();
  for (std::size_t k = 0; k < clean.size(); ++k) {
    if (!is_digit(clean[k]) || is_dimension(clean, k)) continue;
    if (is_middle_word(clean, k)) {
      while (is_digit(clean[k])) ++k;
      continue;
    }
    end = k;
    break;
  }
  // A counter may carry a letter or two (`i00361`, `ex03`), if they stand apart.
  std::size_t word = end;
  while (word > 0 && !is_delimiter(clean[word - 1])) --word;
  if (end < clean.size() && word > 0 && end - word <= 2) end = word;
  while (end > 0 && is_delimiter(clean[end - 1])) --end;
  return end > 0 ? clean.substr(0, end) : clean;
}

}  // namespace conebench
