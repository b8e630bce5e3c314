#pragma once

#include <string>
#include <string_view>

namespace conebench {

/// "1 cell", "3 cells", "2 families".
inline std::string plural(long count, std::string_view noun) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(noun);
  if (noun.ends_with('y')) return text.append(noun.substr(0, noun.size() - 1)).append("ies");
  return text.append(noun).append("s");
}

}  // namespace conebench
