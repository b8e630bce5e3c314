#pragma once

#include <vector>

#include "solvers/cond/nodal_form.hpp"

namespace conebench::cond {

enum class Operator { strict, proximal };

/// Paper Lee23's Algorithm 2 and (24): the contact problem of the surrogate dynamics, block by block.
///
///     symbol  meaning                                                      unit
///     v*, v** velocity before and after                                    m/s
///     w, γ    step sizes; γ = w_i, or w_i + w_j (25)                       1/kg
///     η, φ    J v* and the rows' bias                                      m/s
///     Ω       the problem's compliance R, of (37)                          m/s per N s
///     z, λ    −(η + φ) / (γ + Ω) and its projection                        N s
class ContactStep {
 public:
  ContactStep() = default;
  ContactStep(const NodalForm& form, const ConeProduct& cones, const Vector& compliance, Operator which);

  /// `velocity`: v* → v**; w = alpha steps. No allocation.
  void operator()(const Vector& steps, double alpha, const Vector& bias, Vector& velocity, VectorRef impulse) const;

 private:
  template <class Cone>
  void contacts(const Vector& steps, double alpha, const Vector& bias, Vector& velocity, VectorRef impulse) const;

  const NodalForm* form_ = nullptr;
  ConeProduct cones_;
  std::size_t first_contact_ = 0;
  std::vector<double> friction_;
  Vector compliance_;
  Operator which_ = Operator::strict;
};

}  // namespace conebench::cond
