#pragma once

#include <optional>
#include <string>
#include <vector>

namespace conebench {

/// Bands of conditioning between ascending edges: below the first, from one to the next, from the last on.
class ConditioningBands {
 public:
  /// Edges 1e2, 1e4, 1e6 and 1e8.
  ConditioningBands() = default;
  /// Edges above 1, ascending; no edges: one band.
  explicit ConditioningBands(std::vector<double> edges) : edges_(std::move(edges)) {}

  std::size_t count() const { return edges_.size() + 1; }
  /// The band of a conditioning. A zero matrix has none and is in the first band.
  std::size_t band_of(std::optional<double> conditioning) const;
  /// "below 1e2", "1e2 to 1e4", "from 1e8 on"; "any": there is one band.
  std::string name(std::size_t band) const;

 private:
  std::vector<double> edges_{1e2, 1e4, 1e6, 1e8};
};

}  // namespace conebench
