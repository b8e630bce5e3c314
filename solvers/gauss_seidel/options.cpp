#include "solvers/gauss_seidel/options.hpp"

#include "solvers/common_options.hpp"
#include "solvers/gauss_seidel/contact_order.hpp"

namespace conebench::gauss_seidel {

namespace {

void declare_order(OptionBinder& bind, OrderOptions& o) {
  bind.choice("order", o.name, contact_order_names(),
              "order of the contacts in a sweep, fixed for the whole solve: as given, drawn at random, or colour by "
              "colour (red-black)");
  bind.integer("order_seed", o.seed, {.minimum = 0, .maximum = 1e15, .doc = "seed of the random order"});
  declare_threads(bind, o.threads, "that share the contacts of a colour, with order=coloured");
}

void declare_check_period(OptionBinder& bind, long& period) {
  bind.integer("check_period", period,
               {.minimum = 1,
                .maximum = 1e6,
                .doc = "sweeps between two evaluations of the own stop test (stop_by solver only); 1 in the papers"});
}

void declare_own_test(OptionBinder& bind, std::string& own_test) {
  bind.choice("own_test", own_test, {"ncp", "fixed_point"},
              "stop_by solver: the residuals of the NCP, Tsounis (156)-(158), as LeLidec24 and Tsounis chose, or how "
              "far a whole sweep "
              "(omega = 1) would move, relative to the free velocity, which the method's own model can meet");
}

void declare_sweep_acceleration(OptionBinder& bind, AccelerationOptions& o) {
  declare_acceleration(
      bind, o, {"none", "anderson", "nesterov", "block_nesterov", "nncg"},
      "of the sweep as a map: Anderson's, type II; Nesterov's momentum with restart, of all rows or block "
      "by block; nonsmooth nonlinear conjugate gradients (Silcowitz, Niebe, Erleben 2010)");
}

/// Those of LeLidec24 Alg. 5 but for the own test.
void declare_raisim(OptionBinder& bind, RaisimOptions& o) {
  declare_order(bind, o.order);
  bind.real("alpha", o.alpha, {.minimum = 0.01, .maximum = 1.0, .doc = "first alpha of LeLidec24 Alg. 5 line 15"});
  bind.real("alpha_min", o.alpha_min, {.minimum = 0.01, .maximum = 1.0, .doc = "alpha_min of LeLidec24 Alg. 5"});
  bind.real("gamma", o.gamma,
            {.minimum = 0.0, .maximum = 1.0, .doc = "alpha <- gamma alpha + (1 - gamma) alpha_min; 1 keeps alpha"});
  bind.choice("decay", o.decay, {"sweep", "contact"},
              "when alpha decays: after a sweep (Tsounis Alg. 5, and the code of LeLidec24's authors) or a contact "
              "(LeLidec24 Alg. 5)");
  declare_check_period(bind, o.check_period);
}

}  // namespace

void declare_options(OptionBinder& bind, SweepOptions& o) {
  declare_order(bind, o.order);
  bind.real(
      "relaxation", o.relaxation,
      {.minimum = 0.01,
       .maximum = 1.99,
       .doc = "omega of Tsounis Alg. 5: lambda <- (1 - omega) lambda_old + omega lambda_new; LeLidec24 suggests 0.8"});
  bind.real("relaxation_decay", o.relaxation_decay,
            {.minimum = 0.01,
             .maximum = 1.0,
             .doc = "gamma of Tsounis Alg. 5: omega <- max(omega_min, gamma omega) a sweep"});
  bind.real(
      "relaxation_min", o.relaxation_min,
      {.minimum = 0.01, .maximum = 1.99, .doc = "omega_min of Tsounis Alg. 5; a smaller first omega stays as it is"});
}

void declare_options(OptionBinder& bind, NsgsOptions& o) {
  declare_options(bind, o.sweep);
  declare_sweep_acceleration(bind, o.acceleration);
}

void declare_options(OptionBinder& bind, PgsOptions& o) {
  declare_options(bind, o.sweep);
  declare_check_period(bind, o.check_period);
}

void declare_options(OptionBinder& bind, NbgsOptions& o) {
  declare_options(bind, o.pgs);
  declare_own_test(bind, o.own_test);
}

void declare_options(OptionBinder& bind, RaisimOptions& o) {
  declare_raisim(bind, o);
  declare_own_test(bind, o.own_test);
}

void declare_options(OptionBinder& bind, RaisimEarlyOptions& o) {
  declare_raisim(bind, o.raisim);
  bind.real("total_inertia", o.total_inertia,
            {.minimum = 0.0,
             .maximum = 1e12,
             .unit = "kg",
             .doc = "I_total of Tsounis (160); 0: trace(M) where the problem has it, else the sum of d / trace(G_ii)"});
}

void declare_options(OptionBinder& bind, ProxOptions& o) {
  declare_order(bind, o.order);
  bind.real("factor", o.factor,
            {.minimum = 1e-6, .maximum = 10.0, .doc = "first rho: r = rho / D_NN and rho / lambda_max(D_TT)"});
  bind.real("reduction", o.reduction,
            {.minimum = 0.01,
             .maximum = 0.999,
             .doc = "nu of Erleben 2017: rho <- nu rho where a sweep moves no less than the last accepted one, and the "
                    "sweep is taken back"});
}

void declare_options(OptionBinder& bind, PgsConeOptions& o) {
  declare_options(bind, o.pgs);
  declare_sweep_acceleration(bind, o.acceleration);
}

void declare_options(OptionBinder& bind, PgsNcpOptions& o) {
  declare_options(bind, o.cone);
  bind.choice(
      "tangent_velocity", o.tangent_velocity, {"updated", "initial"},
      "velocity that the tangential step sees: after the normal step (LeLidec24 Alg. 6) or before it (Tsounis Alg. 3)");
}

}  // namespace conebench::gauss_seidel
