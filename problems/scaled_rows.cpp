#include "problems/scaled_rows.hpp"

#include <cmath>
#include <utility>

#include "problems/scaled_delassus.hpp"

namespace conebench {

namespace {

/// Summed from the back.
double mean_of(ConstVectorRef x) {
  double sum = 0.0;
  for (Index k = x.size(); k-- > 0;) sum += x[k];
  return sum / static_cast<double>(x.size());
}

/// Of a contact with several groups, `sliding` rows of the first and the normal; 0 where it is not defined.
double length_of(ConstVectorRef diagonal, Index sliding) {
  const double translations = mean_of(diagonal.head(sliding));
  const double rotations = mean_of(diagonal.tail(diagonal.size() - sliding));
  if (!(translations > 0.0 && rotations > 0.0)) return 0.0;
  const double length = std::sqrt(translations / rotations);
  return length > 0.0 && std::isfinite(length) && std::isfinite(1.0 / length) ? length : 0.0;
}

}  // namespace

Vector row_units_of(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Vector units = Vector::Ones(problem.rows());
  if (!cones.scales()) return units;
  // First the ratios of a group's coefficients, then the lengths, of the rows that these make.
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto coefficients = cones.coefficients(i);
    std::size_t k = 0;  // of the tangential rows
    for (std::size_t g = 0; g < cones.groups(i).size() && coefficients.size() > 1; ++g) {
      const double first = coefficients[k];
      for (int in_group = 0; in_group < cones.groups(i)[g]; ++in_group, ++k) {
        if (coefficients[k] == first) continue;
        units[cones.contact_row(i) + static_cast<Index>(k) + (g == 0 ? 0 : 1)] = coefficients[k] / first;
      }
    }
  }
  const Vector diagonal = units.cwiseAbs2().cwiseProduct(problem.diagonal().diagonal() + problem.compliance());
  Vector lengths = Vector::Zero(cones.contacts());
  for (Index i = 0; i < cones.contacts(); ++i) {
    if (cones.groups(i).size() == 1) continue;
    lengths[i] = length_of(diagonal.segment(cones.contact_row(i), cones.contact_rows(i)), cones.normal_of(i) + 1);
  }
  const auto known = static_cast<double>((lengths.array() > 0.0).count());
  const double mean = known > 0.0 ? lengths.sum() / known : 1.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index moments = cones.contact_rows(i) - cones.normal_of(i) - 1;
    units.segment(cones.contact_row(i) + cones.normal_of(i) + 1, moments) *= lengths[i] > 0.0 ? lengths[i] : mean;
  }
  return units;
}

Result<ContactProblem> in_row_units(const ContactProblem& problem, const Vector& row_units) {
  if (!problem.cones().scales()) return problem;
  ContactProblemData data = problem.data();
  CONEBENCH_TRY(data.cones, problem.cones().with_balls_over(row_units));
  if (data.primal) data.primal->jacobian = row_units.asDiagonal() * problem.data().primal->jacobian;
  const DelassusForm form = problem.form();
  if (form == DelassusForm::factored && data.primal) {
    data.delassus = make_scaled_delassus(problem, row_units, row_units);
  } else if (form == DelassusForm::dense) {
    data.delassus = make_dense_delassus(row_units.asDiagonal() * problem.blocks().dense() * row_units.asDiagonal());
  } else {
    data.delassus = make_block_sparse_delassus(problem.blocks().scaled(row_units, row_units));
  }
  data.free_term = row_units.cwiseProduct(data.free_term);
  data.compliance = row_units.cwiseAbs2().cwiseProduct(problem.compliance());
  if (data.bias) *data.bias = row_units.cwiseProduct(*problem.bias());
  if (data.guess) *data.guess = problem.guess()->cwiseQuotient(row_units);
  data.reference.reset();
  data.given_rows.reset();
  auto made = ContactProblem::create(std::move(data));
  return made ? made->watched(problem.watcher()) : made;
}

Result<ContactProblem> in_row_units(const ContactProblem& problem) {
  return in_row_units(problem, row_units_of(problem));
}

}  // namespace conebench
