#pragma once

#include "metrics/precision.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// Computes sigma = (G + R) impulse + g of the given doubles to the digits of Real (Doubled or Wide), and a cautious
/// bound of each row's error.
///
/// If G is given: exact products of its entries and λ's, summed in Real. If M and J are given: J w + R λ + g with
/// M w = Jᵀ λ, by iterative refinement. Each correction is a solve with M's factor in double; each remainder Jᵀ λ − M w
/// is computed in Real. It ends when corrections no longer get smaller; the last one is part of the error. Matrices are
/// not copied.
template <class Real>
void accurate_velocity(const ContactProblem& problem, ConstVectorRef impulse, RealVector<Real>& sigma, Vector& error);

}  // namespace conebench
