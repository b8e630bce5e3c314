#include "solvers/gauss_seidel/gauss_seidel.hpp"

#include <memory>

#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/gauss_seidel/gauss_seidel_solver.hpp"
#include "solvers/gauss_seidel/projection_blocks.hpp"

namespace conebench::gauss_seidel {

namespace {

constexpr const char* pgs_papers =
    "Le Lidec et al., Contact Models in Robotics: a Comparative Analysis; Tsounis, Grandia, Bächer, On Solving the "
    "Dynamics of Constrained Rigid Multi-Body Systems with Kinematic Loops";

SolverRow nsgs_row(const char* id, const char* name, const char* summary, bool damp_cycles) {
  SolverInfo info;
  info.id = id;
  info.name = name;
  info.citation =
      "Jourdan, Alart, Jean, A Gauss-Seidel like algorithm to solve frictional contact problems, 1998; local solution "
      "after Bonnefon, Daviet, Quartic formulation of Coulomb 3D frictional contact, 2011";
  info.summary = summary;
  return make_row<SweepOptions>(info, [damp_cycles](const SolverInfo& i, const SweepOptions& o) {
    return std::make_unique<GaussSeidelSolver<CoulombBlock>>(i, Settings{o, OwnTest::natural_map, 1, damp_cycles},
                                                             CoulombBlock{});
  });
}

SolverRow split_projection_row(const char* id, const char* name, const char* summary, bool safe_step) {
  SolverInfo info;
  info.id = id;
  info.name = name;
  info.citation = pgs_papers;
  info.summary = summary;
  info.rotation_invariant = safe_step;  // 1/min(G_tt) depends on the tangent axes, λ_max(G_TT) does not
  return make_row<PgsNcpOptions>(info, [safe_step](const SolverInfo& i, const PgsNcpOptions& o) {
    const auto velocity = o.tangent_velocity == "updated" ? TangentVelocity::updated : TangentVelocity::initial;
    return std::make_unique<GaussSeidelSolver<SplitProjectionBlock>>(
        i, Settings{o.pgs.sweep, OwnTest::complementarity, o.pgs.check_period, false},
        SplitProjectionBlock{safe_step, velocity});
  });
}

SolverRow cone_projection_row(const char* id, const char* name, const char* summary, bool de_saxce) {
  SolverInfo info;
  info.id = id;
  info.name = name;
  info.formulation = de_saxce ? Formulation::ncp : Formulation::ccp;
  info.citation = pgs_papers;
  info.summary = summary;
  return make_row<PgsOptions>(info, [de_saxce](const SolverInfo& i, const PgsOptions& o) {
    return std::make_unique<GaussSeidelSolver<ConeProjectionBlock>>(
        i, Settings{o.sweep, OwnTest::complementarity, o.check_period, false}, ConeProjectionBlock{de_saxce});
  });
}

}  // namespace

std::vector<SolverRow> solver_rows() {
  return {
      nsgs_row("NSGS", "Block Gauss-Seidel with the exact one-contact Coulomb solution",
               "Cheap sweeps and good starts on problems with few coupled contacts; slow or stuck on tall stacks, large "
               "mass ratios and many redundant contacts.",
               false),
      nsgs_row("NSGS-DAMPED", "NSGS that damps its cycles",
               "NSGS whose omega falls by 0.8, down to relaxation_min, where the sweeps' changes have stopped falling "
               "for 200 sweeps: leaves cycles that NSGS stays in, and is slower where NSGS would have come through.",
               true),
      split_projection_row(
          "PGS-NCP", "Projected Gauss-Seidel on the NCP, printed tangential step",
          "The textbook method (002 Alg. 6, 004 Alg. 3). Its tangential step 1/min(G_tt) is the largest "
          "there is: it oscillates or diverges where the two tangential directions differ much.",
          false),
      split_projection_row("PGS-NCP-SAFE", "Projected Gauss-Seidel on the NCP, safe tangential step",
                           "PGS-NCP with the tangential step 1/lambda_max(G_TT). Slow on coupled contacts.", true),
      cone_projection_row("PGS-CCP", "Projected Gauss-Seidel on the cone problem",
                          "Solves the convex relaxation (002 Alg. 2, 004 Alg. 2 with s = 0): sliding contacts open by "
                          "mu times their speed. The NCP's judge accepts it only where nothing slides.",
                          false),
      cone_projection_row("PGS-CCP-DS", "Projected Gauss-Seidel with De Saxce's correction",
                          "The sweep of PGS-CCP with s = Gamma(z), a method for the NCP (004 Alg. 5 line 16).", true),
  };
}

}  // namespace conebench::gauss_seidel
