#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conebench {

/// `name=value` as a part of a source's text ("box-stack boxes=5 seed=1"). A value with blanks is in double quotes:
/// `path="my robot.xml"`. A backslash precedes each quote and backslash in it.
std::string source_word(std::string_view name, std::string_view value);

/// The parts of such a text, without quotes; nullopt: a quote is not closed.
std::optional<std::vector<std::string>> split_source_text(std::string_view text);

/// A source's text or a problem's name as the name of an HDF5 file.
std::string file_name(std::string text);

}  // namespace conebench
