#include "solvers/cascade/scaled_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/cones/contact_cones.hpp"
#include "problems/scaled_natural_map.hpp"

namespace conebench::cascade {

namespace {

/// Component of a contact whose number among those of a stored block is `a`.
template <int Dim>
constexpr int component(int a) {
  return a + 1 < Dim ? a : 2;
}

/// A contact's velocity in a whole register, and how it is written in three components.
template <int Dim>
struct ProductLanes;
template <>
struct ProductLanes<3> {
  using Type = Eigen::Array<double, 4, 1>;
  static void put(const Type& sum, double, Eigen::Ref<Eigen::Vector3d> out) { out = sum.head<3>().matrix(); }
};
template <>
struct ProductLanes<2> {
  using Type = Eigen::Array<double, 2, 1>;
  static void put(const Type& sum, double across, Eigen::Ref<Eigen::Vector3d> out) { out << sum[0], across, sum[1]; }
};

}  // namespace

ScaledProblem::ScaledProblem(const ContactProblem& problem, std::optional<JointElimination> joints) : given_(problem) {
  const Index eliminated = problem.cones().joints();
  if (eliminated > 0) {
    joints_ = std::make_shared<const JointElimination>(joints ? *std::move(joints) : eliminate_joints(problem).value());
  }
  const ContactSystem system = this->system();
  pattern_ = &system.matrix;
  Vector inverse_steps(problem.cones().blocks());
  reference_velocity_ = natural_map_scaling(problem, inverse_steps);
  contacts_.reserve(static_cast<std::size_t>(system.cones.blocks()));
  free_term_.resize(3 * system.cones.blocks());
  for (Index i = 0; i < system.cones.blocks(); ++i) {
    const Contact& contact = contacts_.emplace_back(scaling_of(system, i, 1.0 / inverse_steps[eliminated + i]));
    for (int a = 0; a < 3; ++a)
      free_term_[3 * i + a] = system.free_term[contact.first + contact.indices[a]] * contact.weights[a];
    if (contact.weights[1] > 0.0) planar_ = false;
  }
  with_dimension([&]<int Dim>() { scale_blocks<Dim>(system); });
  const double magnitude = free_term_.stableNorm() / std::sqrt(std::max<double>(1.0, contacts()));
  if (magnitude > 0.0) gamma_ = magnitude;
  free_term_ /= gamma_;
  first_interval_ = static_cast<int>(system.cones.first_interval_row());
  for (Index row = first_interval_; row < system.cones.first_contact_row(); ++row) {
    const double unit = gamma_ * contact(row).weights[2];
    const Interval given = system.cones.bounds(row);
    bounds_.push_back({given.lower / unit, given.upper / unit});
  }
}

ScaledProblem::Contact ScaledProblem::scaling_of(const ContactSystem& system, Index i, double step) const {
  Contact contact{.first = system.matrix.block_offset(i), .step = step};
  const Index scalars = system.cones.first_contact_row();
  const int size = system.matrix.block_size(i);
  const double mu = i < scalars ? 0.0 : system.cones.friction()[static_cast<std::size_t>(i - scalars)];
  const auto own = system.matrix.block(i, system.matrix.diagonal(i));
  if (mu > 0.0) contact.friction = mu;
  contact.indices = {0, mu > 0.0 && size == 3 ? 1 : 0, size - 1};
  contact.weights = {mu > 0.0 ? 1.0 : 0.0, mu > 0.0 && size == 3 ? 1.0 : 0.0, 1.0 / contact.friction};
  double sum = 0.0;
  for (int a = 0; a < 3; ++a) {
    const int index = contact.indices[a];
    const double entry = own(index, index) + system.compliance_of(contact.first + index);
    sum += entry * contact.weights[a] * contact.weights[a];
  }
  const auto components = static_cast<double>((contact.weights > 0.0).count());
  if (sum > 0.0) contact.scale = 1.0 / std::sqrt(sum / components);
  contact.weights *= contact.scale;
  contact.tolerance = 1.0 / (step * reference_velocity_);
  return contact;
}

template <int Dim>
void ScaledProblem::scale_blocks(const ContactSystem& system) {
  values_.resize(Dim * Dim * system.matrix.stored_blocks() + 1);
  values_[values_.size() - 1] = 0.0;
  double* value = values_.data();
  for (int i = 0; i < contacts(); ++i) {
    const Contact& rows = contact(i);
    const int size = system.matrix.block_size(i);
    for (int k = row_begin(i); k < row_begin(i + 1); ++k, value += Dim * Dim) {
      const Contact& columns = contact(column(k));
      const double* given = system.matrix.block_values(k);
      for (int b = 0; b < Dim; ++b) {
        const double* from = given + size * columns.indices[component<Dim>(b)];
        const double weight = columns.weights[component<Dim>(b)];
        for (int a = 0; a < Dim; ++a)
          value[Dim * b + a] = from[rows.indices[component<Dim>(a)]] * (rows.weights[component<Dim>(a)] * weight);
      }
      if (column(k) != i) continue;
      for (int a = 0; a < Dim; ++a) {
        const int own = component<Dim>(a);
        const double square = rows.weights[own] * rows.weights[own];
        double& entry = value[(Dim + 1) * a];
        entry = square > 0.0 ? entry + system.compliance_of(rows.first + rows.indices[own]) * square : 1.0;
      }
    }
  }
}

void ScaledProblem::become_shifted(const ScaledProblem& base, double shift, const Vector& center) {
  free_term_ = base.free_term_ - shift * center;
  shift_ = base.shift_ + shift;
  with_dimension([&]<int Dim>() {
    for (int i = 0; i < contacts(); ++i) {
      const auto given = base.block<Dim>(diagonal(i));
      Eigen::Map<Eigen::Matrix<double, Dim, Dim>> shifted(values_.data() + (given.data() - base.values_.data()));
      shifted = given;
      shifted.diagonal().array() += shift;
    }
  });
}

void ScaledProblem::multiply(const Vector& r, Vector& out) const {
  ++*products_;
  with_dimension([&]<int Dim>() {
    using Lanes = typename ProductLanes<Dim>::Type;
    const double* value = values_.data();
    for (int i = 0; i < contacts(); ++i) {
      Lanes sum = Lanes::Zero();
      for (int k = row_begin(i); k < row_begin(i + 1); ++k, value += Dim * Dim) {
        const double* x = r.data() + 3 * static_cast<std::ptrdiff_t>(column(k));
        Lanes product = Eigen::Map<const Lanes>(value) * x[0];
        for (int b = 1; b < Dim; ++b) product += Eigen::Map<const Lanes>(value + Dim * b) * x[component<Dim>(b)];
        sum += product;
      }
      ProductLanes<Dim>::put(sum, (1.0 + shift_) * r[3 * i + 1], out.segment<3>(3 * i));
    }
  });
}

void ScaledProblem::velocity(const Vector& r, Vector& w) const {
  multiply(r, w);
  w += free_term_;
}

double ScaledProblem::residual_of(int i, const Vector& r, const Vector& w) const {
  const Contact& own = contact(i);
  if (is_interval(i)) {
    const double unit = own.scale * gamma_;
    const double step = own.step * (w[3 * i + 2] * (gamma_ / own.scale));
    return std::abs(unit * bounds(i).natural_map(r[3 * i + 2], step / unit)) * own.tolerance;
  }
  Eigen::Vector3d impulse = r.segment<3>(3 * i) * (own.scale * gamma_);
  Eigen::Vector3d velocity = w.segment<3>(3 * i) * (gamma_ / own.scale);
  impulse[2] /= own.friction;
  velocity[2] = own.friction * (velocity[2] + tangential_norm<3>(velocity));
  const Eigen::Vector3d step = own.step * velocity;
  return safe_norm(natural_map<3>(impulse, step, own.friction)) * own.tolerance;
}

double ScaledProblem::residual(const Vector& r, const Vector& w) const {
  double worst = 0.0;
  for (int i = 0; i < contacts(); ++i) {
    const double error = residual_of(i, r, w);
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) break;
  }
  return worst;
}

void ScaledProblem::to_impulse(const Vector& r, VectorRef all) const {
  VectorRef impulse = all.tail(pattern_->rows());
  impulse.setZero();
  for (int i = 0; i < contacts(); ++i) {
    const Contact& own = contact(i);
    for (int a = 0; a < 3; ++a) impulse[own.first + own.indices[a]] += r[3 * i + a] * gamma_ * own.weights[a];
  }
  if (joints_) joints_->complete(all);
}

void ScaledProblem::from_impulse(ConstVectorRef all, Vector& r) const {
  const ConstVectorRef impulse = all.tail(pattern_->rows());
  r.resize(size());
  for (int i = 0; i < contacts(); ++i) {
    const Contact& own = contact(i);
    for (int a = 0; a < 3; ++a)
      r[3 * i + a] = own.weights[a] > 0.0 ? impulse[own.first + own.indices[a]] / (gamma_ * own.weights[a]) : 0.0;
  }
}

}  // namespace conebench::cascade
