#include "problems/rolling_units.hpp"

#include <cmath>
#include <utility>

#include "problems/cones/rolling.hpp"
#include "problems/scaled_delassus.hpp"

namespace conebench {

namespace {

/// 0 where it is not defined.
double length_of(ConstVectorRef diagonal) {
  const double translations = diagonal.head<3>().mean();
  const double rotations = diagonal.tail<2>().mean();
  if (!(translations > 0.0 && rotations > 0.0)) return 0.0;
  const double length = std::sqrt(translations / rotations);
  return length > 0.0 && std::isfinite(length) && std::isfinite(1.0 / length) ? length : 0.0;
}

}  // namespace

Vector rolling_row_units(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Vector units = Vector::Ones(problem.rows());
  if (!cones.rolls()) return units;
  const Vector diagonal = problem.diagonal().diagonal() + problem.compliance();
  Vector lengths(cones.contacts());
  for (Index i = 0; i < cones.contacts(); ++i) {
    lengths[i] = length_of(diagonal.segment(cones.contact_row(i), RollingCone::rows));
  }
  const auto known = static_cast<double>((lengths.array() > 0.0).count());
  const double mean = known > 0.0 ? lengths.sum() / known : 1.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    units.segment<2>(cones.contact_row(i) + 3).setConstant(lengths[i] > 0.0 ? lengths[i] : mean);
  }
  return units;
}

Result<ContactProblem> in_rolling_units(const ContactProblem& problem, const Vector& row_units) {
  const ConeProduct& cones = problem.cones();
  if (!cones.rolls()) return problem;
  ContactProblemData data = problem.data();
  std::vector<double> rolling(cones.rolling_friction().begin(), cones.rolling_friction().end());
  for (Index i = 0; i < cones.contacts(); ++i) {
    rolling[static_cast<std::size_t>(i)] /= row_units[cones.contact_row(i) + 3];
  }
  const auto scaled_cones =
      ConeProduct::create(cones.joints(), cones.limits(), {cones.friction().begin(), cones.friction().end()},
                          cones.contact_dimension(), std::move(rolling));
  if (!scaled_cones) return scaled_cones.error();
  data.cones = *scaled_cones;
  if (data.primal) data.primal->jacobian = row_units.asDiagonal() * problem.data().primal->jacobian;
  const DelassusForm form = problem.form();
  if (form == DelassusForm::factored && data.primal) {
    data.delassus = make_scaled_delassus(problem, row_units, row_units);
  } else if (form == DelassusForm::dense) {
    data.delassus = make_dense_delassus(row_units.asDiagonal() * problem.blocks().dense() * row_units.asDiagonal());
  } else {
    data.delassus = make_block_sparse_delassus(scaled(problem.blocks(), row_units, row_units, data.cones));
  }
  data.free_term = row_units.cwiseProduct(data.free_term);
  data.compliance = row_units.cwiseAbs2().cwiseProduct(problem.compliance());
  if (data.bias) *data.bias = row_units.cwiseProduct(*problem.bias());
  if (data.guess) *data.guess = problem.guess()->cwiseQuotient(row_units);
  data.reference.reset();
  auto made = ContactProblem::create(std::move(data));
  return made ? made->watched(problem.watcher()) : made;
}

Result<ContactProblem> in_rolling_units(const ContactProblem& problem) {
  return in_rolling_units(problem, rolling_row_units(problem));
}

}  // namespace conebench
