#include "solvers/acceleration/momentum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace conebench {

namespace {

/// α ← (1 + √(1 + 4 α²)) / 2; returns (α_k − 1) / α_{k+1}.
double raise(double& alpha) {
  const double before = std::exchange(alpha, 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * alpha * alpha)));
  return (before - 1.0) / alpha;
}

}  // namespace

Momentum::Momentum(Index size, std::vector<Index> first_rows)
    : ends_(std::move(first_rows)), alpha_(ends_.size(), 1.0), last_image_(size) {
  ends_.erase(ends_.begin());
  ends_.push_back(size);
}

void Momentum::restart() {
  has_last_ = false;
  std::ranges::fill(alpha_, 1.0);
}

bool Momentum::next(ConstVectorRef image, double residual, VectorRef point) {
  constexpr double eta = 0.999;  // Goldstein et al. Sec. 4.3
  const bool falls = !has_last_ || residual < eta * last_residual_;
  const double weight = falls ? raise(alpha_[0]) : 0.0;
  if (!falls) alpha_[0] = 1.0;
  last_residual_ = falls ? residual : last_residual_ / eta;
  if (!has_last_) last_image_ = image;
  has_last_ = true;
  for (Index row = 0; row < image.size(); ++row) {
    const double now = image[row], before = std::exchange(last_image_[row], now);
    point[row] = falls ? now + weight * (now - before) : before;
  }
  return falls;
}

bool Momentum::next_by_gradient(ConstVectorRef image, VectorRef point) {
  if (!std::exchange(has_last_, true)) last_image_ = image;
  bool all_fall = true;
  Index row = 0;
  for (std::size_t block = 0; block < ends_.size(); ++block) {
    const Index size = ends_[block] - row;
    const auto now = image.segment(row, size);
    auto before = last_image_.segment(row, size);
    auto next = point.segment(row, size);
    const bool falls = !((next - now).dot(now - before) > 0.0);
    if (!falls) alpha_[block] = 1.0;
    const double weight = falls ? raise(alpha_[block]) : 0.0;
    next = now + weight * (now - before);
    before = now;
    all_fall = all_fall && falls;
    row = ends_[block];
  }
  return all_fall;
}

}  // namespace conebench
