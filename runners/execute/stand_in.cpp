#include "runners/execute/stand_in.hpp"

#include <random>
#include <stdexcept>
#include <utility>

#include "problems/scaled_delassus.hpp"

namespace conebench {

ContactProblem stand_in(const ContactProblem& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any_unit(0.5, 2.0), change(-0.1, 0.1);
  const ConeProduct& cones = problem.cones();
  Vector unit(problem.rows()), changed_by(problem.rows());
  for (Index block = 0; block < cones.blocks(); ++block) {
    unit.segment(cones.block_row(block), cones.block_size(block)).setConstant(any_unit(random));
  }
  for (Index row = 0; row < problem.rows(); ++row) changed_by[row] = change(random) * problem.free_term()[row];

  ContactProblemData data = problem.data();
  if (data.primal) data.primal->jacobian = SparseMatrix(unit.asDiagonal() * data.primal->jacobian);
  switch (problem.form()) {
    case DelassusForm::dense:
      data.delassus = make_dense_delassus(unit.asDiagonal() * problem.blocks().dense() * unit.asDiagonal());
      break;
    case DelassusForm::block_sparse:
      data.delassus = make_block_sparse_delassus(problem.blocks().scaled(unit, unit));
      break;
    case DelassusForm::factored: data.delassus = make_scaled_delassus(problem, unit, unit); break;
  }
  data.free_term = unit.cwiseProduct(data.free_term + changed_by);
  data.bias.reset();  // no solver sees b, and g = J v_free + b would hold but for rounding
  if (data.compliance.size() > 0) data.compliance = unit.cwiseAbs2().cwiseProduct(data.compliance);
  data.guess.reset();
  data.reference.reset();
  auto made = ContactProblem::create(std::move(data));
  if (!made) throw std::logic_error("stand_in: " + made.error().message);
  return *made;
}

}  // namespace conebench
