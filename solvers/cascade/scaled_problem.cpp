#include "solvers/cascade/scaled_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "problems/cone_projection.hpp"
#include "problems/natural_map.hpp"
#include "problems/scaled_natural_map.hpp"

namespace conebench::cascade {

namespace {

using Components = std::array<Index, 3>;

}  // namespace

struct ScaledProblem::Source {
  explicit Source(const ContactProblem& given) : problem(given) {}
  ContactProblem problem;
  std::shared_ptr<const ScaledBodies> bodies;
};

ScaledProblem::ScaledProblem(const ContactProblem& problem, std::optional<JointElimination> joints) {
  if (problem.cones().joints() == 0) {
    build(problem.cones(), problem.blocks(), problem.compliance(), problem.free_term());
    measure_by(problem);
    if (problem.primal()) source_ = std::make_shared<Source>(problem);
    return;
  }
  if (!joints) joints = eliminate_joints(problem).value();
  build(joints->cones, joints->matrix, Vector::Zero(joints->cones.rows()), joints->free_term);
  joints->matrix = {};
  joints_ = std::make_shared<JointElimination>(*std::move(joints));
  measure_by(problem);
}

void ScaledProblem::measure_by(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Vector inverse_steps(cones.blocks());
  reference_velocity_ = natural_map_scaling(problem, inverse_steps);
  for (Index i = cones.joints(); i < cones.blocks(); ++i) {
    Judge& judge = judge_[static_cast<std::size_t>(i - cones.joints())];
    judge.step = 1.0 / inverse_steps[i];
    judge.tolerance = 1.0 / (judge.step * reference_velocity_);
  }
}

void ScaledProblem::build(const ConeProduct& cones, const BlockSparseMatrix& matrix, const Vector& compliance,
                          const Vector& free_term) {
  const auto count = static_cast<std::size_t>(cones.blocks());
  rows_.resize(count);
  judge_.resize(count);
  impulse_scale_.resize(count);
  velocity_scale_.resize(count);
  std::vector<double> scale(count);

  // Block i's own 3×3 block and free term before scaling, embedded.
  const auto embedded = [&](Index i) {
    const Index row = matrix.block_offset(i);
    if (cones.block_kind(i) == BlockKind::limit) return Rows{-1, -1, row};
    const double mu = cones.friction()[static_cast<std::size_t>(i - cones.first_contact_row())];
    if (cones.contact_dimension() == 2) return mu > 0.0 ? Rows{row, -1, row + 1} : Rows{-1, -1, row + 1};
    return mu > 0.0 ? Rows{row, row + 1, row + 2} : Rows{-1, -1, row + 2};
  };
  for (Index i = 0; i < cones.blocks(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index row = matrix.block_offset(i);
    const auto diagonal = matrix.block(i, matrix.diagonal(i));
    rows_[at] = embedded(i);
    if (cones.block_kind(i) == BlockKind::contact) {
      const double mu = cones.friction()[static_cast<std::size_t>(i - cones.first_contact_row())];
      judge_[at].friction = mu > 0.0 ? mu : 1.0;
    }
    const double mu = judge_[at].friction;
    const auto entry = [&](Index r) { return r < 0 ? 0.0 : diagonal(r - row, r - row) + compliance[r]; };
    const Rows& rows = rows_[at];
    const double tangential = entry(rows.t1) + entry(rows.t2);
    const int tangents = (rows.t1 >= 0) + (rows.t2 >= 0);
    const double mean_diagonal = (tangential + entry(rows.n) / (mu * mu)) / (tangents + 1);
    scale[at] = mean_diagonal > 0.0 ? 1.0 / std::sqrt(mean_diagonal) : 1.0;
  }

  const auto weight = [&](Index i, int component) {
    const auto at = static_cast<std::size_t>(i);
    return component == 2 ? scale[at] / judge_[at].friction : scale[at];
  };
  const auto components = [&](Index i) {
    const Rows& rows = rows_[static_cast<std::size_t>(i)];
    return Components{rows.t1, rows.t2, rows.n};
  };
  free_term_ = Vector::Zero(3 * cones.blocks());
  row_begin_.reserve(count + 1);
  row_begin_.push_back(0);
  diagonal_.reserve(count);
  const auto stored = static_cast<std::size_t>(count > 0 ? matrix.row_begin(cones.blocks()) : 0);
  columns_.reserve(stored);
  blocks_.reserve(stored + 1);
  for (Index i = 0; i < cones.blocks(); ++i) {
    const Index row = matrix.block_offset(i);
    const Components own = components(i);
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const Index j = matrix.column(k);
      const Index column = matrix.block_offset(j);
      const Components other = components(j);
      if (i == j) diagonal_.push_back(static_cast<int>(columns_.size()));
      columns_.push_back(static_cast<int>(j));
      if (own[0] >= 0 && own[1] >= 0 && other[0] >= 0 && other[1] >= 0) {
        const Eigen::Array3d rows(weight(i, 0), weight(i, 1), weight(i, 2));
        const Eigen::Array3d columns(weight(j, 0), weight(j, 1), weight(j, 2));
        Block block = Eigen::Map<const Block>(matrix.block_values(k));
        if (i == j) block.diagonal() += compliance.segment<3>(row);
        for (int b = 0; b < 3; ++b) block.col(b).array() *= rows * columns[b];
        blocks_.push_back(block);
        continue;
      }
      const auto values = matrix.block(i, k);
      const auto entry = [&](int a, int b) {
        const auto [r, c] = std::pair(own[static_cast<std::size_t>(a)], other[static_cast<std::size_t>(b)]);
        if (r < 0 || c < 0) return i == j && a == b ? 1.0 : 0.0;
        double value = values(r - row, c - column);
        if (r == c) value += compliance[r];
        return value * weight(i, a) * weight(j, b);
      };
      blocks_.push_back(
          Block::NullaryExpr([&](Index a, Index b) { return entry(static_cast<int>(a), static_cast<int>(b)); }));
    }
    row_begin_.push_back(static_cast<int>(columns_.size()));
    for (int a = 0; a < 3; ++a) {
      const Index r = own[static_cast<std::size_t>(a)];
      if (r >= 0) free_term_[3 * i + a] = free_term[r] * weight(i, a);
    }
  }

  blocks_.emplace_back(Block::Zero());
  const double plain = free_term_.norm();
  const double norm = plain > 1e-150 && plain < 1e150 ? plain : free_term_.stableNorm();
  const double magnitude = norm / std::sqrt(std::max<double>(1.0, static_cast<double>(count)));
  const double gamma = magnitude > 0.0 ? magnitude : 1.0;
  free_term_ /= gamma;
  gamma_ = gamma;
  for (std::size_t i = 0; i < count; ++i) {
    impulse_scale_[i] = scale[i] * gamma;
    velocity_scale_[i] = gamma / scale[i];
  }
}

std::shared_ptr<const ScaledBodies> ScaledProblem::bodies() const {
  if (!source_) return nullptr;
  if (!source_->bodies) source_->bodies = std::make_shared<ScaledBodies>(make_bodies(source_->problem));
  return source_->bodies;
}

ScaledBodies ScaledProblem::make_bodies(const ContactProblem& problem) const {
  const PrimalForm& form = *problem.primal();
  const auto velocities = static_cast<int>(form.mass.rows());
  ScaledBodies bodies;
  bodies.velocity_blocks = (velocities + 2) / 3;
  const auto blocks = static_cast<std::size_t>(bodies.velocity_blocks);

  std::vector<int> place(blocks, -1);  // in a column of blocks
  const Eigen::SparseMatrix<double> mass = form.mass;
  for (int column = 0; column < 3 * bodies.velocity_blocks; ++column) {
    if (column % 3 == 0) std::fill(place.begin(), place.end(), -1);
    const auto entry = [&](int row, double value) {
      int& k = place[static_cast<std::size_t>(row / 3)];
      if (k < 0) {
        k = static_cast<int>(bodies.mass.size());
        bodies.mass.push_back({row / 3, column / 3, Block::Zero()});
      }
      bodies.mass[static_cast<std::size_t>(k)].value(row % 3, column % 3) += value;
    };
    if (column >= velocities) {
      entry(column, 1.0);
      continue;
    }
    for (Eigen::SparseMatrix<double>::InnerIterator it(mass, column); it; ++it) {
      if (it.value() != 0.0) entry(static_cast<int>(it.row()), it.value());
    }
  }

  const Eigen::SparseMatrix<double, Eigen::RowMajor> jacobian = form.jacobian;
  std::fill(place.begin(), place.end(), -1);
  bodies.touch_begin.push_back(0);
  bodies.local.resize(size());
  for (int i = 0; i < contacts(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Components rows{rows_[at].t1, rows_[at].t2, rows_[at].n};
    const auto begin = bodies.touches.size();
    for (int a = 0; a < 3; ++a) {
      const Index row = rows[static_cast<std::size_t>(a)];
      const double weight = impulse_scale_[at] / (gamma_ * (a == 2 ? judge_[at].friction : 1.0));
      bodies.local[3 * i + a] = row < 0 ? 1.0 : problem.compliance()[row] * weight * weight;
      if (row < 0) continue;
      for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(jacobian, row); it; ++it) {
        if (it.value() == 0.0) continue;
        const auto column = static_cast<int>(it.col());
        int& k = place[static_cast<std::size_t>(column / 3)];
        if (k < static_cast<int>(begin)) {
          k = static_cast<int>(bodies.touches.size());
          bodies.touches.push_back({column / 3, Block::Zero()});
        }
        bodies.touches[static_cast<std::size_t>(k)].value(a, column % 3) = weight * it.value();
      }
    }
    bodies.touch_begin.push_back(static_cast<int>(bodies.touches.size()));
  }
  return bodies;
}

void ScaledProblem::become_shifted(const ScaledProblem& base, double shift, const Vector& center) {
  free_term_ = base.free_term_ - shift * center;
  shift_ = base.shift_ + shift;
  for (const int k : diagonal_) {
    const auto at = static_cast<std::size_t>(k);
    blocks_[at] = base.blocks_[at];
    blocks_[at].diagonal().array() += shift;
  }
}

void ScaledProblem::multiply(const Vector& r, Vector& out) const {
  ++*products_;
  multiply_uncounted(r, out);
}

void ScaledProblem::multiply_uncounted(const Vector& r, Vector& out) const {
  for (int i = 0; i < contacts(); ++i) {
    Eigen::Array4d sum = Eigen::Array4d::Zero();
    add_row_product(row_begin(i), row_begin(i + 1), r, sum);
    out.segment<3>(3 * i) = sum.head<3>().matrix();
  }
}

void ScaledProblem::velocity(const Vector& r, Vector& w) const {
  multiply(r, w);
  w += free_term_;
}

double ScaledProblem::residual_of(int i, const Vector& r, const Vector& w) const {
  const auto at = static_cast<std::size_t>(i);
  const Judge& judge = judge_[at];
  ContactVector<3> impulse = r.segment<3>(3 * i) * impulse_scale_[at];
  impulse[2] /= judge.friction;
  ContactVector<3> velocity = w.segment<3>(3 * i) * velocity_scale_[at];
  velocity[2] = judge.friction * (velocity[2] + tangential_norm<3>(velocity));
  const ContactVector<3> step = judge.step * velocity;
  return safe_norm<3>(natural_map<3>(impulse, step, judge.friction)) * judge.tolerance;
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
    const auto at = static_cast<std::size_t>(i);
    const Rows& rows = rows_[at];
    if (rows.t1 >= 0) impulse[rows.t1] = r[3 * i] * impulse_scale_[at];
    if (rows.t2 >= 0) impulse[rows.t2] = r[3 * i + 1] * impulse_scale_[at];
    impulse[rows.n] = r[3 * i + 2] * impulse_scale_[at] / judge_[at].friction;
  }
  if (joints_) joints_->complete(all);
}

void ScaledProblem::from_impulse(ConstVectorRef all, Vector& r) const {
  const ConstVectorRef impulse = all.tail(all.size() - joints());
  r.setZero(size());
  for (int i = 0; i < contacts(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Rows& rows = rows_[at];
    if (rows.t1 >= 0) r[3 * i] = impulse[rows.t1] / impulse_scale_[at];
    if (rows.t2 >= 0) r[3 * i + 1] = impulse[rows.t2] / impulse_scale_[at];
    r[3 * i + 2] = impulse[rows.n] * judge_[at].friction / impulse_scale_[at];
  }
}

}  // namespace conebench::cascade
