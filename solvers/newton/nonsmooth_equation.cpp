#include "solvers/newton/nonsmooth_equation.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/contact_cones.hpp"
#include "problems/scaled_natural_map.hpp"

namespace conebench::newton {

namespace {

double largest_eigenvalue(const Matrix& matrix) {
  const Matrix symmetric = 0.5 * (matrix + matrix.transpose());
  return Eigen::SelfAdjointEigenSolver<Matrix>(symmetric, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

/// What a block's velocity answers to an impulse of one: the inverses of its steps [m/s per N s].
Steps mobility(const Matrix& d, Index normal, const std::string& steps) {
  const Index size = d.rows();
  if (size == 1) return {d(0, 0), d(0, 0), d(0, 0)};
  if (steps == "split") {
    const double tangential = largest_eigenvalue(d.topLeftCorner(normal, normal));
    const Index moments = size - normal - 1;
    return {d(normal, normal), tangential,
            moments > 0 ? largest_eigenvalue(d.bottomRightCorner(moments, moments)) : tangential};
  }
  const double both = steps == "trace" ? d.trace() / static_cast<double>(size) : largest_eigenvalue(d);
  return {both, both, both};
}

}  // namespace

NonsmoothEquation::NonsmoothEquation(const ContactProblem& problem, ContactFunction function, const std::string& steps)
    : cones_(problem.cones()),
      function_(function),
      steps_(static_cast<std::size_t>(cones_.blocks())),
      by_impulse_(cones_.blocks(), [this](Index i) { return cones_.block_size(i); }),
      by_velocity_(by_impulse_) {
  const BlockSparseMatrix& matrix = problem.blocks();
  double sum = 0.0;
  long positive = 0;
  for (Index i = 0; i < cones_.blocks(); ++i) {
    const Index row = cones_.block_row(i);
    const int size = cones_.block_size(i);
    Matrix d = matrix.block(i, matrix.diagonal(i));
    d.diagonal() += problem.compliance().segment(row, size);
    Steps& answer = steps_[static_cast<std::size_t>(i)];
    answer = mobility(d, cones_.normal_row_of(i) - row, steps);
    for (const double value : {answer.normal, answer.tangential}) {
      if (!(value > 0.0)) continue;
      sum += value;
      ++positive;
    }
  }
  const double mean = positive > 0 ? sum / static_cast<double>(positive) : 1.0;
  const auto inverse = [&](double value) { return 1.0 / (value > 0.0 ? value : mean); };
  for (Steps& step : steps_) step = {inverse(step.normal), inverse(step.tangential), inverse(step.moment)};
  velocity_scale_ = reference_velocity(problem.cones(), problem.free_term());
}

template <class Store>
void NonsmoothEquation::for_each_block(const Vector& impulse, const Vector& velocity, Store store) const {
  for (Index row = 0; row < cones_.first_contact_row(); ++row) {
    store(row, row,
          row_function(function_, impulse[row], velocity[row], cones_.bounds(row),
                       steps_[static_cast<std::size_t>(row)].normal));
  }
  for_each_contact(cones_, [&]<class Cone>(Index contact, Index row, const Cone& cone) {
    const Index block = cones_.first_contact_row() + contact;
    const typename Cone::Block own_impulse = impulse.segment<Cone::rows>(row, cone.size());
    const typename Cone::Block own_velocity = velocity.segment<Cone::rows>(row, cone.size());
    store(block, row,
          contact_function(function_, own_impulse, own_velocity, cone, steps_[static_cast<std::size_t>(block)]));
  });
}

void NonsmoothEquation::evaluate(const Vector& impulse, const Vector& velocity, Vector& value) const {
  for_each_block(impulse, velocity, [&]<int Rows>(Index, Index row, const BlockFunction<Rows>& f) {
    value.segment<Rows>(row, f.value.size()) = f.value / velocity_scale_;
  });
}

void NonsmoothEquation::linearise(const Vector& impulse, const Vector& velocity, Vector& value) {
  for_each_block(impulse, velocity, [&]<int Rows>(Index block, Index row, const BlockFunction<Rows>& f) {
    value.segment<Rows>(row, f.value.size()) = f.value / velocity_scale_;
    by_impulse_.block<Rows>(block) = f.by_impulse / velocity_scale_;
    by_velocity_.block<Rows>(block) = f.by_velocity / velocity_scale_;
  });
}

double NonsmoothEquation::residual(const Vector& value) const {
  if (!value.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 0.0;
  for (Index i = 0; i < cones_.blocks(); ++i) {
    largest = std::max(largest, value.segment(cones_.block_row(i), cones_.block_size(i)).norm());
  }
  return largest;
}

}  // namespace conebench::newton
