#include "metrics/conditioning_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace conebench {

namespace {

/// Powers of ten as 1e4, whatever their size.
std::string edge_text(double edge) {
  const double power = std::round(std::log10(edge));
  return std::pow(10.0, power) == edge ? fmt::format("1e{:.0f}", power) : fmt::format("{:g}", edge);
}

}  // namespace

std::size_t ConditioningBands::band_of(std::optional<double> conditioning) const {
  const double value = conditioning.value_or(1.0);
  return static_cast<std::size_t>(std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
}

std::string ConditioningBands::name(std::size_t band) const {
  if (edges_.empty()) return "any";
  if (band == 0) return "below " + edge_text(edges_.front());
  if (band >= edges_.size()) return "from " + edge_text(edges_.back()) + " on";
  return edge_text(edges_[band - 1]) + " to " + edge_text(edges_[band]);
}

}  // namespace conebench
