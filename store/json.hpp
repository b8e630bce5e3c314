#pragma once

#include <nlohmann/json_fwd.hpp>

#include "store/records.hpp"

namespace conebench {

/// The records as JSON, keys as in the store's columns (docs/store.md); a timing and a run's machine and build are
/// objects, a cell's residuals an object by name. What is unknown or not finite is null.
nlohmann::json to_json(const RunRecord& run);
nlohmann::json to_json(const ProblemRecord& problem);
nlohmann::json to_json(const ConfigurationRecord& configuration);
/// With the final λ under "reaction" where the record holds it.
nlohmann::json to_json(const CellRecord& cell);

}  // namespace conebench
