#pragma once

#include <memory>

#include "solvers/cascade/sparse_lu.hpp"

namespace conebench::cascade {

/// The factors of a few contacts' matrices in the order that they have: which blocks of a row they fill stands in the
/// bits of a number, so that the analysis costs next to nothing.
struct DenseLu {
  static constexpr int most_contacts = 32;  ///< bits of that number

  std::unique_ptr<SparseLu::Factors> factors;
  double flops, bytes;  ///< SparseLu's

  explicit DenseLu(const BlockMatrix& matrix);
};

}  // namespace conebench::cascade
