#include "solvers/cascade/body_lu.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/contact_problem.hpp"

namespace conebench::cascade {

namespace {

template <class Integer>
std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

/// Three components of a vector.
auto part(auto& vector, std::size_t i) { return vector.template segment<3>(3 * static_cast<Index>(i)); }

int blocks_of(Index rows) { return static_cast<int>((rows + 2) / 3); }

}  // namespace

void BodyLu::BlockRows::add(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix, Index row, int a,
                            double weight) {
  for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(matrix, row); it; ++it) {
    if (it.value() != 0.0) block(static_cast<int>(it.col() / 3))(a, it.col() % 3) = weight * it.value();
  }
}

BodyLu::Block& BodyLu::BlockRows::block(int column) {
  const auto first = entries.begin() + static_cast<std::ptrdiff_t>(begin.back());
  auto found = std::find_if(first, entries.end(), [&](const Entry& entry) { return entry.column == column; });
  if (found == entries.end()) found = entries.insert(found, {column, Block::Zero()});
  return found->value;
}

BodyLu::BodyLu(const ScaledProblem& problem)
    : local_(problem.size()),
      whole_(blocks_of(problem.source()->primal()->mass.rows())),
      system_(problem.contacts()),
      inverse_(at(problem.contacts())) {
  const ContactProblem& source = *problem.source();
  const Eigen::SparseMatrix<double, Eigen::RowMajor> mass = source.primal()->mass, jacobian = source.primal()->jacobian;
  const int rows = blocks_of(mass.rows());
  // Each row's neighbours in K: from M, then from the contacts that touch it.
  std::vector<std::vector<int>> neighbours(at(rows));
  for (int i = 0; i < rows; ++i) {
    for (int a = 0; a < 3; ++a) {
      if (3 * i + a < mass.rows()) mass_.add(mass, 3 * i + a, a, 1.0);
    }
    for (int a = 0; a < 3; ++a) {
      if (3 * i + a >= mass.rows()) mass_.block(i)(a, a) = 1.0;
    }
    mass_.begin.push_back(mass_.entries.size());
    for (const auto& block : mass_.row(at(i))) neighbours[at(i)].push_back(block.column);
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int a = 0; a < 3; ++a) {
      const Index row = problem.row(i, a);
      const double weight = problem.weight(i, a);
      local_[3 * i + a] = row < 0 ? 1.0 : source.compliance()[row] * weight * weight;
      if (row >= 0) touches_.add(jacobian, row, a, weight);
    }
    touches_.begin.push_back(touches_.entries.size());
    const auto touched = touches_.row(at(i));
    for (const auto& a : touched) {
      for (const auto& b : touched) neighbours[at(a.column)].push_back(b.column);
    }
    const auto count = static_cast<double>(touched.size());
    assembly_flops_ += flops_of_block_product * (count + 1.0) * (count + 2.0);
  }
  row_begin_.push_back(0);
  for (std::vector<int>& row : neighbours) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns_.insert(columns_.end(), row.begin(), row.end());
    row_begin_.push_back(static_cast<int>(columns_.size()));
  }
  values_.resize(columns_.size());
  for (int i = 0; i < rows; ++i) {
    for (const auto& block : mass_.row(at(i))) mass_place_.push_back(place(i, block.column));
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    for (const auto& a : touches_.row(at(i))) {
      for (const auto& b : touches_.row(at(i))) pair_place_.push_back(place(a.column, b.column));
    }
  }
  lu_.analyse(matrix());
  velocities_.resize(3 * rows);
  velocity_right_.resize(3 * rows);
  for (Vector* vector : {&scaled_, &product_, &correction_, &rest_}) vector->resize(problem.size());
}

double BodyLu::bytes() const {
  double bytes = lu_.bytes();
  const auto count = [&](const auto&... kept) {
    const auto places = [](const auto& one) {
      if constexpr (requires { one.capacity(); }) return one.capacity() * sizeof(one[0]);
      return static_cast<std::size_t>(one.size()) * sizeof(one[0]);
    };
    bytes += static_cast<double>((... + places(kept)));
  };
  for (const BlockRows* rows : {&mass_, &touches_}) count(rows->begin, rows->entries);
  for (const BlockSystem* system : {&whole_, &system_})
    count(system->left, system->right, system->diagonal, system->left_out);
  count(row_begin_, columns_, values_, mass_place_, pair_place_, inverse_);
  count(local_, velocities_, velocity_right_, scaled_, product_, correction_, rest_);
  return bytes;
}

int BodyLu::place(int row, int column) const {
  const auto begin = columns_.begin() + row_begin_[at(row)];
  const auto end = columns_.begin() + row_begin_[at(row) + 1];
  return static_cast<int>(std::lower_bound(begin, end, column) - columns_.begin());
}

bool BodyLu::represents(const ScaledProblem& problem) {
  if (!factor(problem, BlockSystem(problem.contacts(), 1.0), Singular::fails)) return false;
  Vector solution(problem.size());
  for (Index i = 0; i < solution.size(); ++i) scaled_[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));
  const Vector given = scaled_;
  solve_once(given, solution);
  subtract_product(given, solution, rest_);
  return rest_.norm() <= tuned.same_matrix * given.norm();
}

bool BodyLu::factor(const ScaledProblem& problem, const BlockSystem& system, Singular singular) {
  bool regular = true;
  problem_ = &problem;
  system_ = system;
  std::fill(values_.begin(), values_.end(), Block::Zero());
  for (std::size_t k = 0; k < mass_place_.size(); ++k) values_[at(mass_place_[k])] += mass_.entries[k].value;
  const int* place = pair_place_.data();
  for (std::size_t i = 0; i < inverse_.size(); ++i) {
    const Eigen::Vector3d local = part(local_, i).array() + problem.shift();
    Block own = system.diagonal[i];
    own.noalias() += system.left[i] * local.asDiagonal() * system.right[i];
    if (!(std::abs(own.determinant()) > std::numeric_limits<double>::min())) {
      if (singular == Singular::fails) return false;
      regular = false;
      own = perturbed(own);
    }
    inverse_[i] = own.inverse();
    const Block half = system.right[i] * inverse_[i];
    const Block weight = half * system.left[i];
    for (const auto& a : touches_.row(i)) {
      const Block weighted = a.value.transpose() * weight;
      for (const auto& b : touches_.row(i)) values_[at(*place++)].noalias() += weighted * b.value;
    }
  }
  return lu_.factor(matrix(), whole_) && regular;
}

void BodyLu::solve_once(const Vector& right_side, Vector& solution) {
  velocity_right_.setZero();
  for (std::size_t i = 0; i < inverse_.size(); ++i) {
    const Eigen::Vector3d own = inverse_[i] * part(right_side, i);
    const Eigen::Vector3d impulse = system_.right[i] * own;
    for (const auto& touch : touches_.row(i))
      part(velocity_right_, at(touch.column)) += touch.value.transpose() * impulse;
  }
  lu_.solve(velocity_right_, velocities_);
  for (std::size_t i = 0; i < inverse_.size(); ++i) {
    Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
    for (const auto& touch : touches_.row(i)) velocity += touch.value * part(velocities_, at(touch.column));
    part(solution, i) = inverse_[i] * (part(right_side, i) - system_.left[i] * velocity);
  }
}

void BodyLu::subtract_product(const Vector& right_side, const Vector& z, Vector& out) {
  for (std::size_t i = 0; i < inverse_.size(); ++i) part(scaled_, i) = system_.right[i] * part(z, i);
  problem_->multiply_uncounted(scaled_, product_);
  for (std::size_t i = 0; i < inverse_.size(); ++i)
    part(out, i) = part(right_side, i) - system_.diagonal[i] * part(z, i) - system_.left[i] * part(product_, i);
}

void BodyLu::solve(const Vector& right_side, Vector& solution) {
  solve_once(right_side, solution);
  for (int round = 0; round < 2; ++round) {
    subtract_product(right_side, solution, rest_);
    if (!(rest_.norm() > tuned.refined * (right_side.norm() + solution.norm()))) return;
    solve_once(rest_, correction_);
    solution += correction_;
  }
}

}  // namespace conebench::cascade
