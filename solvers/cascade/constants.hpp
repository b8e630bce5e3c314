#pragma once

namespace conebench::cascade {

/// What was chosen by measurement, one value a decision, with the reason: docs/experiments/cascade.md has the figures,
/// docs/experiments/cascade_elimination.md what made no difference. In the units of ScaledProblem: G̃ has unit diagonal,
/// r and w are of the order 1, residuals are the scaled natural map.
struct Constants {
  // SSN's regularisation α, as a multiple of the residual and at most.
  double relative = 10.0;       ///< near a solution: α falls with the residual
  double strong = 1000.0;       ///< along G's null space: what redundant contacts need
  double largest = 1e-3;        ///< α beyond that slows the steps to a solution of full rank
  double largest_strong = 0.1;  ///< beyond, a step is one of PPA
  double largest_afar = 0.01;   ///< first steps go far up before they go down
  double least = 1e-12;         ///< rounding of a unit diagonal
  double trusted_share = 0.01;  ///< of α where modes stayed: chains of many modes end quadratically
  // SSN's runs.
  double progress = 0.7;         ///< of the best residual, that counts as a step forward; of that at PPA's last finish
  int newton_stall_window = 10;  ///< of them without progress
  int first_stall_window = 30;   ///< from afar
  int finish_stall_window = 4;   ///< where an interior point goes on otherwise
  double same_residual = 3e-4;   ///< two residuals of one cycle
  int longest_cycle = 12;        ///< seen: 2 to 11
  double other_scale = 3.0;      ///< ρ changes the modes of contacts that go to and fro
  // IPM.
  int path_steps = 60;            ///< paths that arrive take 15 to 45
  double hand_over_below = 1e-3;  ///< residual at which SSN is tried, from PPA as well
  double hand_over_again = 0.05;  ///< of the residual at which it failed
  double near_the_end = 3e-7;     ///< gap over that of the start from which SSN's modes are right on redundant contacts
  double fast = 0.25;             ///< share of the gap that a step left: the path is easy, SSN may be tried
  double neighbourhood = 0.1;     ///< width min √(det r det u)/m
  double keep = 0.9;              ///< of the current width: one that has narrowed may narrow on
  double way = 0.9;               ///< to the boundary, at least: early steps that go further lose the centre
  double to_boundary = 1e-3;      ///< what is left of that way late
  double to_boundary_early = 0.1;  ///< and before, over the gap
  double good_step = 0.3;          ///< length; below, a more centred one is tried
  double second_centring = 0.3;    ///< of that one, at least
  double shortening = 0.8;         ///< of a step that leaves the neighbourhood
  double shortest_step = 1e-4;     ///< ends the path
  double slow_step = 0.15;         ///< four of them end it: at a fold steps get short
  // PPA.
  double largest_shift = 0.3;    ///< beyond, r(c) is c
  double first_shift = 0.03;     ///< the largest α that keeps the branch
  double settling_shift = 1e-4;  ///< to settle within the tolerance from the best point
  double least_shift = 1e-9;     ///< rounding
  double shift_falls = 0.7;      ///< after `successes`
  double shift_rises = 1.5;      ///< after a failure
  int successes = 3;             ///< inner problems solved before α falls
  int failures = 12;             ///< in a row: α has long been the largest
  int newton_failures = 5;       ///< in a row, before the interior point is tried
  double least_inner = 0.01;     ///< inner tolerance over the tolerance: the error that it leaves does not show
  double inner = 0.02;           ///< inner tolerance over the residual
  double most_inner = 1e-4;      ///< inner tolerance
  double inner_relative = 0.01;  ///< α of inner SSN over the shift: more damps the drift along the null space
  double largest_inner = 1e-4;   ///< and at most
  int finish_every = 5;          ///< inner problems, SSN is tried on the problem itself
  int finish_seldom = 25;        ///< where the residual does not fall: an inner problem may take no step at all
  double over_relaxation = 0.9;  ///< stronger loses the branch
  double admissible = 0.9;       ///< error of a contact or a joint that late stages leave, in tolerances
  // Bilateral relaxation.
  double jamming_shift = 50.0;  ///< α over the residual, from which it is halved six times
  double jamming_least = 0.02;  ///< impulse of a joint over the largest that jams
  double first_share = 0.125;   ///< of the admissible error: smaller ones die out in a loop's steps
  // Stages.
  int few_contacts = 16;          ///< that are swept before anything is scaled
  int few_redundant = 16;         ///< whose first Newton steps cost less than a path
  double near = 1e-5;             ///< residual from which SSN with strong regularisation arrives
  double near_tolerances = 10.0;  ///< where the tolerance itself is not below `near`
  double rescue_gain = 0.3;       ///< of the best residual, with which rescue is tried again
  double within = 1000.0;         ///< tolerances that settling on what the tolerance allows can gain
  double small_at_start = 0.01;   ///< residual of a good start
  double at_rest = 0.01;          ///< motion beside pressing of what rests
  double rest_shift = 1e-6;       ///< α of the impulses with which all sticks, refined once
  double least_velocity = 0.2;    ///< start of IPM where next to nothing moves
  double redundant = 0.13;        ///< effective rank over rows, as where bricks lie on bricks in four points each
  double heavy = 50.0;            ///< sweeps a Newton step: thousands of contacts in space, not piles
  double scaling = 6.0;           ///< cost of the two products that scale a block, over that of a sweep
  double planar_sweep = 0.14;     ///< cost of a 2×2 block in a sweep over that of a 3×3 one
  double sweeps_dear = 6.0;       ///< Newton steps that sweeps may take where these are heavy, else two
  double sweeps_tried = 0.3;      ///< Newton steps that they may take there whatever they promise
  double slow_rate = 0.95;        ///< contraction of sweeps that promises nothing
  int early_sweeps = 128;         ///< later sweeps whose rate is not settled
  double sweeps_early = 30.0;     ///< Newton steps that these may take: those of an interior point
  double sweeps_late = 10.0;      ///< and those after them
  // Factors.
  int few_in_order = 32;  ///< contacts whose matrix is eliminated in the given order
};
inline constexpr Constants tuned;

}  // namespace conebench::cascade
