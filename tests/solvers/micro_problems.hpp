#pragma once

#include "scenes/micro_problems.hpp"

namespace conebench::testing {

using namespace conebench::closed_form;

}  // namespace conebench::testing
