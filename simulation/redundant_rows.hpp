#pragma once

#include <optional>

#include "problems/types.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// What makes the bilateral rows that depend on others depend on them exactly: E, rows × rows, such that E J has the
/// rows of J but for the redundant ones, which are combinations of the rest, and E b the right-hand sides that go with
/// them. Nothing where all rows are independent. Rows of tree joints are always kept.
///
/// A row counts as redundant where it is one within what the joints' errors do to J: where what no other row has of it
/// is below a tenth of max |f_J| / ℓ, with ℓ the model's typical length, beside the longest row, and within 1e-5 … 1e-2
/// of it.
std::optional<SparseMatrix> exact_redundancy(const Mechanics& mechanics);

}  // namespace conebench::simulation
