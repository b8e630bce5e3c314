#pragma once

#include <cstdint>
#include <optional>

#include "problems/block_sparse_matrix.hpp"
#include "problems/delassus_operator.hpp"

namespace conebench {

struct SpectrumOptions {
  /// Matrices with more rows are estimated. At 1000 rows the exact way takes up to about a second.
  Index exact_rows = 1000;
  int lanczos_steps = 80;
  int lanczos_starts = 8;
  std::uint64_t seed = 1;
};

/// Rank, conditioning and definiteness of a Delassus matrix G, without R.
///
/// Exact: the singular values of G as given (from the eigenvalues where its asymmetry is at most 1e-12), those above
/// rows · 2.2e-16 · the largest counting for the rank; eigenvalues of (G + Gᵀ)/2. Estimated: all from the symmetric
/// part, by Lanczos' method from random starts; the rank is a stochastic quadrature of the spectrum's density (Ubaru
/// and Saad 2016), the smallest value an upper bound, so that the conditioning is a lower one.
struct Spectrum {
  bool estimated = false;
  Index rank = 0;
  double largest = 0.0;                ///< singular value [1/kg]
  double smallest_on_range = 0.0;      ///< smallest singular value that counts for the rank; 0 for a zero matrix
  std::optional<double> conditioning;  ///< largest / smallest_on_range; nothing for a zero matrix
  double min_eigenvalue = 0.0;         ///< of the symmetric part
  double max_eigenvalue = 0.0;
  /// min_eigenvalue ≥ −rows · 2.2e-16 · largest (estimated: −1e-10 · largest).
  bool positive_semidefinite = true;
};

Spectrum analyse_spectrum(const BlockSparseMatrix& matrix, const SpectrumOptions& options = {});

/// The same. If G does not assemble sparsely and has more than exact_rows rows, the spectrum is estimated from
/// lanczos_steps · lanczos_starts products with G, as if G were symmetric.
Spectrum analyse_spectrum(const DelassusOperator& matrix, const ConeProduct& cones,
                          const SpectrumOptions& options = {});

}  // namespace conebench
