#pragma once

#include <string>

#include "problems/options.hpp"

namespace conebench::gauss_seidel {

/// Options of every solver that sweeps (paper 004 Alg. 5).
struct SweepOptions {
  std::string order = "given";
  long order_seed = 1;
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

struct PgsNcpOptions {
  PgsOptions pgs;
  std::string tangent_velocity = "updated";
};
void declare_options(OptionBinder& bind, PgsNcpOptions& options);

}  // namespace conebench::gauss_seidel
