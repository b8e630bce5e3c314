#include "solvers/lcp/facet_lcp.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace conebench::lcp {

namespace {

constexpr double pi = 3.14159265358979323846;

/// Corners of the polygon that stands for a contact's disk: in the plane the ends of an interval.
int directions_of(const ConeProduct& cones, int facets) {
  return cones.contact_type() == ConeType::coulomb_plane ? 2 : facets;
}

/// Of z: none where the impulse is given, one where a bound is infinite, else two.
Index unknowns_of(const Interval& interval) {
  if (interval.lower == interval.upper) return 0;
  return std::isfinite(interval.lower) == std::isfinite(interval.upper) ? 2 : 1;
}

}  // namespace

Index FacetLcp::size_of(const ConeProduct& cones, int facets) {
  Index size = cones.limits();
  for (const Interval& interval : cones.intervals()) size += unknowns_of(interval);
  for (const double mu : cones.friction()) size += mu > 0.0 ? 2 + directions_of(cones, facets) : 1;
  return size;
}

FacetLcp::FacetLcp(const ContactProblem& problem, int facets, bool scaled)
    : problem_(problem),
      dimension_(problem.cones().contact_dimension()),
      facets_(directions_of(problem.cones(), facets)),
      joints_(problem.cones().joints()),
      limits_(problem.cones().limits()) {
  directions_.resize(dimension_ - 1, facets_);
  for (int m = 0; m < facets_; ++m) {
    const double angle = 2.0 * pi * m / facets_;
    directions_(0, m) = std::cos(angle);
    if (directions_.rows() > 1) directions_(1, m) = std::sin(angle);
  }
  impulse_.setZero(problem.rows());
  velocity_.setZero(problem.rows());
  lay_out();
  elimination_ = eliminate_joints(problem_).value();
  assemble(elimination_.matrix.dense(), elimination_.free_term);
  scale_.setOnes(size());
  joint_scale_.setOnes(joints_);
  if (scaled) scale();
}

void FacetLcp::lay_out() {
  const ConeProduct& cones = problem_.cones();
  Index next = limits_;
  for (Index i = 0; i < std::ssize(cones.intervals()); ++i) {
    const Interval& interval = cones.intervals()[static_cast<std::size_t>(i)];
    const double infinity = std::numeric_limits<double>::infinity();
    const bool from_above = interval.lower == -infinity && interval.upper < infinity;
    Bounded bounded{.row = cones.first_interval_row() + i, .width = interval.upper - interval.lower};
    if (from_above) {
      bounded.base = interval.upper;
      bounded.sign = -1.0;
    } else if (interval.lower > -infinity) {
      bounded.base = interval.lower;
    }
    const Index unknowns = unknowns_of(interval);
    if (unknowns > 0) bounded.z = next++;
    if (unknowns > 1) bounded.t = next++;
    intervals_.push_back(bounded);
  }
  const Index first_normal = next;
  normal_rows_ = first_normal + cones.contacts();
  Index with_friction = 0;
  for (const double mu : cones.friction()) with_friction += mu > 0.0 ? 1 : 0;
  impulses_ = normal_rows_ + facets_ * with_friction;
  Index b = normal_rows_;
  Index lambda = impulses_;
  for (Index i = 0; i < cones.contacts(); ++i) {
    Contact contact{
        .row = cones.contact_row(i), .a = first_normal + i, .friction = cones.friction()[static_cast<std::size_t>(i)]};
    if (contact.friction > 0.0) {
      contact.b = b;
      contact.lambda = lambda++;
      b += facets_;
    }
    contacts_.push_back(contact);
  }
  offset_.setZero(lambda);
  matrix_.setZero(lambda, lambda);
  w_.setZero(lambda);
}

/// (25) with P = (N C) over the impulses that are not joints'.
void FacetLcp::assemble(const Matrix& reduced, const Vector& free_term) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](Index row, Index column, double value) {
    entries.emplace_back(static_cast<int>(row - joints_), static_cast<int>(column), value);
  };
  for (Index i = 0; i < limits_; ++i) add(joints_ + i, i, 1.0);
  Vector base = Vector::Zero(reduced.rows());
  for (const Bounded& bounded : intervals_) {
    base[bounded.row - joints_] = bounded.base;
    if (bounded.z >= 0) add(bounded.row, bounded.z, bounded.sign);
    if (bounded.t >= 0 && std::isinf(bounded.width)) add(bounded.row, bounded.t, -1.0);
  }
  for (const Contact& contact : contacts_) {
    add(contact.row + dimension_ - 1, contact.a, 1.0);
    for (int m = 0; contact.b >= 0 && m < facets_; ++m) {
      for (int k = 0; k + 1 < dimension_; ++k) add(contact.row + k, contact.b + m, directions_(k, m));
    }
  }
  SparseMatrix p(reduced.rows(), impulses_);
  p.setFromTriplets(entries.begin(), entries.end());
  const Matrix product = reduced * p;
  matrix_.topLeftCorner(impulses_, impulses_) = p.transpose() * product;
  offset_.head(impulses_) = p.transpose() * free_term;
  free_offset_ = offset_;
  if (!intervals_.empty()) offset_.head(impulses_) += p.transpose() * (reduced * base).eval();
  for (const Bounded& bounded : intervals_) {
    if (bounded.t < 0 || std::isinf(bounded.width)) continue;
    matrix_(bounded.z, bounded.t) = 1.0;
    matrix_(bounded.t, bounded.z) = -1.0;
    offset_[bounded.t] = bounded.width;
  }
  for (const Contact& contact : contacts_) {
    if (contact.b < 0) continue;
    matrix_(contact.lambda, contact.a) = contact.friction;                      // (22)
    matrix_.row(contact.lambda).segment(contact.b, facets_).setConstant(-1.0);  // −E
    matrix_.col(contact.lambda).segment(contact.b, facets_).setConstant(1.0);   // Eᵀ of (23)
  }
}

void FacetLcp::scale() {
  if (size() > 0) scale_.head(impulses_) = inverse_roots(matrix_.diagonal().head(impulses_));
  for (const Bounded& bounded : intervals_) {
    if (bounded.t >= 0 && std::isfinite(bounded.width)) scale_[bounded.t] = 1.0 / scale_[bounded.z];
  }
  for (const Contact& contact : contacts_) {
    if (contact.b >= 0) scale_[contact.lambda] = 1.0 / scale_.segment(contact.b, facets_).mean();
  }
  matrix_ = scale_.asDiagonal() * matrix_ * scale_.asDiagonal();
  offset_ = offset_.cwiseProduct(scale_);
  // Wide bounds say nothing about the size of impulses.
  const Vector free_offset = free_offset_.cwiseProduct(scale_);
  double largest = size() > 0 ? free_offset.cwiseAbs().maxCoeff() : 0.0;
  if (size() > 0 && !(largest > 0.0)) largest = offset_.cwiseAbs().maxCoeff();
  if (largest > 0.0) impulse_scale_ = largest;
  offset_ /= impulse_scale_;
  if (joints_ == 0) return;
  const BlockSparseMatrix& blocks = problem_.blocks();
  Vector diagonal(joints_);
  for (Index i = 0; i < joints_; ++i) diagonal[i] = *blocks.block_values(blocks.diagonal(i));
  joint_scale_ = inverse_roots(diagonal + problem_.compliance().head(joints_)) / impulse_scale_;
}

void FacetLcp::to_impulse(const Vector& z, VectorRef impulse) const {
  const auto value = [&](Index i) { return impulse_scale_ * scale_[i] * z[i]; };
  for (Index i = 0; i < limits_; ++i) impulse[joints_ + i] = value(i);
  for (const Bounded& bounded : intervals_) {
    impulse[bounded.row] = bounded.base;
    if (bounded.z >= 0) impulse[bounded.row] += bounded.sign * value(bounded.z);
    if (bounded.t >= 0 && std::isinf(bounded.width)) impulse[bounded.row] -= value(bounded.t);
  }
  for (const Contact& contact : contacts_) {
    auto part = impulse.segment(contact.row, dimension_);
    part.setZero();
    part[dimension_ - 1] = value(contact.a);
    for (int m = 0; contact.b >= 0 && m < facets_; ++m) {
      for (int k = 0; k + 1 < dimension_; ++k) part[k] += directions_(k, m) * value(contact.b + m);
    }
  }
  elimination_.complete(impulse);
}

void FacetLcp::from_impulse(ConstVectorRef impulse, Vector& z) {
  problem_.velocity(impulse, velocity_);
  z.setZero(size());
  for (Index i = 0; i < limits_; ++i) z[i] = impulse[joints_ + i];
  for (const Bounded& bounded : intervals_) {
    if (bounded.z < 0) continue;
    z[bounded.z] = bounded.sign * (impulse[bounded.row] - bounded.base);
    if (bounded.t < 0) continue;
    z[bounded.t] = std::max(0.0, -(std::isinf(bounded.width) ? impulse[bounded.row] : velocity_[bounded.row]));
    if (std::isinf(bounded.width)) z[bounded.z] = std::max(0.0, z[bounded.z]);
  }
  for (const Contact& contact : contacts_) {
    const auto part = impulse.segment(contact.row, dimension_);
    z[contact.a] = part[dimension_ - 1];
    if (contact.b < 0) continue;
    if (directions_.rows() < 2) {
      z[contact.b] = std::max(part[0], 0.0);
      z[contact.b + 1] = std::max(-part[0], 0.0);
    } else {
      const double step = 2.0 * pi / facets_;
      const double length = std::hypot(part[0], part[1]);
      double angle = std::atan2(part[1], part[0]);
      if (angle < 0.0) angle += 2.0 * pi;
      const double sector = std::floor(angle / step);
      const int m = std::isfinite(sector) ? static_cast<int>(sector) % facets_ : 0;
      const double inside = angle - sector * step;
      z[contact.b + m] = length * std::sin(step - inside) / std::sin(step);
      z[contact.b + (m + 1) % facets_] = length * std::sin(inside) / std::sin(step);
    }
    const auto slip = velocity_.segment(contact.row, dimension_ - 1);
    for (int m = 0; m < facets_; ++m) z[contact.lambda] = std::max(z[contact.lambda], -directions_.col(m).dot(slip));
  }
  z = z.cwiseQuotient(scale_) / impulse_scale_;
}

double FacetLcp::residual(const Vector& z) {
  w_ = offset_;
  w_.noalias() += matrix_ * z;
  double worst = 0.0;
  for (Index i = 0; i < size(); ++i) worst = std::max(worst, std::abs(std::min(z[i], w_[i])));
  bool finite = z.allFinite() && w_.allFinite();
  if (joints_ > 0) {
    to_impulse(z, impulse_);
    problem_.velocity(impulse_, velocity_);
    for (Index i = 0; i < joints_; ++i) worst = std::max(worst, joint_scale_[i] * std::abs(velocity_[i]));
    finite = finite && velocity_.allFinite();
  }
  return finite ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace conebench::lcp
