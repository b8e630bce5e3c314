#pragma once

#include <string>
#include <vector>

#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench::testing {

/// The LCP z ≥ 0 ⟂ M z + q ≥ 0 as a problem of limits alone.
inline ContactProblem limits_of(const Matrix& m, const Vector& q) { return micro(m, q, cones(0, q.size(), {})); }

inline Matrix square(std::initializer_list<double> row_by_row) {
  const auto n = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(row_by_row.size()))));
  Matrix m(n, n);
  Index k = 0;
  for (const double value : row_by_row) {
    m(k / n, k % n) = value;
    ++k;
  }
  return m;
}

inline Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
                  long max_iterations = 20000) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return solve(*solver, problem, {.tolerance = 1e-8, .max_iterations = max_iterations, .stop_by = StopBy::solver},
               silent);
}

struct PivotingSolver {
  std::string id;
  OptionValues options;
};

/// All members, those that could start with the normals starting from nothing.
inline std::vector<PivotingSolver> pivoting_solvers() {
  return {{"LEMKE", {}}, {"LEMKE-LEX", {}}, {"LEMKE-ROBUST", {{"frictionless_first", false}}}, {"LEMKE-ROBUST-DF", {}}};
}

/// ‖min(z, M z + q)‖∞ of a problem of limits.
inline double lcp_error(const ContactProblem& problem, const Vector& z) {
  Vector w(z.size());
  problem.velocity(z, w);
  return z.cwiseMin(w).lpNorm<Eigen::Infinity>();
}

}  // namespace conebench::testing
