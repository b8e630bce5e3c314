#include "solvers/admm/extrapolation.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

double largest_part(const ConeProduct& cones, const Vector& v, bool by_block) {
  if (!by_block) return v.lpNorm<Eigen::Infinity>();
  double largest = 0.0;
  for (Index block = 0; block < cones.blocks(); ++block) {
    largest = std::max(largest, v.segment(cones.block_row(block), cones.block_size(block)).norm());
  }
  return largest;
}

Extrapolation::Extrapolation(const AccelerationOptions& options, StepOrder order, const ConeProduct& cones,
                             bool by_block)
    : options_(options), order_(order), cones_(&cones), by_block_(by_block) {
  const Index rows = cones.rows();
  const bool shadow = options.anderson() && order == StepOrder::solve_project;
  if (options.any()) point_ = image_ = Vector::Zero(shadow ? rows : 2 * rows);
  if (options.nesterov()) momentum_ = Momentum(2 * rows);
  if (shadow) accelerator_ = Accelerator(options, Vector::Ones(rows));
  if (options.anderson() && !shadow) {
    anderson_ = Anderson(2 * rows, rows, options.capacity);
    scratch_ = Vector::Zero(rows);
  }
}

void Extrapolation::start(const Vector& p, const Vector& z) {
  momentum_.restart();
  anderson_.restart();
  rho_ = 0.0;
  if (point_.size() == 2 * p.size()) point_ << p, z;
}

void Extrapolation::next(Vector& p, Vector& z, double rho) {
  if (!options_.any()) return;
  if (options_.nesterov()) {
    add_momentum(p, z, rho);
  } else if (order_ == StepOrder::solve_project) {
    extrapolate_shadow(p, z, rho);
  } else {
    extrapolate_pair(p, z, rho);
  }
  rho_ = rho;
}

void Extrapolation::add_momentum(Vector& p, Vector& z, double rho) {
  const Index rows = p.size();
  if (rho != rho_) momentum_.restart();
  image_ << p, z;
  const double residual = rho * (p - point_.head(rows)).squaredNorm() + (z - point_.tail(rows)).squaredNorm() / rho;
  momentum_.next(image_, residual, point_);
  p = point_.head(rows);
  z = point_.tail(rows);
}

void Extrapolation::extrapolate_shadow(Vector& y, Vector& z, double rho) {
  const double root = std::sqrt(rho);
  image_ = root * y - z / root;
  if (rho != rho_) {  // another map
    accelerator_.restart();
    point_ = image_;
    return;
  }
  accelerator_.next(point_, image_, point_);
  y = point_ / root;
  project_cone(*cones_, y, y);
  z = rho * y - root * point_;
}

void Extrapolation::extrapolate_pair(Vector& x, Vector& z, double rho) {
  const Index rows = x.size();
  image_ << x, z;
  scratch_ = z - point_.tail(rows);
  anderson_.next(image_, scratch_, point_);
  if (anderson_.columns() == anderson_.capacity()) {
    x = point_.head(rows);
    z = point_.tail(rows);
    const double now = split(x, z, rho);
    if (now < split_) {
      split_ = now;
      return;
    }
    x = image_.head(rows);
    z = image_.tail(rows);
    anderson_.restart();
  }
  point_ = image_;
  split_ = split(x, z, rho);
}

double Extrapolation::split(const Vector& x, const Vector& z, double rho) {
  scratch_ = x - z / rho;
  project_cone(*cones_, scratch_, scratch_);
  scratch_ -= x;
  return largest_part(*cones_, scratch_, by_block_);
}

}  // namespace conebench
