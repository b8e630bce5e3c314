#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"

namespace conebench {

/// The words of a list "a, b,c", without the blanks around them; empty ones are left out.
std::vector<std::string> split_list(const std::string& list);

/// Takes an option out whose value is a list without words: that is none.
void drop_empty_list(OptionValues& values, const std::string& name);

/// Of words "name=value", options of `owner` ("NSGS"); ranges are not looked at. Errors (wrong_usage) begin with
/// `before` and the word: no "=", an unknown name with the one that was probably meant, one that is set twice.
Result<OptionValues> parse_options(std::span<const std::string> words, std::span<const OptionSpec> specs,
                                   const std::string& owner, const std::string& before);

/// "unknown option 'relxation'; did you mean 'relaxation'? known: order, relaxation".
std::string unknown_option(const std::string& name, const std::vector<std::string>& known);

}  // namespace conebench
