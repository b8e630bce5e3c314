#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/gauss_seidel/options.hpp"
#include "solvers/gauss_seidel/sweep.hpp"

namespace conebench::gauss_seidel {

/// How ω falls.
enum class Decay {
  to_minimum,  ///< after a sweep, ω ← max(ω_min, γ ω): Tsounis Alg. 5 line 25 (printed with min, which decays to 0 and
               ///< fakes convergence)
  towards_minimum,  ///< after a sweep, α ← γ α + (1 − γ) α_min: LeLidec24 Alg. 5 line 16, where Tsounis has it
  with_every_contact  ///< after a contact, the same: LeLidec24 Alg. 5 line 16
};

/// ω over the sweeps of one solve, and where asked for a rule against cycling. The method for the NCP need not
/// converge: a sweep can run round a cycle for ever, where damped sweeps do not. So, over windows of 200 sweeps and
/// later of a tenth of all so far, where the mean change of a window is not below 0.995 of that of the window before, ω
/// ← max(ω_min, 0.8 ω). Where the changes fall, even slowly, ω stays.
class Relaxation {
 public:
  Relaxation(const SweepOptions& options, bool against_cycles, Decay rule = Decay::to_minimum, Index contacts = 0)
      : omega_(options.relaxation),
        gamma_(options.relaxation_decay),
        minimum_(std::min(options.relaxation_min, options.relaxation)),
        rule_(rule),
        contacts_(rule == Decay::with_every_contact ? contacts : 1),
        against_cycles_(against_cycles) {}

  double omega() const { return omega_; }
  /// What a sweep does to ω on its way.
  ContactDecay within_sweep() const {
    return rule_ == Decay::with_every_contact ? ContactDecay{gamma_, minimum_} : ContactDecay{};
  }

  /// After sweep `k` = 1, 2, …, which moved the impulse by `change`.
  void next(long k, double change) {
    omega_ = rule_ == Decay::to_minimum
                 ? std::max(minimum_, gamma_ * omega_)
                 : minimum_ + std::pow(gamma_, static_cast<double>(contacts_)) * (omega_ - minimum_);
    if (!against_cycles_) return;
    sum_ += change;
    const long length = k - window_begin_;
    if (length < std::max(min_window, k / 10)) return;
    const double mean = sum_ / static_cast<double>(length);
    if (mean > standstill * mean_before_) omega_ = std::max(minimum_, factor * omega_);
    mean_before_ = mean;
    window_begin_ = k;
    sum_ = 0.0;
  }

 private:
  static constexpr long min_window = 200;
  static constexpr double standstill = 0.995;
  static constexpr double factor = 0.8;

  double omega_;
  double gamma_;
  double minimum_;
  Decay rule_;
  Index contacts_;
  bool against_cycles_;
  long window_begin_ = 0;
  double sum_ = 0.0;
  double mean_before_ = std::numeric_limits<double>::infinity();
};

/// ρ over the sweeps of one PROX solve (Erleben 2017, after Studer): a sweep that moves the impulse farther than the
/// last one accepted is taken back, and ρ ← ν ρ.
class StepFactor {
 public:
  explicit StepFactor(const ProxOptions& options) : rho_(options.factor), reduction_(options.reduction) {}

  double rho() const { return rho_; }
  /// Of a sweep that moved the impulse by `change`: false where it is to be taken back.
  bool accepts(double change) {
    const bool accepted = change < (1.0 - equal) * last_ || change == 0.0;
    (accepted ? last_ : rho_) = accepted ? change : reduction_ * rho_;
    return accepted;
  }

 private:
  static constexpr double equal = 1e-10;

  double rho_;
  double reduction_;
  double last_ = std::numeric_limits<double>::infinity();
};

}  // namespace conebench::gauss_seidel
