#pragma once

#include "runners/simulation/engine.hpp"

namespace conebench::simulation {

/// Implicit Euler whose elastic forces are those at the step's end, by Newton's method: every pass is a step of
/// linearised forces, each with its contacts (003 (10) with the inverse that it lacks, on the equation of (5) at t +
/// Δt).
///
///     g(v) = M (v − v⁻) − Δt τ(q ⊕ Δt v) − Jᵀ λ      [N s]
///     A_k  = M + Δt D + Δt² K(q ⊕ Δt v_k)
///
/// M, D, J and Coriolis forces are those of the step's start. K is the derivative of the elastic forces, of joints'
/// rotations Gauss-Newton's, made positive semidefinite, so that A_k has a factor.
class NewtonStep {
 public:
  static constexpr long most_passes = 10;
  static constexpr double accurate = 1e-8;  ///< ‖g‖ ≤ this share of ‖M v⁻‖ + Δt ‖τ‖

  /// `mechanics`: of the step's start.
  NewtonStep(Engine& engine, const State& start, double time_step, Mechanics& mechanics)
      : engine_(&engine), mechanics_(&mechanics), start_(start), time_step_(time_step) {}

  /// Linearises `mechanics` about q ⊕ Δt v. Its force is then τ(q ⊕ Δt v) + Δt K v, to which discretise() adds the −Δt
  /// K v⁺ of the velocity it looks for. Returns ‖g(v)‖ over its scale where v solves the linearisation before; of the
  /// first call that means nothing.
  double linearise(const Vector& velocity);

 private:
  Engine* engine_;
  Mechanics* mechanics_;
  State start_;
  double time_step_;
  Vector ahead_;  ///< Δt K v, part of the force since the last call
};

}  // namespace conebench::simulation
