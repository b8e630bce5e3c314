#pragma once

#include <string>

#include "base/options.hpp"

namespace conebench::gauss_seidel {

/// In which order a sweep visits the contacts (contact_order.hpp).
struct OrderOptions {
  std::string name = "given";
  long seed = 1;
};

/// Options of every solver that sweeps (paper Tsounis Alg. 5).
struct SweepOptions {
  OrderOptions order;
  double relaxation = 1.0;
  double relaxation_decay = 1.0;
  double relaxation_min = 0.5;
};
void declare_options(OptionBinder& bind, SweepOptions& options);

struct PgsOptions {
  SweepOptions sweep;
  long check_period = 1;
};
void declare_options(OptionBinder& bind, PgsOptions& options);

/// Of the methods with RaiSim's model: the own test may be the fixed point of their own model.
struct NbgsOptions {
  PgsOptions pgs;
  std::string own_test = "ncp";
};
void declare_options(OptionBinder& bind, NbgsOptions& options);

/// LeLidec24 Alg. 5. Its text gives no values: these stand in the code that its authors published (ContactBench).
struct RaisimOptions {
  OrderOptions order;
  double alpha = 1.0;
  double alpha_min = 0.1;
  double gamma = 0.99;
  std::string decay = "sweep";
  long check_period = 1;
  std::string own_test = "ncp";
};
void declare_options(OptionBinder& bind, RaisimOptions& options);

/// RAISIM-DS-ES stops by (160) in place of `own_test`.
struct RaisimEarlyOptions {
  RaisimOptions raisim;
  double total_inertia = 0.0;
};
void declare_options(OptionBinder& bind, RaisimEarlyOptions& options);

struct ProxOptions {
  OrderOptions order;
  double factor = 1.0;
  double reduction = 0.9;
};
void declare_options(OptionBinder& bind, ProxOptions& options);

struct PgsNcpOptions {
  PgsOptions pgs;
  std::string tangent_velocity = "updated";
};
void declare_options(OptionBinder& bind, PgsNcpOptions& options);

}  // namespace conebench::gauss_seidel
