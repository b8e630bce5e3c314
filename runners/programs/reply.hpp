#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace conebench {

/// Parses a program's reply. If it is not an object, the result is another JSON value. NaN, Infinity and -Infinity,
/// which Python's json writes, are accepted as numbers.
nlohmann::json parse_reply(std::string_view text);

}  // namespace conebench
