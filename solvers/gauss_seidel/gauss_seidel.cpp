#include "solvers/gauss_seidel/gauss_seidel.hpp"

#include <memory>
#include <type_traits>
#include <utility>

#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/ellipse_block.hpp"
#include "solvers/gauss_seidel/gauss_seidel_solver.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"

namespace conebench::gauss_seidel {

namespace {

constexpr const char* pgs_papers =
    "Le Lidec et al., Contact Models in Robotics: a Comparative Analysis; Tsounis, Grandia, Bächer, On Solving the "
    "Dynamics of Constrained Rigid Multi-Body Systems with Kinematic Loops";

struct AndersonOptions : NsgsOptions {
  AndersonOptions() {
    acceleration.method = "anderson";
    acceleration.capacity = 10;
  }
};

template <class Options = NsgsOptions>
SolverRow nsgs_row(const char* id, const char* name, const char* summary, bool damp_cycles) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.version = damp_cycles || !std::is_same_v<Options, NsgsOptions> ? 1 : 2;
  info.name = name;
  info.citation =
      "Jourdan, Alart, Jean, A Gauss-Seidel like algorithm to solve frictional contact problems, 1998; local solution "
      "after Bonnefon, Daviet, Quartic formulation of Coulomb 3D frictional contact, 2011";
  info.summary = summary;
  return with_acceleration_left_out(make_row<Options>(info, [damp_cycles](const SolverInfo& i, const NsgsOptions& o) {
    return std::make_unique<GaussSeidelSolver<CoulombBlock>>(i,
                                                             Settings{.sweep = o.sweep,
                                                                      .own_test = OwnTest::natural_map,
                                                                      .damp_cycles = damp_cycles,
                                                                      .acceleration = o.acceleration},
                                                             CoulombBlock{});
  }));
}

Settings cone_settings(const PgsConeOptions& o, OwnModel model) {
  return {.sweep = o.pgs.sweep, .own_model = model, .check_period = o.pgs.check_period, .acceleration = o.acceleration};
}

SolverRow split_projection_row(const char* id, const char* name, const char* summary, bool safe_step) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.origin = safe_step ? Origin::own : Origin::paper;
  info.citation = pgs_papers;
  info.summary = summary;
  info.rotation_invariant = safe_step;  // 1/min(G_tt) depends on the tangent axes, λ_max(G_TT) does not
  return with_acceleration_left_out(
      make_row<PgsNcpOptions>(info, [safe_step](const SolverInfo& i, const PgsNcpOptions& o) {
        const auto velocity = o.tangent_velocity == "updated" ? TangentVelocity::updated : TangentVelocity::initial;
        return std::make_unique<GaussSeidelSolver<SplitProjectionBlock>>(i, cone_settings(o.cone, OwnModel::ncp),
                                                                         SplitProjectionBlock{safe_step, velocity});
      }));
}

SolverRow cone_projection_row(const char* id, const char* name, const char* summary, bool de_saxce) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.formulation = de_saxce ? Formulation::ncp : Formulation::ccp;
  info.origin = Origin::paper;
  info.citation = pgs_papers;
  info.summary = summary;
  return with_acceleration_left_out(
      make_row<PgsConeOptions>(info, [de_saxce](const SolverInfo& i, const PgsConeOptions& o) {
        return std::make_unique<GaussSeidelSolver<ConeProjectionBlock>>(
            i, cone_settings(o, de_saxce ? OwnModel::ncp : OwnModel::ccp), ConeProjectionBlock{de_saxce});
      }));
}

SolverRow box_projection_row(const char* id, const char* name, const char* summary, bool safe_step) {
  SolverInfo info;
  info.intervals = true;
  info.id = id;
  info.name = name;
  info.formulation = Formulation::lcp;
  info.origin = safe_step ? Origin::own : Origin::paper;
  info.citation = "Le Lidec et al., Contact Models in Robotics: a Comparative Analysis";
  info.summary = summary;
  info.rotation_invariant = false;  // the box turns with the tangent axes
  return make_row<PgsOptions>(info, [safe_step](const SolverInfo& i, const PgsOptions& o) {
    return std::make_unique<GaussSeidelSolver<BoxProjectionBlock>>(
        i, Settings{.sweep = o.sweep, .own_model = OwnModel::box, .check_period = o.check_period},
        BoxProjectionBlock{.safe_step = safe_step});
  });
}

OwnTest own_test(const std::string& name) {
  return name == "fixed_point" ? OwnTest::fixed_point : OwnTest::complementarity;
}

SolverRow nbgs_row() {
  SolverInfo info;
  info.intervals = true;
  info.id = "NBGS";
  info.version = 2;
  info.name = "Nonlinear block Gauss-Seidel with the one-contact quartic of maximal dissipation";
  info.formulation = Formulation::model;
  info.origin = Origin::paper;
  info.citation =
      "Tsounis, Grandia, Bächer, On Solving the Dynamics of Constrained Rigid Multi-Body Systems with Kinematic Loops; "
      "after Preclik, Models and Algorithms for Ultrascale Simulations of Non-smooth Granular Dynamics, 2014";
  info.summary =
      "Solves RaiSim's model exactly at each contact (Tsounis Alg. 4 with P_MDP). Its answer is Coulomb's where normal "
      "and "
      "tangent are not coupled in a contact's own block; elsewhere it slides in another direction and stops short.";
  return make_row<NbgsOptions>(info, [](const SolverInfo& i, const NbgsOptions& o) {
    return std::make_unique<GaussSeidelSolver<EllipseBlock<Quartic>>>(
        i, Settings{.sweep = o.pgs.sweep, .own_test = own_test(o.own_test), .check_period = o.pgs.check_period},
        EllipseBlock<Quartic>{});
  });
}

Settings raisim_settings(const RaisimOptions& o) {
  return {
      .sweep = {.order = o.order, .relaxation = o.alpha, .relaxation_decay = o.gamma, .relaxation_min = o.alpha_min},
      .own_test = own_test(o.own_test),
      .check_period = o.check_period,
      .decay = o.decay == "contact" ? Decay::with_every_contact : Decay::towards_minimum};
}

SolverInfo raisim_info(const char* id, const char* name, const char* summary, bool de_saxce) {
  SolverInfo info;
  info.intervals = true;
  info.id = id;
  info.name = name;
  info.formulation = de_saxce ? Formulation::ncp : Formulation::model;
  info.version = 2;
  info.origin = Origin::paper;
  info.citation =
      "Hwangbo, Lee, Hutter, Per-contact iteration method for solving contact dynamics, 2018; Le Lidec et al., Contact "
      "Models in Robotics: a Comparative Analysis";
  info.summary = summary;
  return info;
}

SolverRow raisim_row(const SolverInfo& info) {
  return make_row<RaisimOptions>(info, [](const SolverInfo& i, const RaisimOptions& o) {
    return std::make_unique<GaussSeidelSolver<EllipseBlock<Bisection>>>(
        i, raisim_settings(o), EllipseBlock<Bisection>{.de_saxce = i.formulation == Formulation::ncp});
  });
}

SolverRow raisim_early_row(const SolverInfo& info) {
  return make_row<RaisimEarlyOptions>(info, [](const SolverInfo& i, const RaisimEarlyOptions& o) {
    Settings settings = raisim_settings(o.raisim);
    settings.own_test = OwnTest::objective;
    settings.total_inertia = o.total_inertia;
    return std::make_unique<GaussSeidelSolver<EllipseBlock<Bisection>>>(i, settings,
                                                                        EllipseBlock<Bisection>{.de_saxce = true});
  });
}

template <Splitting S>
SolverRow prox_row(const char* id, const char* name, const char* summary) {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = id;
  info.name = name;
  info.origin = Origin::paper;
  info.citation =
      "Erleben, Rigid Body Contact Problems using Proximal Operators, 2017; after Studer, Numerics of Unilateral "
      "Contacts and Friction, 2009";
  info.summary = summary;
  return make_row<ProxOptions>(info, [](const SolverInfo& i, const ProxOptions& o) {
    return std::make_unique<GaussSeidelSolver<ProxBlock, S>>(
        i, Settings{.sweep = {.order = o.order}, .own_test = OwnTest::natural_map, .prox = o}, ProxBlock{});
  });
}

std::vector<SolverRow> all_rows() {
  return {
      nsgs_row(
          "NSGS", "Block Gauss-Seidel with the exact one-contact Coulomb solution",
          "Cheap sweeps and good starts on problems with few coupled contacts; slow or stuck on tall stacks, large "
          "mass ratios and many redundant contacts.",
          false),
      nsgs_row("NSGS-DAMPED", "NSGS that damps its cycles",
               "NSGS whose omega falls by 0.8, down to relaxation_min, where the sweeps' changes have stopped falling "
               "for 200 sweeps: leaves cycles that NSGS stays in, and is slower where NSGS would have come through.",
               true),
      nsgs_row<AndersonOptions>(
          "NSGS-AA", "NSGS with Anderson's acceleration",
          "NSGS with acceleration=anderson: a fraction of the sweeps where contacts are redundant or masses differ, "
          "and "
          "solves most of what NSGS does not of hands and humanoids. Small problems take as many sweeps, and a sweep "
          "is dearer.",
          false),
      split_projection_row(
          "PGS-NCP", "Projected Gauss-Seidel on the NCP, printed tangential step",
          "The textbook method (LeLidec24 Alg. 6, Tsounis Alg. 3). Its tangential step 1/min(G_tt) is the largest "
          "there is: it oscillates or diverges where the two tangential directions differ much.",
          false),
      split_projection_row("PGS-NCP-SAFE", "Projected Gauss-Seidel on the NCP, safe tangential step",
                           "PGS-NCP with the tangential step 1/lambda_max(G_TT). Slow on coupled contacts.", true),
      box_projection_row(
          "PGS-LCP", "Projected Gauss-Seidel on the LCP of a box around the cone, printed tangential step",
          "LeLidec24 Alg. 1: friction is clamped axis by axis, so that it may exceed Coulomb's by sqrt(2) and "
          "depends on the tangent axes. The NCP's judge accepts it only where nothing slides obliquely.",
          false),
      box_projection_row("PGS-LCP-SAFE",
                         "Projected Gauss-Seidel on the LCP of a box around the cone, safe tangential step",
                         "PGS-LCP with the tangential step 1/lambda_max(G_TT): the same model, without the printed "
                         "step's oscillation where the tangents differ.",
                         true),
      cone_projection_row(
          "PGS-CCP", "Projected Gauss-Seidel on the cone problem",
          "Solves the convex relaxation (LeLidec24 Alg. 2, Tsounis Alg. 2 with s = 0): sliding contacts open by "
          "mu times their speed. The NCP's judge accepts it only where nothing slides.",
          false),
      cone_projection_row("PGS-CCP-DS", "Projected Gauss-Seidel with De Saxce's correction",
                          "The sweep of PGS-CCP with s = Gamma(z), a method for the NCP (Tsounis Alg. 5 line 16).",
                          true),
      nbgs_row(),
      raisim_row(raisim_info("RAISIM", "Per-contact bisection on RaiSim's model",
                             "LeLidec24 Alg. 5: each contact opens, sticks or takes the least energy without normal "
                             "velocity. The model of "
                             "NBGS: "
                             "where a sliding contact's normal and tangent are coupled, friction does not oppose the "
                             "slip (LeLidec24 (24)).",
                             false)),
      raisim_row(raisim_info("RAISIM-DS", "Per-contact bisection with De Saxce's correction",
                             "RAISIM with De Saxce's correction of the impulse before in the energy (Tsounis Table I): "
                             "its fixed points obey "
                             "Coulomb's law. alpha falls to alpha_min, which makes it slower and steadier than NSGS.",
                             true)),
      raisim_early_row(
          raisim_info("RAISIM-DS-ES", "RAISIM-DS that stops where the objective stands still",
                      "RAISIM-DS with the own test (160) of Tsounis, the improvement of the objective over "
                      "the total inertia, which also "
                      "holds on slow progress far from the answer.",
                      true)),
      prox_row<Splitting::gauss_seidel>(
          "PROX", "Proximal-point sweeps with an adapted r-factor",
          "Normal and tangential prox steps at each contact; a sweep that moves farther than the last one accepted is "
          "taken back and r shrinks. r never grows again, which ends in small steps where the changes do not fall."),
      prox_row<Splitting::jacobi>("PROX-JACOBI",
                                  "Proximal-point iterations with an adapted r-factor, all contacts at once",
                                  "PROX with all contacts at the iterate before: parallel in principle, and slower by "
                                  "the number of contacts that "
                                  "share a body."),
  };
}

}  // namespace

std::vector<SolverRow> solver_rows() {
  std::vector<SolverRow> rows = all_rows();
  for (SolverRow& row : rows) row = with_default_left_out(std::move(row), "threads");
  return rows;
}

}  // namespace conebench::gauss_seidel
