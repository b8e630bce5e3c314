#include "solvers/admm/admm.hpp"
#include "solvers/common_options.hpp"

namespace conebench {

namespace {

struct CcpOptions : AdmmOptions {
  CcpOptions() {
    proximal = 0.0;
    update = "spectral";
  }
};
struct FixedOptions : AdmmOptions {};
struct LinearOptions : AdmmOptions {
  LinearOptions() { update = "linear"; }
};
struct SpectralOptions : AdmmOptions {
  SpectralOptions() { update = initial = "spectral"; }
};
struct ScaledOptions : SpectralOptions {};
struct StepOptions : AdmmOptions {
  StepOptions() {
    update = "steps";
    initial = "spectral";
    ratio = 2.0;
  }
};
struct AcceleratedOptions : StepOptions {
  AcceleratedOptions() {
    acceleration.method = "anderson";
    acceleration.capacity = 10;
  }
};

void declare_common(OptionBinder& bind, AdmmOptions& o) {
  bind.real("relaxation", o.relaxation, {.minimum = 1e-3, .maximum = 1.999, .doc = "ω of Tsounis Alg. 6 line 7"});
  bind.choice("factorization", o.factorization, {"cholesky", "lu", "auto"},
              "of the matrix in Carpentier24 (37); cholesky takes the symmetric part of G, lu takes G as given; auto: "
              "lu where G "
              "is not symmetric");
  bind.choice("order", o.order, {"solve_project", "project_solve"},
              "the step that an iteration begins with: (37) as in Carpentier24 Alg. 1, or (39) as in Pinocchio's code");
  declare_acceleration(
      bind, o.acceleration, {"none", "anderson", "nesterov"},
      "of the iteration as a map: Anderson's, type II, or Nesterov's momentum with restart; begins anew "
      "when the penalty moves, but for anderson with order=project_solve");
  declare_threads(bind, o.threads, "that share a factorization");
}

void declare_proximal(OptionBinder& bind, AdmmOptions& o) {
  bind.real(
      "proximal", o.proximal,
      {.minimum = 0.0, .unit = "m/s per N s", .scale = OptionScale::logarithmic, .doc = "η of Carpentier24 (35)"});
}

void declare_initial(OptionBinder& bind, AdmmOptions& o) {
  bind.choice("initial", o.initial, {"value", "spectral"},
              "ρ₀: initial_penalty, or √(mL) κ^initial_exponent of Tsounis (172a)");
  bind.real(
      "initial_penalty", o.initial_penalty,
      {.minimum = 1e-300, .unit = "m/s per N s", .scale = OptionScale::logarithmic, .doc = "ρ₀, 1 in Tsounis VI-F"});
  bind.real("initial_exponent", o.initial_exponent,
            {.minimum = -1.0, .maximum = 1.0, .doc = "p₀ of Carpentier24 (45), τ₀ of Tsounis (172a)"});
}

void declare_ratio(OptionBinder& bind, AdmmOptions& o) {
  bind.real("ratio", o.ratio,
            {.minimum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "α: ρ moves when one residual is this many times the other, Carpentier24 (44), (46)"});
}

void declare_factor(OptionBinder& bind, AdmmOptions& o) {
  bind.real("factor", o.factor, {.minimum = 1.0, .doc = "τ_inc = τ_dec of Carpentier24 (44) and Tsounis (171)"});
}

void declare_increment(OptionBinder& bind, AdmmOptions& o) {
  bind.real("increment", o.increment, {.minimum = 0.0, .maximum = 1.0, .doc = "p_inc = p_dec of Carpentier24 (46)"});
}

void declare_options(OptionBinder& bind, CcpOptions& o) {
  declare_common(bind, o);
  declare_proximal(bind, o);
  declare_initial(bind, o);
  bind.choice("update", o.update, {"spectral", "linear", "fixed"},
              "of ρ: spectral by κ^increment (LeLidec24 III-E, linear where κ is infinite), linear as Carpentier24 "
              "(44), fixed");
  declare_increment(bind, o);
  declare_ratio(bind, o);
  declare_factor(bind, o);
}

void declare_options(OptionBinder& bind, FixedOptions& o) {
  declare_common(bind, o);
  declare_proximal(bind, o);
  declare_initial(bind, o);
}

void declare_options(OptionBinder& bind, LinearOptions& o) {
  declare_common(bind, o);
  declare_proximal(bind, o);
  declare_initial(bind, o);
  declare_ratio(bind, o);
  declare_factor(bind, o);
}

void declare_options(OptionBinder& bind, SpectralOptions& o) {
  declare_common(bind, o);
  declare_proximal(bind, o);
  bind.real("initial_exponent", o.initial_exponent,
            {.minimum = -1.0, .maximum = 1.0, .doc = "p₀ of Carpentier24 (45), τ₀ of Tsounis (172a)"});
  declare_increment(bind, o);
  declare_ratio(bind, o);
}

void declare_options(OptionBinder& bind, StepOptions& o) {
  declare_common(bind, o);
  declare_proximal(bind, o);
  bind.real("initial_exponent", o.initial_exponent,
            {.minimum = -1.0, .maximum = 1.0, .doc = "p₀ of Carpentier24 (45), τ₀ of Tsounis (172a)"});
  bind.real("ratio", o.ratio,
            {.minimum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "ρ moves when ρ‖Δy‖ and ‖Δz‖ of a window differ by more than this factor"});
  bind.real("reach", o.reach,
            {.minimum = 1.0, .scale = OptionScale::logarithmic, .doc = "ρ stays within this factor of ρ₀"});
  bind.integer("window", o.window,
               {.minimum = 2, .maximum = 100000, .doc = "iterations of the first window; each is a tenth longer"});
}

SolverInfo base_info() {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.version = 7;
  // The residuals that move ρ are componentwise norms, and η and ρ₀ are absolute.
  info.rotation_invariant = false;
  info.scale_invariant = false;
  info.allocates = Allocation::refactorization;
  return info;
}

template <class Options>
SolverRow row(SolverInfo info, AdmmVariant variant) {
  SolverRow row =
      with_acceleration_left_out(make_row<Options>(std::move(info), [variant](const SolverInfo& i, const Options& o) {
        return std::make_unique<AdmmSolver>(i, variant, o);
      }));
  row.effective_options = [effective = row.effective_options](const OptionValues& values) {
    auto all = effective(values);
    if (all && all->at("order") == OptionValue(std::string("solve_project"))) all->erase("order");
    return all;
  };
  return with_default_left_out(std::move(row), "threads");
}

SolverRow ccp() {
  SolverInfo info = base_info();
  info.id = "ADMM-CCP";
  info.version = 8;
  info.name = "ADMM for the cone problem";
  info.formulation = Formulation::ccp;
  info.origin = Origin::paper;
  info.citation =
      "Le Lidec et al. 2023, Alg. 3 and Sec. III-E; Tsounis et al. 2025, Alg. 6 without De Saxcé's term and η";
  info.summary =
      "A factorization a penalty, cheap iterations; robust to mass ratios. Solves the relaxed problem. The balance of "
      "residuals that moves ρ is absolute, so results depend on units.";
  return row<CcpOptions>(info, {.de_saxce = false});
}

SolverRow fixed() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-FP";
  info.name = "Proximal ADMM, fixed penalty";
  info.allocates = Allocation::none;
  info.origin = Origin::paper;
  info.citation = "Tsounis et al. 2025, Alg. 6; Carpentier et al. 2024, Alg. 1";
  info.summary = "One factorization in all; slow where ρ = 1 is far from the scale of G.";
  return row<FixedOptions>(info, {});
}

SolverRow linear() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-LA";
  info.name = "Proximal ADMM, linear adaptation";
  info.origin = Origin::paper;
  info.citation = "Tsounis et al. 2025, Alg. 6 and eq. (171); Carpentier et al. 2024, Alg. 1 and eq. (44)";
  info.summary = "Finds its penalty by many factorizations; may swing between two values and never settle.";
  return row<LinearOptions>(info, {});
}

SolverRow spectral() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-SA";
  info.name = "Proximal ADMM, spectral adaptation";
  info.origin = Origin::paper;
  info.citation = "Carpentier et al. 2024, Alg. 1 and eqs. (45), (46); Tsounis et al. 2025, Alg. 6 and eq. (172)";
  info.summary =
      "Starts near a good penalty and changes it seldom. η, tolerances and the balance of residuals are absolute, so "
      "results depend on units.";
  return row<SpectralOptions>(info, {});
}

SolverRow scaled_spectral() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-SA-S";
  info.version = 6;
  info.name = "Proximal ADMM, spectral adaptation, in units of the problem";
  info.rotation_invariant = true;
  info.scale_invariant = true;
  info.citation = "Carpentier et al. 2024, Alg. 1 and eqs. (45), (46); scaling by Conebench";
  info.summary = "ADMM-NCP-SA on a problem scaled to unit diagonal blocks and unit free velocity.";
  return row<ScaledOptions>(info, {.scaled = true});
}

SolverRow step_balanced() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-ST-S";
  info.version = 6;
  info.name = "Proximal ADMM, penalty balanced by steps, in units of the problem";
  info.rotation_invariant = true;
  info.scale_invariant = true;
  info.citation =
      "Carpentier et al. 2024, Alg. 1; penalty and scaling by Conebench, after Xu, Figueiredo, Goldstein 2017";
  info.summary =
      "ADMM-NCP-SA-S with a penalty that follows how far the iterates travel: leaves the long drifts of redundant "
      "contacts; may stall at mass ratios of 1e4 and more, where ADMM-NCP-SA-S does not.";
  return row<StepOptions>(info, {.scaled = true});
}

SolverRow accelerated() {
  SolverInfo info = base_info();
  info.id = "ADMM-NCP-AA-S";
  info.version = 1;
  info.name = "Proximal ADMM, penalty balanced by steps, Anderson's acceleration, in units of the problem";
  info.rotation_invariant = true;
  info.scale_invariant = true;
  info.citation =
      "Carpentier et al. 2024, Alg. 1; Walker & Ni 2011, eq. (2.2); penalty, scaling and what is accelerated by "
      "Conebench";
  info.summary =
      "ADMM-NCP-ST-S with Anderson's acceleration of its Douglas-Rachford variable: a third of the iterations, and "
      "solves what ADMM-NCP-ST-S does not of robots and mass ratios. The first ADMM to try.";
  return row<AcceleratedOptions>(info, {.scaled = true});
}

}  // namespace

std::vector<SolverRow> admm_rows() {
  return {ccp(), fixed(), linear(), spectral(), scaled_spectral(), step_balanced(), accelerated()};
}

}  // namespace conebench
