#include "solvers/dvi/dvi.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "solvers/dvi/joint_block.hpp"
#include "solvers/gauss_seidel/own_residuals.hpp"
#include "solvers/progress.hpp"
#include "solvers/pyramids.hpp"

namespace conebench {

namespace dvi {
namespace {

// The solver DVI of Newton 1.8's Kamino (projected Gauss–Seidel, joints in turns), from what its source does; it names
// no paper. With D = G + R and b the rows of the joints, u the others:
//
//     λ_b with D_bb λ_b = −(g_b + D_bu λ_u)                                          direct
//     iteration: `sweeps` times
//                  rows with bounds and normals: λ_i ← P(λ_i − ω σ_i / (D_ii + ε))
//                  then groups of tangents, from the last contact in every other sweep:
//                    λ_g − ω (D_gg + ε)⁻¹ σ_g where that is in the disk of radius μ_g λ_N,
//                    else λ_g − ω σ_g / (max D_ii + ε), shortened to it
//                λ_b anew
//
//     symbol  meaning                                    unit
//     λ, σ    impulse; velocity D λ + g                  N s, m/s
//     ω       relaxation                                 1
//     ε       regularisation, a share of D_ii            m/s per N s
//
// Fixed points obey Coulomb's law. Deviations: sweeps go through the contacts in their order instead of by colours; ε
// is a share of each D_ii instead of a number on preconditioned rows; the joints' impulses are corrected by (D_bb +
// floor)⁻¹ σ_b, so that the floor does not move the solution; a problem without joints is treated as others are, where
// Kamino sweeps the normals alone at first; Kamino's friction loads without the share of penetration recovery are left
// out, since a given problem does not tell that share.

struct DviOptions {
  long sweeps = 2;
  double relaxation = 1.0;
  double regularisation = 1e-6;
  double joint_floor = 7e-7;
};

void declare_options(OptionBinder& bind, DviOptions& o) {
  bind.integer("sweeps", o.sweeps, {.minimum = 1, .maximum = 1000, .doc = "between two solves of the joints"});
  bind.real("relaxation", o.relaxation, {.minimum = 0.01, .maximum = 2.0, .doc = "omega of the projected steps"});
  bind.real("regularisation", o.regularisation,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "epsilon, which a step's divisor is larger by, a share of it"});
  bind.real("joint_floor", o.joint_floor,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "added to the joints' matrix of unit diagonal; raised where that is not positive definite"});
}

/// The tangential rows with one coefficient.
struct Group {
  Index row = 0;
  int first = 0;  ///< within the contact
  int size = 0;
  double coefficient = 0.0;
  double step = 0.0;                      ///< 1 / (max D_ii + ε); 0 where that is not positive
  ContactSquare<Eigen::Dynamic> inverse;  ///< (D_gg + ε)⁻¹, empty where that is singular
};

struct Contact {
  Index block = 0, row = 0;
  int normal = 0;
  double step = 0.0;  ///< 1 / (D_NN + ε)
  std::size_t first_group = 0, end_group = 0;
};

class Dvi final : public Solver {
 public:
  Dvi(SolverInfo info, const DviOptions& options) : info_(std::move(info)), options_(options) {}

  const SolverInfo& info() const override { return info_; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    return pyramids_refused(info_, problem, "its tangential sets are disks");
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    problem_ = problem;
    residual_ = std::make_unique<gauss_seidel::OwnResiduals>(problem, gauss_seidel::OwnModel::ncp);
    joints_ = JointBlock(problem, options_.joint_floor);
    steps_.resize(problem.cones().first_contact_row());
    for (Index row = problem.cones().joints(); row < steps_.size(); ++row) {
      steps_[row] = inverse(*diagonal_block(row) + problem.compliance()[row]);
    }
    contacts_.clear();
    groups_.clear();
    for_each_contact(problem.cones(), [&]<class Cone>(Index i, Index row, const Cone& cone) { add(i, row, cone); });
    lambda_.setZero(problem.rows());
    correction_.setZero(joints_.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    summary.factorizations = joints_.factorizations();
    project_cone(problem_->cones(), guess, lambda_);
    impulse = lambda_;
    if (lambda_.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    if (!joints_.factored()) {
      summary.breakdown = Breakdown::singular;
      summary.message = "the joints' matrix is not positive definite";
      return ended_as(summary, SolveStatus::breakdown, summary.own_residual);
    }
    const SolveProgress progress(stop, monitor);
    StallWindow window;
    solve_joints();
    for (long k = 1; k <= stop.max_iterations; ++k) {
      for (long sweep = 0; sweep < options_.sweeps; ++sweep) {
        sweep_normals();
        sweep_tangents(sweep % 2 != 0);
      }
      solve_joints();
      summary.iterations = k;
      summary.operator_products += options_.sweeps;
      if (!lambda_.allFinite()) {
        impulse = lambda_;
        return ended_as(summary, SolveStatus::diverged, std::numeric_limits<double>::quiet_NaN());
      }
      const double moved = (lambda_ - impulse).lpNorm<Eigen::Infinity>();
      impulse = lambda_;
      if (stop.stop_by == StopBy::solver) {
        summary.own_residual = residual_->natural_map(lambda_);
        ++summary.operator_products;
        if (progress.passes(summary.own_residual))
          return ended_as(summary, SolveStatus::converged, summary.own_residual);
      }
      const bool stalled = window.after(moved, lambda_.lpNorm<Eigen::Infinity>());
      if (const auto status = progress.check(k, summary.own_residual, impulse, stalled || k == stop.max_iterations)) {
        return ended_as(summary, *status, summary.own_residual);
      }
      if (stalled) {
        summary.stall = Stall::rounding;
        return ended_as(summary, SolveStatus::stalled, summary.own_residual);
      }
    }
    return ended_as(summary, SolveStatus::max_iterations, summary.own_residual);
  }

 private:
  double inverse(double diagonal) const {
    return diagonal > 0.0 ? 1.0 / (diagonal * (1.0 + options_.regularisation)) : 0.0;
  }
  const double* diagonal_block(Index block) const {
    return problem_->blocks().block_values(problem_->blocks().diagonal(block));
  }

  template <class Cone>
  void add(Index contact, Index row, const Cone& cone) {
    const Index block = problem_->cones().first_contact_row() + contact;
    Matrix d = problem_->blocks().block(block, problem_->blocks().diagonal(block));
    d.diagonal() += problem_->compliance().segment(row, cone.size());
    Contact added{.block = block,
                  .row = row,
                  .normal = cone.normal,
                  .step = inverse(d(cone.normal, cone.normal)),
                  .first_group = groups_.size()};
    cone.for_each_group([&]<int Size>(int first, int size, double mu) {
      Matrix own = d.block(first, first, size, size);
      Group group{.row = row + first, .first = first, .size = size, .coefficient = mu, .inverse = {}};
      group.step = inverse(own.diagonal().maxCoeff());
      own.diagonal() *= 1.0 + options_.regularisation;
      // As Kamino's test of the determinant: float's eps of the largest there can be.
      if (own.determinant() > std::numeric_limits<float>::epsilon() * own.diagonal().prod())
        group.inverse = own.inverse();
      groups_.push_back(group);
    });
    added.end_group = groups_.size();
    contacts_.push_back(added);
  }

  /// σ's entry `i` of a block.
  double velocity(Index block, int i) const {
    const BlockSparseMatrix& matrix = problem_->blocks();
    const int size = matrix.block_size(block);
    const Index row = matrix.block_offset(block) + i;
    double sum = problem_->free_term()[row] + problem_->compliance()[row] * lambda_[row];
    for (Index k = matrix.row_begin(block); k < matrix.row_begin(block + 1); ++k) {
      const double* values = matrix.block_values(k) + i;
      const Index column = matrix.column(k);
      const Index end = matrix.block_offset(column + 1);
      for (Index c = matrix.block_offset(column); c < end; ++c, values += size) sum += *values * lambda_[c];
    }
    return sum;
  }

  /// λ − ω step σ, within the bounds; of a row that nothing moves the bound that its velocity leads to.
  double projected(double old, double sigma, double step, const Interval& bounds) const {
    if (step > 0.0) return bounds.project(old - options_.relaxation * step * sigma);
    const double bound = sigma >= 0.0 ? bounds.lower : bounds.upper;
    return std::isfinite(bound) ? bound : old;
  }

  void sweep_normals() {
    const ConeProduct& cones = problem_->cones();
    for (Index row = cones.joints(); row < cones.first_contact_row(); ++row) {
      lambda_[row] = projected(lambda_[row], velocity(row, 0), steps_[row], cones.bounds(row));
    }
    for (const Contact& contact : contacts_) {
      double& normal = lambda_[contact.row + contact.normal];
      normal = projected(normal, velocity(contact.block, contact.normal), contact.step, {.lower = 0.0});
    }
  }

  void sweep_tangents(bool backwards) {
    const auto count = contacts_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Contact& contact = contacts_[backwards ? count - 1 - i : i];
      for (std::size_t g = contact.first_group; g < contact.end_group; ++g) {
        step_along_tangents(contact, groups_[g]);
      }
    }
  }

  void step_along_tangents(const Contact& contact, const Group& group) {
    using Part = ContactVector<Eigen::Dynamic>;
    const double radius = group.coefficient * lambda_[contact.row + contact.normal];
    const Part old = lambda_.segment(group.row, group.size);
    Part sigma(group.size);
    for (int i = 0; i < group.size; ++i) sigma[i] = velocity(contact.block, group.first + i);
    Part next = old;
    const bool exact = group.inverse.size() > 0;
    if (exact) next -= options_.relaxation * (group.inverse * sigma);
    // The shared step alone keeps the disk's fixed point (Kamino).
    if (!exact || next.norm() > radius) next = old - options_.relaxation * group.step * sigma;
    const double length = next.norm();
    if (length > radius) next *= radius / length;
    lambda_.segment(group.row, group.size) = next;
  }

  void solve_joints() {
    for (Index row = 0; row < joints_.rows(); ++row) correction_[row] = velocity(row, 0);
    joints_.solve(correction_);
    lambda_.head(joints_.rows()) -= correction_;
  }

  SolverInfo info_;
  DviOptions options_;
  std::optional<ContactProblem> problem_;
  std::unique_ptr<gauss_seidel::OwnResiduals> residual_;
  JointBlock joints_;
  Vector steps_;  ///< of the rows before the contacts; joints have none
  std::vector<Contact> contacts_;
  std::vector<Group> groups_;
  Vector lambda_, correction_;
};

}  // namespace
}  // namespace dvi

std::vector<SolverRow> dvi_rows() {
  SolverInfo info;
  info.id = "DVI";
  info.name = "Projected sweeps in turns with a direct solve of the joints";
  info.intervals = true;
  info.friction_cones = true;
  info.rotation_invariant = false;  // the step of a sliding contact is that of its slower axis
  info.origin = Origin::paper;
  info.citation = "Newton 1.8, github.com/newton-physics/newton, Kamino's solver DVI, 2026";
  info.summary =
      "Cheap sweeps with joints that hold after every iteration; many contacts or stiff loops of joints and contacts "
      "take many turns.";
  return {make_row<dvi::DviOptions>(info, [](const SolverInfo& i, const dvi::DviOptions& options) {
    return std::make_unique<dvi::Dvi>(i, options);
  })};
}

}  // namespace conebench
