#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conebench::papers {

/// Name (without .json) and text of every file in papers/entries.
const std::vector<std::pair<std::string, std::string>>& embedded_entry_texts();

/// papers/verdicts.json.
std::string_view embedded_verdicts_text();

}  // namespace conebench::papers
