#include "solvers/siconos/siconos_rows.hpp"

#include <utility>

#include "solvers/peer_builds.hpp"
#include "solvers/siconos/adapter.hpp"

namespace conebench {

namespace {

using siconos::Method;
using siconos::Settings;

struct NsgsOptions : Settings {};
struct NsgsPliOptions : Settings {
  NsgsPliOptions() { projection_local_solver = true; }
};
struct NewtonAcOptions : Settings {
  NewtonAcOptions() { method = Method::nsn_ac; }
};
struct NewtonAcNewOptions : Settings {
  NewtonAcNewOptions() {
    method = Method::nsn_ac_new;
    scaling = "units";
  }
};
struct NewtonNmOptions : Settings {
  NewtonNmOptions() { method = Method::nsn_nm; }
};
struct AdmmOptions : Settings {
  AdmmOptions() {
    method = Method::admm;
    balancing = "residual";
  }
};
struct ExtragradientOptions : Settings {
  ExtragradientOptions() {
    method = Method::vi_eg;
    error_evaluation = "light";
  }
};
struct ProximalOptions : Settings {
  ProximalOptions() { method = Method::prox; }
};
struct AclmOptions : Settings {
  AclmOptions() { method = Method::aclm; }
};
struct InteriorPointOptions : Settings {
  InteriorPointOptions() {
    method = Method::ipm_snm;
    scaling = "units";
  }
};

void declare_common(OptionBinder& bind, Settings& s, std::vector<std::string> storages) {
  bind.choice("storage", s.storage, std::move(storages), "form of M = G + R that Siconos is given");
  bind.real("tightening", s.tightening,
            {.minimum = 1.1,
             .maximum = 1e6,
             .scale = OptionScale::logarithmic,
             .doc = "its own tolerance is divided by powers of this until the verdict accepts"});
}

void declare_error_evaluation(OptionBinder& bind, Settings& s) {
  bind.choice("error_evaluation", s.error_evaluation, {"full", "light"},
              "full: the error in every iteration; light (Siconos' default): once the increment has become small");
}

void declare_newton(OptionBinder& bind, Settings& s) {
  bind.choice("line_search", s.line_search, {"goldstein-price", "none"}, "of the Newton steps");
}

void declare_warm_up(OptionBinder& bind, Settings& s) {
  bind.choice("warm_up", s.warm_up, {"none", "vi-eg"}, "50 extragradient iterations before Newton's");
}

void declare_scaling(OptionBinder& bind, Settings& s) {
  bind.choice("scaling", s.scaling, {"units", "none"},
              "units: the largest |g| and the mean of M's diagonal are 1 in what it is given");
}

const std::vector<std::string> every_storage = {"auto", "block", "sparse", "dense"};

void declare_options(OptionBinder& bind, NsgsOptions& s) {
  declare_common(bind, s, {"auto", "block", "dense"});
  declare_error_evaluation(bind, s);
}

void declare_options(OptionBinder& bind, NsgsPliOptions& s) {
  declare_common(bind, s, {"auto", "block", "dense"});
  declare_error_evaluation(bind, s);
}

void declare_options(OptionBinder& bind, NewtonAcOptions& s) {
  declare_common(bind, s, every_storage);
  declare_newton(bind, s);
  declare_warm_up(bind, s);
}

void declare_options(OptionBinder& bind, NewtonAcNewOptions& s) {
  declare_common(bind, s, every_storage);
  declare_warm_up(bind, s);
  declare_scaling(bind, s);
}

void declare_options(OptionBinder& bind, NewtonNmOptions& s) {
  declare_common(bind, s, every_storage);
  declare_newton(bind, s);
}

void declare_options(OptionBinder& bind, AdmmOptions& s) {
  declare_common(bind, s, every_storage);
  bind.choice("initial_penalty", s.initial_penalty, {"value", "norm"}, "rho: the option penalty, or the 1-norm of M");
  bind.real("penalty", s.penalty,
            {.minimum = 1e-12, .unit = "m/s per N s", .scale = OptionScale::logarithmic, .doc = "rho at the start"});
  bind.choice("balancing", s.balancing, {"none", "residual", "scaled"},
              "of rho by the residuals or the scaled ones, a factor 2 a time; Siconos' default: none");
}

void declare_options(OptionBinder& bind, ExtragradientOptions& s) {
  declare_common(bind, s, every_storage);
  declare_error_evaluation(bind, s);
}

void declare_options(OptionBinder& bind, ProximalOptions& s) {
  declare_common(bind, s, every_storage);
  bind.choice("inner", s.inner, {"nsn-ac", "nsgs"}, "solver of the regularised problems");
  bind.real("sigma", s.sigma,
            {.minimum = 1e-12, .scale = OptionScale::logarithmic, .doc = "alpha = sigma error^exponent regularises M"});
  bind.real("exponent", s.exponent, {.minimum = 0.0, .maximum = 4.0, .doc = "nu of alpha = sigma error^nu"});
}

void declare_options(OptionBinder& bind, AclmOptions& s) { declare_common(bind, s, {"auto", "block", "dense"}); }

void declare_options(OptionBinder& bind, InteriorPointOptions& s) {
  declare_common(bind, s, {"auto", "sparse"});
  declare_scaling(bind, s);
}

SolverInfo base(const char* id, const char* name, const char* citation, const char* summary) {
  SolverInfo info;
  info.id = id;
  info.name = name;
  info.formulation = Formulation::ncp;
  info.joints = false;
  info.limits = false;
  info.two_dimensional = false;
  info.rotation_invariant = false;  // not to the bits that the conformance suite asks for
  info.scale_invariant = false;     // absolute constants, and impulses are added to velocities
  info.allocates = Allocation::iteration;
  info.observed_every_iteration = false;
  info.version = 2;
  info.own_process = true;
  info.origin = Origin::peer;
  info.peer = peer_build("siconos");
  info.citation = citation;
  info.summary = summary;
  return info;
}

template <class Options>
SolverRow row(SolverInfo info) {
  SolverRow made = make_row<Options>(
      std::move(info), [](const SolverInfo& i, const Options& options) { return siconos::make_adapter(i, options); });
  made.missing = siconos::missing_reason(Options().method).value_or("");
  return made;
}

constexpr const char* siconos_paper =
    "Siconos 4.4, Acary, Bremond, Huber, On solving contact problems with Coulomb friction: formulations and numerical "
    "comparisons, 2018";

constexpr const char* after_paper = "Siconos after 4.5, Acary and others, github.com/siconos/siconos, 2026";

}  // namespace

std::string siconos_library() { return siconos::library_file(); }

std::string siconos_blas() { return siconos::blas(); }

std::vector<SolverRow> siconos_rows() {
  SolverInfo nsgs = base("SICONOS-NSGS", "Siconos' block Gauss-Seidel, Alart-Curnier Newton at each contact",
                         "Siconos 4.4; Jourdan, Alart, Jean, A Gauss-Seidel like algorithm to solve frictional contact "
                         "problems, 1998",
                         "The reference of the literature: cheap sweeps, slow on tall stacks and redundant contacts.");
  nsgs.two_dimensional = true;
  nsgs.rolling = siconos::has_rolling_newton();
  SolverInfo pli = base("SICONOS-NSGS-PLI", "Siconos' block Gauss-Seidel, projection iterated at each contact",
                        siconos_paper, "Slower at each contact than Newton, and it never fails there.");
  pli.rolling = true;
  SolverInfo admm = base("SICONOS-ADMM", "Siconos' accelerated ADMM with restarts", siconos_paper,
                         "One factorization with a constant penalty, which must fit the scale of M.");
  admm.rolling = true;
  return {
      row<NsgsOptions>(nsgs),
      row<NsgsPliOptions>(pli),
      row<NewtonAcOptions>(
          base("SICONOS-NSN-AC", "Siconos' semi-smooth Newton on the Alart-Curnier function",
               "Siconos 4.4; Alart, Curnier, A mixed formulation for frictional contact problems prone "
               "to Newton like solution methods, 1991",
               "Few iterations where it converges; not globally convergent, and M is singular often.")),
      row<NewtonAcNewOptions>(base("SICONOS-NSN-AC-NEW",
                                   "Siconos' second semi-smooth Newton on Alart-Curnier's function", after_paper,
                                   "As SICONOS-NSN-AC, in Siconos' general Newton loop with its search.")),
      row<NewtonNmOptions>(base("SICONOS-NSN-NM", "Siconos' semi-smooth Newton on the natural map", siconos_paper,
                                "As SICONOS-NSN-AC, on the map that the error is measured by.")),
      row<AdmmOptions>(admm),
      row<ExtragradientOptions>(base("SICONOS-VI-EG", "Siconos' extragradient method with adapted step", siconos_paper,
                                     "Products with M only; robust at low accuracy.")),
      row<ProximalOptions>(base("SICONOS-PROX", "Siconos' proximal point method", siconos_paper,
                                "Regularises M and solves again; robust where the inner solver is.")),
      row<AclmOptions>(base("SICONOS-ACLM", "Siconos' fixed point on convex problems",
                            "Siconos 4.4; Acary, Cadoux, Lemarechal, Malick, A formulation of the linear discrete "
                            "Coulomb friction problem via convex optimization, 2011",
                            "Solves a cone problem for each guess of the sliding speeds.")),
      row<InteriorPointOptions>(base("SICONOS-IPM-SNM", "Siconos' interior-point method with a smoothed norm",
                                     after_paper, "One factorization an iteration; no warm start, and no mu of 0.")),
  };
}

}  // namespace conebench
