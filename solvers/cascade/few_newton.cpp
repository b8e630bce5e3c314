#include "solvers/cascade/few_newton.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/natural_map.hpp"

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

FewNewton::FewNewton(const ContactProblem& problem, const double* inverse_steps, double velocity_scale)
    : inverse_steps_(inverse_steps),
      velocity_scale_(velocity_scale),
      parts_count_(static_cast<int>(problem.cones().blocks())) {
  const ConeProduct& cones = problem.cones();
  const auto limits = static_cast<int>(cones.limits());
  const auto dimension = static_cast<int>(cones.contact_dimension());
  for (int i = 0; i < parts_count_; ++i) {
    Part& part = parts_[at(i)];
    const int normal = i < limits ? i : dimension * (i - limits) + limits + dimension - 1;
    part.rows[2] = normal;
    const double mu = i < limits ? 0.0 : cones.friction()[at(i - limits)];
    if (!(mu > 0.0)) continue;
    part.friction = mu;
    part.rows[0] = normal - dimension + 1;
    if (dimension == 3) part.rows[1] = normal - 1;
  }
  scale(problem);
}

void FewNewton::scale(const ContactProblem& problem) {
  const BlockSparseMatrix& matrix = problem.blocks();
  const Index rows = problem.rows();
  matrix_.setZero(rows, rows);
  for (int i = 0; i < parts_count_; ++i) {
    for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const auto block = matrix.block(i, k);
      matrix_.block(matrix.block_offset(i), matrix.block_offset(matrix.column(k)), block.rows(), block.cols()) = block;
    }
  }
  matrix_.diagonal() += problem.compliance();
  weights_.setOnes(rows);
  for (int i = 0; i < parts_count_; ++i) {
    const Part& part = parts_[at(i)];
    double sum = 0.0;
    int count = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index row = part.rows[a];
      if (row < 0) continue;
      sum += matrix_(row, row) / (a == 2 ? part.friction * part.friction : 1.0);
      ++count;
    }
    const double weight = sum > 0.0 ? std::sqrt(count / sum) : 1.0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (part.rows[a] >= 0) weights_[part.rows[a]] = a == 2 ? weight / part.friction : weight;
    }
  }
  for (Index b = 0; b < rows; ++b) matrix_.col(b).array() *= weights_.array() * weights_[b];
  free_ = problem.free_term().cwiseProduct(weights_);
  turned_.resize(rows, rows);
}

Eigen::Vector3d FewNewton::components(const Part& part, const Column& x) const {
  const auto of = [&](Index row) { return row < 0 ? 0.0 : x[row]; };
  return {of(part.rows[0]), of(part.rows[1]), x[part.rows[2]]};
}

void FewNewton::add_product(const Column& x, Column& sum) const {
  for (Index b = 0; b < x.size(); ++b) {
    if (x[b] != 0.0) sum += x[b] * matrix_.col(b);
  }
}

void FewNewton::start_from(const double* impulse) {
  r_.setZero(free_.size());
  for (int i = 0; i < parts_count_; ++i) {
    for (const Index row : parts_[at(i)].rows) {
      if (row >= 0) r_[row] = impulse[row] / weights_[row];
    }
  }
}

void FewNewton::write(double* impulse) const {
  for (Index k = 0; k < r_.size(); ++k) impulse[k] = r_[k] * weights_[k];
}

double FewNewton::measure() {
  w_ = free_;
  add_product(r_, w_);
  double worst = 0.0;
  for (int i = 0; i < parts_count_; ++i) {
    const Part& part = parts_[at(i)];
    const double weight = weights_[part.rows[2]] * part.friction;
    Eigen::Vector3d impulse = weight * components(part, r_);
    impulse[2] /= part.friction;
    Eigen::Vector3d velocity = components(part, w_) / weight;
    velocity[2] = part.friction * (velocity[2] + tangential_norm<3>(velocity));
    const Eigen::Vector3d step = velocity / inverse_steps_[i];
    const double error = safe_norm<3>(natural_map<3>(impulse, step, part.friction)) * inverse_steps_[i];
    if (!(error <= worst)) worst = error;
    if (std::isnan(worst)) break;
  }
  return worst / velocity_scale_;
}

bool FewNewton::linearise() {
  unknowns_count_ = 0;
  bool same = true;
  for (int i = 0; i < parts_count_; ++i) {
    Part& part = parts_[at(i)];
    const Left::What before = part.step.left_out;
    part.step = linearise_contact(components(part, r_), components(part, w_));
    same = same && part.seen && part.step.left_out == before;
    part.seen = true;
    const auto has = [&](int component) {
      if (part.step.left_out == Left::nothing) return part.rows[at(component)] >= 0;
      return part.step.left_out == Left::middle && (component == 0 || (component == 2 && part.rows[1] >= 0));
    };
    for (int component = 0; component < 3; ++component) {
      if (has(component)) unknowns_[at(unknowns_count_++)] = {i, component};
    }
  }
  return same;
}

void FewNewton::solve() {
  known_.setZero(r_.size());
  for (int i = 0; i < parts_count_; ++i) {
    const Part& part = parts_[at(i)];
    for (int a = 0; a < 3; ++a) {
      if (const Index row = part.rows[at(a)]; row >= 0) known_[row] = part.step.known[a];
    }
  }
  product_.setZero(r_.size());
  add_product(known_, product_);
  const int n = unknowns_count_;
  for (int q = 0; q < n; ++q) {
    const auto [i, component] = unknowns_[at(q)];
    const Part& part = parts_[at(i)];
    auto column = turned_.col(q);
    if (part.step.left_out == Left::nothing) {
      column = matrix_.col(part.rows[at(component)]);
      continue;
    }
    column.setZero();
    for (int a = 0; a < 3; ++a) {
      if (part.rows[at(a)] >= 0) column += part.step.right(a, component) * matrix_.col(part.rows[at(a)]);
    }
  }
  system_.resize(n, n);
  right_side_.resize(n);
  for (int q = 0; q < n; ++q) {
    const auto [i, component] = unknowns_[at(q)];
    const Part& part = parts_[at(i)];
    const auto row_of_left = [&](const auto& x) {
      double sum = 0.0;
      for (int a = 0; a < 3; ++a) {
        if (const Index row = part.rows[at(a)]; row >= 0) sum += part.step.left(component, a) * x[row];
      }
      return sum;
    };
    if (part.step.left_out == Left::nothing) {
      system_.row(q) = turned_.row(part.rows[at(component)]).head(n);
    } else {
      for (int p = 0; p < n; ++p) system_(q, p) = row_of_left(turned_.col(p));
    }
    for (int p = std::max(0, q - 2); p < std::min(n, q + 3); ++p) {
      if (unknowns_[at(p)].part == i) system_(q, p) += part.step.base(component, unknowns_[at(p)].component);
    }
    right_side_[q] = part.step.side[component] - row_of_left(product_);
  }
  eliminate();
}

/// Gauss's, by columns. A pivot far below its column's largest entry is exchanged.
void FewNewton::eliminate() {
  constexpr double largest_factor = 20.0;
  const Index n = unknowns_count_;
  for (Index k = 0; k < n; ++k) {
    const Index left = n - k - 1;
    auto factors = system_.col(k).tail(left);
    if (left > 0 && !(factors.cwiseAbs().maxCoeff() <= largest_factor * std::abs(system_(k, k)))) {
      Index other = 0;
      factors.cwiseAbs().maxCoeff(&other);
      other += k + 1;
      for (Index j = k; j < n; ++j) std::swap(system_(k, j), system_(other, j));
      std::swap(right_side_[k], right_side_[other]);
    }
    factors /= system_(k, k);
    for (Index j = k + 1; j < n; ++j) {
      if (system_(k, j) != 0.0) system_.col(j).tail(left) -= system_(k, j) * factors;
    }
    right_side_.tail(left) -= right_side_[k] * factors;
  }
  for (Index k = n - 1; k >= 0; --k) {
    right_side_[k] /= system_(k, k);
    right_side_.head(k) -= right_side_[k] * system_.col(k).head(k);
  }
}

void FewNewton::step(double residual, int without_progress) {
  // Where the modes stay, Newton's step is to be trusted; tails of redundant contacts want much.
  const double after_change = without_progress < 6 ? 0.1 : 10.0;
  relative_ = linearise() ? 0.01 * relative_ : after_change;
  const double alpha = std::min(1e-3, std::max(1e-12, relative_ * residual));
  for (int i = 0; i < parts_count_; ++i) parts_[at(i)].step.regularise(alpha);
  solve();
  r_ += known_;
  for (int q = 0; q < unknowns_count_; ++q) {
    const Part& part = parts_[at(unknowns_[at(q)].part)];
    for (int a = 0; a < 3; ++a) {
      const Index row = part.rows[at(a)];
      if (row >= 0) r_[row] += part.step.right(a, unknowns_[at(q)].component) * right_side_[q];
    }
  }
}

}  // namespace conebench::cascade
