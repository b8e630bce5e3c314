#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace conebench {

/// The object that a program's reply is; another value where it is none. NaN, Infinity and -Infinity, which Python's
/// json writes for numbers that are not finite, are such numbers here, too.
nlohmann::json parse_reply(std::string_view text);

}  // namespace conebench
