#include "solvers/acceleration/accelerator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace conebench {

Accelerator::Accelerator(const AccelerationOptions& options, Vector weights, std::vector<Index> first_rows)
    : options_(options), weights_(std::move(weights)), residual_(weights_.size()) {
  const Index size = weights_.size();
  if (options_.anderson()) {
    anderson_ = Anderson(size, size, options_.capacity);
    plain_.resize(size);
  }
  if (options_.nesterov()) momentum_ = Momentum(size);
  if (options_.block_nesterov()) momentum_ = Momentum(size, std::move(first_rows));
  if (options_.nncg()) nncg_ = Nncg(size);
}

void Accelerator::restart() {
  anderson_.restart();
  momentum_.restart();
  nncg_.restart();
  extrapolated_ = false;
  least_merit_ = std::numeric_limits<double>::infinity();
  wait_ = pause_ = 0;
  rejected_ = 0;
}

void Accelerator::next(ConstVectorRef point, ConstVectorRef image, VectorRef next) {
  if (active()) residual_ = weights_.cwiseProduct(image - point);
  this->next(point, image, residual_.norm(), next);
}

void Accelerator::next(ConstVectorRef point, ConstVectorRef image, double merit, VectorRef next) {
  if (options_.nesterov()) {
    if (!momentum_.next(image, merit * merit, next)) ++rejected_;
    return;
  }
  if (options_.block_nesterov()) {
    next = point;
    if (!momentum_.next_by_gradient(image, next)) ++rejected_;
    return;
  }
  if (options_.nncg()) {
    if (!nncg_.next(point, image, merit * merit, next)) ++rejected_;
    return;
  }
  if (!active()) {
    next = image;
    return;
  }
  if (extrapolated_) {
    if (!(merit <= options_.safeguard * least_merit_)) {
      reject();
      next = plain_;
      return;
    }
    pause_ /= 2;
  }
  residual_ = weights_.cwiseProduct(image - point);
  plain_ = image;
  least_merit_ = std::min(least_merit_, merit);
  anderson_.next(plain_, residual_, next);
  extrapolated_ = anderson_.columns() > 0 && wait_ == 0 && next.allFinite();
  wait_ = std::max(0L, wait_ - 1);
  if (!extrapolated_) next = plain_;
}

void Accelerator::reject() {
  constexpr long longest = 128;
  ++rejected_;
  anderson_.restart();
  extrapolated_ = false;
  wait_ = pause_;
  pause_ = std::clamp(2 * pause_, 1L, longest);
}

}  // namespace conebench
