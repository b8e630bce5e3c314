#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conebench {

/// `name=value` as a word of a source's text ("box-stack boxes=5 seed=1"), in double quotes where the value would fall
/// apart: `path="my robot.xml"`, with \ before " and \.
std::string source_word(std::string_view name, std::string_view value);

/// The words of such a text, without their quotes; nullopt where a quote is not closed.
std::optional<std::vector<std::string>> source_words(std::string_view text);

/// A source's text or a problem's name as the name of an HDF5 file.
std::string file_name(std::string text);

}  // namespace conebench
