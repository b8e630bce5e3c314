#include "solvers/first_order/barzilai_borwein.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "solvers/common_options.hpp"
#include "solvers/first_order/held_term.hpp"
#include "solvers/first_order/velocity_map.hpp"
#include "solvers/progress.hpp"
#include "solvers/stalled.hpp"

namespace conebench {

namespace {

// Birgin, Martínez, Raydan, Nonmonotone spectral projected gradient methods on convex sets, SIAM J. Optim. 10(4), 2000,
// Algorithm SPG2, on min f(γ) = ½ γᵀ N γ + (g + s)ᵀ γ over γ ∈ K, with N = G + R. BB-CCP: s = 0. BB-NCP (ours):
// s = Γ(σ), renewed after every iteration or held for some; the objectives of the past are those with their own s.
//
//     symbol  meaning                                               unit
//     γ       impulse, in K                                         N s
//     σ       N γ + g                                               m/s
//     F       σ + s, the gradient of f                              m/s
//     α       Barzilai and Borwein's step                           N s per m/s
//     d, t    direction P_K(γ − α F) − γ, and how far to go, ≤ 1    N s, 1
//
// Deviations: N d gives the objective along d, the step and the next σ, so that an iteration takes one product; the
// first α is steepest descent's; as in APGD the best of all iterates is what is returned.

struct BarzilaiBorweinOptions {
  std::string rule = "alternate";
  double ratio = 0.5;
  long memory = 10;
  double stall = 0.0;
  ProductOptions product;
};

struct SpectralNcpOptions : BarzilaiBorweinOptions {
  long held = 1;
};

constexpr long max_memory = 64;

void declare(OptionBinder& bind, BarzilaiBorweinOptions& o) {
  bind.choice(
      "rule", o.rule, {"bb1", "bb2", "alternate", "adaptive"},
      "alpha: BB1 = d'd / d'N d, BB2 = d'N d / |N d|^2, the two in turns, or BB2 where it is below a share of BB1 "
      "(Zhou, Gao, Dai 2006)");
  bind.real("ratio", o.ratio, {.minimum = 0.0, .maximum = 1.0, .doc = "that share"});
  bind.integer("memory", o.memory,
               {.minimum = 1,
                .maximum = max_memory,
                .doc = "objectives of which the largest is to be undercut (Grippo, Lampariello, Lucidi 1986)"});
  declare_stall(bind, o.stall);
  declare_product(bind, o.product);
}

void declare_options(OptionBinder& bind, BarzilaiBorweinOptions& o) { declare(bind, o); }
void declare_options(OptionBinder& bind, SpectralNcpOptions& o) {
  HeldTerm::declare(bind, o.held);
  declare(bind, o);
}

/// f at the last `memory` points less f now, which rounding does not touch near the minimum.
class PastObjectives {
 public:
  explicit PastObjectives(long memory) : memory_(memory) {}
  void reset() { count_ = 0; }
  /// max(0, …): the present point is one of them.
  double largest() const {
    double largest = 0.0;
    for (long i = 0; i < std::min(count_, memory_ - 1); ++i) largest = std::max(largest, past_[index(i)]);
    return largest;
  }
  /// After a step that changed f.
  void add(double change) {
    if (memory_ == 1) return;
    for (double& value : past_) value -= change;
    past_[index(count_++ % (memory_ - 1))] = -change;
  }

 private:
  static std::size_t index(long i) { return static_cast<std::size_t>(i); }
  long memory_;
  long count_ = 0;
  std::array<double, max_memory> past_{};
};

class BarzilaiBorwein final : public VelocityMapSolver {
 public:
  BarzilaiBorwein(SolverInfo info, const SpectralNcpOptions& options)
      : VelocityMapSolver(std::move(info), options.product),
        options_(options),
        ncp_(info_.formulation == Formulation::ncp),
        held_(options.held),
        past_(options.memory) {}

  Result<void> prepare(const ContactProblem& problem) override {
    CONEBENCH_CHECK(prepare_map(problem, false, {&gamma_, &sigma_, &force_, &fresh_, &d_, &nd_, &scratch_}));
    held_.prepare(problem.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    SolveSummary summary;
    project_cone(map_.cones(), guess, gamma_);
    impulse = gamma_;
    if (gamma_.size() == 0) return ended_as(summary, SolveStatus::converged, 0.0);
    const SolveProgress progress(stop, monitor);
    start();
    double best = std::numeric_limits<double>::infinity();
    for (long k = 1; k <= stop.max_iterations; ++k) {
      find_direction();
      take_step(k);
      const double now = residual();
      if (!(now >= best)) {  // NaN too
        best = now;
        impulse = gamma_;
      }
      choose_step(k);
      if (ncp_ && held_.is_due()) force_ += held_.renew(map_.cones(), sigma_);
      summary.iterations = k;
      summary.operator_products = map_.products();
      summary.own_residual = best;
      if (const auto status = progress.after(k, best, impulse)) {
        summary.status = *status;
        return summary;
      }
      const bool still = t_ * d_.norm() < options_.stall * gamma_.norm();
      if (still) return stalled_as(summary, Stall::option, best);
    }
    summary.status = SolveStatus::max_iterations;
    return summary;
  }

 private:
  /// σ, s, F, and α of steepest descent: FᵀF / FᵀNF.
  void start() {
    map_.reset_products(0);
    map_(gamma_, sigma_);
    past_.reset();
    held_.reset();
    if (ncp_) held_.renew(map_.cones(), sigma_);
    force_ = sigma_ + held_.term();
    map_.multiply_with_compliance(force_, nd_);
    const double curvature = force_.dot(nd_);
    alpha_ = curvature > 0.0 ? force_.squaredNorm() / curvature : 1.0;
    smallest_ = alpha_;
  }

  void find_direction() {
    map_.project_step(gamma_, alpha_, force_, d_);
    d_ -= gamma_;
    map_.multiply_with_compliance(d_, nd_);
  }

  /// SPG2, step 2, with its constants: t = 1 or by interpolation of the quadratic, so that f falls below its last
  /// maximum.
  void take_step(long k) {
    constexpr double decrease = 1e-4;
    const double slope = force_.dot(d_);
    curvature_ = d_.dot(nd_);
    const double reference = past_.largest();
    t_ = 1.0;
    const auto change = [&](double t) { return t * (slope + 0.5 * t * curvature_); };
    for (int trial = 0; trial < 60 && change(t_) > reference + decrease * t_ * slope; ++trial) {
      const double minimum = -slope / curvature_;
      t_ = minimum >= 0.1 * t_ && minimum <= 0.9 * t_ ? minimum : 0.5 * t_;
    }
    past_.add(change(t_));
    gamma_ += t_ * d_;
    constexpr long refreshed = 50;  // iterations after which σ, which is summed up, is computed anew
    if (k % refreshed == 0) {
      map_(gamma_, sigma_);
    } else {
      sigma_ += t_ * nd_;
    }
    force_ = sigma_ + held_.term();
  }

  double residual() {
    if (!ncp_) return map_.residual(gamma_, smallest_, force_, scratch_);
    add_de_saxce(map_.cones(), sigma_, fresh_);
    return map_.residual(gamma_, smallest_, fresh_, scratch_);
  }

  /// Barzilai and Borwein's α from the step taken.
  void choose_step(long k) {
    if (!(curvature_ > 0.0)) {
      if (t_ * d_.squaredNorm() > 0.0) alpha_ *= 10.0;  // f falls along d without end, or G is not symmetric
      return;
    }
    const double first = d_.squaredNorm() / curvature_;
    const double second = curvature_ / nd_.squaredNorm();
    const bool shorter = options_.rule == "bb2" || (options_.rule == "alternate" && k % 2 == 0) ||
                         (options_.rule == "adaptive" && second < options_.ratio * first);
    alpha_ = shorter ? second : first;
    smallest_ = std::min(smallest_, alpha_);
  }

  SpectralNcpOptions options_;
  bool ncp_;
  HeldTerm held_;
  PastObjectives past_;
  double alpha_ = 1.0;
  double smallest_ = 1.0;
  double t_ = 1.0;
  double curvature_ = 0.0;
  Vector gamma_, sigma_, force_, fresh_, d_, nd_, scratch_;
};

}  // namespace

std::vector<SolverRow> barzilai_borwein_rows() {
  SolverInfo info;
  info.intervals = true;
  info.friction_cones = true;
  info.id = "BB-CCP";
  info.name = "Spectral projected gradient on the cone problem";
  info.formulation = Formulation::ccp;
  info.origin = Origin::paper;
  info.citation =
      "Birgin, Martinez, Raydan, Nonmonotone spectral projected gradient methods on convex sets, SIAM J. Optim. 10(4), "
      "2000; Barzilai, Borwein 1988";
  info.summary =
      "One product an iteration: fewer than APGD-CCP takes where G is well conditioned on its range, more where it is "
      "not.";
  SolverInfo ncp = info;
  ncp.id = "BB-NCP";
  ncp.name = "Spectral projected gradient with De Saxce's term";
  ncp.formulation = Formulation::ncp;
  ncp.origin = Origin::own;
  ncp.summary =
      "BB-CCP with De Saxce's term renewed after every iteration: one product an iteration, and the least of the "
      "first-order methods on small and on well conditioned problems. Not sure to converge.";
  return {with_product_left_out(make_row<BarzilaiBorweinOptions>(
              info,
              [](const SolverInfo& i, const BarzilaiBorweinOptions& options) {
                return std::make_unique<BarzilaiBorwein>(i, SpectralNcpOptions{options, {}});
              })),
          with_product_left_out(
              make_row<SpectralNcpOptions>(ncp, [](const SolverInfo& i, const SpectralNcpOptions& options) {
                return std::make_unique<BarzilaiBorwein>(i, options);
              }))};
}

}  // namespace conebench
