#pragma once

#include "base/options.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Springs and dampers in place of contacts, paper Lee23's penalty method: an experiment, no solver.
struct PenaltyOptions {
  double stiffness = 1e3;
  double damping = 0.0;
  double drag = 1e3;

  static void declare(OptionBinder& bind, PenaltyOptions& o);
};

/// Impulses of a step from its start alone: where φ < 0, λ_n = Δt max(0, −k φ − c v_n) and λ_t against v_t, of Δt d
/// ‖v_t‖ at most and μ λ_n at most; 0 in rows of joints and limits. `velocity`: of the rows, J v and drift
/// [m/s].
Vector penalty_impulse(const Mechanics& mechanics, const Vector& velocity, double time_step, const PenaltyOptions& o);

}  // namespace conebench::simulation
