#include "problems/scenes/random_structure.hpp"

#include <algorithm>
#include <cmath>

#include "problems/scenes/scene_support.hpp"
#include "problems/scenes/spectral_factor.hpp"

namespace conebench {

void declare_structure(OptionBinder& bind, RandomStructure& o) {
  bind.integer("contacts", o.contacts, {.minimum = 0, .maximum = 100000, .doc = "number of contacts"});
  bind.integer("joints", o.joints, {.minimum = 0, .maximum = 100000, .doc = "joint rows"});
  bind.integer("limits", o.limits, {.minimum = 0, .maximum = 100000, .doc = "limit rows"});
  bind.integer("dimension", o.dimension, {.minimum = 2, .maximum = 3, .doc = "components of a contact"});
  bind.real("rank_share", o.rank_share,
            {.minimum = 0, .maximum = 1, .doc = "rank of G over its rows; below 1 contacts are redundant"});
  bind.real("conditioning", o.conditioning,
            {.minimum = 1,
             .maximum = 1e14,
             .scale = OptionScale::logarithmic,
             .doc = "largest over smallest eigenvalue of G on its range"});
  bind.real("scale", o.scale,
            {.minimum = 1e-12,
             .maximum = 1e12,
             .unit = "1/kg",
             .scale = OptionScale::logarithmic,
             .doc = "largest eigenvalue of G"});
  bind.integer("coupling", o.coupling,
               {.minimum = 0,
                .maximum = 1000,
                .doc = "contacts mixed in one window of G (each couples with about three times as many); 0: dense"});
  bind.real("mu_min", o.mu_min, {.minimum = 0, .maximum = 1e3, .doc = "smallest friction coefficient"});
  bind.real("mu_max", o.mu_max, {.minimum = 0, .maximum = 1e3, .doc = "largest friction coefficient"});
  bind.real("compliance", o.compliance, {.minimum = 0, .maximum = 1e12, .unit = "1/kg", .doc = "R of all rows"});
  declare_form(bind, o.form);
}

Result<RandomStructureData> random_structure(const RandomStructure& o, RandomSource& random) {
  if (o.mu_min > o.mu_max) {
    return Error{ErrorCode::wrong_usage,
                 "option 'mu_min' = " + to_text(o.mu_min) + " exceeds 'mu_max' = " + to_text(o.mu_max)};
  }
  std::vector<double> friction;
  for (long i = 0; i < o.contacts; ++i) friction.push_back(random.uniform(o.mu_min, o.mu_max));
  auto cones = ConeProduct::create(o.joints, o.limits, std::move(friction), static_cast<int>(o.dimension));
  if (!cones) return cones.error();

  SpectralSpec spec;
  spec.rank = std::lround(o.rank_share * double(cones->rows()));
  spec.conditioning = o.conditioning;
  spec.scale = o.scale;
  spec.coupling = o.coupling;
  SpectralFactor factor = random_spectral_factor(spec, *cones, random);

  RandomStructureData data;
  data.primal.mass = SparseMatrix(spec.rank, spec.rank);
  for (Index i = 0; i < spec.rank; ++i) data.primal.mass.insert(i, i) = 1.0 / factor.eigenvalues[i];
  data.primal.mass.makeCompressed();
  data.primal.jacobian = std::move(factor.jacobian);
  data.primal.free_velocity = Vector::Zero(spec.rank);
  auto delassus = make_delassus(data.primal, *cones, o.form);
  if (!delassus) return delassus.error();
  data.problem.cones = *cones;
  data.problem.delassus = *delassus;
  data.problem.compliance = Vector::Constant(cones->rows(), o.compliance);
  Configuration configuration;
  configuration.generalised_velocities = spec.rank;
  data.problem.configuration = std::move(configuration);
  return data;
}

}  // namespace conebench
