#include "metrics/residual_formulas.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "metrics/block_residuals.hpp"
#include "problems/cones/contact_cones.hpp"

namespace conebench {

namespace {

using Evaluation = ResidualEvaluation;
using OptionalReason = std::optional<std::string>;

/// Calls visit(index, block, λ_i, v_i) for every block, with vectors of 1 (joint, limit), 2, 3 or 5 rows (contact).
template <class Visit>
void for_each_block(const Evaluation& e, const Vector& velocity, Visit visit) {
  Index index = 0;
  for (const BlockScale& block : e.blocks()) {
    const Index row = block.row;
    if (block.kind != BlockKind::contact) {
      visit(index, block, BlockVector<1>(e.impulse()[row]), BlockVector<1>(velocity[row]));
    } else {
      with_contact_cone(e.problem().cones(), [&]<class Cone>() {
        constexpr int rows = Cone::rows;
        visit(index, block, BlockVector<rows>(e.impulse().segment<rows>(row)),
              BlockVector<rows>(velocity.segment<rows>(row)));
      });
    }
    ++index;
  }
}

template <class Value>
constexpr int rows_of = std::decay_t<Value>::RowsAtCompileTime;

double euclidean(const auto& x) { return block_norm(x); }
double componentwise(const auto& x) { return x.cwiseAbs().maxCoeff(); }

/// λ_i − P_{K_i}(λ_i): paper 004 (156).
template <int Rows>
BlockVector<Rows> primal_of(const BlockScale& block, const BlockVector<Rows>& impulse) {
  if constexpr (Rows == 1) {
    return BlockVector<1>(block.kind == BlockKind::limit ? std::fmin(impulse[0], 0.0) : 0.0);
  } else {
    return outside_of_friction_cone<Rows>(impulse, block.friction);
  }
}

/// v_i − P_{K_i*}(v_i): paper 004 (157).
template <int Rows>
BlockVector<Rows> dual_of(const BlockScale& block, const BlockVector<Rows>& velocity) {
  if constexpr (Rows == 1) {
    return BlockVector<1>(block.kind == BlockKind::limit ? std::fmin(velocity[0], 0.0) : velocity[0]);
  } else {
    return outside_of_dual_cone<Rows>(velocity, block.friction);
  }
}

/// λ_i − P_{K_i}(λ_i − r v_i): paper 004 (163), (164), with r = 1.
template <int Rows>
BlockVector<Rows> natural_of(const BlockScale& block, const BlockVector<Rows>& impulse,
                             const BlockVector<Rows>& velocity, double r) {
  if constexpr (Rows == 1) {
    return BlockVector<1>(block.kind == BlockKind::limit ? natural_map_of_limit(impulse[0], velocity[0], r)
                                                         : r * velocity[0]);
  } else {
    return natural_map_of_contact<Rows>(impulse, velocity, r, block.friction);
  }
}

WorstBlock primal(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto&) {
    worst.take(euclidean(primal_of<rows_of<decltype(lambda)>>(b, lambda)), i);
  });
  return worst;
}

WorstBlock primal_componentwise(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto&) {
    worst.take(componentwise(primal_of<rows_of<decltype(lambda)>>(b, lambda)), i);
  });
  return worst;
}

WorstBlock dual_over(const Evaluation& e, const Vector& velocity) {
  WorstBlock worst;
  for_each_block(e, velocity, [&](Index i, const BlockScale& b, const auto&, const auto& v) {
    worst.take(euclidean(dual_of<rows_of<decltype(v)>>(b, v)), i);
  });
  return worst;
}
WorstBlock dual(Evaluation& e) { return dual_over(e, e.augmented_velocity()); }
WorstBlock dual_ccp(Evaluation& e) { return dual_over(e, e.velocity()); }

WorstBlock dual_componentwise(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.augmented_velocity(), [&](Index i, const BlockScale& b, const auto&, const auto& v) {
    worst.take(componentwise(dual_of<rows_of<decltype(v)>>(b, v)), i);
  });
  return worst;
}

WorstBlock complementarity_over(const Evaluation& e, const Vector& velocity) {
  WorstBlock worst;
  for_each_block(e, velocity, [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    if (b.kind != BlockKind::joint) worst.take(std::abs(lambda.dot(v)), i);
  });
  return worst;
}
WorstBlock complementarity(Evaluation& e) { return complementarity_over(e, e.augmented_velocity()); }
WorstBlock complementarity_ccp(Evaluation& e) { return complementarity_over(e, e.velocity()); }

WorstBlock natural_map_over(const Evaluation& e, const Vector& velocity) {
  WorstBlock worst;
  for_each_block(e, velocity, [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    worst.take(euclidean(natural_of<rows_of<decltype(v)>>(b, lambda, v, 1.0)), i);
  });
  return worst;
}
WorstBlock natural_map(Evaluation& e) { return natural_map_over(e, e.augmented_velocity()); }
WorstBlock natural_map_ccp(Evaluation& e) { return natural_map_over(e, e.velocity()); }

WorstBlock natural_map_componentwise(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.augmented_velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    worst.take(componentwise(natural_of<rows_of<decltype(v)>>(b, lambda, v, 1.0)), i);
  });
  return worst;
}

WorstBlock scaled_over(const Evaluation& e, const Vector& velocity) {
  WorstBlock worst;
  for_each_block(e, velocity, [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    // A joint's map is r sigma, so r drops out. A cone has no scale, so the map of lambda / r with step 1 is the map
    // over r, and r sigma can't underflow to an answer that looks right.
    constexpr int rows = rows_of<decltype(v)>;
    const double error =
        b.kind == BlockKind::joint ? euclidean(v) : euclidean(natural_of<rows>(b, lambda / b.r, v, 1.0));
    worst.take(error / e.velocity_scale(), i);
  });
  return worst;
}
WorstBlock natural_map_scaled(Evaluation& e) { return scaled_over(e, e.augmented_velocity()); }
WorstBlock natural_map_ccp_scaled(Evaluation& e) { return scaled_over(e, e.velocity()); }

/// Models that are defined for Coulomb's friction alone.
OptionalReason rolling_missing(const ContactProblem& problem) {
  if (!problem.cones().rolls()) return std::nullopt;
  return "the model has no rolling friction";
}

/// Of models that bound friction in a polygon of the tangent plane; `map` is that of a contact, with step 1.
template <class ContactMap>
WorstBlock polygon_scaled(Evaluation& e, ContactMap map) {
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    double error = std::numeric_limits<double>::infinity();  // where the model is not defined
    if constexpr (rows_of<decltype(v)> == 1) {
      error = b.kind == BlockKind::joint ? euclidean(v) : euclidean(natural_of<1>(b, lambda / b.r, v, 1.0));
    } else if constexpr (rows_of<decltype(v)> <= 3) {
      error = euclidean(map(lambda / b.r, v, b));
    }
    worst.take(error / e.velocity_scale(), i);
  });
  return worst;
}
WorstBlock natural_map_raisim_scaled(Evaluation& e) {
  const DiagonalBlocks& matrix = e.problem().diagonal();
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    double error = std::numeric_limits<double>::infinity();  // where the model is not defined
    if constexpr (rows == 1) {
      error = b.kind == BlockKind::joint ? euclidean(v) : euclidean(natural_of<1>(b, lambda / b.r, v, 1.0));
    } else if constexpr (rows <= 3) {
      BlockVector<rows> normal_row = matrix.block(i).row(rows - 1);
      normal_row[rows - 1] += e.problem().compliance()[b.row + rows - 1];
      error =
          euclidean(natural_of<rows>(b, lambda / b.r, raisim_velocity<rows>(v, normal_row, b.friction.sliding), 1.0));
    }
    worst.take(error / e.velocity_scale(), i);
  });
  return worst;
}

WorstBlock natural_map_box_scaled(Evaluation& e) {
  return polygon_scaled(e, [](const auto& lambda, const auto& v, const BlockScale& b) {
    return natural_map_of_box<rows_of<decltype(v)>>(lambda, v, 1.0, b.friction.sliding);
  });
}
WorstBlock natural_map_facets_scaled(Evaluation& e) {
  return polygon_scaled(e, [](const auto& lambda, const auto& v, const BlockScale& b) {
    return natural_map_of_facets<rows_of<decltype(v)>>(lambda, v, 1.0, b.friction.sliding, 8);
  });
}

/// The natural map's Euclidean norm over all rows; the block is the one with the largest part.
WorstBlock natural_map_norm(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.augmented_velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    e.scratch()[i] = euclidean(natural_of<rows_of<decltype(v)>>(b, lambda, v, 1.0));
    worst.take(e.scratch()[i], i);
  });
  worst.value = std::isfinite(worst.value) ? e.scratch().stableNorm() : worst.value;
  return worst;
}

/// Divided as Siconos does: not at all where the denominator is at most the machine epsilon.
WorstBlock divided(WorstBlock error, double denominator) {
  if (!std::isfinite(denominator)) {
    error.value = std::numeric_limits<double>::infinity();
  } else if (denominator > std::numeric_limits<double>::epsilon()) {
    error.value /= denominator;
  }
  return error;
}

WorstBlock natural_map_relative(Evaluation& e) {
  const double g = e.free_term().stableNorm();
  return divided(natural_map_norm(e), std::max({g, e.impulse().stableNorm(), e.velocity().stableNorm()}));
}

WorstBlock natural_map_relative_g(Evaluation& e) { return divided(natural_map_norm(e), e.free_term().stableNorm()); }

OptionalReason penetration_missing(const ContactProblem& problem) {
  if (problem.cones().contacts() == 0) return std::nullopt;
  const auto& configuration = problem.configuration();
  std::string absent;
  const auto add = [&](const char* part) { absent += (absent.empty() ? "" : ", ") + std::string(part); };
  if (!configuration || !configuration->gaps) add("the gaps");
  if (!configuration || !configuration->time_step) add("the time step");
  if (!problem.bias()) add("the bias b");
  if (absent.empty()) return std::nullopt;
  return "the problem does not tell " + absent;
}

/// With c = G λ + J v_free = sigma − R λ − b, the contact's physical velocity after the step.
WorstBlock penetration(Evaluation& e) {
  WorstBlock worst;
  const ContactProblem& problem = e.problem();
  const ConeProduct& cones = problem.cones();
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index n = cones.contact_row(i) + cones.normal_row();
    const double velocity = e.velocity()[n] - problem.compliance()[n] * e.impulse()[n] - (*problem.bias())[n];
    const double gap = (*problem.configuration()->gaps)[i] + *problem.configuration()->time_step * velocity;
    worst.take(-gap, cones.first_contact_row() + i);
  }
  return worst;
}

double quadratic_objective(const Evaluation& e) {
  return 0.5 * (e.impulse().dot(e.velocity()) + e.impulse().dot(e.free_term()));
}
WorstBlock objective(Evaluation& e) { return {quadratic_objective(e), -1}; }

/// λᵀ Γ(sigma) = λᵀ (v̂ − sigma), summed over the normals alone to keep its digits.
WorstBlock objective_ncp(Evaluation& e) {
  double de_saxce = 0.0;
  for_each_block(e, e.velocity(), [&](Index, const BlockScale& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    if constexpr (rows > 1) de_saxce += lambda[normal_of<rows>] * de_saxce_of<rows>(v, b.friction);
  });
  return {quadratic_objective(e) + de_saxce, -1};
}

/// f(λ) minus the dual objective −½ λᵀ(G + R) λ is λᵀ sigma.
WorstBlock duality_gap_ccp(Evaluation& e) {
  WorstBlock worst;
  double gap = 0.0;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale&, const auto& lambda, const auto& v) {
    gap += lambda.dot(v);
    worst.take(std::abs(lambda.dot(v)), i);
  });
  worst.value = std::abs(gap);
  return worst;
}

/// Angle between two vectors of a plane or line; 90 degrees where one is 0.
double angle_between(const BlockVector<2>& a, const BlockVector<2>& b) {
  const double cross = a[0] * b[1] - a[1] * b[0];
  const double dot = a[0] * b[0] + a[1] * b[1];
  return cross == 0.0 && dot == 0.0 ? std::acos(0.0) : std::atan2(std::abs(cross), dot);
}
double angle_between(const BlockVector<1>& a, const BlockVector<1>& b) {
  if (a[0] == 0.0 || b[0] == 0.0) return std::acos(0.0);
  return (a[0] > 0.0) == (b[0] > 0.0) ? 0.0 : std::acos(-1.0);
}

/// Between −λ and σ of the tangents (or of the moments). Unit length first: products of small impulses and velocities
/// could underflow.
template <int Size>
double dissipation_angle(const BlockVector<Size>& impulse, const BlockVector<Size>& velocity) {
  const BlockVector<Size> friction = -impulse / std::max(block_norm(impulse), std::numeric_limits<double>::min());
  return angle_between(friction, BlockVector<Size>(velocity / block_norm(velocity)));
}

/// min(λ_N / r, σ_N) over V: what is left of 0 ≤ λ_N ⊥ σ_N ≥ 0, whatever friction does (002 (8)).
WorstBlock signorini(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    constexpr int n = normal_of<rows_of<decltype(v)>>;
    if (b.kind == BlockKind::joint) return;
    worst.take(std::abs(natural_map_of_limit(lambda[n] / b.r, v[n], 1.0)) / e.velocity_scale(), i);
  });
  return worst;
}

WorstBlock dissipation_error(Evaluation& e) {
  WorstBlock worst;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    if constexpr (rows > 1) {
      constexpr int tangents = normal_of<rows>;
      if (b.friction.sliding > 0.0 && slides<rows>(e, b, lambda, v, mode_tolerance)) {
        worst.take(dissipation_angle<tangents>(lambda.template head<tangents>(), v.template head<tangents>()), i);
      }
      if constexpr (rows > 3) {
        if (b.friction.rolling > 0.0 && rolls(e, b, lambda, v, mode_tolerance)) {
          worst.take(dissipation_angle<2>(lambda.template tail<2>(), v.template tail<2>()), i);
        }
      }
    }
  });
  return worst;
}

constexpr bool verdict = true;
constexpr bool no_verdict = false;

}  // namespace

std::span<const ResidualDefinition> residual_definitions() {
  static const std::array definitions = {
      ResidualDefinition{{"primal", 1, "max_i |lambda_i - P_K(lambda_i)|", "N s", "004 (156)", no_verdict}, primal},
      ResidualDefinition{{"dual", 1, "max_i |v_i - P_K*(v_i)|", "m/s", "004 (157)", no_verdict}, dual},
      ResidualDefinition{
          {"complementarity", 1, "max_i |lambda_i . v_i| over limits and contacts", "J", "004 (158)", no_verdict},
          complementarity},
      ResidualDefinition{{"natural_map", 1, "max_i |lambda_i - P_K(lambda_i - v_i)|", "N s, m/s", "004 (163)", verdict},
                         natural_map},
      ResidualDefinition{{"dual_ccp", 1, "max_i |sigma_i - P_K*(sigma_i)|", "m/s", "004 (157)", no_verdict}, dual_ccp},
      ResidualDefinition{{"complementarity_ccp", 1, "max_i |lambda_i . sigma_i| over limits and contacts", "J",
                          "004 (158)", no_verdict},
                         complementarity_ccp},
      ResidualDefinition{
          {"natural_map_ccp", 1, "max_i |lambda_i - P_K(lambda_i - sigma_i)|", "N s, m/s", "004 (164)", verdict},
          natural_map_ccp},
      ResidualDefinition{{"natural_map_scaled", 1, "max_i |lambda_i - P_K(lambda_i - r_i v_i)| / (r_i V)", "1",
                          "Conebench; the official verdict", verdict},
                         natural_map_scaled},
      ResidualDefinition{{"natural_map_ccp_scaled", 1, "max_i |lambda_i - P_K(lambda_i - r_i sigma_i)| / (r_i V)", "1",
                          "Conebench; own-model measure of CCP solvers", verdict},
                         natural_map_ccp_scaled},
      ResidualDefinition{{"natural_map_box_scaled", 1,
                          "max_i |lambda_i - P_B(lambda_i - r_i sigma_i)| / (r_i V), B the box |lambda_t| <= mu "
                          "max(0, lambda_N) of the answer itself",
                          "1", "Conebench; own-model measure of the LCP with a box (002 Alg. 1)", verdict},
                         natural_map_box_scaled,
                         rolling_missing},
      ResidualDefinition{{"natural_map_facets_scaled", 1,
                          "max_i |lambda_i - P_F(lambda_i - r_i sigma_i)| / (r_i V), F the polygon with corners at mu "
                          "max(0, lambda_N) of the answer itself in directions 2 pi m / 8 from t1",
                          "1", "Conebench; own-model measure of the facet LCP with M = 8 (001 (21)-(23))", verdict},
                         natural_map_facets_scaled,
                         rolling_missing},
      ResidualDefinition{
          {"natural_map_raisim_scaled", 1,
           "max_i |lambda_i - P_K(lambda_i - r_i w_i)| / (r_i V), w = sigma + x d / d_n, d the normal row "
           "of G_ii + R_ii, x = mu |w_T| (De Saxce's mu |sigma_T| where there is no such x)",
           "1", "Conebench; own-model measure of RaiSim's model (002 (23)-(24))", verdict},
          natural_map_raisim_scaled,
          rolling_missing},
      ResidualDefinition{{"natural_map_relative", 1,
                          "|lambda - P_K(lambda - v)|_2 / max(|g|_2, |lambda|_2, |sigma|_2), not divided by <= 2.2e-16",
                          "1", "Siconos numerics", verdict},
                         natural_map_relative},
      ResidualDefinition{
          {"natural_map_relative_g", 1, "|lambda - P_K(lambda - v)|_2 / |g|_2, not divided by <= 2.2e-16", "1",
           "Acary, Bremond, Huber 2017", verdict},
          natural_map_relative_g},
      ResidualDefinition{{"r_primal", 1, "largest component of |lambda - P_K(lambda)|", "N s", "004 (156)", no_verdict},
                         primal_componentwise},
      ResidualDefinition{{"r_dual", 1, "largest component of |v - P_K*(v)|", "m/s", "004 (174)", no_verdict},
                         dual_componentwise},
      ResidualDefinition{{"r_ncp", 1, "max_i |lambda_i . v_i| over limits and contacts", "J", "004 (175)", no_verdict},
                         complementarity},
      ResidualDefinition{
          {"r_nat", 1, "largest component of |lambda - P_K(lambda - v)|", "N s, m/s", "004 (176)", verdict},
          natural_map_componentwise},
      ResidualDefinition{{"penetration", 1, "max_i max(0, -(phi_i + dt c_N,i)), c = G lambda + g - b", "m",
                          "Conebench, after 004 (173)", no_verdict},
                         penetration,
                         penetration_missing},
      ResidualDefinition{{"objective", 1, "lambda . (G + R) lambda / 2 + lambda . g", "J", "004 (17a)", no_verdict},
                         objective},
      ResidualDefinition{{"objective_ncp", 1, "objective + lambda . Gamma(sigma)", "J", "004 (17c)", no_verdict},
                         objective_ncp},
      ResidualDefinition{{"duality_gap_ccp", 1, "|lambda . sigma|", "J", "004 (19) and its dual", no_verdict},
                         duality_gap_ccp},
      ResidualDefinition{{"dissipation_error", 1, "max angle between -lambda_T and sigma_T over slipping contacts",
                          "rad", "maximum dissipation, 002 (11)-(12)", no_verdict},
                         dissipation_error},
      ResidualDefinition{{"signorini", 1, "max_i |min(lambda_N / r_i, sigma_N)| / V over limits and contacts", "1",
                          "Signorini's law alone, 002 (8)", no_verdict},
                         signorini},
  };
  return definitions;
}

}  // namespace conebench
