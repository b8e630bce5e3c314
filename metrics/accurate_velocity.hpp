#pragma once

#include "metrics/precision.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// sigma = (G + R) impulse + g of the given doubles, to the digits of Real, and a bound of each row's error that is
/// rather too large (Real: Doubled or Wide).
///
/// Where G is given: its entries times those of λ, products exact, sums in Real. Where M and J are given: J w + R λ + g
/// with M w = Jᵀ λ, by iterative refinement: each correction is a solve with M's factor in double, each remainder
/// Jᵀ λ − M w is computed in Real, until corrections no longer get smaller. The last correction is then part of the
/// error. Matrices are read where they lie, never copied.
template <class Real>
void accurate_velocity(const ContactProblem& problem, ConstVectorRef impulse, RealVector<Real>& sigma, Vector& error);

}  // namespace conebench
