#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/features.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// How far the velocities that impulses can reach, range(G + R) + g, stay from a closed convex cone C of admissible
/// ones.
///
/// The distance is ‖z‖ with z the projection of −g on {z ∈ C*, (G + R)ᵀ z = 0} (Moreau's theorem), found by Dykstra's
/// alternating projections. Any z ∈ C* with zᵀ g < 0 bounds the impulse of an answer from below, whatever the rank:
/// zᵀ sigma ≥ 0 asks for ‖λ‖ ≥ −zᵀ g / ‖(G + R)ᵀ z‖.
struct RangeGap {
  double distance = 0.0;  ///< ‖z‖₂ / ‖g‖₂; below 1e-9: none found
  /// The bound on ‖λ‖₂, in units of ‖g‖₂ / ‖G + R‖₂; 0 where z = 0.
  double impulse_bound = 0.0;
  bool apart = false;      ///< distance > 1e-9 and impulse_bound > 1e10: no answer exists
  Vector certificate;      ///< z / ‖z‖, rows; empty where not apart
  Index worst_block = -1;  ///< block with the largest part of z, where apart
};

/// Why a problem may be hard or impossible to solve.
struct Diagnosis {
  Features features;
  /// Nothing where the spectrum is only estimated. NCP: joints at rest, limits and normals not closing, which is what
  /// v̂ ∈ K* asks of sigma; CCP: sigma ∈ K*. Where apart, that model has no solution.
  std::optional<RangeGap> ncp_gap;
  std::optional<RangeGap> ccp_gap;
  std::vector<std::string> findings;  ///< one sentence each, for people
};

/// Takes seconds at a thousand rows: for problems that nobody solved, not for every problem.
Diagnosis diagnose(const ContactProblem& problem, const SpectrumOptions& options = {});

}  // namespace conebench
