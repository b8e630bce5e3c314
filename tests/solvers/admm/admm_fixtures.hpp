#pragma once

#include <random>
#include <string>
#include <vector>

#include "scenes/micro_problems.hpp"
#include "solvers/registry.hpp"

namespace conebench::admm_test {

using closed_form::micro;

inline ConeProduct contacts(std::vector<double> friction, int dimension = 3) {
  return closed_form::cones(0, 0, std::move(friction), dimension);
}

struct Answer {
  Vector impulse;
  SolveSummary summary;
};

inline Answer run(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
                  StopRule stop = {.tolerance = 1e-10}, const Vector& guess = {}) {
  auto solver = require_solver(id).value()->make(options).value();
  Answer answer;
  answer.impulse.setZero(problem.rows());
  if (const auto ready = solver->prepare(problem); !ready) {
    answer.summary.status = SolveStatus::unsupported;
    answer.summary.message = ready.error().message;
    return answer;
  }
  SilentMonitor silent;
  const Vector start = guess.size() == problem.rows() ? guess : Vector::Zero(problem.rows());
  answer.summary = solver->solve(start, stop, silent, answer.impulse);
  return answer;
}

/// max |λ − P_K(λ − r v̂)| / r with one r = rows / trace(G + R) for all: an error in velocity. With `de_saxce` false
/// that of the CCP.
inline double natural_map(const ContactProblem& problem, const Vector& impulse, bool de_saxce = true) {
  const Index rows = problem.rows();
  if (rows == 0) return 0.0;
  const Matrix dense = problem.delassus().dense();
  const double r = static_cast<double>(rows) / (dense.trace() + problem.compliance().sum());
  Vector velocity(rows);
  problem.velocity(impulse, velocity);
  if (de_saxce) add_de_saxce(problem.cones(), velocity, velocity);
  Vector projected = impulse - r * velocity;
  project_cone(problem.cones(), projected, projected);
  return (impulse - projected).lpNorm<Eigen::Infinity>() / r;
}

/// Bodies with random contacts between them: G = J Jᵀ with J of 6 columns a body, so rank deficient where there are
/// more rows than that.
inline ContactProblem random_problem(unsigned seed, Index count, Index bodies, double mu = 0.5, int dimension = 3,
                                     Index joints = 0, Index limits = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const Index rows = joints + limits + dimension * count;
  Matrix jacobian = Matrix::Zero(rows, 6 * bodies);
  const auto fill = [&](Index row, Index size) {
    const auto body = static_cast<Index>(random() % static_cast<std::uint64_t>(bodies));
    const auto other = static_cast<Index>(random() % static_cast<std::uint64_t>(bodies));
    for (Index r = row; r < row + size; ++r) {
      for (Index c = 0; c < 6; ++c) {
        jacobian(r, 6 * body + c) += normal(random);
        if (other != body) jacobian(r, 6 * other + c) -= normal(random);
      }
    }
  };
  for (Index row = 0; row < joints + limits; ++row) fill(row, 1);
  for (Index i = 0; i < count; ++i) fill(joints + limits + dimension * i, dimension);
  // g = J v lies in the range of G, so that joints can hold.
  const Vector velocity = Vector::NullaryExpr(6 * bodies, [&] { return normal(random); });
  ConeProduct cones =
      ConeProduct::create(joints, limits, std::vector<double>(static_cast<std::size_t>(count), mu), dimension).value();
  return micro(jacobian * jacobian.transpose(), jacobian * velocity, std::move(cones));
}

}  // namespace conebench::admm_test
