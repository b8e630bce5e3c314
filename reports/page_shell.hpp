#pragma once

#include <span>
#include <string>
#include <string_view>

namespace conebench::reports {

/// A page that works offline: style, charts, data and scripts in one file.
struct PageParts {
  std::string title;
  std::string_view body;                      ///< asset's name, "report.html"
  std::string data;                           ///< JSON, for the element "data"
  std::string pictures;                       ///< the same, for "pictures"; empty: no such element
  std::span<const std::string_view> scripts;  ///< assets' names, in the order in which they build on each other
};
std::string html_shell(const PageParts& parts);

}  // namespace conebench::reports
