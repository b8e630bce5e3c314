#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/newton/convex_qp.hpp"

namespace conebench::newton {

/// What one call of an inner solver did.
struct InnerCount {
  long iterations = 0;
  long factorizations = 0;
  long products = 0;  ///< with A
};

/// Solves one ConvexQp again and again, from the last answer.
class ConvexQpSolver {
 public:
  virtual ~ConvexQpSolver() = default;
  /// From x to x until `residual` of the problem is at most `tolerance` [m/s], at most `most` iterations.
  virtual InnerCount solve(const Vector& q, Vector& x, double tolerance, long most) = 0;
};

/// "admm": ADMM with residual balancing on one factorization a penalty (002 III-D names it); "pgs": projected block
/// Gauss-Seidel; "newton": semi-smooth Newton on the natural map. `qp` must outlive the result.
std::unique_ptr<ConvexQpSolver> make_convex_qp_solver(const std::string& name, const ConvexQp& qp);

const std::vector<std::string>& convex_qp_solver_names();

}  // namespace conebench::newton
