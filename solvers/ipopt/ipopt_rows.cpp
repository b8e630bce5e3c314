#include "solvers/ipopt/ipopt_rows.hpp"

#include <utility>

#include "solvers/peer_builds.hpp"

namespace conebench {

namespace ipopt {

static void declare_options(OptionBinder& bind, IpoptOptions& o) {
  bind.choice("barrier", o.barrier, {"monotone", "adaptive"}, "Ipopt's mu_strategy");
  bind.choice("scaling", o.scaling, {"gradient-based", "none"}, "Ipopt's nlp_scaling_method");
}

}  // namespace ipopt

std::vector<SolverRow> ipopt_rows() {
  using ipopt::IpoptOptions;
  SolverInfo info;
  info.id = "IPOPT-CCP";
  info.name = "Ipopt on the cone problem";
  info.formulation = Formulation::ccp;
  info.intervals = true;
  info.friction_cones = true;
  info.needs_symmetry = true;
  info.rotation_invariant = false;  // its scaling and filter work on components
  info.scale_invariant = false;
  info.allocates = Allocation::iteration;
  info.observed_every_iteration = false;
  info.origin = Origin::peer;
  info.peer = peer_build("ipopt");
  info.citation =
      "Waechter, Biegler, On the implementation of an interior-point filter line-search algorithm for large-scale "
      "nonlinear programming, 2006";
  info.summary =
      "What a general-purpose optimiser makes of the cone problem: cones as squared constraints, whose gradients "
      "vanish at "
      "the tip, so that open contacts cost it accuracy. Needs a build with Ipopt.";
  SolverRow row = make_row<IpoptOptions>(
      info, [](const SolverInfo& i, const IpoptOptions& options) { return ipopt::make_solver(i, options); });
  row.missing = ipopt::missing_reason().value_or("");
  return {std::move(row)};
}

}  // namespace conebench
