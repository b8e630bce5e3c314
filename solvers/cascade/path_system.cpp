#include "solvers/cascade/path_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cone_projection.hpp"

namespace conebench::cascade {

namespace {

const double half_root = std::sqrt(0.5);
constexpr double least = std::numeric_limits<double>::min();

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// x with l ∘ x = b.
Eigen::Vector3d jordan_quotient(const Eigen::Vector3d& l, const Eigen::Vector3d& b) {
  const double n = (l[2] * b[2] - l[0] * b[0] - l[1] * b[1]) / cone_determinant(l);
  return {(b[0] - n * l[0]) / l[2], (b[1] - n * l[1]) / l[2], n};
}

}  // namespace

Eigen::Vector3d jordan_product(const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  return {a[2] * b[0] + b[2] * a[0], a[2] * b[1] + b[2] * a[1], a.dot(b)};
}

double cone_determinant(const Eigen::Vector3d& x) {
  const double t = tangential_norm<3>(x);
  return (x[2] - t) * (x[2] + t);
}

double velocity_determinant(const Eigen::Vector3d& w) { return w[2] * (w[2] + 2.0 * tangential_norm<3>(w)); }

Eigen::Vector3d de_saxce_velocity(const Eigen::Vector3d& w) { return {w[0], w[1], w[2] + tangential_norm<3>(w)}; }

void PathSystem::Direction::resize(Index size) {
  for (Vector* v : {&z, &dr, &dw}) v->setZero(size);
}

PathSystem::PathSystem(const ScaledProblem& problem, BlockLu& lu)
    : problem_(problem),
      lu_(lu),
      system_(problem.contacts(), 0.0),
      axes_(at(problem.contacts())),
      scaled_point_(at(problem.contacts())),
      quotient_(at(problem.contacts())),
      right_side_(problem.size()) {}

void PathSystem::scale(int i, const Eigen::Vector3d& r, const Eigen::Vector3d& w) {
  const double slip = tangential_norm<3>(w);
  const double root_r = std::sqrt(std::max(least, cone_determinant(r)));
  const double root_u = std::sqrt(std::max(least, velocity_determinant(w)));

  // The scaling point w̄ = (r/√det r + J u/√det u)/(2 g), tangential part first.
  const Eigen::Vector3d unit_r = r / root_r, unit_u = de_saxce_velocity(w) / root_u;
  const Eigen::Vector2d tangential = unit_r.head<2>() - unit_u.head<2>();
  const double g = std::sqrt(std::max(0.5, (1.0 + unit_r.dot(unit_u)) / 2.0));
  const double length = tangential.norm();
  const double point = length / (2.0 * g);
  const double a = point + std::sqrt(1.0 + point * point);
  const double eta = std::sqrt(root_r / root_u);
  const Eigen::Vector2d e = length > least ? Eigen::Vector2d(tangential / length) : Eigen::Vector2d::UnitX();
  Block& axes = axes_[at(i)];
  axes << half_root * e, Eigen::Vector2d(-e[1], e[0]), -half_root * e, half_root, 0.0, half_root;
  const Eigen::Vector3d scaling = eta * Eigen::Vector3d(a, 1.0, 1.0 / a);
  system_.right[at(i)] = axes * scaling.asDiagonal();

  // λ = W u; f1·u without cancellation: (w_n + ‖w_T‖ ‖ŵ + ê‖²/2)/√2.
  const Eigen::Vector2d direction = slip > 0.0 ? Eigen::Vector2d(w.head<2>() / slip) : Eigen::Vector2d::Zero();
  Eigen::Vector3d u = axes.transpose() * de_saxce_velocity(w);
  u[0] = (w[2] + slip * (direction + e).squaredNorm() * 0.5) * half_root;
  scaled_point_[at(i)] = axes * scaling.cwiseProduct(u);

  const double c1 = e.dot(direction) * half_root;
  const double c3 = e[0] * direction[1] - e[1] * direction[0];
  system_.diagonal[at(i)] =
      Block::Identity() - Eigen::Vector3d(a * half_root, 0.0, half_root / a) * Eigen::RowVector3d(c1 / a, c3, -a * c1);
}

void PathSystem::factor(const Vector& r, const Vector& w) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    scale(i, r.segment<3>(3 * i), w.segment<3>(3 * i));
    system_.left[at(i)] = system_.right[at(i)].transpose();
  }
  lu_.factor(problem_, system_);
}

void PathSystem::solve(const Field& d, const Vector& infeasibility, Direction& direction) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    quotient_[at(i)] = jordan_quotient(scaled_point_[at(i)], d[at(i)]);
    right_side_.segment<3>(3 * i) = system_.right[at(i)].transpose() * infeasibility.segment<3>(3 * i) +
                                    system_.diagonal[at(i)] * (axes_[at(i)].transpose() * quotient_[at(i)]);
  }
  lu_.solve(right_side_, direction.z);
  for (int i = 0; i < problem_.contacts(); ++i) {
    direction.dr.segment<3>(3 * i) = system_.right[at(i)] * direction.z.segment<3>(3 * i);
  }
  problem_.multiply(direction.dr, direction.dw);
  direction.dw -= infeasibility;
}

}  // namespace conebench::cascade
