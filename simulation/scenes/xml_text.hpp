#pragma once

#include <set>
#include <string>

namespace conebench {

std::string without_comments(const std::string& xml);

/// Quoted values of all attributes, in an XML text without comments, whose name (and what is to come before it) the
/// regular expression `name` matches.
std::set<std::string> attribute_values(const std::string& text, const std::string& name);

}  // namespace conebench
