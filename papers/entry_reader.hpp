#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "papers/entry.hpp"

namespace conebench::papers {

/// One entry of a file. Errors as parse_entries, with `where` in front.
Result<Entry> read_entry(const nlohmann::json& document, const std::string& where);

/// The states as files have them, in the order of State.
const std::vector<std::string>& state_names();

}  // namespace conebench::papers
