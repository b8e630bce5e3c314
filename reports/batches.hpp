#pragma once

#include <functional>
#include <string>

#include "reports/analysis.hpp"
#include "reports/table_layout.hpp"

namespace conebench::reports {

/// What the columns of batch_table() mean.
inline constexpr const char* batch_legend =
    "batches: solved/s: solved problems a second of set-up + solve; a contact: set-up + solve over all contacts; "
    "median, p95, worst: set-up + solve of a problem, one that is not solved above all";

/// What each solver did with each batch of the slice (docs/suites.md): members solved, solved members a second and
/// time a contact over set-up + solve, the median, 95 % and slowest member, and the residuals of 95 % and of the worst.
/// Most solved a second first; no rows where there is no batch. `label`: of a column.
Table batch_table(const Analysis& analysis, std::size_t slice, const std::function<std::string(std::size_t)>& label);

}  // namespace conebench::reports
