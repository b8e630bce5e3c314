#pragma once

#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

namespace conebench {

/// What the random generators have in common: cones, spectrum and pattern of G, compliance, form.
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
  std::string form = "block_sparse";
};

void declare_structure(OptionBinder& bind, RandomStructure& structure);

/// Everything but g (and v_free): G = J M⁻¹ Jᵀ with M diagonal.
struct RandomStructureData {
  ContactProblemData problem;
  PrimalForm primal;
};

/// One entry a row: 1/lever for moments of rolling friction, else 1. Velocities of a lever over them are angular.
Vector moment_rows_over(const ConeProduct& cones, double lever);

/// Errors (wrong_usage): mu_min > mu_max; an asymmetry with a factored G.
Result<RandomStructureData> random_structure(const RandomStructure& structure, RandomSource& random);

}  // namespace conebench
