#include "scenes/random_structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "problems/cones/coulomb_space.hpp"
#include "problems/cones/fclib_contact.hpp"
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
  bind.choice(
      "law", o.law, {"coulomb", "orthotropic", "ellipsoid4", "ellipsoid6", "torsion", "rolling", "pyramid", "mixed"},
      "of friction; coulomb: as 'dimension' says; orthotropic: two coefficients; ellipsoid4, ellipsoid6: one "
      "ellipsoid of sliding and torsion (condim 4), and of rolling, too (condim 6); torsion, rolling: discs apart; "
      "mixed: equal shares of all in space");
  bind.real("law_share", o.law_share,
            {.minimum = 0, .maximum = 1, .doc = "share of contacts with this law; the rest has Coulomb's"});
  bind.integer("intervals", o.intervals, {.minimum = 0, .maximum = 100000, .doc = "rows with bounds"});
  bind.real("bound", o.bound,
            {.minimum = 1e-12,
             .maximum = 1e12,
             .unit = "N s",
             .scale = OptionScale::logarithmic,
             .doc = "size of the bounds of intervals"});
  bind.real("one_sided_share", o.one_sided_share,
            {.minimum = 0, .maximum = 1, .doc = "share of intervals with one bound, the other infinite"});
  bind.real("given_share", o.given_share,
            {.minimum = 0, .maximum = 1, .doc = "share of intervals whose bounds are equal: given impulses"});
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

/// The laws of `mixed`, those that solvers take as fixed-size blocks first.
constexpr std::array<std::string_view, 7> mixed_laws{"coulomb",    "rolling", "orthotropic", "ellipsoid4",
                                                     "ellipsoid6", "torsion", "pyramid"};

std::string_view law_of(const RandomStructure& o, long contact) {
  if (double(contact) >= o.law_share * double(o.contacts)) return "coulomb";
  if (o.law == "coulomb" && groups_of_fclib(static_cast<int>(o.dimension)).size() > 1) return "rolling";
  if (o.law != "mixed") return o.law;
  return mixed_laws[static_cast<std::size_t>(contact) * mixed_laws.size() / static_cast<std::size_t>(o.contacts)];
}

FrictionLaw random_law(const RandomStructure& o, std::string_view name, double mu, RandomSource& random) {
  const auto other = [&] { return random.uniform(o.mu_min, o.mu_max); };
  const auto moment = [&] { return o.lever * random.uniform(o.mu_r_min, o.mu_r_max); };
  FrictionLaw law = FrictionLaw::coulomb(mu, groups_of_fclib(static_cast<int>(o.dimension))[0]);
  if (name == "coulomb") return law;
  if (name == "rolling") return FrictionLaw::rolling(mu, moment());
  if (name == "torsion") {
    law.groups.push_back(1);
    law.coefficients.push_back(moment());
    return law;
  }
  law.coefficients[1] = other();
  if (name == "pyramid") law.shape = ConeShape::pyramid;
  const int moments = name == "ellipsoid4" ? 1 : (name == "ellipsoid6" ? 3 : 0);
  for (int k = 0; k < moments; ++k) law.coefficients.push_back(moment());
  law.groups = {2 + moments};
  return law;
}

/// Zero is within the bounds, but for given impulses.
std::vector<Interval> random_intervals(const RandomStructure& o, RandomSource& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto share = [&](double part) { return std::lround(part * double(o.intervals)); };
  std::vector<Interval> intervals;
  for (long i = 0; i < o.intervals; ++i) {
    Interval interval{-o.bound * random.uniform(0.5, 1.5), o.bound * random.uniform(0.5, 1.5)};
    if (i < share(o.given_share)) {
      interval.lower = interval.upper = o.bound * random.normal();
    } else if (i < share(o.given_share) + share(o.one_sided_share)) {
      (random.uniform() < 0.5 ? interval.lower = -infinity : interval.upper = infinity);
    }
    intervals.push_back(interval);
  }
  random.shuffle(intervals);
  return intervals;
}

Error usage(std::string what) { return Error{ErrorCode::wrong_usage, std::move(what)}; }

}  // namespace

Vector moment_rows_over(const ConeProduct& cones, double lever) {
  Vector scale = Vector::Ones(cones.rows());
  for (Index i = 0; i < cones.contacts(); ++i) {
    for (int k = 2; k + 1 < cones.contact_rows(i); ++k) {
      scale[cones.contact_row(i) + k + (k < cones.normal_of(i) ? 0 : 1)] = 1.0 / lever;
    }
  }
  return scale;
}

Result<RandomStructureData> random_structure(const RandomStructure& o, RandomSource& random) {
  if (o.mu_min > o.mu_max) {
    return usage("option 'mu_min' = " + to_text(o.mu_min) + " exceeds 'mu_max' = " + to_text(o.mu_max));
  }
  if (o.asymmetry > 0.0 && o.form == "factored") {
    return usage("option 'asymmetry' = " + to_text(o.asymmetry) +
                 " needs form=dense or form=block_sparse: J M^-1 J' is symmetric");
  }
  if (o.mu_r_min > o.mu_r_max) {
    return usage("option 'mu_r_min' = " + to_text(o.mu_r_min) + " exceeds 'mu_r_max' = " + to_text(o.mu_r_max));
  }
  if (o.law != "coulomb" && o.dimension != CoulombSpace::rows) {
    return usage("option 'law' = " + o.law +
                 " is of contacts in space and can't go with 'dimension' = " + std::to_string(o.dimension));
  }
  if (groups_of_fclib(static_cast<int>(o.dimension)).empty())
    return usage("option 'dimension' = " + std::to_string(o.dimension) +
                 ": a contact has 2 or 3 components, or 5 with rolling friction");
  if (o.one_sided_share + o.given_share > 1.0 + 1e-12) {
    return usage("options 'one_sided_share' = " + to_text(o.one_sided_share) +
                 " and 'given_share' = " + to_text(o.given_share) + " add up to more than 1");
  }
  std::vector<double> friction;
  for (long i = 0; i < o.contacts; ++i) friction.push_back(random.uniform(o.mu_min, o.mu_max));
  std::vector<FrictionLaw> laws;
  for (long i = 0; i < o.contacts; ++i) {
    laws.push_back(random_law(o, law_of(o, i), friction[static_cast<std::size_t>(i)], random));
  }
  auto cones = ConeProduct::create(o.joints, o.limits, random_intervals(o, random), laws);
  if (!cones) return usage(cones.error().message);

  SpectralSpec spec;
  spec.rank = std::lround(o.rank_share * double(cones->rows()));
  spec.conditioning = o.conditioning;
  spec.scale = o.scale;
  // Contacts of different sizes count with their mean.
  const Index contact_rows =
      o.contacts == 0 ? o.dimension : (cones->rows() - cones->first_contact_row() + o.contacts - 1) / o.contacts;
  spec.window = o.coupling * contact_rows;
  SpectralFactor factor = random_spectral_factor(spec, *cones, random);
  if (!cones->coulomb()) factor.jacobian = moment_rows_over(*cones, o.lever).asDiagonal() * factor.jacobian;

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
