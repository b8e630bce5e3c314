#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace conebench {

/// Costs of solved cells, [problem][solver]: time, iterations, factorizations, operator products, … Nothing (or +inf)
/// where the solver did not solve the problem, whatever it cost. Every row has the same length.
using CostTable = std::vector<std::vector<std::optional<double>>>;

/// The number of solvers of a table, 0 for an empty one. Throws std::invalid_argument where the rows differ in length
/// or a cost is negative or not a number.
std::size_t solver_count(const CostTable& costs);

/// The cost of a solved cell; nothing for a failed one.
std::optional<double> solved_cost(const CostTable& costs, std::size_t problem, std::size_t solver);

/// Least cost over the solvers that solved the problem; nothing where none did.
std::optional<double> best_cost(const CostTable& costs, std::size_t problem);

/// Weights, adding up to 1, under which families weigh the same, and so do the problems of one family.
/// families[p]: the family of problem p.
std::vector<double> family_weights(std::span<const std::string> families);

/// `weights` scaled to add up to 1; equal ones where it is empty. Throws std::invalid_argument for another length than
/// `problems`, for negative weights, and where all are 0.
std::vector<double> normalised_weights(std::span<const double> weights, std::size_t problems);

/// Indices of the problems that are solved by every solver that solves at least `minimum_share` of the problems (0: by
/// every solver). Empty where no solver takes part.
std::vector<std::size_t> common_subset(const CostTable& costs, double minimum_share = 0.0);

}  // namespace conebench
