#pragma once

namespace conebench::cascade {

/// What was chosen by measurement, with the reason: docs/experiments/cascade.md has the figures,
/// docs/experiments/cascade_elimination.md what made no difference. In the units of ScaledProblem: G̃ has unit diagonal,
/// r and w are of the order 1, residuals are the scaled natural map.
struct Constants {
  double magnitude = 10.0;          ///< an order of magnitude; thresholds a power of ten apart follow from it
  double fallen = 1.0 / magnitude;  ///< a residual that has fallen much
  double small = 1.0 / (magnitude * magnitude);  ///< of what is of the order 1
  // SSN's regularisation α, as a multiple of the residual and at most.
  double relative = magnitude;                        ///< near a solution: α falls with the residual
  double strong = magnitude * magnitude * magnitude;  ///< along G's null space: what redundant contacts need
  double largest = 1.0 / strong;                      ///< α beyond that slows the steps to a solution of full rank
  double largest_afar = small;                        ///< first steps go far up before they go down
  double least = 1e-12;                               ///< rounding of a unit diagonal
  double trusted_share = small;  ///< of α where modes stayed: chains of many modes end quadratically
  // SSN's runs.
  double progress = 0.7;         ///< of the best residual, that counts as a step forward
  int newton_stall_window = 10;  ///< of them without progress
  int first_stall_window = 30;   ///< from afar
  int finish_stall_window = 4;   ///< where an interior point goes on otherwise
  double same_residual = 3e-4;   ///< two residuals of one cycle
  int longest_cycle = 12;        ///< seen: 2 to 11
  double other_scale = 3.0;      ///< ρ changes the modes of contacts that go to and fro
  // IPM.
  int path_steps = 2 * first_stall_window;  ///< paths that arrive take 15 to 45
  double hand_over_below = largest;         ///< residual at which SSN is tried
  double hand_over_again = 0.5 * fallen;    ///< of the residual at which it failed
  double near_the_end = 3e-7;     ///< gap over that of the start from which SSN's modes are right on redundant contacts
  double fast = 0.25;             ///< share of the gap that a step left: the path is easy, SSN may be tried
  double neighbourhood = fallen;  ///< width min √(det r det u)/m
  double keep = 0.9;              ///< of the current width and of the way to the boundary, at least
  double to_boundary = largest;   ///< what is left of that way late
  double good_step = 0.3;         ///< length, and the centring that shorter ones get
  double shortening = 0.8;        ///< of a step that leaves the neighbourhood
  double shortest_step = largest / magnitude;  ///< ends the path
  double slow_step = 0.5 * good_step;          ///< four of them end it
  // PPA.
  double largest_shift = good_step;                ///< beyond, r(c) is c
  double first_shift = largest_shift / magnitude;  ///< the largest α that keeps the branch
  double settling_shift = shortest_step;           ///< to settle within the tolerance from the best point
  double least_shift = 1e-9;                       ///< rounding
  double shift_falls = progress;                   ///< after `successes`
  double shift_rises = 1.5;                        ///< after a failure
  int successes = 3;                               ///< inner problems solved before α falls
  int failures = longest_cycle;                    ///< in a row
  int newton_failures = 5;                         ///< in a row, before sweeps and interior point are tried
  int inner_sweeps = 2 * newton_stall_window;      ///< where SSN does not arrive
  double least_inner = small;          ///< inner tolerance over the tolerance; α of inner SSN over the shift
  double inner = 2.0 * least_inner;    ///< inner tolerance over the residual
  double most_inner = shortest_step;   ///< of both
  int finish_every = newton_failures;  ///< inner problems, SSN is tried on the problem itself
  double over_relaxation = keep;       ///< stronger loses the branch
  double admissible = keep;            ///< error of a contact that late paths leave, in tolerances
  // Stages.
  int few_contacts = 16;                 ///< that are swept before anything is scaled
  double near = 1e-5;                    ///< residual from which SSN with strong regularisation arrives
  double near_tolerances = magnitude;    ///< where the tolerance itself is not below `near`
  double within = strong;                ///< tolerances that settling on what the tolerance allows can gain
  double small_at_start = small;         ///< residual of a good start; motion beside pressing of what rests
  double rest_shift = near / magnitude;  ///< α of the impulses with which all sticks, refined once
  double least_velocity = 0.2;           ///< start of IPM where next to nothing moves
  double redundant = 0.13;     ///< effective rank over rows, as where bricks lie on bricks in four points each
  double heavy = 50.0;         ///< sweeps a Newton step: thousands of contacts in space, not piles
  double scaling = 6.0;        ///< cost of the two products that scale a block, over that of a sweep
  double planar_sweep = 0.14;  ///< cost of a 2×2 block in a sweep over that of a 3×3 one
  double sweeps_dear = 6.0;    ///< Newton steps that sweeps may take where these are heavy, else two
  double slow_rate = 0.95;     ///< contraction of sweeps that promises nothing
  int early_sweeps = 128;      ///< later sweeps whose rate is not settled
  double sweeps_early = first_stall_window;  ///< Newton steps that these may take
  double sweeps_late = magnitude;            ///< and those after them
  // Factors.
  double bodies_from = 1e6;         ///< operations from which it pays to look at bodies
  double bodies_worth = good_step;  ///< share of operations: assembly is slow, open contacts are not left out
  double same_matrix = 1e-8;        ///< G̃ and what M and J make of it
  double refined = 1e-14;           ///< residual of a linear system
  double dissect_from = 5e7;        ///< operations from which a nested dissection comes back within two factorizations
  double dissect_from_each = 1e5;   ///< and a contact
  double dissect_bytes = 5e8;       ///< beyond, the order decides whether there is a factor at all
  double elimination_over_matrix = 3.0;  ///< joints' elimination takes up to that where all is coupled already
};
inline constexpr Constants tuned;

}  // namespace conebench::cascade
