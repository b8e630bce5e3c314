#include "simulation/softening.hpp"

#include <algorithm>
#include <cmath>

namespace conebench::simulation {

namespace {

/// The range that MuJoCo keeps impedances and midpoints in.
constexpr double least = 1e-4, most = 1.0 - 1e-4;
constexpr double tiny = 1e-15;

/// f_s, Tsounis eq. (103).
double shape(double x, double midpoint, double power) {
  if (power == 1.0) return x;
  if (x <= midpoint) return std::pow(x, power) / std::pow(midpoint, power - 1.0);
  return 1.0 - std::pow(1.0 - x, power) / std::pow(1.0 - midpoint, power - 1.0);
}

}  // namespace

Impedance impedance_at(Softness s, double residual, double time_step) {
  const double d_0 = std::clamp(s.min_impedance, least, most);
  const double d_w = std::clamp(s.max_impedance, least, most);
  if ((s.time_constant > 0.0) != (s.damping_ratio > 0.0)) {
    s.time_constant = Softness{}.time_constant;
    s.damping_ratio = Softness{}.damping_ratio;
  }
  Impedance at;
  if (d_0 == d_w || s.width <= tiny) {
    at.impedance = 0.5 * (d_0 + d_w);  // Tsounis eq. (104b)
  } else {
    // Tsounis (104a) has |r − m| / w, but m is a share of the width, and r = 0 is to have the impedance d_0.
    const double x = std::abs(residual) / s.width;
    at.impedance =
        x >= 1.0 ? d_w : d_0 + (d_w - d_0) * shape(x, std::clamp(s.midpoint, least, most), std::max(1.0, s.power));
  }
  const double d = at.impedance;
  at.compliance = (1.0 - d) / d;  // Tsounis eq. (105)
  if (s.time_constant > 0.0) {
    const double t = std::max(s.time_constant, 2.0 * time_step);
    at.damping = 2.0 / (d_w * t);
    at.stiffness = d / std::max(tiny, d_w * d_w * t * t * s.damping_ratio * s.damping_ratio);
  } else {
    at.damping = -s.damping_ratio / d_w;
    at.stiffness = -s.time_constant * d / (d_w * d_w);
  }
  return at;
}

double regulation_velocity(const Impedance& at, double velocity_before, double residual, double time_step,
                           bool printed) {
  const double regulated = time_step * (at.damping * velocity_before + at.stiffness * residual);  // Tsounis eq. (106)
  return printed ? regulated : regulated - velocity_before;
}

}  // namespace conebench::simulation
