#pragma once

#include <Eigen/Eigenvalues>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/residuals.hpp"
#include "problems/conversions.hpp"
#include "solvers/registry.hpp"

namespace conebench::testing {

inline std::string own_model_residual(const SolverInfo& info) {
  return std::string(conebench::own_model_residual(to_string(info.formulation), info.id));
}

/// Checks every iterate and accepts by a residual of the judge.
class JudgingMonitor final : public Monitor {
 public:
  JudgingMonitor(const ContactProblem& problem, const std::string& residual, double tolerance)
      : verdict_(Verdict::create(residual, problem).value()), tolerance_(tolerance) {}
  double last = 0.0;
  void turn_to(const ProblemPart* part, long) override { verdict_.restrict_to(part); }

 private:
  Decision check(long, ConstVectorRef impulse, double) override {
    last = verdict_(impulse);
    return last <= tolerance_ ? Decision::accept : Decision::keep_going;
  }
  Verdict verdict_;
  double tolerance_;
};

/// Returns `decision` at iteration `at` and keeps what it saw.
class StoppingMonitor final : public Monitor {
 public:
  explicit StoppingMonitor(long at, Decision decision = Decision::accept) : at_(at), decision_(decision) {}
  std::vector<long> iterations;
  Vector seen;

 private:
  Decision check(long iteration, ConstVectorRef impulse, double) override {
    iterations.push_back(iteration);
    seen = impulse;
    return iteration >= at_ ? decision_ : Decision::keep_going;
  }
  long at_;
  Decision decision_;
};

/// σ = (G + R) λ + g.
inline Vector velocity(const ContactProblem& problem, const Vector& impulse) {
  Vector sigma(problem.rows());
  problem.velocity(impulse, sigma);
  return sigma;
}

struct Answer {
  Vector impulse;
  SolveSummary summary;
};

inline std::unique_ptr<Solver> prepared(const SolverRow& row, const ContactProblem& problem,
                                        const OptionValues& options = {}) {
  auto solver = row.make(options);
  if (!solver) throw std::runtime_error(solver.error().message);
  if (const auto ready = (*solver)->prepare(problem); !ready) throw std::runtime_error(ready.error().message);
  return std::move(solver).value();
}

inline Answer solve(Solver& solver, const ContactProblem& problem, const StopRule& stop, Monitor& monitor,
                    const Vector& guess = {}) {
  Answer answer;
  answer.impulse.setConstant(problem.rows(), 123.0);  // a solver must not start from what it is to overwrite
  const Vector start = guess.size() == problem.rows() ? guess : Vector::Zero(problem.rows());
  answer.summary = solver.solve(start, stop, monitor, answer.impulse);
  return answer;
}

/// `problem` with compliance in every row, M = I and J a square root of G: for solvers that need these.
inline ContactProblem with_compliance_and_primal(const ContactProblem& problem, double share = 0.1) {
  const ContactProblem compliant = with_compliance(problem, share);
  const Matrix dense = compliant.delassus().dense();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (dense + dense.transpose()));
  const Matrix root = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  ContactProblemData data = compliant.data();
  data.primal = PrimalForm{SparseMatrix(Matrix::Identity(dense.rows(), dense.rows()).sparseView()),
                           SparseMatrix(root.sparseView()), Vector::Zero(dense.rows())};
  return ContactProblem::create(std::move(data)).value();
}

/// The same problem with M = (G + ρ)⁻¹, J = I, v_free = 0, where ρ is half of each block's smallest compliance, which
/// R then lacks: every block of rows is a node of its own. Nothing where G + ρ has a condition of 1e8 and more.
inline std::optional<ContactProblem> with_nodes(const ContactProblem& problem) {
  ContactProblemData data = problem.data();
  const ConeProduct& cones = problem.cones();
  data.compliance = problem.compliance();
  Matrix dense = problem.delassus().dense();
  dense = (0.5 * (dense + dense.transpose())).eval();
  for (Index block = 0; block < cones.blocks(); ++block) {
    const Index row = cones.block_row(block), size = cones.block_size(block);
    const double moved = 0.5 * data.compliance.segment(row, size).minCoeff();
    dense.diagonal().segment(row, size).array() += moved;
    data.compliance.segment(row, size).array() -= moved;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(dense, Eigen::EigenvaluesOnly);
  if (problem.rows() == 0 || !(eigen.eigenvalues()[0] > 1e-8 * eigen.eigenvalues().maxCoeff())) return std::nullopt;
  const Matrix inverse = dense.llt().solve(Matrix::Identity(problem.rows(), problem.rows()));
  data.delassus = make_dense_delassus(dense);
  SparseMatrix jacobian(problem.rows(), problem.rows());
  jacobian.setIdentity();
  data.primal = PrimalForm{SparseMatrix((0.5 * (inverse + inverse.transpose())).sparseView()), std::move(jacobian),
                           Vector::Zero(problem.rows())};
  data.bias.reset();
  return ContactProblem::create(std::move(data)).value();
}

/// The problem itself where the row's solver takes it, else with what NEWTON-CCP or a solver that works on nodes needs.
inline ContactProblem made_fit(const SolverRow& row, const ContactProblem& problem) {
  const auto solver = row.make({}).value();
  if (!solver->unsupported_reason(problem)) return problem;
  for (const auto& fit : {with_nodes(problem), with_nodes(with_compliance(problem, 0.1))}) {
    if (fit && !solver->unsupported_reason(*fit)) return *fit;
  }
  return problem;
}

/// Until the residual of the solver's own model is at most `tolerance`, checked in every iteration.
inline Answer solve_to_verdict(const SolverRow& row, const ContactProblem& problem, double tolerance,
                               const Vector& guess = {}, long max_iterations = 20000) {
  const auto solver = prepared(row, problem);
  JudgingMonitor monitor(problem, own_model_residual(row.info), tolerance);
  return solve(*solver, problem, {.tolerance = tolerance, .max_iterations = max_iterations, .stop_by = StopBy::judge},
               monitor, guess);
}

}  // namespace conebench::testing
