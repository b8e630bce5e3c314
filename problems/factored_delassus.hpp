#pragma once

#include <memory>

#include "problems/delassus_operator.hpp"
#include "problems/mass_solve.hpp"

namespace conebench {

/// G = J M⁻¹ Jᵀ from an M that is factored already; the same as from M itself, to the last bit. J: rows × n_v. Errors
/// (bad_input): sizes that don't match, entries of J that are not finite.
Result<std::shared_ptr<const DelassusOperator>> make_factored_delassus(const FactoredMass& mass,
                                                                       const SparseMatrix& jacobian);

/// The factor of M behind a Delassus operator whose form() is factored.
const FactoredMass& mass_of(const DelassusOperator& factored);

}  // namespace conebench
