#pragma once

#include <optional>
#include <string>

#include "base/options.hpp"
#include "solvers/acceleration/options.hpp"

namespace conebench::gauss_seidel {

/// In which order a sweep visits the contacts (contact_order.hpp).
struct OrderOptions {
  std::string name = "given";
  long seed = 1;
  long threads = 1;  ///< that share the contacts of a colour

  std::optional<std::string> wrong_word() const {
    if (threads == 1 || name == "coloured") return std::nullopt;
    return "threads above 1 need order=coloured: contacts of other orders act on each other";
  }
};

/// Options of every solver that sweeps (paper Tsounis Alg. 5).
struct SweepOptions {
  OrderOptions order;
  double relaxation = 1.0;
  double relaxation_decay = 1.0;
  double relaxation_min = 0.5;

  std::optional<std::string> wrong_word() const { return order.wrong_word(); }
};
void declare_options(OptionBinder& bind, SweepOptions& options);

/// Of a sweep as a map. Its steps rise and fall on the way to the answer, so that Anderson's points are given up late:
/// docs/solvers/NSGS.md has the figures.
struct SweepAcceleration : AccelerationOptions {
  SweepAcceleration() { safeguard = 100.0; }
};

/// Of NSGS.
struct NsgsOptions {
  SweepOptions sweep;
  SweepAcceleration acceleration;

  std::optional<std::string> wrong_word() const { return sweep.wrong_word(); }
};
void declare_options(OptionBinder& bind, NsgsOptions& options);

struct PgsOptions {
  SweepOptions sweep;
  long check_period = 1;

  std::optional<std::string> wrong_word() const { return sweep.wrong_word(); }
};
void declare_options(OptionBinder& bind, PgsOptions& options);

/// Of the methods with RaiSim's model: the own test may be the fixed point of their own model.
struct NbgsOptions {
  PgsOptions pgs;
  std::string own_test = "ncp";

  std::optional<std::string> wrong_word() const { return pgs.wrong_word(); }
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

  std::optional<std::string> wrong_word() const {
    if (order.threads > 1 && decay == "contact")
      return "threads above 1 need decay=sweep: alpha has one order of contacts";
    return order.wrong_word();
  }
};
void declare_options(OptionBinder& bind, RaisimOptions& options);

/// RAISIM-DS-ES stops by (160) in place of `own_test`.
struct RaisimEarlyOptions {
  RaisimOptions raisim;
  double total_inertia = 0.0;

  std::optional<std::string> wrong_word() const { return raisim.wrong_word(); }
};
void declare_options(OptionBinder& bind, RaisimEarlyOptions& options);

struct ProxOptions {
  OrderOptions order;
  double factor = 1.0;
  double reduction = 0.9;

  std::optional<std::string> wrong_word() const { return order.wrong_word(); }
};
void declare_options(OptionBinder& bind, ProxOptions& options);

struct PgsConeOptions {
  PgsOptions pgs;
  SweepAcceleration acceleration;

  std::optional<std::string> wrong_word() const { return pgs.wrong_word(); }
};
void declare_options(OptionBinder& bind, PgsConeOptions& options);

struct PgsNcpOptions {
  PgsConeOptions cone;
  std::string tangent_velocity = "updated";

  std::optional<std::string> wrong_word() const { return cone.wrong_word(); }
};
void declare_options(OptionBinder& bind, PgsNcpOptions& options);

}  // namespace conebench::gauss_seidel
