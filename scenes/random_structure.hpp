#pragma once

#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

namespace conebench {

/// What the random generators have in common: cones, spectrum and pattern of G, compliance, form.
///
/// Coefficients of a contact, by its law, with mu and mu' from mu_min … mu_max, and m from mu_r_min … mu_r_max in
/// levers:
///     coulomb          mu in the plane or in space, or mu and m of rolling friction: as `dimension` says
///     orthotropic      one ellipse {mu, mu'}
///     ellipsoid4       one ellipsoid {mu, mu', m_n}
///     ellipsoid6       one ellipsoid {mu, mu', m_n, m_1, m_2}
///     torsion          discs apart {mu, mu}, {m_n}
///     rolling          discs apart {mu, mu}, {m, m}
///     pyramid          one pyramid {mu, mu'}
///     mixed            equal shares of these, Coulomb's in space first
struct RandomStructure {
  long contacts = 20;
  long joints = 0;
  long limits = 0;
  long dimension = 3;
  double rank_share = 1.0;
  double conditioning = 100.0;
  double scale = 1.0;
  long coupling = 0;
  double mu_min = 0.2;
  double mu_max = 0.8;
  double compliance = 0.0;
  double asymmetry = 0.0;
  double mu_r_min = 0.05;
  double mu_r_max = 0.3;
  double lever = 1.0;
  std::string law = "coulomb";
  double law_share = 1.0;
  long intervals = 0;
  double bound = 1.0;
  double one_sided_share = 0.2;
  double given_share = 0.1;
  std::string form = "block_sparse";
};

void declare_structure(OptionBinder& bind, RandomStructure& structure);

/// Everything but g (and v_free): G = J M⁻¹ Jᵀ with M diagonal.
struct RandomStructureData {
  ContactProblemData problem;
  PrimalForm primal;
};

/// One entry a row: 1/lever for a contact's moments, all of its tangential rows but the first two, else 1. Velocities
/// of a lever over them are angular.
Vector moment_rows_over(const ConeProduct& cones, double lever);

/// Errors (wrong_usage): mu_min > mu_max; a law that does not fit the dimension; shares of intervals that add up to
/// more than 1; an asymmetry with a factored G.
Result<RandomStructureData> random_structure(const RandomStructure& structure, RandomSource& random);

}  // namespace conebench
