#include "solvers/cond/ccs.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <memory>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "solvers/cond/contact_operators.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "solvers/cond/velocity_of_impulse.hpp"
#include "solvers/progress.hpp"

namespace conebench {

namespace cond {
namespace {

// Contact constraint splitting (Daviet 2020; [16] of paper Lee23): alternating directions on y = J v + φ, each contact
// solved by the strict operator.
//
//     symbol   meaning                                                unit
//     M, b     mass, or A of a soft body; M v_free                    kg, N s
//     y, s     velocity of the rows; the multiplier, scaled           m/s
//     ρ        penalty; λ = −ρ s where nothing moves any more         kg
//
// v ← (M + ρ JᵀJ)⁻¹ (b + ρ Jᵀ(y − φ − s)), z = J v + φ + s, λ = P(−z / (1/ρ + R)), y = z + λ/ρ, s = z − y. The paper
// gives no ρ: its Table VII is one of ρ.

struct CcsOptions {
  double penalty = 0.1;
};

void declare_options(OptionBinder& bind, CcsOptions& o) {
  bind.real("penalty", o.penalty,
            {.minimum = 1e-9,
             .maximum = 1e9,
             .scale = OptionScale::logarithmic,
             .doc = "rho over the median of M's diagonal"});
}

class Ccs final : public Solver {
 public:
  Ccs(SolverInfo info, const CcsOptions& options) : info_(std::move(info)), options_(options) {}

  const SolverInfo& info() const override { return info_; }
  bool needs_matrix(const ContactProblem&) const override { return false; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_nodes(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    prepared_ = {};
    cones_ = problem.cones();
    if (problem.rows() == 0) return {};
    const PrimalForm& primal = *problem.primal();
    Vector diagonal = primal.mass.diagonal();
    std::nth_element(diagonal.begin(), diagonal.begin() + diagonal.size() / 2, diagonal.end());
    rho_ = options_.penalty * diagonal[diagonal.size() / 2];
    jacobian_ = primal.jacobian;
    jacobian_.makeCompressed();
    momentum_ = primal.mass * primal.free_velocity;
    bias_ = problem.free_term() - jacobian_ * primal.free_velocity;
    compliance_ = problem.compliance();
    factor_.compute(primal.mass + rho_ * SparseMatrix(SparseMatrix(jacobian_.transpose()) * jacobian_));
    prepared_.factorizations = 1;
    pivots_ = factor_.vectorD();
    if (factor_.info() != Eigen::Success || !(pivots_.minCoeff() > 0.0)) {
      prepared_.status = SolveStatus::breakdown;
      prepared_.breakdown = Breakdown::singular;
      prepared_.message = "M + rho J'J is not positive definite";
    }
    velocity_of_impulse_ = VelocityOfImpulse(problem);
    for (Vector* buffer : {&v_, &right_}) buffer->setZero(momentum_.size());
    for (Vector* buffer : {&y_, &s_, &z_, &lambda_}) buffer->setZero(problem.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary = prepared_;
    project_cone(cones_, guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    if (summary.breakdown != Breakdown::none) return summary;
    const SolveProgress progress(stop, monitor);
    start_from(impulse, summary);
    for (long k = 1; k <= stop.max_iterations; ++k) {
      move();
      project();
      y_ = z_ + lambda_ / rho_;
      const double change = (z_ - y_ - s_).norm();  // of s, in m/s
      s_ = z_ - y_;
      impulse = lambda_;
      summary.iterations = k;
      ++summary.operator_products;
      summary.own_residual = change;
      if (const auto status = progress.after(k, change, impulse)) return ended_as(summary, *status, change);
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  /// y and s of the guess.
  void start_from(ConstVectorRef guess, SolveSummary& summary) {
    if (guess.isZero(0.0)) {
      y_.setZero();
      s_.setZero();
      return;
    }
    summary.operator_products += velocity_of_impulse_(guess, v_);
    y_ = bias_;
    y_.noalias() += jacobian_ * v_;
    s_ = -guess / rho_;
  }

  /// v, and z = J v + φ + s. No allocation, which is why the factor's parts are used one by one.
  void move() {
    z_ = rho_ * (y_ - bias_ - s_);
    v_ = momentum_;
    v_.noalias() += jacobian_.transpose() * z_;
    const auto& order = factor_.permutationP().indices();
    for (Index k = 0; k < v_.size(); ++k) right_[order[k]] = v_[k];
    factor_.matrixL().solveInPlace(right_);
    right_.array() /= pivots_.array();
    factor_.matrixU().solveInPlace(right_);
    for (Index k = 0; k < v_.size(); ++k) v_[k] = right_[order[k]];
    z_ = bias_ + s_;
    z_.noalias() += jacobian_ * v_;
  }

  /// λ of the blocks' own problems: γ = 1/ρ + R.
  void project() {
    for (Index row = 0; row < cones_.first_contact_row(); ++row) {
      lambda_[row] = clip(-z_[row] / (1.0 / rho_ + compliance_[row]), cones_.bounds(row));
    }
    for_each_contact(cones_, [&]<class Cone>(Index, Index row, const Cone& cone) {
      if constexpr (requires { cone.friction; }) {
        using Block = typename Cone::Block;
        const Block gamma = compliance_.segment<Cone::rows>(row).array() + 1.0 / rho_;
        const Block z = -z_.segment<Cone::rows>(row).cwiseQuotient(gamma);
        lambda_.segment<Cone::rows>(row) = strict_operator<Cone::rows>(z, cone.friction);
      }
    });
  }

  SolverInfo info_;
  CcsOptions options_;
  ConeProduct cones_;
  Eigen::SimplicialLDLT<SparseMatrix> factor_;
  VelocityOfImpulse velocity_of_impulse_;
  SolveSummary prepared_;
  double rho_ = 1.0;
  SparseMatrix jacobian_;
  Vector pivots_, momentum_, bias_, compliance_, v_, right_, y_, s_, z_, lambda_;
};

}  // namespace
}  // namespace cond

std::vector<SolverRow> ccs_rows() {
  using namespace cond;
  SolverInfo info;
  info.id = "CCS";
  info.intervals = true;
  info.name = "Contact constraint splitting";
  info.formulation = Formulation::ncp;
  info.origin = Origin::paper;
  info.citation =
      "Daviet, Simple and scalable frictional contacts for thin nodal objects, 2020, as Lee, Lee, Lee, 2023, compare "
      "it";
  info.summary =
      "Alternating directions between the velocities, by one sparse factor of M + rho J'J, and the contacts one by "
      "one. "
      "Few iterations where rho fits, many where it does not.";
  return {make_row<CcsOptions>(
      info, [](const SolverInfo& i, const CcsOptions& options) { return std::make_unique<Ccs>(i, options); })};
}

}  // namespace conebench
