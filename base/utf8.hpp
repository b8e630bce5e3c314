#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace conebench {

struct CodePoint {
  std::uint32_t value = 0;  ///< the byte, if not valid
  std::string_view bytes;
  bool valid = false;
};

/// The first code point of `text` (not empty). A byte that begins none is returned alone, as not valid.
CodePoint first_code_point(std::string_view text);

template <class Visit>
void each_code_point(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    visit(point);
    text.remove_prefix(point.bytes.size());
  }
}

/// `text` with U+FFFD for every byte that is not UTF-8. For foreign texts (file names, messages of solvers) before they
/// enter a record.
std::string valid_utf8(std::string_view text);

/// valid_utf8 on one line, fit for a terminal: line breaks and tabs become blanks, other controls and the invisible
/// marks that turn or join text U+FFFD.
std::string one_line(std::string_view text);

/// The same for a text of several lines; line breaks, blanks and tabs stay.
std::string printable(std::string_view text);

/// Columns that a UTF-8 text takes on a terminal (one a code point).
std::size_t display_width(std::string_view text);

/// The text, or its beginning and end with "…" between them, in at most `width` columns (3 or more).
std::string shorten(std::string_view text, std::size_t width);

}  // namespace conebench
