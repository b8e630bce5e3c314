#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/write_files.hpp"

namespace conebench::reports {

struct PageSection {
  std::string_view id, label;  ///< the scripts fill the element of that id
};

/// A page that works offline: style, charts, data and scripts in one file.
struct PageParts {
  std::string title;
  std::span<const PageSection> sections;      ///< two or more; all but the first have a heading of the id "…-title"
  std::string_view text_files;                ///< where the same figures are, for a reader without JavaScript
  std::string data;                           ///< JSON, for the element "data"
  std::string pictures;                       ///< the same, for "pictures"; empty: no such element
  std::span<const std::string_view> scripts;  ///< assets' names, in the order in which they build on each other
  std::string since = {};                     ///< the same, for "since"
  ByteSource large_data = {};                 ///< in the place of `data`, where that is too large for one text
};
void html_shell(const PageParts& parts, const ByteSink& sink);
std::string html_shell(const PageParts& parts);

}  // namespace conebench::reports
