#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "solvers/registry.hpp"

namespace conebench {

/// Options of a method whose iteration is a map.
struct AccelerationOptions {
  std::string method = "none";  ///< none | anderson | nesterov | block_nesterov | nncg
  long capacity = 5;            ///< of Anderson: differences that it keeps
  double safeguard = 1.0;       ///< an extrapolated point is given up where its merit is more than this times the least

  bool any() const { return method != "none"; }
  bool anderson() const { return method == "anderson"; }
  bool nesterov() const { return method == "nesterov"; }
  bool block_nesterov() const { return method == "block_nesterov"; }
  bool nncg() const { return method == "nncg"; }
};
/// `methods`: those that are offered.
void declare_acceleration(OptionBinder& bind, AccelerationOptions& options,
                          const std::vector<std::string>& methods = {"none", "anderson", "nesterov"},
                          const std::string& doc =
                              "of the iteration as a map: Anderson's, type II, or Nesterov's momentum "
                              "with restart");

/// They are part of a configuration only where they have an effect, so that configurations are those of before there
/// was a choice.
SolverRow with_acceleration_left_out(SolverRow row);

}  // namespace conebench
