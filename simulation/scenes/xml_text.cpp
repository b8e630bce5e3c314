#include "simulation/scenes/xml_text.hpp"

#include <re2/re2.h>

namespace conebench {

std::string without_comments(const std::string& xml) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t begin; (begin = xml.find("<!--", at)) != std::string::npos;) {
    text += xml.substr(at, begin - at);
    const std::size_t end = xml.find("-->", begin + 4);
    if (end == std::string::npos) return text;
    at = end + 3;
  }
  return text + xml.substr(at);
}

std::set<std::string> attribute_values(const std::string& text, const std::string& name) {
  const RE2 attribute(name + R"(\s*=\s*(?:"([^"]*)\"|'([^']*)'))", RE2::Latin1);
  std::set<std::string> values;
  std::string double_quoted, single_quoted;
  for (re2::StringPiece rest(text); RE2::FindAndConsume(&rest, attribute, &double_quoted, &single_quoted);) {
    values.insert(double_quoted.empty() ? single_quoted : double_quoted);
  }
  return values;
}

}  // namespace conebench
