#pragma once

#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Implicit Euler whose elastic forces are those at the step's end, by Newton's method: every pass is a step of
/// linearised forces, each with its contacts (Lee23 (10) with the inverse that it lacks, on the equation of (5) at t +
/// Δt).
///
///     g(v) = M (v − v⁻) − Δt τ(v) − Jᵀ λ,  τ = … − dE(q ⊕ u)/du, u = Δt v      [N s]
///     A_k  = M + Δt D + Δt² K(v_k),        K = d²E/du²
///
/// M, D, J and Coriolis forces are those of the step's start. Of nodes and centres dE/du is minus the force at the
/// step's end, of a body's rotation its moment by exp's derivative, 1 + O(Δt ω), so that K is symmetric. Passes
/// converge quadratically, contacts included; where A_k is indefinite, K is made positive by element and joint, and
/// they do so linearly.
class NewtonStep {
 public:
  static constexpr long max_passes = 10;
  static constexpr double accurate = 1e-8;  ///< ‖g‖ ≤ this share of ‖M v⁻‖ + Δt ‖τ‖

  /// `mechanics`: of the step's start. `damped`: A_k has Δt D.
  NewtonStep(Engine& engine, const State& start, double time_step, Mechanics& mechanics, bool damped = true)
      : engine_(&engine), mechanics_(&mechanics), before_(start.velocity), time_step_(time_step), damped_(damped) {}

  /// Linearises `mechanics` about v. Its force is then τ(v) + Δt K v, to which discretise() adds the −Δt
  /// K v⁺ of the velocity it looks for. Returns ‖g(v)‖ over its scale where v solves the linearisation before; of the
  /// first call that means nothing.
  double linearise(const Vector& velocity);

 private:
  Engine* engine_;
  Mechanics* mechanics_;
  Vector before_;  ///< v⁻
  double time_step_;
  bool damped_;
  Vector ahead_;  ///< Δt K v, part of the force since the last call
};

}  // namespace conebench::simulation
