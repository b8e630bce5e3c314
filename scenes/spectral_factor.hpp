#pragma once

#include <span>

#include "problems/cone_product.hpp"
#include "problems/types.hpp"
#include "scenes/random_source.hpp"

namespace conebench {

/// A symmetric positive semi-definite G = J D Jᵀ of prescribed spectrum: J has orthonormal columns (rows × rank), and
/// D is the diagonal of the eigenvalues that are not zero.
struct SpectralFactor {
  SparseMatrix jacobian;
  Vector eigenvalues;
};

/// What the spectrum and the pattern of a random G shall be.
struct SpectralSpec {
  Index rank = 0;             ///< 0 ≤ rank ≤ rows
  double conditioning = 1.0;  ///< largest over smallest of the eigenvalues that are not zero, ≥ 1
  double scale = 1.0;         ///< largest eigenvalue [1/kg]
  Index window = 0;           ///< rows mixed with each other; 0: all, a dense G
};

/// Eigenvalues lie evenly on a logarithmic scale. J is random orthogonal (Haar) where G is dense; else two layers of
/// random orthogonal windows, the second shifted by half a window, so that a contact couples with about three times
/// as many others as a window holds, and all windows hang together. Blocks are placed at random.
SpectralFactor random_spectral_factor(const SpectralSpec& spec, const ConeProduct& cones, RandomSource& random);

}  // namespace conebench
