#include "scenes/random_structure.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones/rolling.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/spectral_factor.hpp"

namespace conebench {

void declare_structure(OptionBinder& bind, RandomStructure& o) {
  bind.integer("contacts", o.contacts, {.minimum = 0, .maximum = 100000, .doc = "number of contacts"});
  bind.integer("joints", o.joints, {.minimum = 0, .maximum = 100000, .doc = "joint rows"});
  bind.integer("limits", o.limits, {.minimum = 0, .maximum = 100000, .doc = "limit rows"});
  bind.integer("dimension", o.dimension,
               {.minimum = 2, .maximum = 5, .doc = "components of a contact: 2, 3, or 5 with rolling friction"});
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
  bind.real("asymmetry", o.asymmetry,
            {.minimum = 0, .maximum = 1, .doc = "|G - G'| over |G| (Frobenius), by a random skew part added to G"});
  bind.real("mu_r_min", o.mu_r_min,
            {.minimum = 0, .maximum = 1e3, .doc = "smallest coefficient of rolling friction, in levers"});
  bind.real("mu_r_max", o.mu_r_max,
            {.minimum = 0, .maximum = 1e3, .doc = "largest coefficient of rolling friction, in levers"});
  bind.real("lever", o.lever,
            {.minimum = 1e-9,
             .maximum = 1e9,
             .unit = "m",
             .scale = OptionScale::logarithmic,
             .doc = "length by which moments compare with impulses"});
  declare_form(bind, o.form);
}

namespace {

using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// Adds a skew matrix on the pattern of `symmetric`, so that ‖G − Gᵀ‖_F / ‖G‖_F = asymmetry: with norms s and k of the
/// two parts, 2 k / √(s² + k²).
RowSparse with_skew_part(const RowSparse& symmetric, double asymmetry, RandomSource& random) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < symmetric.rows(); ++i) {
    for (RowSparse::InnerIterator it(symmetric, i); it; ++it) {
      if (it.col() <= i) continue;
      const double value = random.normal();
      entries.emplace_back(static_cast<int>(i), static_cast<int>(it.col()), value);
      entries.emplace_back(static_cast<int>(it.col()), static_cast<int>(i), -value);
    }
  }
  RowSparse skew(symmetric.rows(), symmetric.cols());
  skew.setFromTriplets(entries.begin(), entries.end());
  if (skew.nonZeros() == 0) return symmetric;
  return symmetric + symmetric.norm() * asymmetry / std::sqrt(4.0 - asymmetry * asymmetry) / skew.norm() * skew;
}

}  // namespace

Vector moment_rows_over(const ConeProduct& cones, double lever) {
  Vector scale = Vector::Ones(cones.rows());
  for (Index i = 0; i < cones.contacts(); ++i) {
    scale.segment(cones.contact_row(i), cones.contact_dimension())
        .tail(cones.contact_dimension() - cones.normal_row() - 1)
        .setConstant(1.0 / lever);
  }
  return scale;
}

Result<RandomStructureData> random_structure(const RandomStructure& o, RandomSource& random) {
  if (o.mu_min > o.mu_max) {
    return Error{ErrorCode::wrong_usage,
                 "option 'mu_min' = " + to_text(o.mu_min) + " exceeds 'mu_max' = " + to_text(o.mu_max)};
  }
  if (o.asymmetry > 0.0 && o.form == "factored") {
    return Error{ErrorCode::wrong_usage, "option 'asymmetry' = " + to_text(o.asymmetry) +
                                             " needs form=dense or form=block_sparse: J M^-1 J' is symmetric"};
  }
  std::vector<double> friction;
  for (long i = 0; i < o.contacts; ++i) friction.push_back(random.uniform(o.mu_min, o.mu_max));
  if (o.mu_r_min > o.mu_r_max) {
    return Error{ErrorCode::wrong_usage,
                 "option 'mu_r_min' = " + to_text(o.mu_r_min) + " exceeds 'mu_r_max' = " + to_text(o.mu_r_max)};
  }
  std::vector<double> rolling;
  if (o.dimension == RollingCone::rows) {
    for (long i = 0; i < o.contacts; ++i) rolling.push_back(o.lever * random.uniform(o.mu_r_min, o.mu_r_max));
  }
  auto cones =
      ConeProduct::create(o.joints, o.limits, std::move(friction), static_cast<int>(o.dimension), std::move(rolling));
  if (!cones) return Error{ErrorCode::wrong_usage, cones.error().message};

  SpectralSpec spec;
  spec.rank = std::lround(o.rank_share * double(cones->rows()));
  spec.conditioning = o.conditioning;
  spec.scale = o.scale;
  spec.coupling = o.coupling;
  SpectralFactor factor = random_spectral_factor(spec, *cones, random);
  if (cones->rolls()) factor.jacobian = moment_rows_over(*cones, o.lever).asDiagonal() * factor.jacobian;

  RandomStructureData data;
  data.primal.mass = SparseMatrix(spec.rank, spec.rank);
  for (Index i = 0; i < spec.rank; ++i) data.primal.mass.insert(i, i) = 1.0 / factor.eigenvalues[i];
  data.primal.mass.makeCompressed();
  data.primal.jacobian.swap(factor.jacobian);
  data.primal.free_velocity = Vector::Zero(spec.rank);
  CONEBENCH_TRY(auto delassus, make_delassus(data.primal, *cones, o.form));
  if (o.asymmetry > 0.0) {
    const BlockSparseMatrix skewed = BlockSparseMatrix::from_sparse(
        with_skew_part(delassus->assemble(*cones).sparse(), o.asymmetry, random), *cones);
    delassus = o.form == "dense" ? make_dense_delassus(skewed.dense()) : make_block_sparse_delassus(skewed);
  }
  data.problem.cones = *cones;
  data.problem.delassus = delassus;
  data.problem.compliance = Vector::Constant(cones->rows(), o.compliance);
  Configuration configuration;
  configuration.generalised_velocities = spec.rank;
  data.problem.configuration = std::move(configuration);
  return data;
}

}  // namespace conebench
