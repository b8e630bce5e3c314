#include "base/utf8.hpp"

#include <array>

namespace conebench {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Controls, what XML has no place for, and the invisible marks that turn or join text: nothing a name needs.
bool is_unprintable(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, text.substr(0, 1), true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {first, text.substr(0, 1), false};
  std::uint32_t value = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return {first, text.substr(0, 1), false};
    value = (value << 6U) | (next & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least[length] || value > 0x10FFFF || surrogate) return {first, text.substr(0, 1), false};
  return {value, text.substr(0, length), true};
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_code_point(text, [&](const CodePoint& point) { out += point.valid ? point.bytes : replacement; });
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  each_code_point(text, [&](const CodePoint& point) {
    if (point.value == '\n' || point.value == '\t' || point.value == '\r') {
      out += ' ';
    } else {
      out += point.valid && !is_unprintable(point.value) ? point.bytes : replacement;
    }
  });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  each_code_point(text, [&](const CodePoint& point) {
    const bool stays = point.value == '\n' || point.value == '\t' || (point.valid && !is_unprintable(point.value));
    out += stays ? point.bytes : replacement;
  });
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  each_code_point(text, [&](const CodePoint&) { ++width; });
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  const std::size_t full = display_width(text);
  if (full <= width || width < 3) return std::string(text);
  const std::size_t front = width / 2;
  const std::size_t back = width - front - 1;
  std::string out;
  std::size_t at = 0;
  each_code_point(text, [&](const CodePoint& point) {
    if (at < front || at >= full - back) out += point.bytes;
    if (at == front) out += "…";
    ++at;
  });
  return out;
}

}  // namespace conebench
