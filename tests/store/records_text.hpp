#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "store/json.hpp"

namespace conebench::testing {

/// Everything in the records, texts that are not UTF-8 repaired.
inline std::string records_text(const StoreContents& contents) {
  nlohmann::json all;
  const auto add = [&](const auto& records) {
    for (const auto& record : records) all.push_back(to_json(record));
  };
  add(contents.runs);
  add(contents.problems);
  add(contents.configurations);
  add(contents.cells);
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace conebench::testing
