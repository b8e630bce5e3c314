#include "solvers/acceleration/nncg.hpp"

#include <utility>

namespace conebench {

bool Nncg::next(ConstVectorRef point, ConstVectorRef image, double squared_norm, VectorRef next) {
  const double before = std::exchange(last_squared_norm_, squared_norm);
  if (!std::exchange(has_last_, true)) {
    direction_ = image - point;
    next = image;
    return true;
  }
  if (!(squared_norm <= before)) {  // β_k > 1
    direction_.setZero();
    next = image;
    return false;
  }
  const double beta = before > 0.0 ? squared_norm / before : 0.0;
  for (Index row = 0; row < image.size(); ++row) {
    const double now = image[row];
    const double step = now - point[row];
    next[row] = now + beta * direction_[row];
    direction_[row] = beta * direction_[row] + step;
  }
  return true;
}

}  // namespace conebench
