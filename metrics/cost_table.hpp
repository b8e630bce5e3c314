#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace conebench {

/// Costs of solved cells, [problem][solver]: time, iterations, factorizations, operator products, … nullopt (or +inf):
/// the solver did not solve the problem. Every row has the same length.
using CostTable = std::vector<std::vector<std::optional<double>>>;

/// The number of solvers of a table; 0: it is empty. Throws std::invalid_argument if rows differ in length or a cost is
/// negative or NaN.
std::size_t solver_count(const CostTable& costs);

/// The cost of a solved cell; nullopt: it is not solved.
std::optional<double> solved_cost(const CostTable& costs, std::size_t problem, std::size_t solver);

/// Minimum cost over the solvers that solved the problem; nullopt: none did.
std::optional<double> best_cost(const CostTable& costs, std::size_t problem);

/// Weights that sum to 1. All families have the same weight, and so have all problems of one family.
/// families[p]: the family of problem p.
std::vector<double> family_weights(std::span<const std::string> families);

/// `weights` scaled to sum to 1; if empty, equal weights. Throws std::invalid_argument if the length is not `problems`,
/// a weight is negative, or all are 0.
std::vector<double> normalised_weights(std::span<const double> weights, std::size_t problems);

/// Indices of the problems that are solved by every solver that solves at least `minimum_share` of the problems (0: by
/// every solver). Empty if there is no such solver.
std::vector<std::size_t> common_subset(const CostTable& costs, double minimum_share = 0.0);

}  // namespace conebench
