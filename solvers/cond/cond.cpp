#include "solvers/cond/cond.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "solvers/cond/contact_step.hpp"
#include "solvers/cond/nodal_form.hpp"
#include "solvers/cond/node_product.hpp"
#include "solvers/cond/velocity_of_impulse.hpp"
#include "solvers/progress.hpp"
#include "solvers/velocity_solver.hpp"

namespace conebench {

namespace cond {
namespace {

// Paper Lee23, Algorithms 1 and 3, on its (15).
//
//     symbol    meaning                                                      unit
//     A, b, J   of (15); A is the problem's M, impulses for the paper's forces kg, N s, 1
//     v^l, v*   velocity of the iteration, and after the step (20)           m/s
//     v**       after the contact problem (24): it alone keeps Coulomb's law m/s
//     W = αW_0  step sizes, a diagonal                                       1/kg
//     ν, ϱ, u   Chebyshev's weight, the contraction seen, under-relaxation   1
//     θ         ‖v^(l+1) − v^l‖, the paper's test                            m/s
//
// The impulse that is returned is that of v**. Printed otherwise: (38) has the signs of A_1 and b exchanged and lacks
// the u that the text names; (39) is capped at 1, which never damps.

struct CondOptions {
  std::string step = "frobenius";
  bool scaled = false;
  bool equilibrated = false;
  bool safe = false;
  bool pair = true;
  bool chebyshev = true;
  double under_relaxation = 0.9;
  long slow_start = 10;
  double max_ratio = 0.9999;
  double virtual_gain = 0.0;
  long shift = 0;
  long recycle = 1;
  std::string start = "velocity";
};

/// What converges on all soft blocks of ours, and to the problem's own answer; under virtual nodes it may diverge.
struct ShiftedOptions : CondOptions {
  ShiftedOptions() {
    step = "bb-alternate";
    scaled = true;
    equilibrated = true;
    safe = true;
    chebyshev = false;
    shift = 30;
  }
};

void declare_options(OptionBinder& bind, CondOptions& o) {
  bind.choice("step", o.step, {"frobenius", "bb1", "bb2", "bb-alternate"},
              "W: least |I - W A|_F, or Barzilai and Borwein's alpha I, the two formulas in turn");
  bind.flag("scaled", o.scaled, "Barzilai and Borwein's alpha times frobenius' W in place of I");
  bind.flag(
      "equilibrated", o.equilibrated,
      "frobenius' norm of A scaled to unit diagonal, so that the units of translations and rotations do not matter");
  bind.flag("safe", o.safe,
            "scale W so that lambda_max(W A) <= 1.9, by 60 power iterations in the set-up; with a bb step the first W");
  bind.flag("pair", o.pair, "one step size for both nodes of a contact between two");
  bind.flag("chebyshev", o.chebyshev, "acceleration, (38) and (39)");
  bind.real("under_relaxation", o.under_relaxation,
            {.minimum = 0.01, .maximum = 1.0, .doc = "u of (38), with chebyshev"});
  bind.integer("slow_start", o.slow_start, {.minimum = 1, .maximum = 1e6, .doc = "l_s: iterations without (38)"});
  bind.real("max_ratio", o.max_ratio, {.minimum = 0.0, .maximum = 1.0, .doc = "cap of (39); printed: 1"});
  bind.real("virtual_gain", o.virtual_gain,
            {.minimum = 0.0,
             .maximum = 1e12,
             .unit = "kg",
             .scale = OptionScale::logarithmic,
             .doc = "k_v dt of virtual nodes; 0: 0.3/w of the node, without one 3/w of the heaviest body"});
  bind.integer("shift", o.shift,
               {.minimum = 0,
                .maximum = 1e6,
                .doc = "iterations until the compliance of virtual nodes is taken back; 0: never"});
  bind.integer(
      "recycle", o.recycle,
      {.minimum = 1, .maximum = 1e6, .doc = "steps on end of a simulation with the same nodes in contact that keep W"});
  bind.choice(
      "start", o.start, {"velocity", "free", "zero"},
      "to start from without a guess: the velocity before the step where the problem tells it (else zero), v_free");
}

class Cond final : public Solver, public VelocitySolver {
 public:
  Cond(SolverInfo info, CondOptions options)
      : info_(std::move(info)),
        options_(std::move(options)),
        operator_(info_.formulation == Formulation::ccp ? Operator::proximal : Operator::strict) {}

  const SolverInfo& info() const override { return info_; }
  bool needs_matrix(const ContactProblem&) const override { return false; }
  const VelocitySolver* velocities() const override { return this; }
  Vector velocity() const override { return settled_->head(form_.own); }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    return unsupported_by_nodes(info_, problem);
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    prepared_ = {};
    cones_ = problem.cones();
    if (problem.rows() == 0) return {};
    const Configuration known = problem.configuration().value_or(Configuration{});
    NodalForm form = nodalise(
        problem,
        {.virtual_gain = options_.virtual_gain, .ellipses = operator_ == Operator::strict, .nodes = known.nodes});
    const bool keeps = recycled_ + 1 < options_.recycle && same_nodes(form, form_);
    recycled_ = keeps ? recycled_ + 1 : 0;
    form_ = std::move(form);
    if (!keeps) choose_steps();
    product_ = NodeProduct(form_.matrix);
    contact_step_ = ContactStep(form_, cones_, problem.compliance(), operator_);
    added_compliance_ = form_.added_compliance(problem.rows());
    start_.setZero(form_.own);
    if (options_.start == "free") start_ = problem.primal()->free_velocity;
    if (options_.start == "velocity" && known.velocity) start_ = *known.velocity;
    velocity_of_impulse_ = VelocityOfImpulse(problem);
    for (Vector* buffer : {&v_, &before_, &residual_, &residual_before_, &next_, &faster_})
      buffer->setZero(form_.matrix.rows());
    bias_ = form_.bias;
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary = prepared_;
    project_cone(cones_, guess, impulse);
    if (impulse.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    const SolveProgress progress(stop, monitor);
    start_from(impulse, summary);
    for (long l = 1; l <= stop.max_iterations; ++l) {
      product_(v_, form_.momentum, residual_);               // A v^l − b
      choose_alpha(l);                                       // V-A
      next_ = v_ - alpha_ * steps_.cwiseProduct(residual_);  // (20)
      contact_step_(steps_, alpha_, bias_, next_, impulse);  // (23) by Algorithm 2, (24)
      const bool accelerated = options_.chebyshev && l > 1;
      if (accelerated) accelerate(l);  // (38)
      Vector& after = accelerated ? faster_ : next_;
      const double theta = (after - v_).norm();
      settled_ = &next_;
      take_back_compliance(l, impulse);
      summary.iterations = l;
      ++summary.operator_products;
      if (const auto status = progress.after(l, theta, impulse)) return ended_as(summary, *status, theta);
      if (l <= slow_start) first_theta_ = std::max(first_theta_, theta);
      if (theta > divergence * first_theta_ && theta > v_.norm()) {
        if (!steps_back()) {
          summary.message = "theta grows without bound, as where lambda_max(W A) > 2";
          return ended_as(summary, SolveStatus::diverged, theta);
        }
        continue;
      }
      ratio_ = l > 2 ? std::min(theta / theta_, options_.max_ratio) : 0.0;  // (39), of the next iteration
      theta_ = theta;
      summary.own_residual = theta;
      before_.swap(v_);
      residual_before_.swap(residual_);
      v_.swap(after);
      if (!accelerated) settled_ = &v_;
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  static bool same_nodes(const NodalForm& a, const NodalForm& b) {
    return a.matrix.rows() == b.matrix.rows() &&
           std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                      [](const NodalBlock& x, const NodalBlock& y) {
                        return x.i == y.i && x.j == y.j && x.paired == y.paired && x.size == y.size;
                      });
  }

  /// W_0, and α of the first iteration.
  void choose_steps() {
    const bool borwein = options_.step != "frobenius";
    steps_ = frobenius_steps(form_, options_.pair, options_.equilibrated);
    first_alpha_ = 1.0;
    if (borwein && !options_.scaled) {
      steps_.setOnes();
      first_alpha_ = 1.0 / Vector(form_.matrix.diagonal()).maxCoeff();
    }
    if (options_.safe) first_alpha_ *= std::min(1.0, 1.9 / (1.02 * first_alpha_ * largest_eigenvalue()));
  }

  /// Of W_0 A, from below.
  double largest_eigenvalue() {
    constexpr int products = 60;
    const Vector root = steps_.cwiseSqrt();
    Vector x =
        Vector::NullaryExpr(root.size(), [](Index i) { return std::sin(1.0 + 12.9898 * static_cast<double>(i)); });
    double largest = 0.0;
    for (int k = 0; k < products; ++k) {
      x /= x.norm();
      Vector y = root.cwiseProduct(form_.matrix * root.cwiseProduct(x));
      largest = x.dot(y);
      x.swap(y);
    }
    prepared_.operator_products += products;
    return largest;
  }

  /// v¹: of the guess where there is one, by conjugate gradients; virtual nodes move with their bodies.
  void start_from(ConstVectorRef guess, SolveSummary& summary) {
    auto own = v_.head(form_.own);
    own = start_;
    const bool warm = !guess.isZero(0.0);
    if (warm) summary.operator_products += velocity_of_impulse_(guess, own);
    if (form_.point_velocities.rows() > 0) {
      v_.tail(form_.point_velocities.rows()).noalias() = form_.point_velocities * own;
    }
    for (const NodalBlock& block : form_.blocks) {
      if (!warm || block.gain == 0.0) continue;
      const auto& node = block.paired ? block.j : block.i;
      for (int c = 0; c < block.size; ++c) {
        double push = 0.0;
        for (int r = 0; r < block.size; ++r) push += block.axes(r, c) * block.scale[r] * guess[block.row + r];
        v_[node[static_cast<std::size_t>(c)]] += (block.paired ? -push : push) / block.gain;
      }
    }
    bias_ = form_.bias;
    if (options_.shift > 0) bias_ -= added_compliance_.cwiseProduct(guess);
    alpha_ = first_alpha_;
    leaps_ = 0;
    cautious_ = false;
    first_theta_ = 0.0;
    nu_ = 1.0;
    ratio_ = theta_ = 0.0;
  }

  /// Barzilai and Borwein's α from s = v^l − v^(l−1) and z = A s, in the metric of W_0.
  void choose_alpha(long l) {
    if (options_.step == "frobenius" || l == 1) return;
    if (cautious_) {
      alpha_ = first_alpha_;
      cautious_ = leaps_ == max_leaps;
      return;
    }
    // What has come to rest but for rounding carries no information on A.
    if (!(theta_ > 1e-13 * v_.norm())) return;
    const auto s = (v_ - before_).array();
    const auto z = (residual_ - residual_before_).array();
    const bool first = options_.step == "bb1" || (options_.step == "bb-alternate" && l % 2 == 1);
    const double across = (s * z).sum();
    const double alpha = first ? (s * s / steps_.array()).sum() / across : across / (z * z * steps_.array()).sum();
    if (alpha > 0.0 && std::isfinite(alpha)) alpha_ = alpha;
  }

  /// Takes a step of Barzilai and Borwein's back for one with the first, safe W; from the third time on all are such.
  bool steps_back() {
    if (options_.step == "frobenius" || !options_.safe || leaps_ == max_leaps) return false;
    ++leaps_;
    cautious_ = true;
    return true;
  }

  /// (38) with v**, which is kept, for A_1⁻¹ (A_2 v − b), under-relaxed.
  void accelerate(long l) {
    const double square = ratio_ * ratio_;
    nu_ = l < options_.slow_start ? 1.0 : l == options_.slow_start ? 2.0 / (2.0 - square) : 4.0 / (4.0 - square * nu_);
    faster_ = nu_ * (options_.under_relaxation * (next_ - v_) + v_ - before_) + before_;
  }

  /// Not in the paper: φ − R λ with R that of virtual nodes, a proximal-point step whose fixed point is the problem's
  /// own.
  void take_back_compliance(long l, ConstVectorRef impulse) {
    if (options_.shift == 0 || l % options_.shift != 0) return;
    bias_ = form_.bias - added_compliance_.cwiseProduct(impulse);
  }

  SolverInfo info_;
  CondOptions options_;
  Operator operator_;
  ConeProduct cones_;
  NodalForm form_;
  NodeProduct product_;
  ContactStep contact_step_;
  VelocityOfImpulse velocity_of_impulse_;
  SolveSummary prepared_;
  long recycled_ = 0;
  static constexpr int max_leaps = 3;
  static constexpr long slow_start = 10;
  static constexpr double divergence = 1e6;
  int leaps_ = 0;
  bool cautious_ = false;
  double first_theta_ = 0.0;  ///< largest of the first iterations
  double first_alpha_ = 1.0, alpha_ = 1.0, nu_ = 1.0, ratio_ = 0.0, theta_ = 0.0;
  Vector steps_, bias_, added_compliance_, start_;
  Vector v_, before_, residual_, residual_before_, next_, faster_;
  const Vector* settled_ = &v_;  ///< v** of the last iteration
};

SolverInfo describe(const char* id, const char* name, Formulation formulation, Origin origin, const char* summary) {
  SolverInfo info;
  info.id = id;
  info.version = 3;
  info.name = name;
  info.intervals = true;
  info.formulation = formulation;
  info.origin = origin;
  info.citation =
      "Lee, Lee, Lee, Large-dimensional multibody dynamics simulation using contact nodalization and diagonalization, "
      "2023";
  info.summary = summary;
  return info;
}

template <class Options>
SolverRow row_of(const SolverInfo& info) {
  return make_row<Options>(info,
                           [](const SolverInfo& i, const CondOptions& o) { return std::make_unique<Cond>(i, o); });
}

}  // namespace
}  // namespace cond

std::vector<SolverRow> cond_rows() {
  using namespace cond;
  return {
      row_of<CondOptions>(describe(
          "COND-STRICT", "Contact diagonalization with the strict operator", Formulation::ncp, Origin::paper,
          "One product with M an iteration, and G never formed: for soft bodies whose nodes touch. Elsewhere virtual "
          "nodes lend the contacts a compliance; slow where M is stiff.")),
      row_of<CondOptions>(
          describe("COND-PROX", "Contact diagonalization with the proximal operator", Formulation::ccp, Origin::paper,
                   "COND-STRICT on the convex relaxation, where it is sure to converge if lambda_max(W A) < 2.")),
      row_of<ShiftedOptions>(describe("COND-STRICT-S", "Contact diagonalization, safe steps and shifted virtual nodes",
                                      Formulation::ncp, Origin::own,
                                      "COND-STRICT with scaled steps of Barzilai and Borwein, and with the compliance "
                                      "of virtual nodes taken back, so "
                                      "that its answer is the problem's own.")),
      row_of<ShiftedOptions>(describe("COND-PROX-S", "The same with the proximal operator", Formulation::ccp,
                                      Origin::own, "COND-STRICT-S on the convex relaxation."))};
}

}  // namespace conebench
