#pragma once

#include <string_view>
#include <utility>

namespace conebench::reports {

/// A file of reports/page by its name, or "plotly.js"; empty where this build does not have it.
std::string_view page_asset(std::string_view name);

}  // namespace conebench::reports
