#pragma once

namespace conebench::simulation {

/// MuJoCo's parameters of one constraint, `solref` and `solimp`, as the model has them (its own defaults here).
struct Softness {
  double time_constant = 0.02;  ///< T [s]; 0 or below: minus a stiffness [1/s²], and `damping_ratio` minus a damping
  double damping_ratio = 1.0;   ///< ζ; see above [1/s]
  double min_impedance = 0.9;   ///< d_0, at a residual of 0
  double max_impedance = 0.95;  ///< d_w, from a residual of `width` on
  double width = 0.001;         ///< w [m, rad]
  double midpoint = 0.5;        ///< m, share of the width
  double power = 2.0;           ///< p
};

/// What a constraint is at one residual.
struct Impedance {
  double impedance = 0.0;   ///< d
  double compliance = 0.0;  ///< c, in R_jj = c D_jj
  double damping = 0.0;     ///< b [1/s]
  double stiffness = 0.0;   ///< k [1/s²]
};

/// Tsounis eq. (103)–(105) at residual r [m, rad]. As in MuJoCo, parameters out of range are taken at its ends, T is at
/// least 2 Δt, and a solref with one sign of each is MuJoCo's default.
Impedance impedance_at(Softness softness, double residual, double time_step);

/// v_r of one row, to be added to J v_free. Tsounis (106) has Δt (b v⁻ + k r); without −v⁻ the row's velocity after the
/// step has no memory of that before, and so neither time constant nor damping ratio. `printed` leaves −v⁻ out.
double regulation_velocity(const Impedance& impedance, double velocity_before, double residual, double time_step,
                           bool printed);

}  // namespace conebench::simulation
