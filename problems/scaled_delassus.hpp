#pragma once

#include <memory>

#include "problems/contact_problem.hpp"

namespace conebench {

/// diag(left) G diag(right) of a problem that is given as (M, J), rows() factors each: M is not factored again, and
/// what is made of G already is not made again.
std::shared_ptr<const DelassusOperator> make_scaled_delassus(ContactProblem problem, Vector left, Vector right);

}  // namespace conebench
