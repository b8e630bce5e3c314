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

BodyLu::BodyLu(std::shared_ptr<const ScaledBodies> bodies) : bodies_(std::move(bodies)) {
  const int rows = bodies_->velocity_blocks;
  // Each row's neighbours from M and from the contacts that touch it.
  std::vector<std::vector<int>> neighbours(at(rows));
  for (const auto& block : bodies_->mass) neighbours[at(block.row)].push_back(block.column);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const auto touched = bodies_->touched_by(i);
    for (const auto& a : touched) {
      for (const auto& b : touched) neighbours[at(a.velocities)].push_back(b.velocities);
    }
    const auto count = static_cast<double>(touched.size());
    assembly_flops_ += 54.0 * count * (count + 1.0) + 300.0;
  }
  row_begin_.push_back(0);
  for (std::vector<int>& row : neighbours) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns_.insert(columns_.end(), row.begin(), row.end());
    row_begin_.push_back(static_cast<int>(columns_.size()));
  }
  const auto place = [&](int row, int column) {
    const auto begin = columns_.begin() + row_begin_[at(row)];
    const auto end = columns_.begin() + row_begin_[at(row) + 1];
    return static_cast<int>(std::lower_bound(begin, end, column) - columns_.begin());
  };
  for (const auto& block : bodies_->mass) mass_place_.push_back(place(block.row, block.column));
  for (int i = 0; i < bodies_->contacts(); ++i) {
    for (const auto& a : bodies_->touched_by(i)) {
      for (const auto& b : bodies_->touched_by(i)) pair_place_.push_back(place(a.velocities, b.velocities));
    }
  }
  values_.resize(columns_.size());
  lu_.analyse(matrix());
  identity_.assign(at(rows), Block::Identity());
  zero_.assign(at(rows), Block::Zero());
  nothing_.assign(at(rows), FrontLu::nothing);
  velocities_.resize(3 * rows);
  velocity_right_.resize(3 * rows);
  inverse_.resize(at(bodies_->contacts()));
  const Index size = 3 * static_cast<Index>(bodies_->contacts());
  for (Vector* vector : {&scaled_, &product_, &correction_, &rest_}) vector->resize(size);
}

void BodyLu::begin_with_mass() {
  for (Block& block : values_) block.setZero();
  for (std::size_t k = 0; k < mass_place_.size(); ++k) values_[at(mass_place_[k])] += bodies_->mass[k].value;
}

bool BodyLu::represents(const ScaledProblem& problem) {
  if (problem.contacts() != bodies_->contacts()) return false;
  begin_with_mass();
  if (!lu_.factor(matrix(), identity_, identity_, zero_, nothing_)) return false;
  for (Index i = 0; i < scaled_.size(); ++i) scaled_[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  velocity_right_.setZero();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    for (const auto& touch : bodies_->touched_by(i)) {
      velocity_right_.segment<3>(3 * touch.velocities) += touch.value.transpose() * scaled_.segment<3>(3 * i);
    }
  }
  lu_.solve(velocity_right_, velocities_);
  rest_ = (bodies_->local.array() + problem.shift()) * scaled_.array();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    for (const auto& touch : bodies_->touched_by(i)) {
      rest_.segment<3>(3 * i) += touch.value * velocities_.segment<3>(3 * touch.velocities);
    }
  }
  problem.multiply(scaled_, product_);
  return (rest_ - product_).norm() <= 1e-8 * product_.norm();
}

bool BodyLu::factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
                    const std::vector<Block>& diagonal, const std::vector<char>& dropped) {
  problem_ = &problem;
  left_ = left;
  right_ = right;
  diagonal_ = diagonal;
  dropped_ = dropped;
  determinant_sign_ = 1;
  begin_with_mass();
  const int* place = pair_place_.data();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    const auto touched = bodies_->touched_by(i);
    if (dropped[at(i)] == FrontLu::everything) {
      place += touched.size() * touched.size();
      continue;
    }
    const Eigen::Vector3d local = bodies_->local.segment<3>(3 * i).array() + problem.shift();
    Block own = diagonal[at(i)];
    own.noalias() += left[at(i)] * local.asDiagonal() * right[at(i)];
    const double determinant = own.determinant();
    if (!(std::abs(determinant) > 1e-300)) return false;
    if (determinant < 0.0) determinant_sign_ = -determinant_sign_;
    Block& inverse = inverse_[at(i)];
    inverse = own.inverse();
    const Block half = right[at(i)] * inverse;
    const Block weight = half * left[at(i)];
    for (const auto& a : touched) {
      const Block weighted = a.value.transpose() * weight;
      for (const auto& b : touched) values_[at(*place++)].noalias() += weighted * b.value;
    }
  }
  if (!lu_.factor(matrix(), identity_, identity_, zero_, nothing_)) return false;
  if (lu_.determinant_sign() < 0) determinant_sign_ = -determinant_sign_;
  return true;
}

void BodyLu::solve_once(const Vector& right_side, Vector& solution) {
  velocity_right_.setZero();
  for (int i = 0; i < bodies_->contacts(); ++i) {
    if (dropped_[at(i)] == FrontLu::everything) continue;
    const Eigen::Vector3d push = right_[at(i)] * (inverse_[at(i)] * right_side.segment<3>(3 * i));
    for (const auto& touch : bodies_->touched_by(i)) {
      velocity_right_.segment<3>(3 * touch.velocities) += touch.value.transpose() * push;
    }
  }
  lu_.solve(velocity_right_, velocities_);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    if (dropped_[at(i)] == FrontLu::everything) {
      solution.segment<3>(3 * i) = right_side.segment<3>(3 * i);
      continue;
    }
    Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
    for (const auto& touch : bodies_->touched_by(i)) {
      velocity += touch.value * velocities_.segment<3>(3 * touch.velocities);
    }
    solution.segment<3>(3 * i) = inverse_[at(i)] * (right_side.segment<3>(3 * i) - left_[at(i)] * velocity);
  }
}

void BodyLu::multiply(const Vector& z, Vector& out) {
  for (int i = 0; i < bodies_->contacts(); ++i) {
    if (dropped_[at(i)] == FrontLu::everything) {
      scaled_.segment<3>(3 * i).setZero();
    } else {
      scaled_.segment<3>(3 * i) = right_[at(i)] * z.segment<3>(3 * i);
    }
  }
  problem_->multiply(scaled_, product_);
  for (int i = 0; i < bodies_->contacts(); ++i) {
    if (dropped_[at(i)] == FrontLu::everything) {
      out.segment<3>(3 * i) = z.segment<3>(3 * i);
    } else {
      out.segment<3>(3 * i) = diagonal_[at(i)] * z.segment<3>(3 * i) + left_[at(i)] * product_.segment<3>(3 * i);
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
