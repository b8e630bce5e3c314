#include "problems/conversions.hpp"

#include <stdexcept>

#include "problems/scaled_delassus.hpp"

namespace conebench {

namespace {

/// The problem made of `data` through a handle like that of the problem that the data came from.
Result<ContactProblem> made_from(const ContactProblem& origin, ContactProblemData data) {
  auto made = ContactProblem::create(std::move(data));
  return made ? made->watched(origin.watcher()) : made;
}

}  // namespace

ContactProblem symmetrised(const ContactProblem& problem) {
  if (problem.symmetry_error() == 0.0) return problem;
  ContactProblemData data = problem.data();
  data.delassus = make_block_sparse_delassus(problem.blocks().symmetrised());
  data.reference.reset();
  if (problem.symmetry_error() > symmetry_tolerance) data.primal.reset();
  auto result = made_from(problem, std::move(data));
  if (!result) throw std::logic_error("symmetrised: " + result.error().message);
  return *result;
}

ContactProblem with_compliance(const ContactProblem& problem, double share) {
  if (share == 0.0 || problem.rows() == 0 || (problem.compliance().array() > 0.0).all()) return problem;
  const ConeProduct& cones = problem.cones();
  Vector diagonal = problem.diagonal().diagonal();
  for (Index i = 0; i < cones.blocks(); ++i) {
    auto own = diagonal.segment(cones.block_row(i), cones.block_size(i));
    const Index normal = cones.normal_row_of(i) - cones.block_row(i);
    if (normal > 0) own.head(normal).setConstant(own.head(normal).mean());
    if (const Index moments = own.size() - normal - 1; moments > 0) {
      own.tail(moments).setConstant(own.tail(moments).mean());
    }
  }
  const double positive = static_cast<double>((diagonal.array() > 0.0).count());
  const double mean = positive > 0.0 ? diagonal.cwiseMax(0.0).sum() / positive : 1.0;
  ContactProblemData data = problem.data();
  for (Index row = 0; row < problem.rows(); ++row) {
    if (data.compliance[row] > 0.0) continue;
    data.compliance[row] = share * (diagonal[row] > 0.0 ? diagonal[row] : mean);
  }
  data.reference.reset();
  auto result = made_from(problem, std::move(data));
  if (!result) throw std::logic_error("with_compliance: " + result.error().message);
  return *result;
}

ContactProblem in_impulse_unit(const ContactProblem& problem, double unit) {
  ContactProblemData data = problem.data();
  const DelassusForm form = problem.form();
  if (data.primal) data.primal->mass /= unit;
  if (form == DelassusForm::dense) {
    data.delassus = make_dense_delassus(unit * problem.blocks().dense());
  } else if (form == DelassusForm::factored && data.primal) {
    const Index rows = problem.rows();
    data.delassus = make_scaled_delassus(problem, Vector::Constant(rows, unit), Vector::Ones(rows));
  } else {
    data.delassus =
        make_block_sparse_delassus(BlockSparseMatrix::from_sparse(unit * problem.blocks().sparse(), problem.cones()));
  }
  data.cones = problem.cones().with_bounds_over(unit);
  data.compliance *= unit;
  if (data.guess) *data.guess /= unit;
  if (data.configuration && data.configuration->body_masses) *data.configuration->body_masses /= unit;
  if (data.configuration && data.configuration->inertia) *data.configuration->inertia /= unit;
  data.reference.reset();
  auto result = made_from(problem, std::move(data));
  if (!result) throw std::logic_error("in_impulse_unit: " + result.error().message);
  return *result;
}

}  // namespace conebench
