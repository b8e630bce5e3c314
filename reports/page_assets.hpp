#pragma once

#include <string_view>
#include <utility>

namespace conebench::reports {

/// A file of reports/page by its name; empty for another name.
std::string_view page_asset(std::string_view name);

}  // namespace conebench::reports
