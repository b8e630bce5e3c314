#pragma once

#include <vector>

#include "metrics/residual_evaluation.hpp"

namespace conebench {

/// See ContactModes.
enum class ContactMode : char { open = 'o', stick = 't', slip = 's' };
const char* to_string(ContactMode mode);

/// The mode of each contact at the answer that the evaluation holds, by the rules of ContactModes; all open where that
/// is not finite.
template <class Real>
std::vector<ContactMode> contact_modes(const ResidualEvaluation<Real>& evaluation, double tau);

}  // namespace conebench
