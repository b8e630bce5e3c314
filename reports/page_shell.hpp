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
  std::span<const PageSection> sections;      ///< at least two; all but the first have a heading with id "…-title"
  std::string_view text_files;                ///< files with the same figures, for readers without JavaScript
  std::string data;                           ///< JSON, for the element "data"
  std::string pictures;                       ///< JSON, for the element "pictures"; empty: no such element
  std::span<const std::string_view> scripts;  ///< names of assets, in order of dependency
  std::string since = {};                     ///< JSON, for the element "since"
  ByteSource large_data = {};                 ///< instead of `data`, if that is large: it is packed
  std::string home = {};                      ///< address of the list that names the page; empty: none does
};
void html_shell(const PageParts& parts, const ByteSink& sink);
std::string html_shell(const PageParts& parts);

}  // namespace conebench::reports
