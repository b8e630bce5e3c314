#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/report.hpp"
#include "store/records.hpp"

namespace conebench::cli {

/// The contents of several stores as one. `all_cells`: also those that their suites no longer ask for. Errors
/// (bad_input): a store named twice or not readable; stores that are no parts of one result.
Result<StoreContents> read_joined(const std::vector<std::string>& stores, bool all_cells);

/// Ids of this build's solvers, the choices of their options, and ids of peers: what anonymous() leaves as it is.
std::set<std::string> public_solvers();

/// How standard output shows what is not solved in these stores.
UnsolvedList unsolved_list(const std::vector<std::string>& stores);

}  // namespace conebench::cli
