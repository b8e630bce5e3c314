#pragma once

#include <cmath>

#include "problems/cone_projection.hpp"

namespace conebench::cascade {

// What semi-smooth Newton makes of one contact in the coordinates of ScaledProblem, where cones are ‖r_T‖ ≤ r_n;
// letters and derivation in DERIVATION.md. Components are (t1, t2, n), in 2D (t, n).

enum class Mode : char { open, stick, slip };

/// y = r − u(w), which the natural map projects.
template <int Dim>
ContactVector<Dim> projected_point(const ContactVector<Dim>& r, const ContactVector<Dim>& w) {
  ContactVector<Dim> y = r - w;
  y[Dim - 1] -= tangential_norm<Dim>(w);
  return y;
}

template <int Dim>
Mode mode_of(const ContactVector<Dim>& y) {
  const double length = tangential_norm<Dim>(y);
  if (length <= y[Dim - 1]) return Mode::stick;
  return length <= -y[Dim - 1] ? Mode::open : Mode::slip;
}

/// dr = z_1 f1 + z_3 f3 + known with  row·dw = first  and  τ f3·dw + (1 − τ) z_3 = third.  In 2D there is no f3.
template <int Dim>
struct Slip {
  using Part = ContactVector<Dim>;
  Part along, across;   ///< f1; f3
  Part row;             ///< f1ᵀ Q
  Part known;           ///< −F_2 f2
  double turned;        ///< τ
  double first, third;  ///< −F_1, −F_3

  Slip() = default;
  Slip(const Part& r, const Part& w, const Part& y) {
    constexpr int n = Dim - 1;
    const double half_root = std::sqrt(0.5);
    const double length = tangential_norm<Dim>(y);
    const double slip = tangential_norm<Dim>(w);
    Part axis = y / length;  // √2 f1
    axis[n] = 1.0;
    turned = 0.5 + 0.5 * y[n] / length;
    along = row = half_root * axis;
    if (slip > 0.0) row.template head<n>() += half_root / slip * w.template head<n>();
    first = -half_root * (axis.dot(w) + slip);
    known = 0.5 * (r[n] - axis.template head<n>().dot(r.template head<n>())) * axis;
    known[n] = -known[n];
    across.setZero();
    third = 0.0;
    if constexpr (Dim == 3) {
      across = {-axis[1], axis[0], 0.0};
      third = -across.dot(r);
    }
  }
};

}  // namespace conebench::cascade
