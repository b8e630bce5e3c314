#pragma once

#include <array>
#include <chrono>

#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Times the stages of a loop that it watches; the loop itself reads no clock.
class StageClock {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::array<double, stage_count>;
  void begin(Stage stage) {
    const auto now = Clock::now();
    seconds_[static_cast<std::size_t>(stage_)] += std::chrono::duration<double>(now - since_).count();
    stage_ = stage;
    since_ = now;
  }
  /// From zero.
  void start(Stage stage) {
    seconds_ = {};
    stage_ = stage;
    since_ = Clock::now();
  }
  /// [s] in each stage up to the last begin(), by its number.
  const Seconds& seconds() const { return seconds_; }
  double seconds(Stage stage) const { return seconds_[static_cast<std::size_t>(stage)]; }

 private:
  Seconds seconds_{};
  Stage stage_ = Stage::rest;
  Clock::time_point since_ = Clock::now();
};

}  // namespace conebench::simulation
