#include "metrics/features.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/suggestion.hpp"
#include "problems/scaled_rows.hpp"

namespace conebench {

namespace {

constexpr SampleCategory categories[] = {SampleCategory::unknown,
                                         SampleCategory::no_constraint,
                                         SampleCategory::independent_joints,
                                         SampleCategory::redundant_joints,
                                         SampleCategory::dense_joints,
                                         SampleCategory::dense_constraints,
                                         SampleCategory::single_contact,
                                         SampleCategory::sparse_contacts,
                                         SampleCategory::dense_contacts,
                                         SampleCategory::other};

std::optional<double> coupling_of(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  if (cones.contacts() == 0) return std::nullopt;
  double largest = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto diagonal = problem.diagonal().block(cones.first_contact_row() + i);
    const Index n = cones.normal_of(i);
    if (!(diagonal(n, n) > 0.0)) return std::nullopt;
    const double talk = std::max(diagonal.row(n).head(n).norm(), diagonal.col(n).head(n).norm());
    largest = std::max(largest, talk / diagonal(n, n));
  }
  return largest;
}

/// n_v, the velocities that M is of; 0: not known.
Index generalised_velocities_of(const ContactProblem& problem) {
  const auto& known = problem.configuration();
  if (known && known->generalised_velocities) return *known->generalised_velocities;
  return problem.primal() ? problem.primal()->mass.rows() : 0;
}

std::optional<ConstraintDensities> densities_of(const ContactProblem& problem) {
  const auto& known = problem.configuration();
  const ConeProduct& cones = problem.cones();
  const Index bodies = known ? known->bodies.value_or(0) : 0;
  const Index velocities = generalised_velocities_of(problem);
  const bool reduced = known && known->coordinates == Coordinates::reduced;
  ConstraintDensities densities;
  if (velocities > 0 && (reduced || bodies <= 0)) {
    densities.source = ConstraintDensities::Source::generalised_velocities;
    densities.degrees_of_freedom = velocities;
  } else {
    densities.degrees_of_freedom = body_velocities(cones.space_dimension()) * bodies;
  }
  if (densities.degrees_of_freedom <= 0) return std::nullopt;
  const auto freedom = static_cast<double>(densities.degrees_of_freedom);
  densities.joints = static_cast<double>(cones.joints()) / freedom;
  densities.contacts = static_cast<double>(cones.rows() - cones.first_contact_row()) / freedom;
  densities.all = static_cast<double>(cones.rows()) / freedom;
  return densities;
}

SampleCategory first_that_fits(const ConeProduct& cones, Index rank,
                               const std::optional<ConstraintDensities>& densities) {
  if (cones.rows() == 0) return SampleCategory::no_constraint;
  if (!densities) return SampleCategory::unknown;
  if (cones.contacts() == 0) {
    if (cones.joints() == 0) return SampleCategory::other;
    if (rank == cones.rows()) return SampleCategory::independent_joints;
    return densities->joints < 1.0 ? SampleCategory::redundant_joints : SampleCategory::dense_joints;
  }
  if (cones.joints() > 0 && densities->all > 1.0) return SampleCategory::dense_constraints;
  if (cones.contacts() == 1) return SampleCategory::single_contact;
  // n_c <= 2 n_b: d_c <= 1 in 3D, 4/3 in 2D, where a body has 3 degrees of freedom, and 5/3 with rolling friction.
  const double rows_of_one =
      static_cast<double>(cones.rows() - cones.first_contact_row()) / static_cast<double>(cones.contacts());
  const double sparse = 2.0 * rows_of_one / static_cast<double>(body_velocities(cones.space_dimension()));
  return densities->contacts <= sparse ? SampleCategory::sparse_contacts : SampleCategory::dense_contacts;
}

}  // namespace

std::string to_string(SampleCategory category) {
  switch (category) {
    case SampleCategory::unknown: return "unknown";
    case SampleCategory::no_constraint: return "no constraint";
    case SampleCategory::independent_joints: return "independent joints";
    case SampleCategory::redundant_joints: return "redundant joints";
    case SampleCategory::dense_joints: return "dense joints";
    case SampleCategory::dense_constraints: return "dense constraints";
    case SampleCategory::single_contact: return "single contact";
    case SampleCategory::sparse_contacts: return "sparse contacts";
    case SampleCategory::dense_contacts: return "dense contacts";
    case SampleCategory::other: return "other";
  }
  return {};
}

std::optional<SampleCategory> category_of(const std::string& name) {
  std::string wanted = name;
  std::replace(wanted.begin(), wanted.end(), '-', ' ');
  for (const SampleCategory category : categories) {
    if (to_string(category) == wanted) return category;
  }
  return std::nullopt;
}

std::vector<std::string> category_names() {
  std::vector<std::string> names;
  for (const SampleCategory category : categories) names.push_back(to_string(category));
  return names;
}

std::string unknown_category(const std::string& name) {
  const std::vector<std::string> names = category_names();
  return fmt::format("no category is called '{}'; {}known, with blanks or hyphens: {}", name, did_you_mean(name, names),
                     fmt::join(names, ", "));
}

SampleCategory sample_category(const ContactProblem& problem, Index rank) {
  return first_that_fits(problem.cones(), rank, densities_of(problem));
}

Features extract_features(const ContactProblem& problem, const SpectrumOptions& options) {
  Features features;
  // Moments in units of impulses: else the spectrum would depend on the unit of length.
  const Result<ContactProblem> in_units = in_row_units(problem);
  const ContactProblem& scaled = in_units ? *in_units : problem;
  features.spectrum = scaled.condenses_sparsely() ? analyse_spectrum(scaled.blocks(), options)
                                                  : analyse_spectrum(scaled.delassus(), scaled.cones(), options);
  features.symmetry_error = problem.symmetry_error();
  features.coupling = coupling_of(scaled);
  features.densities = densities_of(problem);
  features.category = first_that_fits(problem.cones(), features.spectrum.rank, features.densities);
  return features;
}

}  // namespace conebench
