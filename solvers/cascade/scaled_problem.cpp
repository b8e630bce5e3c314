#include "solvers/cascade/scaled_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "problems/cones/contact_rows.hpp"
#include "problems/natural_map.hpp"
#include "problems/scaled_natural_map.hpp"

namespace conebench::cascade {

namespace {

/// Writes the blocks of G̃, embedded, from `value` on. `matrix` is G.
template <int Dim>
void scale_blocks(const ScaledProblem& problem, const BlockSparseMatrix& matrix, const Vector& compliance,
                  double* value) {
  using Part = ContactVector<Dim>;
  constexpr auto component = [](int a) { return a + 1 < Dim ? a : 2; };
  const auto weights = [&](Index i) {
    Part part;
    for (int a = 0; a < Dim; ++a) part[a] = problem.weight(i, component(a));
    return part;
  };
  const auto whole = [&](Index i) { return problem.row(i, Dim - 2) >= 0; };
  for (Index i = 0; i < matrix.block_rows(); ++i) {
    const Part rows = weights(i);
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k, value += Dim * Dim) {
      const Index j = matrix.column(k);
      const Part columns = weights(j);
      Eigen::Map<Eigen::Matrix<double, Dim, Dim>> block(value);
      if (whole(i) && whole(j)) {
        block = matrix.block<Dim>(k);
        if (i == j) block.diagonal() += compliance.segment<Dim>(matrix.block_offset(i));
        for (int b = 0; b < Dim; ++b) block.col(b).array() *= rows.array() * columns[b];
        continue;
      }
      const auto values = matrix.block(i, k);
      for (int b = 0; b < Dim; ++b) {
        for (int a = 0; a < Dim; ++a) {
          const Index r = problem.row(i, component(a));
          const Index c = problem.row(j, component(b));
          if (r < 0 || c < 0) {
            block(a, b) = i == j && a == b ? 1.0 : 0.0;
          } else {
            const double given = values(r - matrix.block_offset(i), c - matrix.block_offset(j));
            block(a, b) = (given + (r == c ? compliance[r] : 0.0)) * rows[a] * columns[b];
          }
        }
      }
    }
  }
}

}  // namespace

ScaledProblem::ScaledProblem(const ContactProblem& problem, std::optional<JointElimination> joints) : given_(problem) {
  if (problem.cones().joints() == 0) {
    pattern_ = &given_.blocks();
    build(problem.cones(), problem.compliance(), problem.free_term());
    measure_by(problem);
    return;
  }
  if (!joints) joints = eliminate_joints(problem).value();
  joints_ = std::make_shared<JointElimination>(*std::move(joints));
  pattern_ = &joints_->matrix;
  build(joints_->cones, Vector::Zero(joints_->cones.rows()), joints_->free_term);
  measure_by(problem);
}

void ScaledProblem::measure_by(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Vector inverse_steps(cones.blocks());
  reference_velocity_ = natural_map_scaling(problem, inverse_steps);
  for (Index i = cones.joints(); i < cones.blocks(); ++i) {
    Contact& contact = contacts_[static_cast<std::size_t>(i - cones.joints())];
    contact.step = 1.0 / inverse_steps[i];
    contact.tolerance = 1.0 / (contact.step * reference_velocity_);
  }
}

void ScaledProblem::build(const ConeProduct& cones, const Vector& compliance, const Vector& free_term) {
  const BlockSparseMatrix& matrix = *pattern_;
  contacts_.resize(static_cast<std::size_t>(cones.blocks()));
  for (Index i = 0; i < cones.blocks(); ++i) {
    Contact& contact = contacts_[static_cast<std::size_t>(i)];
    const Index first = matrix.block_offset(i);
    const bool limit = cones.block_kind(i) == BlockKind::limit;
    const double mu = limit ? 0.0 : cones.friction()[static_cast<std::size_t>(i - cones.first_contact_row())];
    const int size = matrix.block_size(i);
    contact.rows = {mu > 0.0 ? first : -1, mu > 0.0 && size == 3 ? first + 1 : -1, first + size - 1};
    planar_ = planar_ && contact.rows[1] < 0;
    if (mu > 0.0) contact.friction = mu;
    const auto diagonal = matrix.block(i, matrix.diagonal(i));
    double sum = 0.0;
    int own = 0;
    for (int a = 0; a < 3; ++a) {
      const Index row = contact.rows[static_cast<std::size_t>(a)];
      if (row < 0) continue;
      const double entry = diagonal(row - first, row - first) + compliance[row];
      sum += a < 2 ? entry : entry / (contact.friction * contact.friction);
      ++own;
    }
    if (sum > 0.0) contact.scale = 1.0 / std::sqrt(sum / own);
  }

  free_term_ = Vector::Zero(3 * cones.blocks());
  values_.resize(static_cast<Index>(dimension() * dimension()) * stored_blocks() + 1);
  values_[values_.size() - 1] = 0.0;
  with_contact_rows(dimension(), [&]<int Dim>() { scale_blocks<Dim>(*this, matrix, compliance, values_.data()); });
  for (Index i = 0; i < cones.blocks(); ++i) {
    for (int a = 0; a < 3; ++a) {
      if (row(i, a) >= 0) free_term_[3 * i + a] = free_term[row(i, a)] * weight(i, a);
    }
  }

  const double magnitude = free_term_.stableNorm() / std::sqrt(std::max(1.0, static_cast<double>(contacts())));
  gamma_ = magnitude > 0.0 ? magnitude : 1.0;
  free_term_ /= gamma_;
}

void ScaledProblem::become_shifted(const ScaledProblem& base, double shift, const Vector& center) {
  free_term_ = base.free_term_ - shift * center;
  shift_ = base.shift_ + shift;
  with_contact_rows(dimension(), [&]<int Dim>() {
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
  multiply_uncounted(r, out);
}

void ScaledProblem::multiply_uncounted(const Vector& r, Vector& out) const {
  with_contact_rows(dimension(), [&]<int Dim>() {
    for (int i = 0; i < contacts(); ++i) {
      Register<Dim> sum = Register<Dim>::Zero();
      add_row_product<Dim>(row_begin(i), row_begin(i + 1), r, sum);
      if constexpr (Dim == 2)
        out.segment<3>(3 * i) << sum[0], (1.0 + shift_) * r[3 * i + 1], sum[1];
      else
        out.segment<3>(3 * i) = sum.template head<3>().matrix();
    }
  });
}

void ScaledProblem::velocity(const Vector& r, Vector& w) const {
  multiply(r, w);
  w += free_term_;
}

template <int Dim>
double ScaledProblem::residual_in(int i, const Vector& r, const Vector& w) const {
  const Contact& own = contact(i);
  ContactVector<Dim> impulse = part<Dim>(r, i, own.scale * gamma_);
  ContactVector<Dim> velocity = part<Dim>(w, i, gamma_ / own.scale);
  impulse[Dim - 1] /= own.friction;
  velocity[Dim - 1] = own.friction * (velocity[Dim - 1] + tangential_norm<Dim>(velocity));
  const ContactVector<Dim> step = own.step * velocity;
  return safe_norm<Dim>(natural_map<Dim>(impulse, step, own.friction)) * own.tolerance;
}

double ScaledProblem::residual_of(int i, const Vector& r, const Vector& w) const {
  return planar_ ? residual_in<2>(i, r, w) : residual_in<3>(i, r, w);
}

double ScaledProblem::residual(const Vector& r, const Vector& w) const {
  return with_contact_rows(dimension(), [&]<int Dim>() {
    double worst = 0.0;
    for (int i = 0; i < contacts(); ++i) {
      const double error = residual_in<Dim>(i, r, w);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) break;
    }
    return worst;
  });
}

void ScaledProblem::project(Vector& r) const {
  for (Index i = 0; i < contacts(); ++i) {
    const ContactVector<3> part = r.segment<3>(3 * i);
    r.segment<3>(3 * i) = project_friction_cone<3>(part, 1.0);
  }
}

void ScaledProblem::to_impulse(const Vector& r, VectorRef all) const {
  VectorRef impulse = all.tail(all.size() - joints());
  impulse.setZero();
  for (int i = 0; i < contacts(); ++i) {
    for (int a = 0; a < 3; ++a) {
      if (row(i, a) >= 0) impulse[row(i, a)] = r[3 * i + a] * gamma_ * weight(i, a);
    }
  }
  if (joints_) joints_->complete(all);
}

void ScaledProblem::from_impulse(ConstVectorRef all, Vector& r) const {
  const ConstVectorRef impulse = all.tail(all.size() - joints());
  r.setZero(size());
  for (int i = 0; i < contacts(); ++i) {
    for (int a = 0; a < 3; ++a) {
      if (row(i, a) >= 0) r[3 * i + a] = impulse[row(i, a)] / (gamma_ * weight(i, a));
    }
  }
}

}  // namespace conebench::cascade
