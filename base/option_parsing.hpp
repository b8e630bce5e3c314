#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// The items of a list "a, b,c", without blanks around them and without empty items.
std::vector<std::string> split_list(const std::string& list);

/// Removes an option whose value is an empty list: the option counts as not set.
void drop_empty_list(OptionValues& values, const std::string& name);

/// Parses texts "name=value" as options of `owner` ("NSGS"); ranges are not checked. Errors (wrong_usage) begin with
/// `before` and the text: no "=", an unknown name (with a suggestion), an option that is set twice.
Result<OptionValues> parse_options(std::span<const std::string> texts, std::span<const OptionSpec> specs,
                                   const std::string& owner, const std::string& before);

/// "unknown option 'relxation'; did you mean 'relaxation'? known: order, relaxation".
std::string unknown_option(const std::string& name, const std::vector<std::string>& known);

}  // namespace conebench
