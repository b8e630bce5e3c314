#include "solvers/cond/velocity_of_impulse.hpp"

namespace conebench::cond {

VelocityOfImpulse::VelocityOfImpulse(const ContactProblem& problem)
    : problem_(problem), inverse_diagonal_(problem.primal()->mass.diagonal().cwiseInverse()) {
  for (Vector* buffer : {&residual_, &direction_, &image_}) buffer->setZero(inverse_diagonal_.size());
}

long VelocityOfImpulse::operator()(ConstVectorRef impulse, VectorRef velocity) {
  const PrimalForm& primal = *problem_->primal();
  velocity = primal.free_velocity;
  residual_.noalias() = primal.jacobian.transpose() * impulse;
  direction_ = inverse_diagonal_.cwiseProduct(residual_);
  double size = residual_.dot(direction_);
  const double end = 1e-24 * size;
  const long max_products = 10 * static_cast<long>(velocity.size()) + 100;
  long products = 0;
  while (size > end && products < max_products) {
    image_.noalias() = primal.mass * direction_;
    ++products;
    const double length = size / direction_.dot(image_);
    velocity += length * direction_;
    residual_ -= length * image_;
    image_ = inverse_diagonal_.cwiseProduct(residual_);
    const double before = size;
    size = residual_.dot(image_);
    direction_ = image_ + size / before * direction_;
  }
  if (!(size == size)) velocity.setConstant(size);  // of an impulse that is no number
  return products;
}

}  // namespace conebench::cond
