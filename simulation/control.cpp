#include "simulation/control.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace conebench::simulation {

void ControlOptions::declare(OptionBinder& bind, ControlOptions& o) {
  bind.choice("control", o.control, {"scene", "none", "hold", "sine", "random"},
              "of the actuators: as the scene says, zero, the start's, or waves or random targets around it");
  bind.real("control_amplitude", o.control_amplitude,
            {.minimum = 0, .maximum = 1, .doc = "of waves and random targets, as a share of half the control range"});
  bind.real("control_period", o.control_period,
            {.minimum = 1e-3, .maximum = 1e3, .unit = "s", .doc = "of a wave, or from one random target to the next"});
}

Control::Control(std::string kind, const ControlOptions& options, Matrix ranges, Matrix waves, Vector start,
                 std::uint64_t seed)
    : kind_(std::move(kind)),
      amplitude_(options.control_amplitude),
      period_(options.control_period),
      ranges_(std::move(ranges)),
      waves_(std::move(waves)),
      start_(std::move(start)),
      phases_(start_.size()),
      from_(start_),
      to_(start_),
      random_(seed) {
  ranges_.col(0) = ranges_.col(0).cwiseMin(start_);
  ranges_.col(1) = ranges_.col(1).cwiseMax(start_);
  for (double& phase : phases_) phase = random_.uniform(0.0, 2.0 * std::numbers::pi);
}

Vector Control::at(double time) {
  if (kind_ == "none") return Vector::Zero(start_.size());
  if (kind_ == "hold") return start_;
  Vector control = start_;
  if (kind_ == "sine") {
    for (Index a = 0; a < control.size(); ++a) control[a] += wave(a, time);
  } else {
    while (time >= until_) draw();
    const double left = (until_ - time) / period_;
    control = left * from_ + (1.0 - left) * to_;
  }
  return control.cwiseMax(ranges_.col(0)).cwiseMin(ranges_.col(1));
}

/// A sin(2 π f t + p) of the model, or one of our own that begins at 0.
double Control::wave(Index actuator, double time) const {
  constexpr double turn = 2.0 * std::numbers::pi;
  if (waves_.cols() == 3 && waves_.row(actuator).any()) {
    return waves_(actuator, 0) * std::sin(turn * waves_(actuator, 1) * time + waves_(actuator, 2));
  }
  const double reach = 0.5 * amplitude_ * (ranges_(actuator, 1) - ranges_(actuator, 0));
  return reach * (std::sin(turn * time / period_ + phases_[actuator]) - std::sin(phases_[actuator]));
}

void Control::draw() {
  from_ = to_;
  for (Index a = 0; a < to_.size(); ++a) {
    const double reach = 0.5 * amplitude_ * (ranges_(a, 1) - ranges_(a, 0));
    to_[a] = start_[a] + random_.uniform(-reach, reach);
  }
  until_ += period_;
}

}  // namespace conebench::simulation
