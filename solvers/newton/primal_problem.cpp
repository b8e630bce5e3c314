#include "solvers/newton/primal_problem.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "solvers/newton/metric_projection.hpp"

namespace conebench::newton {

PrimalData given_primal(const ContactProblem& problem) {
  const PrimalForm& form = *problem.primal();
  PrimalData data{form.mass, form.jacobian, form.free_velocity, {}};
  data.bias = problem.free_term() - data.jacobian * data.free_velocity;
  return data;
}

std::optional<PrimalData> factored_primal(const ContactProblem& problem) {
  const Index n = problem.rows();
  Matrix rest = problem.blocks().dense();
  rest = (0.5 * (rest + rest.transpose())).eval();
  Vector diagonal = rest.diagonal();
  const double largest = n > 0 ? diagonal.cwiseAbs().maxCoeff() : 0.0;
  const double end = 1e-14 * largest * static_cast<double>(n);
  Matrix factor(n, n);  // column k: of the pivot of step k
  Index rank = 0;
  for (; rank < n; ++rank) {
    Index pivot = 0;
    const double value = diagonal.maxCoeff(&pivot);
    if (!(value > end)) break;
    auto column = factor.col(rank);
    column = rest.col(pivot);
    column.noalias() -= factor.leftCols(rank) * factor.row(pivot).head(rank).transpose();
    column /= std::sqrt(value);
    diagonal -= column.cwiseAbs2();
    diagonal[pivot] = 0.0;
  }
  if (n > 0 && diagonal.minCoeff() < -1e3 * std::max(end, std::numeric_limits<double>::min())) return std::nullopt;
  PrimalData data;
  data.jacobian = factor.leftCols(rank).sparseView(1.0, 0.0);
  data.mass = SparseMatrix(rank, rank);
  data.mass.setIdentity();
  data.free_velocity = Vector::Zero(rank);
  data.bias = problem.free_term();
  return data;
}

PrimalProblem::PrimalProblem(PrimalData data, const ConeProduct& cones, const Vector& compliance)
    : data_(std::move(data)), cones_(cones), compliance_(compliance) {}

void PrimalProblem::constraint_velocity(const Vector& v, Vector& c) const {
  c = data_.bias;
  c.noalias() += data_.jacobian * v;
}

template <class Store>
double PrimalProblem::for_each_block(const Vector& c, Vector& lambda, Store store) const {
  double value = 0.0;
  for (Index row = 0; row < cones_.first_contact_row(); ++row) {
    const Interval bounds = cones_.bounds(row);
    const double y = -c[row] / compliance_[row];
    lambda[row] = bounds.project(y);
    value += 0.5 * compliance_[row] * lambda[row] * lambda[row];
    const bool inside = y > bounds.lower && y < bounds.upper;
    if (!inside && lambda[row] != 0.0) value += compliance_[row] * lambda[row] * (y - lambda[row]);
    store(row, ContactSquare<1>(inside ? 1.0 / compliance_[row] : 0.0));
  }
  double of_contacts = 0.0;
  for_each_contact(cones_, [&]<class Cone>(Index contact, Index row, const Cone& cone) {
    using Block = typename Cone::Block;
    const Block r = compliance_.segment<Cone::rows>(row, cone.size());
    const Block y = -c.segment<Cone::rows>(row, cone.size()).cwiseQuotient(r);
    const MetricProjection<Cone> projection = project_in_metric(cone, y, r);
    lambda.segment<Cone::rows>(row, cone.size()) = projection.point;
    of_contacts += 0.5 * projection.point.dot(r.cwiseProduct(projection.point));
    store(cones_.first_contact_row() + contact, projection.weight);
  });
  return value + of_contacts;
}

double PrimalProblem::impulse(const Vector& c, Vector& lambda) const {
  return for_each_block(c, lambda, [](Index, const auto&) {});
}

double PrimalProblem::linearise(const Vector& c, Vector& lambda, BlockDiagonal& weights) const {
  return for_each_block(c, lambda, [&](Index block, const auto& weight) {
    weights.block<std::decay_t<decltype(weight)>::RowsAtCompileTime>(block) = weight;
  });
}

}  // namespace conebench::newton
