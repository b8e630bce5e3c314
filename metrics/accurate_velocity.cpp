#include "metrics/accurate_velocity.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "problems/cones/contact_vector.hpp"
#include "problems/factored_delassus.hpp"

namespace conebench {

namespace {

Wide product(double a, double b) { return Wide(a) * b; }

/// Σ a b of doubles: products exact, the sum in Real.
template <class Real>
struct Sum {
  Real value = 0.0;
  void add(double a, double b) { value += product(a, b); }
};

/// Dot2 of Ogita, Rump and Oishi: the errors of products and sums are added up apart from the sum.
template <>
struct Sum<Doubled> {
  double high = 0.0;
  double low = 0.0;
  void add(double a, double b) {
    const Doubled product = Doubled::two_product(a, b);
    const Doubled sum = Doubled::two_sum(high, product.hi);
    high = sum.hi;
    low += sum.lo + product.lo;
  }
};

Doubled value_of(const Sum<Doubled>& sum) { return Doubled::quick_two_sum(sum.high, sum.low); }
Wide value_of(const Sum<Wide>& sum) { return sum.value; }

/// sigma = G impulse.
template <class Real>
void multiply(const BlockSparseMatrix& matrix, ConstVectorRef impulse, RealVector<Real>& sigma, Vector& error) {
  for (Index b = 0; b < matrix.block_rows(); ++b) {
    const Index row = matrix.block_offset(b);
    const int size = matrix.block_size(b);
    std::array<Sum<Real>, max_contact_rows> sums{};
    std::array<double, max_contact_rows> sizes{};
    Index entries = 0;
    for (Index k = matrix.row_begin(b); k < matrix.row_begin(b + 1); ++k) {
      const Index column = matrix.block_offset(matrix.column(k));
      const int columns = matrix.block_size(matrix.column(k));
      const double* value = matrix.block_values(k);
      for (int c = 0; c < columns; ++c) {
        const double factor = impulse[column + c];
        for (std::size_t r = 0; r < static_cast<std::size_t>(size); ++r, ++value) {
          sums[r].add(*value, factor);
          sizes[r] += std::abs(*value * factor);
        }
      }
      entries += columns;
    }
    for (int r = 0; r < size; ++r) {
      sigma[row + r] = value_of(sums[static_cast<std::size_t>(r)]);
      error[row + r] = unit_roundoff<Real> * static_cast<double>(entries) * sizes[static_cast<std::size_t>(r)];
    }
  }
}

/// sum += matrix x.
template <class Real>
void add_product(const SparseMatrix& matrix, const RealVector<Real>& x, RealVector<Real>& sum) {
  for (Index j = 0; j < matrix.outerSize(); ++j) {
    if (x[j] == 0.0) continue;
    for (SparseMatrix::InnerIterator it(matrix, j); it; ++it) sum[it.row()] += Real(it.value()) * x[j];
  }
}

/// w with M w = right, and the sizes of the last correction.
template <class Real>
RealVector<Real> solve(const FactoredMass& factor, const PrimalForm& primal, const RealVector<Real>& right,
                       Vector& correction) {
  // In velocities of the constraints, so that the units of single coordinates don't count.
  Vector weights = Vector::Zero(right.size());
  for (Index j = 0; j < primal.jacobian.outerSize(); ++j) {
    for (SparseMatrix::InnerIterator it(primal.jacobian, j); it; ++it) {
      weights[j] = std::fmax(weights[j], std::abs(it.value()));
    }
  }
  RealVector<Real> w = RealVector<Real>::Zero(right.size());
  RealVector<Real> remainder = right;
  double before = std::numeric_limits<double>::infinity();
  // Each step gains the digits that M's conditioning leaves of a double's; one is the least that counts as progress.
  constexpr int max_steps = 110;
  for (int step = 0; step < max_steps; ++step) {
    correction = factor.solve(Vector(remainder.unaryExpr([](const Real& x) { return to_double(x); })));
    const double size = weights.cwiseProduct(correction.cwiseAbs()).maxCoeff();
    if (!(size < 0.5 * before)) break;
    w += correction.cast<Real>();
    if (size == 0.0) break;
    before = size;
    remainder = right;
    add_product<Real>(primal.mass, -w, remainder);
  }
  correction = correction.cwiseAbs();
  return w;
}

}  // namespace

template <class Real>
void accurate_velocity(const ContactProblem& problem, ConstVectorRef impulse, RealVector<Real>& sigma, Vector& error) {
  if (!problem.given_as_primal()) {
    multiply(problem.blocks(), impulse, sigma, error);
  } else {
    const PrimalForm& primal = *problem.primal();
    sigma.setZero();
    error.setZero();
    if (primal.mass.rows() > 0 && problem.rows() > 0) {
      const FactoredMass& factor = mass_of(problem.delassus());
      RealVector<Real> generalised(primal.mass.rows());
      Vector error_of_sums(primal.mass.rows());
      for (Index j = 0; j < primal.jacobian.outerSize(); ++j) {
        Sum<Real> sum;
        double size = 0.0;
        for (SparseMatrix::InnerIterator it(primal.jacobian, j); it; ++it) {
          sum.add(it.value(), impulse[it.row()]);
          size += unit_roundoff<Real> * std::abs(it.value() * impulse[it.row()]);
        }
        generalised[j] = value_of(sum);
        error_of_sums[j] = size;
      }
      Vector correction;
      const RealVector<Real> w = solve<Real>(factor, primal, generalised, correction);
      add_product(primal.jacobian, w, sigma);
      correction += factor.solve(error_of_sums).cwiseAbs();
      for (Index j = 0; j < w.size(); ++j) correction[j] += 8.0 * unit_roundoff<Real> * std::abs(to_double(w[j]));
      error = primal.jacobian.cwiseAbs() * correction;
    }
  }
  for (Index i = 0; i < problem.rows(); ++i) {
    sigma[i] += Real(problem.compliance()[i]) * impulse[i];
    sigma[i] += problem.free_term()[i];
    error[i] +=
        unit_roundoff<Real> * (std::abs(problem.compliance()[i] * impulse[i]) + std::abs(problem.free_term()[i]));
  }
}

template void accurate_velocity(const ContactProblem&, ConstVectorRef, RealVector<Doubled>&, Vector&);
template void accurate_velocity(const ContactProblem&, ConstVectorRef, RealVector<Wide>&, Vector&);

}  // namespace conebench
