#pragma once

#include <filesystem>
#include <optional>

#include "problems/contact_problem.hpp"
#include "problems/used_parts.hpp"

namespace conebench {

/// Cost of converting a problem to the forms that it is not given in: processor time on one thread [s], which other
/// load does not lengthen. The median of three, or the first if one takes seconds. Empty: given in that form, or not
/// measured.
struct CondensationCost {
  std::optional<double> factor_s;    ///< M, with what products with G need
  std::optional<double> assemble_s;  ///< G from there
  std::optional<double> diagonal_s;  ///< G's diagonal blocks from there, without G
};

/// What a solver that read `used` needed of it. Nothing where that is not known.
std::optional<double> seconds_of_use(const CondensationCost& cost, UsedParts used);

/// Makes the diagonal blocks of an elastic body's G, a solve a row, or takes them from `folder`, where they are kept by
/// the problem's content hash; returns the seconds that making them took. Nothing is done elsewhere.
std::optional<double> make_diagonal(const ContactProblem& problem, const std::filesystem::path& folder);

/// Of a problem given as (M, J, v_free); `matrix`: with assemble_s, and the problem's G is made on the way.
/// `diagonal_s`: what make_diagonal returned.
CondensationCost measure_condensation(const ContactProblem& problem, bool matrix, std::optional<double> diagonal_s);

}  // namespace conebench
