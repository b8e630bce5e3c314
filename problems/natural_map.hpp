#pragma once

#include <cmath>

#include "problems/cone_projection.hpp"

namespace conebench {

/// λ − P_{K_mu}(λ − s) of a contact for s = r v: formed as s + (y − P(y)) with y = λ − s, so that a small s beside a
/// large λ keeps its digits.
template <int Dim>
[[gnu::always_inline]] inline ContactVector<Dim> natural_map(const ContactVector<Dim>& impulse,
                                                             const ContactVector<Dim>& s, double mu) {
  constexpr int n = Dim - 1;
  const ContactVector<Dim> y = impulse - s;
  const double tangential = tangential_norm<Dim>(y);
  if (mu * tangential <= -y[n]) return impulse;  // in the polar cone, projected to 0
  if (tangential <= mu * y[n]) return s;
  const double square = mu * mu + 1.0;
  const double excess = (tangential - mu * y[n]) / square;
  ContactVector<Dim> map = s + y * (excess / tangential);
  map[n] = s[n] - mu * excess;
  return map;
}

/// The same of a limit: λ − max(0, λ − s).
inline double natural_map(double impulse, double s) { return impulse <= s ? impulse : s; }

/// ‖x‖, also where the squares leave the range.
template <int Dim>
[[gnu::always_inline]] inline double safe_norm(const ContactVector<Dim>& x) {
  const double square = x.squaredNorm();
  if (square > 1e-290 && square < 1e300) return std::sqrt(square);
  return (x.array() == 0.0).all() ? 0.0 : x.stableNorm();
}

}  // namespace conebench
