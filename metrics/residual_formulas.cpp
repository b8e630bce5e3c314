#include "metrics/residual_formulas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "metrics/block_residuals.hpp"
#include "problems/cones/contact_cones.hpp"

namespace conebench {

namespace {

using OptionalReason = std::optional<std::string>;

/// Calls visit(index, block, λ_i, v_i) for every block, with vectors of 1 (joint, limit), 2, 3 or 5 rows (contact).
template <class Real, class Visit>
void for_each_block(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, Visit visit) {
  Index index = 0;
  for (const BlockScale<Real>& block : e.blocks()) {
    const Index row = block.row;
    if (block.kind != BlockKind::contact) {
      visit(index, block, BlockVector<Real, 1>(e.impulse()[row]), BlockVector<Real, 1>(velocity[row]));
    } else {
      with_contact_cone(e.problem().cones(), [&]<class Cone>() {
        constexpr int rows = Cone::rows;
        visit(index, block, BlockVector<Real, rows>(e.impulse().template segment<rows>(row)),
              BlockVector<Real, rows>(velocity.template segment<rows>(row)));
      });
    }
    ++index;
  }
}

template <class Value>
constexpr int rows_of = std::decay_t<Value>::RowsAtCompileTime;

/// Of the rounded entries: nothing cancels in a norm, so it keeps all digits but the last.
template <class Real, int Rows>
double euclidean(const BlockVector<Real, Rows>& x) {
  BlockVector<double, Rows> rounded;
  for (int k = 0; k < Rows; ++k) rounded[k] = to_double(x[k]);
  return block_norm(rounded);
}
template <class Real, int Rows>
double componentwise(const BlockVector<Real, Rows>& x) {
  double largest = 0.0;
  for (const Real& entry : x) {
    const double size = std::abs(to_double(entry));
    if (std::isnan(size)) return size;
    largest = std::max(largest, size);
  }
  return largest;
}
template <class Real>
double size_of(const Real& value) {
  return std::abs(to_double(value));
}

/// λ_i − P_{K_i}(λ_i): paper Tsounis (156).
template <class Real, int Rows>
BlockVector<Real, Rows> primal_of(const BlockScale<Real>& block, const BlockVector<Real, Rows>& impulse) {
  if constexpr (Rows == 1) {
    return BlockVector<Real, 1>(block.kind == BlockKind::limit ? smaller<Real>(impulse[0], 0.0) : Real(0.0));
  } else {
    return outside_of_friction_cone<Real, Rows>(impulse, block.friction);
  }
}

/// v_i − P_{K_i*}(v_i): paper Tsounis (157).
template <class Real, int Rows>
BlockVector<Real, Rows> dual_of(const BlockScale<Real>& block, const BlockVector<Real, Rows>& velocity) {
  if constexpr (Rows == 1) {
    return BlockVector<Real, 1>(block.kind == BlockKind::limit ? smaller<Real>(velocity[0], 0.0) : velocity[0]);
  } else {
    return outside_of_dual_cone<Real, Rows>(velocity, block.friction);
  }
}

/// λ_i − P_{K_i}(λ_i − v_i): paper Tsounis (163), (164).
template <class Real, int Rows>
BlockVector<Real, Rows> natural_of(const BlockScale<Real>& block, const BlockVector<Real, Rows>& impulse,
                                   const BlockVector<Real, Rows>& velocity) {
  if constexpr (Rows == 1) {
    return BlockVector<Real, 1>(block.kind == BlockKind::limit ? natural_map_of_limit<Real>(impulse[0], velocity[0])
                                                               : velocity[0]);
  } else {
    return natural_map_of_contact<Real, Rows>(impulse, velocity, block.friction);
  }
}

/// The largest of size(block, λ_i, v_i).
template <class Real>
WorstBlock largest_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, auto size) {
  WorstBlock worst;
  for_each_block(e, velocity, [&](Index i, const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    worst.take(size(b, lambda, v), i);
  });
  return worst;
}

/// The map of every block, one row after the other.
template <class Real>
void fill_rows(const ResidualEvaluation<Real>& e, auto map, RealVector<Real>& rows) {
  for_each_block(e, e.augmented_velocity(), [&](Index, const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    rows.template segment<rows_of<decltype(v)>>(b.row) = map(b, lambda, v);
  });
}
template <class Real>
const RealVector<Real>& primal_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::primal, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& b, const auto& lambda, const auto&) { return primal_of(b, lambda); }, rows);
  });
}
template <class Real>
const RealVector<Real>& dual_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::dual, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& b, const auto&, const auto& v) { return dual_of(b, v); }, rows);
  });
}
template <class Real>
const RealVector<Real>& natural_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::natural, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& b, const auto& lambda, const auto& v) { return natural_of(b, lambda, v); }, rows);
  });
}
template <class Real>
WorstBlock norm_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& map) {
  return largest_over(e, map, [](const auto&, const auto&, const auto& part) { return euclidean(part); });
}
template <class Real>
WorstBlock component_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& map) {
  return largest_over(e, map, [](const auto&, const auto&, const auto& part) { return componentwise(part); });
}

template <class Real>
WorstBlock dual_ccp(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(),
                      [](const auto& b, const auto&, const auto& v) { return euclidean(dual_of(b, v)); });
}

template <class Real>
WorstBlock complementarity_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity) {
  return largest_over(e, velocity, [](const auto& b, const auto& lambda, const auto& v) {
    return b.kind == BlockKind::joint ? 0.0 : size_of(lambda.dot(v));
  });
}

template <class Real>
WorstBlock natural_map_ccp(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(), [](const auto& b, const auto& lambda, const auto& v) {
    return euclidean(natural_of(b, lambda, v));
  });
}

/// ‖map‖ / (r_i V) over all blocks, where map(block, λ_i / r_i, v_i) is that of a contact with step 1: a cone has no
/// scale, so the map of λ / r with step 1 is the map over r, and r v can't underflow to an answer that seems right. A
/// joint's map is r v, so r drops out.
template <class Real>
WorstBlock scaled(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, auto map) {
  WorstBlock worst = largest_over(e, velocity, [&](const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    const BlockVector<Real, rows> speed = lambda * b.inverse_step;
    if constexpr (rows == 1) {
      return euclidean(natural_of<Real, 1>(b, speed, v));
    } else {
      return euclidean<Real, rows>(map(b, speed, v));
    }
  });
  worst.value /= to_double(e.velocity_scale());
  return worst;
}
template <class Real>
WorstBlock natural_map_scaled_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity) {
  return scaled(e, velocity, [](const auto& b, const auto& lambda, const auto& v) { return natural_of(b, lambda, v); });
}

/// Models that are defined for Coulomb's friction alone.
OptionalReason rolling_missing(const ContactProblem& problem) {
  if (!problem.cones().rolls()) return std::nullopt;
  return "the model has no rolling friction";
}

/// The same for models that are not defined for rolling friction; +inf there.
template <class Real>
WorstBlock scaled_without_rolling(const ResidualEvaluation<Real>& e, auto map) {
  return scaled(e, e.velocity(), [&](const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    if constexpr (rows > 3) {
      return BlockVector<Real, rows>(BlockVector<Real, rows>::Constant(Real(std::numeric_limits<double>::infinity())));
    } else {
      return map(b, lambda, v);
    }
  });
}
template <class Real>
WorstBlock natural_map_raisim_scaled(const ResidualEvaluation<Real>& e) {
  const DiagonalBlocks& matrix = e.problem().diagonal();
  const Vector& compliance = e.problem().compliance();
  return scaled_without_rolling(e, [&](const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    const Index index = (b.row - e.problem().cones().contact_row(0)) / rows + e.problem().cones().first_contact_row();
    BlockVector<Real, rows> normal_row;
    for (int k = 0; k < rows; ++k) normal_row[k] = matrix.block(index)(rows - 1, k);
    normal_row[rows - 1] += compliance[b.row + rows - 1];
    return natural_of(b, lambda, raisim_velocity<Real, rows>(v, normal_row, b.friction.sliding));
  });
}
template <class Real>
WorstBlock natural_map_box_scaled(const ResidualEvaluation<Real>& e) {
  return scaled_without_rolling(e, [](const auto& b, const auto& lambda, const auto& v) {
    return natural_map_of_box<Real, rows_of<decltype(v)>>(lambda, v, b.friction.sliding);
  });
}
template <class Real>
WorstBlock natural_map_facets_scaled(const ResidualEvaluation<Real>& e) {
  return scaled_without_rolling(e, [](const auto& b, const auto& lambda, const auto& v) {
    return natural_map_of_facets<Real, rows_of<decltype(v)>>(lambda, v, b.friction.sliding);
  });
}

template <class Real>
double norm(const RealVector<Real>& x) {
  if constexpr (std::is_same_v<Real, double>) {
    return x.stableNorm();
  } else {
    return x.unaryExpr([](const Real& value) { return to_double(value); }).eval().stableNorm();
  }
}

/// The natural map's Euclidean norm over all rows; the block is the one with the largest part.
template <class Real>
WorstBlock natural_map_norm(ResidualEvaluation<Real>& e) {
  WorstBlock worst = norm_over(e, natural_map(e));
  worst.value = std::isfinite(worst.value) ? norm(natural_map(e)) : worst.value;
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

template <class Real>
WorstBlock natural_map_relative(ResidualEvaluation<Real>& e) {
  return divided(natural_map_norm(e), std::max({norm(e.free_term()), norm(e.impulse()), norm(e.velocity())}));
}
template <class Real>
WorstBlock natural_map_relative_g(ResidualEvaluation<Real>& e) {
  return divided(natural_map_norm(e), norm(e.free_term()));
}

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
template <class Real>
WorstBlock penetration(const ResidualEvaluation<Real>& e) {
  WorstBlock worst;
  const ContactProblem& problem = e.problem();
  const ConeProduct& cones = problem.cones();
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index n = cones.contact_row(i) + cones.normal_row();
    const Real velocity = e.velocity()[n] - problem.compliance()[n] * e.impulse()[n] - (*problem.bias())[n];
    const Real gap = (*problem.configuration()->gaps)[i] + *problem.configuration()->time_step * velocity;
    worst.take(-to_double(gap), cones.first_contact_row() + i);
  }
  return worst;
}

template <class Real>
Real quadratic_objective(const ResidualEvaluation<Real>& e) {
  return 0.5 * (e.impulse().dot(e.velocity()) + e.impulse().dot(e.free_term()));
}
template <class Real>
WorstBlock objective(const ResidualEvaluation<Real>& e) {
  return {to_double(quadratic_objective(e)), -1};
}

/// λᵀ Γ(sigma) = λᵀ (v̂ − sigma), summed over the normals alone to keep its digits.
template <class Real>
WorstBlock objective_ncp(const ResidualEvaluation<Real>& e) {
  Real sum = quadratic_objective(e);
  for_each_block(e, e.velocity(), [&](Index, const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    if constexpr (rows > 1) sum += lambda[normal_of<rows>] * de_saxce_of<Real, rows>(v, b.friction);
  });
  return {to_double(sum), -1};
}

/// f(λ) minus the dual objective −½ λᵀ(G + R) λ is λᵀ sigma.
template <class Real>
WorstBlock duality_gap_ccp(const ResidualEvaluation<Real>& e) {
  WorstBlock worst;
  Real gap = 0.0;
  for_each_block(e, e.velocity(), [&](Index i, const BlockScale<Real>&, const auto& lambda, const auto& v) {
    const Real part = lambda.dot(v);
    gap += part;
    worst.take(size_of(part), i);
  });
  worst.value = size_of(gap);
  return worst;
}

/// Angle between two vectors of a plane or line; 90 degrees where one is 0.
template <class Real>
double angle_between(const BlockVector<Real, 2>& a, const BlockVector<Real, 2>& b) {
  const double cross = to_double(Real(a[0] * b[1] - a[1] * b[0]));
  const double dot = to_double(Real(a[0] * b[0] + a[1] * b[1]));
  return cross == 0.0 && dot == 0.0 ? std::acos(0.0) : std::atan2(std::abs(cross), dot);
}
template <class Real>
double angle_between(const BlockVector<Real, 1>& a, const BlockVector<Real, 1>& b) {
  if (a[0] == 0.0 || b[0] == 0.0) return std::acos(0.0);
  return (a[0] > 0.0) == (b[0] > 0.0) ? 0.0 : std::acos(-1.0);
}

/// Between −λ and σ of the tangents (or of the moments). Unit length first: products of small impulses and velocities
/// could underflow.
template <class Real, int Size>
double dissipation_angle(const BlockVector<Real, Size>& impulse, const BlockVector<Real, Size>& velocity) {
  const Real size = larger<Real>(block_norm(impulse), std::numeric_limits<double>::min());
  const BlockVector<Real, Size> friction = -impulse / size;
  return angle_between<Real>(friction, BlockVector<Real, Size>(velocity / block_norm(velocity)));
}

/// min(λ_N / r, σ_N) over V: what is left of 0 ≤ λ_N ⊥ σ_N ≥ 0, whatever friction does (LeLidec24 (8)).
template <class Real>
WorstBlock signorini(const ResidualEvaluation<Real>& e) {
  WorstBlock worst = largest_over(e, e.velocity(), [&](const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int n = normal_of<rows_of<decltype(v)>>;
    if (b.kind == BlockKind::joint) return 0.0;
    return size_of(natural_map_of_limit<Real>(lambda[n] * b.inverse_step, v[n]));
  });
  worst.value /= to_double(e.velocity_scale());
  return worst;
}

template <class Real>
WorstBlock dissipation_error(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(), [&](const BlockScale<Real>& b, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(v)>;
    double angle = 0.0;
    if constexpr (rows > 1) {
      constexpr int tangents = normal_of<rows>;
      if (b.friction.sliding > 0.0 && slides<Real, rows>(e, b, lambda, v, mode_tolerance)) {
        angle = dissipation_angle<Real, tangents>(lambda.template head<tangents>(), v.template head<tangents>());
      }
      if constexpr (rows > 3) {
        if (b.friction.rolling > 0.0 && rolls<Real>(e, b, lambda, v, mode_tolerance)) {
          const double rolling = dissipation_angle<Real, 2>(lambda.template tail<2>(), v.template tail<2>());
          angle = std::max(angle, rolling);
        }
      }
    }
    return angle;
  });
}

constexpr bool verdict = true;
constexpr bool no_verdict = false;

}  // namespace

std::span<const ResidualDefinition> residual_definitions() {
  static const std::array definitions = {
      ResidualDefinition{{"primal", 2, "max_i |lambda_i - P_K(lambda_i)|", "N s", "Tsounis (156)", no_verdict},
                         [](auto& e) { return norm_over(e, primal_map(e)); }},
      ResidualDefinition{{"dual", 2, "max_i |v_i - P_K*(v_i)|", "m/s", "Tsounis (157)", no_verdict},
                         [](auto& e) { return norm_over(e, dual_map(e)); }},
      ResidualDefinition{
          {"complementarity", 2, "max_i |lambda_i . v_i| over limits and contacts", "J", "Tsounis (158)", no_verdict},
          [](auto& e) { return complementarity_over(e, e.augmented_velocity()); }},
      ResidualDefinition{
          {"natural_map", 2, "max_i |lambda_i - P_K(lambda_i - v_i)|", "N s, m/s", "Tsounis (163)", verdict},
          [](auto& e) { return norm_over(e, natural_map(e)); }},
      ResidualDefinition{{"dual_ccp", 2, "max_i |sigma_i - P_K*(sigma_i)|", "m/s", "Tsounis (157)", no_verdict},
                         [](auto& e) { return dual_ccp(e); }},
      ResidualDefinition{{"complementarity_ccp", 2, "max_i |lambda_i . sigma_i| over limits and contacts", "J",
                          "Tsounis (158)", no_verdict},
                         [](auto& e) { return complementarity_over(e, e.velocity()); }},
      ResidualDefinition{
          {"natural_map_ccp", 2, "max_i |lambda_i - P_K(lambda_i - sigma_i)|", "N s, m/s", "Tsounis (164)", verdict},
          [](auto& e) { return natural_map_ccp(e); }},
      ResidualDefinition{{"natural_map_scaled", 2, "max_i |lambda_i - P_K(lambda_i - r_i v_i)| / (r_i V)", "1",
                          "Conebench; the official verdict", verdict},
                         [](auto& e) { return natural_map_scaled_over(e, e.augmented_velocity()); }},
      ResidualDefinition{{"natural_map_ccp_scaled", 2, "max_i |lambda_i - P_K(lambda_i - r_i sigma_i)| / (r_i V)", "1",
                          "Conebench; own-model measure of CCP solvers", verdict},
                         [](auto& e) { return natural_map_scaled_over(e, e.velocity()); }},
      ResidualDefinition{{"natural_map_box_scaled", 2,
                          "max_i |lambda_i - P_B(lambda_i - r_i sigma_i)| / (r_i V), B the box |lambda_t| <= mu "
                          "max(0, lambda_N) of the answer itself",
                          "1", "Conebench; own-model measure of the LCP with a box (LeLidec24 Alg. 1)", verdict},
                         [](auto& e) { return natural_map_box_scaled(e); },
                         rolling_missing},
      ResidualDefinition{{"natural_map_facets_scaled", 2,
                          "max_i |lambda_i - P_F(lambda_i - r_i sigma_i)| / (r_i V), F the polygon with corners at mu "
                          "max(0, lambda_N) of the answer itself in directions 2 pi m / 8 from t1",
                          "1", "Conebench; own-model measure of the facet LCP with M = 8 (Yamane (21)-(23))", verdict},
                         [](auto& e) { return natural_map_facets_scaled(e); },
                         rolling_missing},
      ResidualDefinition{
          {"natural_map_raisim_scaled", 2,
           "max_i |lambda_i - P_K(lambda_i - r_i w_i)| / (r_i V), w = sigma + x d / d_n, d the normal row "
           "of G_ii + R_ii, x = mu |w_T| (De Saxce's mu |sigma_T| where there is no such x)",
           "1", "Conebench; own-model measure of RaiSim's model (LeLidec24 (23)-(24))", verdict},
          [](auto& e) { return natural_map_raisim_scaled(e); },
          rolling_missing},
      ResidualDefinition{{"natural_map_relative", 2,
                          "|lambda - P_K(lambda - v)|_2 / max(|g|_2, |lambda|_2, |sigma|_2), not divided by <= 2.2e-16",
                          "1", "Siconos numerics", verdict},
                         [](auto& e) { return natural_map_relative(e); }},
      ResidualDefinition{
          {"natural_map_relative_g", 2, "|lambda - P_K(lambda - v)|_2 / |g|_2, not divided by <= 2.2e-16", "1",
           "Acary, Bremond, Huber 2017", verdict},
          [](auto& e) { return natural_map_relative_g(e); }},
      ResidualDefinition{
          {"r_primal", 2, "largest component of |lambda - P_K(lambda)|", "N s", "Tsounis (156)", no_verdict},
          [](auto& e) { return component_over(e, primal_map(e)); }},
      ResidualDefinition{{"r_dual", 2, "largest component of |v - P_K*(v)|", "m/s", "Tsounis (174)", no_verdict},
                         [](auto& e) { return component_over(e, dual_map(e)); }},
      ResidualDefinition{
          {"r_ncp", 2, "max_i |lambda_i . v_i| over limits and contacts", "J", "Tsounis (175)", no_verdict},
          [](auto& e) { return complementarity_over(e, e.augmented_velocity()); }},
      ResidualDefinition{
          {"r_nat", 2, "largest component of |lambda - P_K(lambda - v)|", "N s, m/s", "Tsounis (176)", verdict},
          [](auto& e) { return component_over(e, natural_map(e)); }},
      ResidualDefinition{{"penetration", 2, "max_i max(0, -(phi_i + dt c_N,i)), c = G lambda + g - b", "m",
                          "Conebench, after Tsounis (173)", no_verdict},
                         [](auto& e) { return penetration(e); },
                         penetration_missing},
      ResidualDefinition{{"objective", 2, "lambda . (G + R) lambda / 2 + lambda . g", "J", "Tsounis (17a)", no_verdict},
                         [](auto& e) { return objective(e); }},
      ResidualDefinition{{"objective_ncp", 2, "objective + lambda . Gamma(sigma)", "J", "Tsounis (17c)", no_verdict},
                         [](auto& e) { return objective_ncp(e); }},
      ResidualDefinition{{"duality_gap_ccp", 2, "|lambda . sigma|", "J", "Tsounis (19) and its dual", no_verdict},
                         [](auto& e) { return duality_gap_ccp(e); }},
      ResidualDefinition{{"dissipation_error", 2, "max angle between -lambda_T and sigma_T over slipping contacts",
                          "rad", "maximum dissipation, LeLidec24 (11)-(12)", no_verdict},
                         [](auto& e) { return dissipation_error(e); }},
      ResidualDefinition{{"signorini", 2, "max_i |min(lambda_N / r_i, sigma_N)| / V over limits and contacts", "1",
                          "Signorini's law alone, LeLidec24 (8)", no_verdict},
                         [](auto& e) { return signorini(e); }},
  };
  return definitions;
}

}  // namespace conebench
