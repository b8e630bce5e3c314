#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "problems/contact_problem.hpp"

namespace conebench::admm_test {

/// Paper Tsounis Alg. 6 (Carpentier24 Alg. 1, LeLidec24 Alg. 3 with z = −γ) line by line on dense matrices: what
/// AdmmSolver is held to.
struct LiteralAdmm {
  Matrix d;  ///< G + R
  Vector g;
  ConeProduct cones;
  double eta = 1e-6;
  double rho = 1.0;
  double omega = 1.0;
  bool de_saxce = true;
  /// z ← z + ρ ∂L/∂z with the last term of Carpentier24 (34), (35) as printed, −‖z‖²/ρ.
  bool printed_lagrangian = false;

  Vector x, y, z, x_previous, y_previous, z_previous;
  double primal = 0.0, dual = 0.0, complementarity = 0.0;

  LiteralAdmm(const ContactProblem& problem, const Vector& guess, bool ncp = true) : de_saxce(ncp) {
    d = problem.delassus().dense();
    d.diagonal() += problem.compliance();
    g = problem.free_term();
    cones = problem.cones();
    x = y = z = Vector::Zero(g.size());
    project_cone(cones, guess, y);
    x = y;
    z = corrected(d * y + g);
    project_dual_cone(cones, z, z);
  }

  /// σ + Γ(σ), or σ in the CCP.
  Vector corrected(const Vector& sigma) const {
    Vector result = sigma;
    if (de_saxce) add_de_saxce(cones, sigma, result);
    return result;
  }

  void step() {
    x_previous = x;
    y_previous = y;
    z_previous = z;
    const Vector s = corrected(z) - z;                                              // line 4
    const Vector v = g + s - eta * x - rho * y - z;                                 // line 5
    const Matrix shifted = d + (eta + rho) * Matrix::Identity(d.rows(), d.rows());  // line 6
    x = shifted.partialPivLu().solve(-v);
    x = (1.0 - omega) * y_previous + omega * x;              // line 7
    project_cone(cones, Vector(x - z / rho), y);             // line 8
    z = printed_lagrangian ? Vector(-rho * (x - y))          // ∂L/∂z = −(x − y) + z/ρ − 2z/ρ
                           : Vector(z - rho * (x - y));      // line 9
    primal = (x - y).lpNorm<Eigen::Infinity>();              // line 12
    dual = printed_dual().lpNorm<Eigen::Infinity>();         // line 13
    complementarity = largest_complementarity(cones, x, z);  // line 14
  }

  /// Carpentier24 (41), Tsounis (170b).
  Vector printed_dual() const { return eta * (x - x_previous) + rho * (y - y_previous); }
  /// What (41) stands for: the gradient of Carpentier24 (30), with the sign of (41), at Γ(z).
  Vector exact_dual() const { return z - (d * x + g + corrected(z) - z); }

  /// Carpentier24 (44) and, with factor κ^τ, (46): Tsounis line 18.
  void adapt(double ratio, double factor) {
    if (primal >= ratio * dual) {
      rho *= factor;
    } else if (dual >= ratio * primal) {
      rho /= factor;
    }
  }
};

}  // namespace conebench::admm_test
