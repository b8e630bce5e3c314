#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "problems/contact_problem.hpp"
#include "store/records.hpp"

namespace conebench::cli {

/// The judge's part of `solve` and `judge`, as JSON keys of `object`: solved, tolerance, verdict, verdict_value,
/// residuals (number or null by name), residuals_missing (reasons by name), worst_blocks (by name), worst_rows (by
/// name: the first row of that block as the problem was given) and modes.
void add_judgement(nlohmann::json& object, const ContactProblem& problem, const CellRecord& record);

/// The same for people: the verdict's line, the contacts' modes and a table of residuals: all, or the five most
/// informative (the verdict, the official one, and what is wrong with the answer: impulses, velocities, their product).
std::string judgement_text(const ContactProblem& problem, const CellRecord& record, bool all);

/// "contact 3", counted among its kind.
std::string block_name(const ConeProduct& cones, Index block);
/// The same; where the problem was given in another order of rows, "row 7 of the file".
std::string block_text(const ContactProblem& problem, Index block);

/// A line that says what to ask next of the problem in `file`; empty where the answer solves it, or came too late.
std::string feasibility_hint(const CellRecord& record, const std::string& file);

}  // namespace conebench::cli
