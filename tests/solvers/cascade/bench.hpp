#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::testing {

/// A problem, CASCADE's parts for it and searches on it.
struct Bench {
  explicit Bench(const ContactProblem& source) : problem(source), parts(problem), impulse(problem.rows()) {}

  cascade::Search search(double tolerance, long max_iterations = 10000) {
    cascade::Search search({.tolerance = tolerance, .max_iterations = max_iterations, .stop_by = StopBy::solver},
                           monitor, impulse);
    search.take_points_of(parts.problem());
    return search;
  }

  ContactProblem problem;
  cascade::Parts parts;
  Vector impulse;
  SilentMonitor monitor;
};

}  // namespace conebench::testing
