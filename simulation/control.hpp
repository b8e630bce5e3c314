#pragma once

#include <cstdint>
#include <string>

#include "base/options.hpp"
#include "problems/types.hpp"
#include "scenes/random_source.hpp"

namespace conebench::simulation {

struct ControlOptions {
  std::string control = "scene";
  double control_amplitude = 0.3;
  double control_period = 1.0;

  static void declare(OptionBinder& bind, ControlOptions& o);
};

/// The commands to the actuators at each time: none, the start's values, waves or random targets around them.
class Control {
 public:
  /// kind: none, hold, sine or random; ranges: lowest and highest, a row an actuator; waves: the model's own for sine
  /// (A, f [Hz], p), no columns where it has none; start: what holds, and what waves and targets lie around.
  Control(std::string kind, const ControlOptions& options, Matrix ranges, Matrix waves, Vector start,
          std::uint64_t seed);

  /// To be asked with ascending times [s].
  Vector at(double time);

 private:
  double wave(Index actuator, double time) const;
  void draw();

  std::string kind_;
  double amplitude_, period_;
  Matrix ranges_, waves_;
  Vector start_, phases_, from_, to_;
  double until_ = 0.0;
  RandomSource random_;
};

}  // namespace conebench::simulation
