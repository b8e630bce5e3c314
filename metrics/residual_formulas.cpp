#include "metrics/residual_formulas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "metrics/block_residuals.hpp"

namespace conebench {

namespace {

using OptionalReason = std::optional<std::string>;

/// Calls visit(index, block, set, λ_i, v_i) for every block, with vectors of the set's rows.
template <class Real, class Visit>
void for_each_block(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, Visit visit) {
  for (std::size_t b = 0; b < e.blocks().size(); ++b) {
    const auto index = static_cast<Index>(b);
    const BlockScale<Real>& block = e.blocks()[b];
    e.with_set(index, [&](const auto& set) {
      constexpr int rows = std::decay_t<decltype(set)>::rows;
      visit(index, block, set, BlockVector<Real, rows>(e.impulse().template segment<rows>(block.row, set.size())),
            BlockVector<Real, rows>(velocity.template segment<rows>(block.row, set.size())));
    });
  }
}

template <class Set>
constexpr int rows_of = std::decay_t<Set>::rows;
/// A joint, limit or interval.
template <class Set>
constexpr bool is_scalar = rows_of<Set> == 1;

template <class Set>
constexpr bool is_coulomb = false;
template <class Real, int Dim>
constexpr bool is_coulomb<CoulombBlock<Real, Dim>> = true;

/// Of the rounded entries: nothing cancels in a norm, so it keeps all digits but the last.
template <class Real, int Rows>
double euclidean(const BlockVector<Real, Rows>& x) {
  BlockVector<double, Rows> rounded(x.size());
  for (Index k = 0; k < x.size(); ++k) rounded[k] = to_double(x[k]);
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

/// The largest of size(block, set, λ_i, v_i).
template <class Real>
WorstBlock largest_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, auto size) {
  WorstBlock worst;
  for_each_block(e, velocity,
                 [&](Index i, const BlockScale<Real>& b, const auto& set, const auto& lambda, const auto& v) {
                   worst.take(size(b, set, lambda, v), i);
                 });
  return worst;
}

/// map(set, λ_i, v̂_i) of every block, one row after the other.
template <class Real>
void fill_rows(const ResidualEvaluation<Real>& e, auto map, RealVector<Real>& rows) {
  for_each_block(e, e.augmented_velocity(),
                 [&](Index, const BlockScale<Real>& b, const auto& set, const auto& lambda, const auto& v) {
                   rows.template segment<rows_of<decltype(set)>>(b.row, set.size()) = map(set, lambda, v);
                 });
}
/// λ − P_K(λ): paper Tsounis (156).
template <class Real>
const RealVector<Real>& primal_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::primal, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& set, const auto& lambda, const auto&) { return set.outside(lambda); }, rows);
  });
}
/// v − P_K*(v): paper Tsounis (157).
template <class Real>
const RealVector<Real>& dual_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::dual, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& set, const auto&, const auto& v) { return set.outside_dual(v); }, rows);
  });
}
/// λ − P_K(λ − v): paper Tsounis (163), (164).
template <class Real>
const RealVector<Real>& natural_map(ResidualEvaluation<Real>& e) {
  return e.shared(SharedMap::natural, [&](RealVector<Real>& rows) {
    fill_rows(
        e, [](const auto& set, const auto& lambda, const auto& v) { return set.natural_map(lambda, v); }, rows);
  });
}
template <class Real>
WorstBlock norm_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& map) {
  return largest_over(e, map, [](const auto&, const auto&, const auto&, const auto& part) { return euclidean(part); });
}
template <class Real>
WorstBlock component_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& map) {
  return largest_over(e, map,
                      [](const auto&, const auto&, const auto&, const auto& part) { return componentwise(part); });
}

template <class Real>
WorstBlock dual_ccp(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(), [](const auto&, const auto& set, const auto&, const auto& v) {
    return euclidean(set.outside_dual(v));
  });
}

template <class Real>
WorstBlock complementarity_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity) {
  return largest_over(e, velocity, [](const auto&, const auto& set, const auto& lambda, const auto& v) {
    return size_of(set.complementarity(lambda, v));
  });
}

template <class Real>
WorstBlock natural_map_ccp(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(), [](const auto&, const auto& set, const auto& lambda, const auto& v) {
    return euclidean(set.natural_map(lambda, v));
  });
}

/// The map of a row with step r, over r. A joint's is r v, so r drops out; a limit has no scale.
template <class Real, class Row>
BlockVector<Real, 1> scaled_row(const Row& row, const BlockVector<Real, 1>& impulse,
                                const BlockVector<Real, 1>& velocity, const Real& inverse_step) {
  return row.natural_map(BlockVector<Real, 1>(impulse * inverse_step), velocity);
}
template <class Real>
BlockVector<Real, 1> scaled_row(const IntervalRow& row, const BlockVector<Real, 1>& impulse,
                                const BlockVector<Real, 1>& velocity, const Real& inverse_step) {
  return row.natural_map_over_step(impulse, velocity, inverse_step);
}

/// ‖map‖ / (r_i V) over all blocks, where map(index, cone, λ_i / r_i, v_i) is that of a contact with step 1: a cone has
/// no scale, so the map of λ / r with step 1 is the map over r, and r v can't underflow to an answer that seems right.
template <class Real>
WorstBlock scaled(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity, auto map) {
  WorstBlock worst;
  for_each_block(e, velocity,
                 [&](Index i, const BlockScale<Real>& b, const auto& set, const auto& lambda, const auto& v) {
                   constexpr int rows = rows_of<decltype(set)>;
                   if constexpr (is_scalar<decltype(set)>) {
                     worst.take(euclidean(scaled_row<Real>(set, lambda, v, b.inverse_step)), i);
                   } else {
                     const BlockVector<Real, rows> speed = lambda * b.inverse_step;
                     worst.take(euclidean<Real, rows>(map(i, set, speed, v)), i);
                   }
                 });
  worst.value /= to_double(e.velocity_scale());
  return worst;
}
template <class Real>
WorstBlock natural_map_scaled_over(const ResidualEvaluation<Real>& e, const RealVector<Real>& velocity) {
  return scaled(e, velocity,
                [](Index, const auto& cone, const auto& lambda, const auto& v) { return cone.natural_map(lambda, v); });
}

/// Models of Coulomb's friction; in scaled variables also of one that differs between two tangents. Rows with bounds
/// are no part of them and count as in the others.
OptionalReason coulomb_missing(const ContactProblem& problem) {
  if (problem.cones().coulomb_when_scaled()) return std::nullopt;
  return problem.cones().rolls() ? "the model has no rolling friction" : "the model has Coulomb's friction alone";
}

/// The same for a model of Coulomb's friction alone; +inf elsewhere.
template <class Real>
WorstBlock scaled_coulomb(const ResidualEvaluation<Real>& e, auto map) {
  return scaled(e, e.velocity(), [&](Index i, const auto& cone, const auto& lambda, const auto& v) {
    using Block = BlockVector<Real, rows_of<decltype(cone)>>;
    if constexpr (is_coulomb<std::decay_t<decltype(cone)>>) {
      return Block(map(i, cone, lambda, v));
    } else {
      return Block(Block::Constant(v.size(), Real(std::numeric_limits<double>::infinity())));
    }
  });
}
template <class Real>
WorstBlock natural_map_raisim_scaled(const ResidualEvaluation<Real>& e) {
  const ContactProblem& problem = e.problem();
  return scaled_coulomb(e, [&](Index i, const auto& cone, const auto& lambda, const auto& v) {
    constexpr int rows = rows_of<decltype(cone)>;
    const auto own = problem.diagonal().block(i);
    const Index row = problem.cones().block_row(i);
    BlockVector<Real, rows> normal_row;
    for (int k = 0; k < rows; ++k) normal_row[k] = own(rows - 1, k) * e.units()[row + k];
    normal_row[rows - 1] += problem.compliance()[row + rows - 1];
    return cone.natural_map(lambda, raisim_velocity<Real, rows>(v, normal_row, cone.friction));
  });
}
template <class Real>
WorstBlock natural_map_box_scaled(const ResidualEvaluation<Real>& e) {
  return scaled_coulomb(e, [](Index, const auto& cone, const auto& lambda, const auto& v) {
    return natural_map_of_box<Real, rows_of<decltype(cone)>>(lambda, v, cone.friction);
  });
}
template <class Real>
WorstBlock natural_map_facets_scaled(const ResidualEvaluation<Real>& e) {
  return scaled_coulomb(e, [](Index, const auto& cone, const auto& lambda, const auto& v) {
    return natural_map_of_facets<Real>(lambda, v, cone.friction);
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
    const Index n = cones.contact_row(i) + cones.normal_of(i);
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
  for_each_block(e, e.velocity(),
                 [&](Index, const BlockScale<Real>&, const auto& set, const auto& lambda, const auto& v) {
                   if constexpr (!is_scalar<decltype(set)>) sum += lambda[set.normal] * set.de_saxce(v);
                 });
  return {to_double(sum), -1};
}

template <class Set, class Block>
auto gap_of(const Set&, const Block& impulse, const Block& velocity) {
  return impulse.dot(velocity);
}
template <class Block>
auto gap_of(const IntervalRow& row, const Block& impulse, const Block& velocity) {
  return row.gap(impulse, velocity);
}

/// f(λ) minus the dual objective −½ λᵀ(G + R) λ is λᵀ sigma, and of an interval also what its bounds support.
template <class Real>
WorstBlock duality_gap_ccp(const ResidualEvaluation<Real>& e) {
  WorstBlock worst;
  Real gap = 0.0;
  for_each_block(e, e.velocity(),
                 [&](Index i, const BlockScale<Real>&, const auto& set, const auto& lambda, const auto& v) {
                   const Real part = gap_of(set, lambda, v);
                   gap += part;
                   worst.take(size_of(part), i);
                 });
  worst.value = size_of(gap);
  return worst;
}

/// Between −λ and σ of a group; 90 degrees where λ is 0. Unit length first: products of small impulses and velocities
/// could underflow.
template <class Real>
double dissipation_angle(const BlockVector<Real, Eigen::Dynamic>& impulse,
                         const BlockVector<Real, Eigen::Dynamic>& velocity) {
  const Real size = larger<Real>(block_norm(impulse), std::numeric_limits<double>::min());
  const BlockVector<Real, Eigen::Dynamic> a = -impulse / size;
  const BlockVector<Real, Eigen::Dynamic> b = velocity / block_norm(velocity);
  Real dot = 0.0;
  double cross = 0.0;
  for (Index j = 0; j < a.size(); ++j) {
    dot += a[j] * b[j];
    for (Index k = j + 1; k < a.size(); ++k) cross = std::hypot(cross, to_double(Real(a[j] * b[k] - a[k] * b[j])));
  }
  return cross == 0.0 && to_double(dot) == 0.0 ? std::acos(0.0) : std::atan2(cross, to_double(dot));
}

/// min(λ_N / r, σ_N) over V: what is left of 0 ≤ λ_N ⊥ σ_N ≥ 0, whatever friction does (LeLidec24 (8)).
template <class Real>
WorstBlock signorini(const ResidualEvaluation<Real>& e) {
  WorstBlock worst =
      largest_over(e, e.velocity(), [&](const BlockScale<Real>& b, const auto& set, const auto& lambda, const auto& v) {
        if (b.kind == BlockKind::joint || b.kind == BlockKind::interval) return 0.0;
        return size_of(natural_map_of_limit<Real>(lambda[set.normal] * b.inverse_step, v[set.normal]));
      });
  worst.value /= to_double(e.velocity_scale());
  return worst;
}

OptionalReason dissipation_missing(const ContactProblem& problem) {
  for (Index i = 0; i < problem.cones().contacts(); ++i) {
    if (problem.cones().shape(i) == ConeShape::pyramid) return "a pyramid's friction need not oppose the slip";
  }
  return std::nullopt;
}

template <class Real>
WorstBlock dissipation_error(const ResidualEvaluation<Real>& e) {
  return largest_over(e, e.velocity(),
                      [&](const BlockScale<Real>& b, const auto& set, const auto& lambda, const auto& v) {
                        double angle = 0.0;
                        if constexpr (!is_scalar<decltype(set)>) {
                          set.for_each_group([&](const FrictionGroup<Real>& group) {
                            if (!(group.friction > 0.0) || !slips(e, b, set, group, lambda, v, mode_tolerance)) return;
                            angle = std::max(angle, dissipation_angle<Real>(group.of(lambda), group.of(v)));
                          });
                        }
                        return angle;
                      });
}

const char* const complementarity =
    "max_i |lambda_i . v_i| over limits and contacts, of intervals max(sigma+ (lambda - l), sigma- (u - lambda))";
constexpr bool verdict = true;
constexpr bool no_verdict = false;

}  // namespace

std::span<const ResidualDefinition> residual_definitions() {
  static const std::array definitions = {
      ResidualDefinition{{"primal", 2, "max_i |lambda_i - P_K(lambda_i)|", "N s", "Tsounis (156)", no_verdict},
                         [](auto& e) { return norm_over(e, primal_map(e)); }},
      ResidualDefinition{{"dual", 2, "max_i |v_i - P_K*(v_i)|", "m/s", "Tsounis (157)", no_verdict},
                         [](auto& e) { return norm_over(e, dual_map(e)); }},
      ResidualDefinition{{"complementarity", 2, complementarity, "J", "Tsounis (158)", no_verdict},
                         [](auto& e) { return complementarity_over(e, e.augmented_velocity()); }},
      ResidualDefinition{
          {"natural_map", 2, "max_i |lambda_i - P_K(lambda_i - v_i)|", "N s, m/s", "Tsounis (163)", verdict},
          [](auto& e) { return norm_over(e, natural_map(e)); }},
      ResidualDefinition{{"dual_ccp", 2, "max_i |sigma_i - P_K*(sigma_i)|", "m/s", "Tsounis (157)", no_verdict},
                         [](auto& e) { return dual_ccp(e); }},
      ResidualDefinition{{"complementarity_ccp", 2,
                          "max_i |lambda_i . sigma_i| over limits and contacts, of intervals as complementarity", "J",
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
                         coulomb_missing},
      ResidualDefinition{{"natural_map_facets_scaled", 2,
                          "max_i |lambda_i - P_F(lambda_i - r_i sigma_i)| / (r_i V), F the polygon with corners at mu "
                          "max(0, lambda_N) of the answer itself in directions 2 pi m / 8 from t1",
                          "1", "Conebench; own-model measure of the facet LCP with M = 8 (Yamane (21)-(23))", verdict},
                         [](auto& e) { return natural_map_facets_scaled(e); },
                         coulomb_missing},
      ResidualDefinition{
          {"natural_map_raisim_scaled", 2,
           "max_i |lambda_i - P_K(lambda_i - r_i w_i)| / (r_i V), w = sigma + x d / d_n, d the normal row "
           "of G_ii + R_ii, x = mu |w_T| (De Saxce's mu |sigma_T| where there is no such x)",
           "1", "Conebench; own-model measure of RaiSim's model (LeLidec24 (23)-(24))", verdict},
          [](auto& e) { return natural_map_raisim_scaled(e); },
          coulomb_missing},
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
      ResidualDefinition{{"r_ncp", 2, complementarity, "J", "Tsounis (175)", no_verdict},
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
      ResidualDefinition{{"duality_gap_ccp", 2, "|lambda . sigma|, of an interval (lambda - bound) sigma", "J",
                          "Tsounis (19) and its dual", no_verdict},
                         [](auto& e) { return duality_gap_ccp(e); }},
      ResidualDefinition{{"dissipation_error", 2, "max angle between -lambda_g and sigma_g over slipping groups", "rad",
                          "maximum dissipation, LeLidec24 (11)-(12)", no_verdict},
                         [](auto& e) { return dissipation_error(e); },
                         dissipation_missing},
      ResidualDefinition{{"signorini", 2, "max_i |min(lambda_N / r_i, sigma_N)| / V over limits and contacts", "1",
                          "Signorini's law alone, LeLidec24 (8)", no_verdict},
                         [](auto& e) { return signorini(e); }},
  };
  return definitions;
}

}  // namespace conebench
