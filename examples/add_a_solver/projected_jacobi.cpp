#include "projected_jacobi.hpp"

#include <memory>

#include "solvers/progress.hpp"

namespace example {

using namespace conebench;

namespace {

struct JacobiOptions {
  double relaxation = 0.5;
};

void declare_options(OptionBinder& bind, JacobiOptions& options) {
  bind.real("relaxation", options.relaxation,
            {.minimum = 0.0, .maximum = 2.0, .doc = "ω: share of the full step that is taken"});
}

class ProjectedJacobi final : public Solver {
 public:
  ProjectedJacobi(SolverInfo info, const JacobiOptions& options) : info_(std::move(info)), options_(options) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_flags(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = std::make_unique<ContactProblem>(problem);
    const BlockSparseMatrix& blocks = problem.blocks();
    step_.resize(problem.rows());
    velocity_.resize(problem.rows());
    moved_.resize(problem.rows());
    for (Index b = 0; b < blocks.block_rows(); ++b) {
      const int size = blocks.block_size(b);
      const double trace = blocks.block(b, blocks.diagonal(b)).trace() +
                           problem.compliance().segment(blocks.block_offset(b), size).sum();
      step_.segment(blocks.block_offset(b), size).setConstant(trace > 0.0 ? options_.relaxation * size / trace : 0.0);
    }
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    const ConeProduct& cones = problem_->cones();
    SolveSummary summary;
    project_cone(cones, guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    const SolveProgress progress(stop, monitor);
    for (long k = 1; k <= stop.max_iterations; ++k) {
      problem_->velocity(impulse, velocity_);
      add_de_saxce(cones, velocity_, velocity_);
      moved_ = impulse - step_.cwiseProduct(velocity_);
      project_cone(cones, moved_, moved_);
      summary.own_residual = (moved_ - impulse).lpNorm<Eigen::Infinity>();
      impulse = moved_;
      summary.iterations = summary.operator_products = k;
      if (const auto status = progress.after(k, summary.own_residual, impulse)) {
        return ended_as(summary, *status, summary.own_residual);
      }
    }
    return ended_as(summary, SolveStatus::max_iterations, summary.own_residual);
  }

 private:
  SolverInfo info_;
  JacobiOptions options_;
  std::unique_ptr<ContactProblem> problem_;
  Vector step_, velocity_, moved_;
};

}  // namespace

SolverRow projected_jacobi_row() {
  SolverInfo info;
  info.id = "EXAMPLE-JACOBI";
  info.name = "Projected Jacobi iteration";
  info.formulation = Formulation::ncp;
  info.allocates = Allocation::none;
  info.citation = "textbook";
  info.summary = "Converges only where the contacts are weakly coupled; here to show how a solver is added.";
  return make_row<JacobiOptions>(info, [](const SolverInfo& i, const JacobiOptions& options) {
    return std::make_unique<ProjectedJacobi>(i, options);
  });
}

}  // namespace example
