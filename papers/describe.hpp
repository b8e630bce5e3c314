#pragma once

#include <string>
#include <vector>

#include "papers/evaluate.hpp"
#include "papers/language.hpp"

/// Expressions of entries in words, for people who read a claim and its number.
namespace conebench::papers {

/// A number or a reduction as a noun: "the mean number of iterations of PGS-NCP at 1e-4".
std::string describe(const Expression& expression);

/// "98.1 %" of a share, "12.3 ms" of a time, else as number_text().
std::string quantity_text(const Expression& expression, double value);

/// "The share solved by NSGS is 63.4 % (claimed: below 80 %)"; where both sides are measured: "The mean number of
/// iterations of PGS-NCP is 81, of NSGS 12 (claimed: above)".
std::string comparison_text(const Comparison& comparison);

/// `finding` with the measured sides of the comparisons, in order, in the places of {1}, {2}, … Empty where
/// one is missing.
std::string finding_text(const std::string& finding, const std::vector<Comparison>& comparisons);

}  // namespace conebench::papers
