#pragma once

#include <string>

namespace conebench {

/// The family in a problem's name: the name without its counters. `Capsules-i100-889` → `Capsules`,
/// `Rover1039` → `Rover`, `LMGC_100_PR_PerioBox-i00361-60-03000` → `LMGC_100_PR_PerioBox`, `FC3D_Example1_SBM` →
/// `FC3D_Example`. A name that is all counter is its own family.
std::string family_of_name(const std::string& name);

}  // namespace conebench
