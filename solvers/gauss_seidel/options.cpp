#include "solvers/gauss_seidel/options.hpp"

#include "solvers/gauss_seidel/contact_order.hpp"

namespace conebench::gauss_seidel {

void declare_options(OptionBinder& bind, SweepOptions& o) {
  bind.choice("order", o.order, contact_order_names(),
              "order of the contacts in a sweep, fixed for the whole solve: as given, drawn at random, or colour by "
              "colour (red-black)");
  bind.integer("order_seed", o.order_seed, {.minimum = 0, .maximum = 1e15, .doc = "seed of the random order"});
  bind.real("relaxation", o.relaxation,
            {.minimum = 0.01,
             .maximum = 1.99,
             .doc = "omega of 004 Alg. 5: lambda <- (1 - omega) lambda_old + omega lambda_new; 002 suggests 0.8"});
  bind.real(
      "relaxation_decay", o.relaxation_decay,
      {.minimum = 0.01, .maximum = 1.0, .doc = "gamma of 004 Alg. 5: omega <- max(omega_min, gamma omega) a sweep"});
  bind.real("relaxation_min", o.relaxation_min,
            {.minimum = 0.01, .maximum = 1.99, .doc = "omega_min of 004 Alg. 5; a smaller first omega stays as it is"});
}

void declare_options(OptionBinder& bind, PgsOptions& o) {
  declare_options(bind, o.sweep);
  bind.integer("check_period", o.check_period,
               {.minimum = 1,
                .maximum = 1e6,
                .doc = "sweeps between two evaluations of the own stop test (criterion own only); 1 in the papers"});
}

void declare_options(OptionBinder& bind, PgsNcpOptions& o) {
  declare_options(bind, o.pgs);
  bind.choice("tangent_velocity", o.tangent_velocity, {"updated", "initial"},
              "velocity that the tangential step sees: after the normal step (002 Alg. 6) or before it (004 Alg. 3)");
}

}  // namespace conebench::gauss_seidel
