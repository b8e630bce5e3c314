#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

// Stages that the driver puts between the parts. True: `search` accepted a point, or is halted.

bool offer(Parts& parts, Search& search, const Vector& r);

/// Up to `count` sweeps from r, fewer where the search is halted.
void sweep_times(long count, Parts& parts, Search& search, Vector& r);

/// Strongly regularised semi-smooth Newton from the best point, as long as the best keeps shrinking.
bool rescue(Parts& parts, Search& search);

/// Sweeps from r, first `sweeps` and then on where the observed rate (at first of the last two sweeps' changes)
/// predicts that the tolerance is nearer than two Newton steps. Where one of these costs as much as many sweeps it may
/// be six, slow rates are trusted, too, and a third of a step is spent whatever the rate. `end` is what was measured
/// last.
bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, Measured& end);

/// Sweeps from r until the search accepts or is halted: all that is left where no factor fits.
bool sweep_to_the_end(Parts& parts, Search& search, Vector& r);

/// Semi-smooth Newton where nobody knows yet whether it will do: its first steps often go far up before they go down.
inline constexpr NewtonBudget first_newton{.steps = 2 * tuned.first_stall_window,
                                           .stall_window = tuned.first_stall_window,
                                           .relative = 2.0,
                                           .largest = tuned.largest_afar,
                                           .start_counts = false,
                                           .trusts_modes = true,
                                           .changes_scale = true,
                                           .leaves_cycles = true};

/// Whether more than sixteen contacts say so much the same that an interior point is the way from a cold start: the
/// effective rank of G̃, (tr G̃)²/‖G̃‖²_F, is below 0.13 of its rows, as where bricks lie on bricks in four points each.
/// Only where G̃ has eight blocks a contact, and not where a step costs as much as fifty sweeps, or no factor fits.
bool highly_redundant(Parts& parts);

/// Where everything is at rest and only pressed together, as piles under gravity are (in g̃ no contact has a velocity
/// along it or apart of more than 1e-2 of the fastest approach): the impulses −(G̃ + 1e-6 I)⁻¹ g̃ with which all contacts
/// stick, refined once, and semi-smooth Newton from there. Not where a step costs as much as fifty sweeps, or no
/// factor fits.
bool from_rest(Parts& parts, Search& search);

/// Sweeps on from r, eight at a time and an eighth of a long way, for as long as their rate (of the last half batch at
/// first, later of the later half of all) promises the tolerance within thirty of what our counts take for a Newton
/// step, later than the first 128 within ten; then one batch in a row may promise less.
bool sweep_on(Parts& parts, Search& search, Vector& r);

/// A proximal point from the best point that leaves what the tolerance allows, without over-relaxation: α falls from
/// 1e-4. Eight times `steps` Newton steps.
bool settle_within_tolerance(Parts& parts, Search& search, long steps);

/// ‖(G̃ + 1e-10 I)⁻¹ g̃‖∞, the impulse were all contacts to stick; 0 where that is no number. Large where heavy bodies
/// stand on light ones.
double sticking_impulse(Parts& parts, Search& search);

/// ADMM-NCP-SA-S, whose way to a solution is no longer for large impulses.
bool run_admm(Parts& parts, Search& search);

}  // namespace conebench::cascade
