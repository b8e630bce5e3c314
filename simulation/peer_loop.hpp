#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "problems/types.hpp"
#include "simulation/engine.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench::simulation {

/// What the peer's step was made of.
struct PeerStep {
  Index contacts = 0;
  long iterations = 0;  ///< of its solver
  /// [s], 0 without a clock: contacts found; rows made and projected; the solver; all of the step.
  double collision = 0.0, rows = 0.0, solve = 0.0, all = 0.0;
};

/// The same model stepped by MuJoCo's own mj_step, with its Newton solver on soft contacts of elliptic cones: a peer of
/// the whole loop.
class PeerLoop {
 public:
  using Clock = double (*)();  ///< [s]

  virtual ~PeerLoop() = default;
  /// To the start of engine's start().
  virtual void restart() = 0;
  /// `clock` times its parts, at a cost. Errors (bad_input): what MuJoCo reports, velocities that are not finite.
  virtual Result<PeerStep> step(const Vector& control, Clock clock) = 0;
  virtual double highest_speed() const = 0;  ///< [m/s, rad/s]
};

/// `time_step` [s]. Errors: as load_engine.
Result<std::unique_ptr<PeerLoop>> load_peer_loop(const SimulatedModel& model, const std::string& name,
                                                 const EngineOptions& options, double time_step);

}  // namespace conebench::simulation
