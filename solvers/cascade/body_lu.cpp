#include "solvers/cascade/body_lu.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conebench::cascade {

namespace {

template <class Integer>
std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

constexpr int refinements = 2;
constexpr double refined = 1e-14;

}  // namespace

void BodyLu::Velocities::analyse(std::vector<std::vector<int>> neighbours) {
  row_begin.push_back(0);
  for (std::vector<int>& row : neighbours) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    row_begin.push_back(static_cast<int>(columns.size()));
  }
  values.assign(columns.size(), Block::Zero());
  lu.analyse(matrix());
}

int BodyLu::Velocities::place(int row, int column) const {
  const auto begin = columns.begin() + row_begin[at(row)];
  const auto end = columns.begin() + row_begin[at(row) + 1];
  return static_cast<int>(std::lower_bound(begin, end, column) - columns.begin());
}

BodyLu::BodyLu(std::shared_ptr<const ScaledBodies> bodies) : bodies_(std::move(bodies)) {
  const int rows = bodies_->velocity_blocks;
  // Each row's neighbours from M, then from the contacts that touch it, too.
  std::vector<std::vector<int>> neighbours(at(rows));
  for (const auto& block : bodies_->mass) neighbours[at(block.row)].push_back(block.column);
  mass_.analyse(neighbours);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const auto touched = bodies_->touched_by(i);
    for (const auto& a : touched) {
      for (const auto& b : touched) neighbours[at(a.velocities)].push_back(b.velocities);
    }
    const auto count = static_cast<double>(touched.size());
    assembly_flops_ += 54.0 * count * (count + 1.0) + 300.0;
  }
  system_.analyse(std::move(neighbours));
  for (const auto& block : bodies_->mass) {
    mass_.values[at(mass_.place(block.row, block.column))] += block.value;
    mass_place_.push_back(system_.place(block.row, block.column));
  }
  for (int i = 0; i < bodies_->contacts(); ++i) {
    for (const auto& a : bodies_->touched_by(i)) {
      for (const auto& b : bodies_->touched_by(i)) pair_place_.push_back(system_.place(a.velocities, b.velocities));
    }
  }
  identity_.assign(at(rows), Block::Identity());
  zero_.assign(at(rows), Block::Zero());
  nothing_.assign(at(rows), Left::nothing);
  velocities_.resize(3 * rows);
  velocity_right_.resize(3 * rows);
  inverse_.resize(at(bodies_->contacts()));
  const Index size = 3 * static_cast<Index>(bodies_->contacts());
  for (Vector* vector : {&pushed_, &scaled_, &product_, &correction_, &rest_}) vector->resize(size);
}

void BodyLu::push(const Vector& x) {
  velocity_right_.setZero();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const Eigen::Vector3d impulse = x.segment<3>(3 * i);
    for (const auto& touch : bodies_->touched_by(i)) {
      velocity_right_.segment<3>(3 * touch.velocities) += touch.value.transpose() * impulse;
    }
  }
}

void BodyLu::pull(Vector& out) const {
  for (int i = 0; i < bodies_->contacts(); ++i) {
    Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
    for (const auto& touch : bodies_->touched_by(i)) {
      velocity += touch.value * velocities_.segment<3>(3 * touch.velocities);
    }
    out.segment<3>(3 * i) = velocity;
  }
}

void BodyLu::multiply_bodies(const Vector& x, double shift, Vector& out) {
  push(x);
  mass_.lu.solve(velocity_right_, velocities_);
  pull(out);
  out.array() += (bodies_->local.array() + shift) * x.array();
}

bool BodyLu::represents(const ScaledProblem& problem) {
  if (problem.contacts() != bodies_->contacts() || !factor_velocities(mass_)) return false;
  for (Index i = 0; i < scaled_.size(); ++i) scaled_[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  multiply_bodies(scaled_, problem.shift(), rest_);
  problem.multiply_uncounted(scaled_, product_);
  return (rest_ - product_).norm() <= 1e-8 * product_.norm();
}

bool BodyLu::factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
                    const std::vector<Block>& diagonal, const std::vector<char>& dropped, Singular singular) {
  bool regular = true;
  shift_ = problem.shift();
  left_ = left;
  right_ = right;
  diagonal_ = diagonal;
  dropped_ = dropped;
  for (Block& block : system_.values) block.setZero();
  for (std::size_t k = 0; k < mass_place_.size(); ++k) system_.values[at(mass_place_[k])] += bodies_->mass[k].value;
  const int* place = pair_place_.data();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const auto touched = bodies_->touched_by(i);
    if (dropped[at(i)] == Left::everything) {
      place += touched.size() * touched.size();
      continue;
    }
    const Eigen::Vector3d local = bodies_->local.segment<3>(3 * i).array() + shift_;
    Block own = diagonal[at(i)];
    own.noalias() += left[at(i)] * local.asDiagonal() * right[at(i)];
    if (!(std::abs(own.determinant()) > 1e-300)) {
      if (singular == Singular::fails) return false;
      regular = false;
      own += Block::Identity() * (1e-14 + 1e-12 * own.cwiseAbs().maxCoeff());
    }
    Block& inverse = inverse_[at(i)];
    inverse = own.inverse();
    const Block half = right[at(i)] * inverse;
    const Block weight = half * left[at(i)];
    for (const auto& a : touched) {
      const Block weighted = a.value.transpose() * weight;
      for (const auto& b : touched) system_.values[at(*place++)].noalias() += weighted * b.value;
    }
  }
  if (!factor_velocities(system_)) {
    if (singular == Singular::fails) return false;
    regular = false;
  }
  return regular;
}

void BodyLu::solve_once(const Vector& right_side, Vector& solution) {
  for (int i = 0; i < bodies_->contacts(); ++i) {
    auto pushed = pushed_.segment<3>(3 * i);
    if (dropped_[at(i)] == Left::everything) {
      pushed.setZero();
    } else {
      pushed = right_[at(i)] * (inverse_[at(i)] * right_side.segment<3>(3 * i));
    }
  }
  push(pushed_);
  system_.lu.solve(velocity_right_, velocities_);
  pull(product_);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const Eigen::Vector3d right = right_side.segment<3>(3 * i);
    auto result = solution.segment<3>(3 * i);
    if (dropped_[at(i)] == Left::everything) {
      result = right;
    } else {
      result = inverse_[at(i)] * (right - left_[at(i)] * product_.segment<3>(3 * i));
    }
  }
}

void BodyLu::multiply(const Vector& z, Vector& out) {
  for (int i = 0; i < bodies_->contacts(); ++i) {
    auto scaled = scaled_.segment<3>(3 * i);
    if (dropped_[at(i)] == Left::everything) {
      scaled.setZero();
    } else {
      scaled = right_[at(i)] * z.segment<3>(3 * i);
    }
  }
  multiply_bodies(scaled_, shift_, product_);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    auto result = out.segment<3>(3 * i);
    if (dropped_[at(i)] == Left::everything) {
      result = z.segment<3>(3 * i);
    } else {
      result = diagonal_[at(i)] * z.segment<3>(3 * i) + left_[at(i)] * product_.segment<3>(3 * i);
    }
  }
}

void BodyLu::solve(const Vector& right_side, Vector& solution) {
  solve_once(right_side, solution);
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < refinements; ++round) {
    multiply(solution, rest_);
    rest_ = right_side - rest_;
    const double size = rest_.norm();
    if (!(size > refined * (right_side.norm() + solution.norm())) || !(size < 0.1 * before)) return;
    before = size;
    solve_once(rest_, correction_);
    solution += correction_;
  }
}

}  // namespace conebench::cascade
