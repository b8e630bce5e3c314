#include "solvers/newton/primal_problem.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "problems/cones/contact_rows.hpp"
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

template <int Dim, class Store>
double PrimalProblem::for_each_contact(const Vector& c, Vector& lambda, Store store) const {
  double value = 0.0;
  for (Index i = 0; i < cones_.contacts(); ++i) {
    const Index row = cones_.contact_row(i);
    const ContactVector<Dim> r = compliance_.segment<Dim>(row);
    const ContactVector<Dim> y = -c.segment<Dim>(row).cwiseQuotient(r);
    const MetricProjection<Dim> projection =
        project_in_metric<Dim>(y, cones_.friction()[static_cast<std::size_t>(i)], {r[0], r[Dim - 1]});
    lambda.segment<Dim>(row) = projection.point;
    value += 0.5 * projection.point.dot(r.cwiseProduct(projection.point));
    store(cones_.first_contact_row() + i, projection.weight);
  }
  return value;
}

template <class Store>
double PrimalProblem::for_each_block(const Vector& c, Vector& lambda, Store store) const {
  double value = 0.0;
  for (Index row = 0; row < cones_.first_contact_row(); ++row) {
    const double y = -c[row] / compliance_[row];
    const bool acts = row < cones_.first_limit_row() || y > 0.0;
    lambda[row] = acts ? y : 0.0;
    value += 0.5 * compliance_[row] * lambda[row] * lambda[row];
    store(row, Square<1>(acts ? 1.0 / compliance_[row] : 0.0));
  }
  return value + with_contact_rows(cones_.contact_dimension(),
                                   [&]<int Dim>() { return for_each_contact<Dim>(c, lambda, store); });
}

double PrimalProblem::impulse(const Vector& c, Vector& lambda) const {
  return for_each_block(c, lambda, [](Index, const auto&) {});
}

double PrimalProblem::linearise(const Vector& c, Vector& lambda, std::vector<Block>& weights) const {
  return for_each_block(c, lambda, [&]<int Dim>(Index block, const Square<Dim>& weight) {
    weights[static_cast<std::size_t>(block)].template topLeftCorner<Dim, Dim>() = weight;
  });
}

}  // namespace conebench::newton
