#include "solvers/cascade/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/cones/coulomb.hpp"

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

/// Largest a with x + a d in the cone, for x in it.
double cone_step(const Eigen::Vector3d& x, const Eigen::Vector3d& d) {
  const double quadratic = d[2] * d[2] - d[0] * d[0] - d[1] * d[1];
  const double linear = x[2] * d[2] - x[0] * d[0] - x[1] * d[1];
  const double constant = std::max(0.0, cone_determinant(x));
  double longest = std::numeric_limits<double>::infinity();
  const double discriminant = linear * linear - quadratic * constant;
  if (discriminant >= 0.0) {
    const double root = std::sqrt(discriminant);
    const double q = -(linear + (linear >= 0.0 ? root : -root));
    if (quadratic != 0.0 && q / quadratic > 0.0) longest = std::min(longest, q / quadratic);
    if (q != 0.0 && constant / q > 0.0) longest = std::min(longest, constant / q);
  }
  return d[2] < 0.0 ? std::min(longest, -x[2] / d[2]) : longest;
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

InteriorPoint::InteriorPoint(const ScaledProblem& problem, BlockLu& lu, SemismoothNewton& newton)
    : problem_(problem),
      system_(problem, lu),
      newton_(newton),
      r_(problem.size()),
      w_(problem.size()),
      product_(problem.size()),
      infeasibility_(problem.size()),
      residual_workspace_(problem.size()),
      d_(at(problem.contacts())) {
  for (auto* direction : {&affine_, &corrected_, &chosen_}) direction->resize(problem.size());
}

double InteriorPoint::gap_at(double length, const PathSystem::Direction& direction) const {
  double gap = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d w = w_.segment<3>(3 * i) + length * direction.dw.segment<3>(3 * i);
    gap += (r_.segment<3>(3 * i) + length * direction.dr.segment<3>(3 * i)).dot(de_saxce_velocity(w));
  }
  return gap / problem_.contacts();
}

double InteriorPoint::step_to_boundary(const PathSystem::Direction& direction) const {
  double longest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < problem_.contacts(); ++i) {
    longest = std::min(longest, cone_step(r_.segment<3>(3 * i), direction.dr.segment<3>(3 * i)));
    const double dwn = direction.dw[3 * i + 2];
    if (dwn < 0.0) longest = std::min(longest, -w_[3 * i + 2] / dwn);
  }
  return longest;
}

bool InteriorPoint::in_neighbourhood(double length, const PathSystem::Direction& direction, double width,
                                     double& gap) const {
  double least = std::numeric_limits<double>::infinity();
  gap = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d r = r_.segment<3>(3 * i) + length * direction.dr.segment<3>(3 * i);
    const Eigen::Vector3d w = w_.segment<3>(3 * i) + length * direction.dw.segment<3>(3 * i);
    const double det_r = cone_determinant(r);
    const double det_u = velocity_determinant(w);
    if (!(det_r > 0.0) || !(det_u > 0.0)) return false;
    gap += r.dot(de_saxce_velocity(w));
    least = std::min(least, det_r * det_u);
  }
  gap /= problem_.contacts();
  return least >= width * width * gap * gap;
}

double InteriorPoint::choose_step(int iteration, double m) {
  const int n = problem_.contacts();
  const auto squared = [&](int i) {
    return Eigen::Vector3d(-jordan_product(system_.scaled_point(i), system_.scaled_point(i)));
  };
  for (int i = 0; i < n; ++i) d_[at(i)] = squared(i);
  system_.solve(d_, infeasibility_, affine_);
  affine_quotient_ = system_.quotient();
  const double affine_gap = gap_at(std::min(1.0, step_to_boundary(affine_)), affine_);
  const double centring = std::pow(std::clamp(affine_gap / m, 0.0, 1.0), 3);

  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) {
    least = std::min(least, cone_determinant(r_.segment<3>(3 * i)) * velocity_determinant(w_.segment<3>(3 * i)));
  }
  const double width = std::min(tuned.centrality, std::sqrt(std::max(0.0, least)) / m);
  const double fraction = std::max(tuned.way, 1.0 - std::max(tuned.min_way, tuned.centrality * m));

  double best = -1.0;
  for (int mode = 0; mode < 2; ++mode) {
    const double sigma = mode == 0 ? centring : std::max(centring, tuned.short_step);
    for (int i = 0; i < n; ++i) {
      d_[at(i)] = squared(i) + Eigen::Vector3d(0.0, 0.0, sigma * m);
      if (mode > 0) continue;
      const Eigen::Vector3d x = system_.from_eigenbasis(i, affine_.z);
      d_[at(i)] -= jordan_product(x, affine_quotient_[at(i)] - x);
    }
    system_.solve(d_, infeasibility_, corrected_);
    double length = std::min(1.0, fraction * step_to_boundary(corrected_));
    double gap = 0.0;
    for (; length > tuned.min_way; length *= tuned.shortening) {
      if (in_neighbourhood(length, corrected_, width, gap) && (iteration <= 3 || gap <= m)) break;
    }
    if (length > best) {
      best = length;
      std::swap(chosen_, corrected_);
    }
    if (best > tuned.short_step) break;
  }
  return best;
}

bool InteriorPoint::finish_with_newton(Search& search) {
  NewtonBudget budget = finish;
  if (alternate) budget.relative = search.odd_attempt() ? tuned.strong : finish.relative;
  return newton_.run(search, r_, budget);
}

bool InteriorPoint::run(Search& search, double velocity) {
  if (problem_.has_intervals()) return false;
  const int n = problem_.contacts();
  for (int i = 0; i < n; ++i) {
    r_.segment<3>(3 * i) = Eigen::Vector3d(0.0, 0.0, 1.0 / velocity);
    w_.segment<3>(3 * i) = Eigen::Vector3d(0.0, 0.0, velocity);
  }
  problem_.multiply(r_, product_);
  double hand_over_below = tuned.near;
  for (int k = 0; k < 2 * tuned.first_stall_window; ++k) {
    double m = 0.0;
    for (int i = 0; i < n; ++i) m += r_.segment<3>(3 * i).dot(de_saxce_velocity(w_.segment<3>(3 * i)));
    m /= n;
    infeasibility_ = w_ - product_ - problem_.free_term();
    residual_workspace_ = product_ + problem_.free_term();
    const double residual = problem_.residual(r_, residual_workspace_);
    if (search.offer(r_, residual)) return true;
    if (search.halted() || !std::isfinite(residual) || !(m > 0.0)) return false;
    if (m < tuned.near_the_end && residual < hand_over_below) {
      if (finish_with_newton(search)) return true;
      if (search.halted()) return false;
      hand_over_below = tuned.hand_over_again * residual;
    }
    system_.factor(r_, w_);
    search.count_newton();
    const double step = choose_step(k, m);
    if (step < tuned.min_way) return false;
    r_ += step * chosen_.dr;
    w_ += step * chosen_.dw;
    problem_.multiply(r_, product_);  // rounding of updates would pile up
  }
  return false;
}

}  // namespace conebench::cascade
