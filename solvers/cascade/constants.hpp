#pragma once

namespace conebench::cascade {

/// What was chosen by measurement, one value a decision, with the reason; docs/experiments/cascade.md has the sets and
/// what each stage is worth. In the units of ScaledProblem: G̃ has unit diagonal, r and w are of the order 1, residuals
/// are the scaled natural map.
struct Constants {
  double near = 0.01;  ///< residual of a good start, and from which SSN is tried where a path leads
  /// Share that does not show: of a tolerance in its inner problems, motion relative to pressing, a joint's impulse to
  /// the largest that jams, SSN's α to the shift of PPA.
  double negligible = 0.01;
  // SSN's regularisation α, as a multiple of the residual and at most.
  double relative = 10.0;       ///< near a solution: α falls with the residual
  double strong = 1000.0;       ///< along G's null space: what redundant contacts need
  double largest = 1e-3;        ///< α beyond that slows the steps to a solution of full rank
  double max_far_step = 0.01;   ///< beyond, a step is one of PPA
  double least = 1e-12;         ///< rounding of a unit diagonal; PPA's, too
  double trusted_share = 0.01;  ///< of α where modes stayed: chains of many modes end quadratically
  // SSN's runs.
  double progress = 0.7;        ///< of the best residual, that counts as a step forward; of that at PPA's last finish;
                                ///< 0.8 takes 4 to 10 % more iterations on perturbed copies
  int stall_window = 10;        ///< steps without progress
  int first_stall_window = 30;  ///< from afar; an interior point may take twice that: paths that arrive take 15 to 45
  double same_residual = 3e-4;  ///< two residuals of one cycle
  int max_cycle = 12;           ///< seen: 2 to 11
  double other_scale = 3.0;     ///< ρ changes the modes of contacts that go to and fro
  // IPM.
  double hand_over_again = 0.05;  ///< of the residual at which SSN failed: 84 of 100 earlier tries failed, too
  double near_the_end = 3e-7;     ///< gap over that of the start from which SSN's modes are right on redundant contacts
  double centrality = 0.1;  ///< width min √(det r det u)/m of the neighbourhood; what an early step leaves of the way
                            ///< to the boundary, over the gap
  double way = 0.9;         ///< to the boundary, at least: early steps that go further lose the centre
  double min_way = 1e-3;    ///< what a late step leaves of it, as nearer it loses digits; a shorter step ends the path
  double short_step = 0.3;  ///< length below which one with at least so much centring is tried
  double shortening = 0.8;  ///< of a step that leaves the neighbourhood
  double min_velocity = 0.2;  ///< start where next to nothing moves: 7 steps for 12 on stacks of twenty boxes
  // PPA.
  double max_shift = 0.3;        ///< beyond, r(c) is c
  double first_shift = 0.03;     ///< the largest α that keeps the branch
  int successes = 3;             ///< inner problems solved before α falls
  double over_relaxation = 0.9;  ///< stronger loses the branch
  double shift_falls = 0.7;      ///< after `successes`
  int failures = 5;              ///< in a row, before the interior point is tried; of those, before the path ends
  double inner = 0.02;           ///< inner tolerance over the residual
  int finish_every = 5;          ///< inner problems, SSN is tried on the problem itself
  double admissible = 0.9;       ///< error of a contact or a joint that is left, in tolerances
  // Bilateral relaxation.
  double jamming_shift = 50.0;  ///< α over the residual, from which it is halved six times
  double first_share = 0.125;   ///< of the admissible error: smaller ones die out in a loop's steps, 1/16 misses two
  // Stages.
  int few_contacts = 16;          ///< swept before anything is scaled; first Newton steps cost less than a path
  double rescued_below = 1e-5;    ///< residual from which SSN with strong regularisation arrives
  double near_tolerances = 10.0;  ///< from which what joints are allowed helps
  double rest_shift = 1e-6;       ///< α of the impulses with which all sticks; one refinement squares its error
  double redundant = 0.13;        ///< effective rank over rows: Kapla towers have 0.11 to 0.13, stacks 0.17 to 0.25
  double heavy = 50.0;            ///< sweeps a Newton step: thousands of contacts in space, not piles
  double sweeps_dear = 6.0;       ///< Newton steps that sweeps may take there: SSN takes three to six
  double scaling = 6.0;           ///< cost of the two products that scale a block, over that of a sweep
  double planar_sweep = 0.14;     ///< cost of a 2×2 block in a sweep over that of a 3×3 one
  // Factors.
  int few_in_order = 32;         ///< contacts whose matrix is eliminated in the given order; 64 gain no more
  double dissected_above = 5e8;  ///< operations by minimum degree; nested dissection takes as long as what it saves in
                                 ///< one factorization of twice that
};
inline constexpr Constants tuned;

}  // namespace conebench::cascade
