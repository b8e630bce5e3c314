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

// Three ways to sweep on from r, of which `end` says what is known and then what was measured last. Measurements come
// every eighth of the way, every eight sweeps at first, and where the tolerance is predicted.

/// First `sweeps`, then on where the rate (at first of the last two sweeps' changes, then of the later half of all)
/// predicts that the tolerance is nearer than two Newton steps. Where one of these costs as much as many sweeps it may
/// be six, slow rates are trusted, too, and a third of a step is spent whatever the rate.
bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, Measured& end);

/// For as long as the rate promises the tolerance within thirty of what our counts take for a Newton step, later than
/// the first 128 sweeps within ten; then one batch in a row may promise less.
bool sweep_while_promising(Parts& parts, Search& search, Vector& r, Measured& end);

/// Until the search accepts or is halted: all that is left where no factor fits.
bool sweep_to_the_end(Parts& parts, Search& search, Vector& r, Measured& end);

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

/// A proximal point from the best point that leaves what the tolerance allows, without over-relaxation: α falls from
/// 1e-4. Eight times `steps` Newton steps.
bool settle_within_tolerance(Parts& parts, Search& search, long steps);

}  // namespace conebench::cascade
