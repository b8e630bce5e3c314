#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::gauss_seidel {

/// Names of the orders in which a sweep can visit contacts.
std::vector<std::string> contact_order_names();

struct ContactOrder {
  std::vector<int> contacts;
  std::vector<std::size_t> colour_ends;  ///< positions behind the contacts of each colour; empty: not coloured
};

/// Contacts 0 … n_c − 1 in the order of one sweep, fixed for the whole solve.
///   given     as in the problem
///   random    a permutation drawn once from `seed`, the same on every machine
///   coloured  greedy colouring of the contact graph (red–black where two colours do): colour by colour, so that the
///             contacts of one colour do not act on each other
/// Throws std::invalid_argument for another name.
ContactOrder contact_order(const ContactProblem& problem, const std::string& name, std::uint64_t seed);

}  // namespace conebench::gauss_seidel
