#include "solvers/admm/admm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/progress.hpp"

namespace conebench {

namespace {
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
}

AdmmSolver::AdmmSolver(SolverInfo info, AdmmVariant variant, AdmmOptions options)
    : info_(std::move(info)), variant_(variant), options_(std::move(options)) {}

std::optional<std::string> AdmmOptions::wrong_word() const {
  if (order == "solve_project" || relaxation == 1.0) return std::nullopt;
  return "relaxation is a step of order=solve_project; leave one of them out";
}

std::optional<std::string> AdmmSolver::unsupported_reason(const ContactProblem& problem) const {
  return unsupported_by_flags(info_, problem);
}

double AdmmSolver::Residuals::largest() const {
  // A NaN in any of them is to survive.
  return primal + dual + complementarity == primal + dual + complementarity ? std::max({primal, dual, complementarity})
                                                                            : not_a_number;
}

Result<void> AdmmSolver::prepare(const ContactProblem& problem) {
  if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
  if (options_.threads > 1 && !workers_) workers_ = std::make_unique<Workers>(static_cast<int>(options_.threads));
  problem_ = problem;
  cones_ = problem.cones();
  prepared_ = {};
  for (Vector* buffer : {&x_, &y_, &z_, &x_previous_, &offset_}) buffer->setZero(problem.rows());
  steps_.start(y_, z_, initial_penalty_);
  if (problem.rows() == 0) return {};

  choose_units(problem);
  if (!cones_.intervals().empty()) cones_ = cones_.with_bounds_over(Vector(impulse_scale_ * row_scale_));
  extrapolation_ = Extrapolation(options_.acceleration, order(), cones_, variant_.scaled);
  const bool symmetric = problem.symmetry_error() <= 1e-12;
  const bool lu = options_.factorization == "lu" || (options_.factorization == "auto" && !symmetric);
  prepared_.solved_symmetrised = !lu && !symmetric;
  system_ = ShiftedFactor(problem.blocks(), row_scale_, compliance_, lu ? Factorization::lu : Factorization::cholesky);
  choose_penalty(prepared_);
  factored_shift_ = 0.0;
  refactor(initial_penalty_, prepared_);
  prepared_proximal_ = proximal_;
  return {};
}

/// The rule for ρ and its first value, from the bounds of the spectrum where they are asked for.
void AdmmSolver::choose_penalty(SolveSummary& summary) {
  proximal_ = options_.proximal;
  Spectrum spectrum;
  if (options_.update == "spectral" || options_.initial == "spectral") {
    // The normal components make up for a g that is orthogonal to the leading eigenvector. Both turn with the frames.
    const double largest = free_term_.cwiseAbs().maxCoeff();
    Vector start = largest > 0.0 ? Vector(free_term_ / largest) : Vector(Vector::Zero(cones_.rows()));
    for (Index block = 0; block < cones_.blocks(); ++block) {
      start[cones_.normal_row_of(block)] += 1.0 + 0.1 * static_cast<double>(block % 7);
    }
    spectrum = estimate_spectrum([this](const Vector& x, Vector& y) { apply(x, y); }, std::move(start), proximal_,
                                 compliance_.minCoeff());
    summary.operator_products += spectrum.products;
  }
  // κ ≤ 1 (G = 0 with compliance, say) or infinite (η = 0) leaves (45) without meaning: linear rule from ρ₀.
  const bool well_posed = spectrum.smallest > 0.0 && spectrum.condition() > 1.0;
  rule_.ratio = options_.ratio;
  steps_.ratio = options_.ratio;
  steps_.window = options_.window;
  steps_.reach = options_.reach;
  rule_.update = PenaltyUpdate::linear;
  rule_.factor = options_.factor;
  if (options_.update == "fixed") rule_.update = PenaltyUpdate::fixed;
  if (options_.update == "steps") rule_.update = PenaltyUpdate::steps;
  if (options_.update == "spectral" && well_posed) {
    rule_.update = PenaltyUpdate::spectral;
    rule_.factor = std::pow(spectrum.condition(), options_.increment);
  }
  initial_penalty_ = options_.initial == "spectral" && well_posed
                         ? spectral_penalty(spectrum, options_.initial_exponent)
                         : options_.initial_penalty;
}

/// y = (G + R) x in the units of the iteration. Overwrites offset_.
void AdmmSolver::apply(const Vector& x, Vector& y) {
  offset_ = row_scale_.cwiseProduct(x);
  problem_->blocks().apply(offset_, y);
  y = y.cwiseProduct(row_scale_) + compliance_.cwiseProduct(x);
}

/// The paper's ids iterate in the problem's units. The scaled one iterates on λ_i = γ c_i λ̃_i, σ_i = γ σ̃_i / c_i with
/// c_i = (trace(G_ii + R_ii) / d_i)^(-1/2) and γ = max ‖c_i g_i‖: then the blocks of G̃ have unit mean diagonal, g̃ is
/// one at most, and the paper's absolute η, ρ and tolerances are relative ones. K and Γ allow one factor a contact; the
/// bounds of intervals follow it.
void AdmmSolver::choose_units(const ContactProblem& problem) {
  row_scale_.setOnes(problem.rows());
  impulse_scale_ = 1.0;
  if (variant_.scaled) {
    const BlockSparseMatrix& blocks = problem.blocks();
    Vector means(cones_.blocks());
    mean_diagonals(blocks, problem.compliance(), means);
    double largest = 0.0;
    for (Index block = 0; block < cones_.blocks(); ++block) {
      auto scale = row_scale_.segment(blocks.block_offset(block), blocks.block_size(block));
      scale.setConstant(1.0 / std::sqrt(means[block]));
      largest = std::max(
          largest, scale[0] * problem.free_term().segment(blocks.block_offset(block), blocks.block_size(block)).norm());
    }
    if (largest > 0.0) impulse_scale_ = largest;
  }
  free_term_ = problem.free_term().cwiseProduct(row_scale_) / impulse_scale_;
  compliance_ = problem.compliance().cwiseProduct(row_scale_.cwiseAbs2());
}

double AdmmSolver::next_penalty(const Residuals& residuals) {
  if (rule_.update == PenaltyUpdate::steps) return steps_.updated(rho_, y_, z_);
  return rule_.updated(rho_, residuals.primal, residuals.dual);
}

/// Factors for a penalty where that differs from the last one. The papers' ids break down where the matrix is not
/// positive definite; the scaled one raises η, which moves no solution.
bool AdmmSolver::refactor(double rho, SolveSummary& summary) {
  rho_ = rho;
  constexpr int kRaises = 40;
  for (int raise = 0; raise <= kRaises; ++raise) {
    const double shift = rho_ + proximal_;
    if (shift == factored_shift_) return true;
    ++summary.factorizations;
    if (system_.factor(shift, workers_.get())) {
      factored_shift_ = shift;
      return true;
    }
    factored_shift_ = 0.0;
    if (!variant_.scaled || !std::isfinite(shift)) break;
    proximal_ += shift;
    summary.message = fmt::format("G is indefinite: proximal term raised to {:.3g}", proximal_);
  }
  summary.status = SolveStatus::breakdown;
  summary.breakdown = Breakdown::singular;
  summary.message = fmt::format("G + R + {:.3g} I is not positive definite; a larger penalty or proximal term may help",
                                rho_ + proximal_);
  return false;
}

SolveSummary AdmmSolver::solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  SolveSummary summary = prepared_;
  project_cone(problem_->cones(), guess, impulse);
  if (cones_.rows() == 0) {
    summary.status = SolveStatus::converged;
    summary.own_residual = 0.0;
    return summary;
  }
  // The factors of prepare() serve the first solve; a later one makes them anew, which prepare() has counted.
  SolveSummary uncounted;
  proximal_ = prepared_proximal_;
  if (summary.status == SolveStatus::breakdown || !refactor(initial_penalty_, uncounted)) return summary;

  const SolveProgress progress(stop, monitor);
  const auto iterate = [&]() -> ConstVectorRef {
    report(impulse);
    return impulse;
  };
  start_from(guess, summary);
  if (rule_.update == PenaltyUpdate::steps) steps_.start(y_, z_, rho_);
  extrapolation_.start(order() == StepOrder::solve_project ? y_ : x_, z_);
  for (long k = 1; k <= stop.max_iterations; ++k) {
    if (k > 1) extrapolation_.next(order() == StepOrder::solve_project ? y_ : x_, z_, rho_);
    const Residuals r = order() == StepOrder::solve_project ? solve_project() : project_solve();
    summary.iterations = k;
    summary.own_residual = r.largest();
    const double measured = std::isfinite(x_.sum()) ? summary.own_residual : not_a_number;  // a maximum forgets NaN
    if (const auto status = progress.after(k, measured, iterate)) {
      summary.status = *status;
      break;
    }
    if (k < stop.max_iterations && !refactor(next_penalty(r), summary)) break;  // line 18
  }
  report(impulse);
  if (!impulse.allFinite()) summary.status = SolveStatus::diverged;
  return summary;
}

/// x, y from the guess and z from its velocity; Carpentier24 and Tsounis leave the dual start open.
void AdmmSolver::start_from(ConstVectorRef guess, SolveSummary& summary) {
  x_ = guess.cwiseQuotient(row_scale_) / impulse_scale_;
  project_cone(cones_, x_, y_);
  x_ = y_;
  if (y_.isZero(0.0)) {
    z_ = free_term_;
  } else {
    apply(y_, z_);
    z_ += free_term_;
    ++summary.operator_products;
  }
  if (variant_.de_saxce) add_de_saxce(cones_, z_, z_);
  if (order() == StepOrder::solve_project) project_dual_cone(cones_, z_, z_);
}

/// offset = −(g + s − η x − ρ y − z) with s = Γ(z): the right-hand side of Carpentier24 (37).
void AdmmSolver::update_offset() {
  offset_ = proximal_ * x_ + rho_ * y_ + z_ - free_term_;
  if (variant_.de_saxce) {
    for_each_contact(cones_, [this]<class Cone>(Index, Index row, const Cone& cone) {
      const typename Cone::Block z = z_.segment<Cone::rows>(row, cone.size());
      offset_[row + cone.normal] -= cone.de_saxce(z);
    });
  }
  x_.swap(x_previous_);
}

AdmmSolver::Residuals AdmmSolver::solve_project() {
  update_offset();             // Tsounis Alg. 6 lines 4, 5: s, v
  system_.solve(offset_, x_);  // line 6: x
  Residuals residuals;
  update_rows(residuals);  // lines 7–9 and 12–14: x, y, z, residuals
  update_contacts(residuals);
  return residuals;
}

/// The same steps from line 8 on. As y is older than x then, z is no longer in K*, and the dual residual is that of x.
AdmmSolver::Residuals AdmmSolver::project_solve() {
  y_ = x_ - z_ / rho_;
  project_cone(cones_, y_, y_);
  update_offset();
  system_.solve(offset_, x_);
  Residuals residuals;
  offset_ = x_ - y_;
  z_ -= rho_ * offset_;
  residuals.primal = largest_part(cones_, offset_, variant_.scaled);
  offset_ = x_ - x_previous_;
  residuals.dual = std::max(rho_, proximal_) * largest_part(cones_, offset_, variant_.scaled);
  residuals.complementarity = largest_complementarity(cones_, y_, z_);
  return residuals;
}

void AdmmSolver::update_rows(Residuals& residuals) {
  const double omega = options_.relaxation;
  for (Index row = 0; row < cones_.first_contact_row(); ++row) {
    const double y_previous = y_[row];
    const BlockKind kind = cones_.block_kind(row);
    const Interval bounds = cones_.bounds(row);
    x_[row] = (1.0 - omega) * y_previous + omega * x_[row];
    const double w = x_[row] - z_[row] / rho_;
    y_[row] = kind == BlockKind::joint ? w : kind == BlockKind::limit ? std::max(w, 0.0) : bounds.project(w);
    z_[row] -= rho_ * (x_[row] - y_[row]);
    residuals.primal = std::max(residuals.primal, std::abs(x_[row] - y_[row]));
    residuals.dual =
        std::max(residuals.dual, std::abs(proximal_ * (x_[row] - x_previous_[row]) + rho_ * (y_[row] - y_previous)));
    const double product =
        kind == BlockKind::limit ? std::abs(x_[row] * z_[row]) : bounds.complementarity(x_[row], z_[row]);
    residuals.complementarity = std::max(residuals.complementarity, product);
  }
}

void AdmmSolver::update_contacts(Residuals& residuals) {
  const double omega = options_.relaxation;
  const double penalty = rho_;
  const double per_penalty = 1.0 / rho_;
  // Componentwise as printed; by contacts in the scaled variant, so that a turn of the tangent frames changes nothing.
  const auto size = [by_contact = variant_.scaled](const auto& v) {
    return by_contact ? v.norm() : v.template lpNorm<Eigen::Infinity>();
  };
  for_each_contact(cones_, [&]<class Cone>(Index, Index row, const Cone& cone) {
    using Block = typename Cone::Block;
    const int rows = cone.size();
    const Block y_previous = y_.segment<Cone::rows>(row, rows);
    const Block x = (1.0 - omega) * y_previous + omega * x_.segment<Cone::rows>(row, rows);  // line 7
    Block z = z_.segment<Cone::rows>(row, rows);
    const Block y = cone.project(x - per_penalty * z);  // line 8
    z -= penalty * (x - y);                             // line 9
    const Block x_previous = x_previous_.segment<Cone::rows>(row, rows);
    x_.segment<Cone::rows>(row, rows) = x;
    y_.segment<Cone::rows>(row, rows) = y;
    z_.segment<Cone::rows>(row, rows) = z;
    residuals.primal = std::max(residuals.primal, size(Block(x - y)));
    residuals.dual = std::max(residuals.dual, size(Block(proximal_ * (x - x_previous) + penalty * (y - y_previous))));
    residuals.complementarity = std::max(residuals.complementarity, std::abs(x.dot(z)));
  });
}

/// λ ← y, which lies in K (Carpentier24 Alg. 1 line 13, Tsounis Alg. 6 line 10), in the problem's units.
void AdmmSolver::report(VectorRef impulse) const { impulse = impulse_scale_ * row_scale_.cwiseProduct(y_); }

}  // namespace conebench
