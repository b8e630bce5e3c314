#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

// Stages that the driver puts between the parts. True: `search` accepted a point, or is halted.

bool offer(Parts& parts, Search& search, const Vector& r);

/// Semi-smooth Newton from the best point with every regularisation, as long as the best keeps shrinking.
bool rescue(Parts& parts, Search& search);

/// Sweeps from r, first `sweeps` and then on where the observed rate predicts that the tolerance is nearer than six
/// Newton steps; where one of these costs as much as many sweeps, slow rates are trusted too, and a third of a step is
/// spent whatever the rate. Where the factor would take more than `bytes`, sweeps go on until the search is halted.
bool sweep_while_cheap(Parts& parts, Search& search, Vector& r, int sweeps, double bytes);

/// Where sticking impulses, (G̃ + 1e-10 I)⁻¹ g̃, are over 1e3 (heavy on light bodies): ADMM-NCP-SA-S, whose way to a
/// solution is no longer for large impulses; then interior points from starts of that size, and a proximal point from
/// the best.
bool large_impulses(Parts& parts, Search& search, bool admm, bool interior_point);

}  // namespace conebench::cascade
