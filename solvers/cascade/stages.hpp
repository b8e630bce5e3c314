#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

// Stages that the driver puts between the parts. True: `search` accepted a point, or is halted.

bool offer(Parts& parts, Search& search, const Vector& r);

/// Up to `count` sweeps from r, fewer where the search is halted.
void sweep_times(long count, Parts& parts, Search& search, Vector& r);

/// Semi-smooth Newton from the best point with every regularisation, as long as the best keeps shrinking.
bool rescue(Parts& parts, Search& search);

/// Sweeps from r, first `sweeps` and then on where the observed rate (at first of the last two sweeps' changes)
/// predicts that the tolerance is nearer than two Newton steps. Where one of these costs as much as many sweeps it may
/// be six, slow rates are trusted, too, and a third of a step is spent whatever the rate. `end` is what was measured
/// last.
bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, Measured& end);

/// Sweeps from r until the search accepts or is halted: all that is left where no factor fits.
bool sweep_to_the_end(Parts& parts, Search& search, Vector& r);

/// Semi-smooth Newton where nobody knows yet whether it will do: its first steps often go far up before they go down.
NewtonBudget first_newton();

/// Whether more than forty contacts say so much the same that an interior point is the way from a cold start: the
/// effective rank of G̃, (tr G̃)²/‖G̃‖²_F, is below 0.13 of its rows, as where bricks lie on bricks in four points each.
/// Only where G̃ has eight blocks a contact, and not where a step costs as much as fifty sweeps, or no factor fits.
bool highly_redundant(Parts& parts);

/// Where everything is at rest and only pressed together, as piles under gravity are (in g̃ no contact has a velocity
/// along it or apart of more than 1e-2 of the fastest approach): the impulses −(G̃ + 1e-6 I)⁻¹ g̃ with which all contacts
/// stick, refined once, and semi-smooth Newton from there. Not where a step costs as much as fifty sweeps, or no
/// factor fits.
bool from_rest(Parts& parts, Search& search);

/// A proximal point from the best point, within a thousand tolerances, that leaves what the tolerance allows, without
/// over-relaxation: α falls from 1e-4.
bool settle_within_tolerance(Parts& parts, Search& search);

}  // namespace conebench::cascade
