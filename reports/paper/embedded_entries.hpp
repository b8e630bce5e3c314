#pragma once

#include <string>
#include <utility>
#include <vector>

namespace conebench::paper {

/// Name (without .json) and text of every file in reports/paper/entries.
const std::vector<std::pair<std::string, std::string>>& embedded_entry_texts();

}  // namespace conebench::paper
