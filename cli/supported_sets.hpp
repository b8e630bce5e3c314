#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/registry.hpp"

namespace conebench::cli {

/// Whether a solver takes a kind of rows, by its own answer to a problem that has them.
struct SupportedSet {
  std::string set;                    ///< one of the names of supported_set_names()
  std::optional<std::string> reason;  ///< why it takes none; nothing: it does
};

/// The kinds of rows, in the order of supported_sets(), and what each is.
struct SetName {
  std::string name, meaning;
};
const std::vector<SetName>& supported_set_names();

/// With default options.
std::vector<SupportedSet> supported_sets(const SolverRow& row);

}  // namespace conebench::cli
