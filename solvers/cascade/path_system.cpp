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
      system_(problem.contacts(), 0.0, problem.planar() ? Left::last : Left::nothing),
      axis_(at(problem.contacts())),
      scaled_point_(at(problem.contacts())),
      quotient_(at(problem.contacts())),
      right_side_(problem.size()) {}

void PathSystem::scale(int i, const Eigen::Vector3d& r, const Eigen::Vector3d& w) {
  const double slip = tangential_norm<3>(w);
  const double root_r = std::sqrt(std::max(least, cone_determinant(r)));
  const double root_u = std::sqrt(std::max(least, velocity_determinant(w)));
  const double un = w[2] + slip;

  // The scaling point w̄ = (r/√det r + J u/√det u)/(2 g), tangential part first.
  const double px = r[0] / root_r - w[0] / root_u;
  const double py = r[1] / root_r - w[1] / root_u;
  const double inner = (r[0] * w[0] + r[1] * w[1]) / (root_r * root_u) + (r[2] / root_r) * (un / root_u);
  const double g = std::sqrt(std::max(0.5, (1.0 + inner) / 2.0));
  const double length = std::sqrt(px * px + py * py);
  const double ex = length > least ? px / length : 1.0;
  const double ey = length > least ? py / length : 0.0;
  const double point = length / (2.0 * g);
  const double a = point + std::sqrt(1.0 + point * point);
  const double eta = std::sqrt(root_r / root_u);
  axis_[at(i)] = {ex, ey};

  // λ = W u in the eigenbasis; f1·u without cancellation: (w_n + ‖w_T‖ ‖ŵ + ê‖²/2)/√2.
  const double wx = slip > 0.0 ? w[0] / slip : 0.0;
  const double wy = slip > 0.0 ? w[1] / slip : 0.0;
  const double sx = wx + ex;
  const double sy = wy + ey;
  const double u1 = (w[2] + slip * (sx * sx + sy * sy) * 0.5) * half_root;
  const double u2 = (un - (ex * w[0] + ey * w[1])) * half_root;
  const double u3 = -ey * w[0] + ex * w[1];
  const double l1 = eta * a * u1;
  const double l2 = eta / a * u2;
  const double l3 = eta * u3;
  const double along = (l1 - l2) * half_root;
  scaled_point_[at(i)] = {along * ex - l3 * ey, along * ey + l3 * ex, (l1 + l2) * half_root};

  Block& right = system_.right[at(i)];
  right.col(0) = Eigen::Vector3d(ex * half_root, ey * half_root, half_root) * (eta * a);
  right.col(1) = Eigen::Vector3d(-ex * half_root, -ey * half_root, half_root) * (eta / a);
  right.col(2) = Eigen::Vector3d(-ey, ex, 0.0) * eta;

  const double c1 = (ex * wx + ey * wy) * half_root;
  const double c3 = -ey * wx + ex * wy;
  system_.diagonal[at(i)] << 1.0 - c1 * half_root, a * a * c1 * half_root, -a * c3 * half_root,  //
      -c1 * half_root / (a * a), 1.0 + c1 * half_root, -c3 * half_root / a,                      //
      0.0, 0.0, 1.0;
}

void PathSystem::factor(const Vector& r, const Vector& w) {
  for (int i = 0; i < problem_.contacts(); ++i) scale(i, r.segment<3>(3 * i), w.segment<3>(3 * i));
  for (int i = 0; i < problem_.contacts(); ++i) system_.left[at(i)] = system_.right[at(i)].transpose();
  lu_.factor(problem_, system_);
}

Eigen::Vector3d PathSystem::to_eigenbasis(int i, const Eigen::Vector3d& x) const {
  const auto [ex, ey] = axis_[at(i)];
  const double along = ex * x[0] + ey * x[1];
  return {(along + x[2]) * half_root, (x[2] - along) * half_root, -ey * x[0] + ex * x[1]};
}

Eigen::Vector3d PathSystem::from_eigenbasis(int i, const Vector& z) const {
  const auto [ex, ey] = axis_[at(i)];
  const double along = (z[3 * i] - z[3 * i + 1]) * half_root;
  const double across = z[3 * i + 2];
  return {along * ex - across * ey, along * ey + across * ex, (z[3 * i] + z[3 * i + 1]) * half_root};
}

void PathSystem::solve(const Field& d, const Vector& infeasibility, double weight, Direction& direction) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    quotient_[at(i)] = jordan_quotient(scaled_point_[at(i)], d[at(i)]);
    right_side_.segment<3>(3 * i) = weight * (system_.right[at(i)].transpose() * infeasibility.segment<3>(3 * i)) +
                                    system_.diagonal[at(i)] * to_eigenbasis(i, quotient_[at(i)]);
  }
  lu_.solve(right_side_, direction.z);
  for (int i = 0; i < problem_.contacts(); ++i) {
    direction.dr.segment<3>(3 * i) = system_.right[at(i)] * direction.z.segment<3>(3 * i);
  }
  problem_.multiply(direction.dr, direction.dw);
  direction.dw -= weight * infeasibility;
}

}  // namespace conebench::cascade
