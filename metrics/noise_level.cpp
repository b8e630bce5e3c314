#include "metrics/noise_level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conebench {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// The largest power of two that every entry is a whole multiple of; 0 where all are 0.
double common_unit(const Vector& values) {
  double unit = 0.0;
  for (const double value : values) {
    if (value == 0.0) continue;
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    constexpr int digits = std::numeric_limits<double>::digits;
    const auto whole = static_cast<std::int64_t>(std::abs(std::ldexp(mantissa, digits)));
    const double own = std::ldexp(static_cast<double>(whole & -whole), exponent - digits);
    unit = unit == 0.0 ? own : std::min(unit, own);
  }
  return unit;
}

/// Whole multiples of one unit, up to so many, are what sums of some ten to a hundred rounded terms leave; 53-bit
/// measurements have 2^52 of them.
constexpr double max_units = 64.0;
/// A reference answer may be inflated, or none: above so many m/s its size says nothing of g.
constexpr double max_noise_speed = 1e-9;

double rounding_by_units(const Vector& free_term) {
  if (free_term.lpNorm<Eigen::Infinity>() > epsilon) return 0.0;
  return max_units * common_unit(free_term);
}

}  // namespace

std::optional<double> velocity_rounding(const ContactProblem& problem, ConstVectorRef impulse) {
  if (problem.rows() == 0) return 0.0;
  if (!problem.condenses_sparsely()) return std::nullopt;
  const BlockSparseMatrix& delassus = problem.blocks();
  Vector terms = problem.compliance().cwiseProduct(impulse).cwiseAbs();
  Eigen::ArrayXd count = Eigen::ArrayXd::Ones(problem.rows());
  for (Index block = 0; block < delassus.block_rows(); ++block) {
    const Index row = delassus.block_offset(block);
    const int size = delassus.block_size(block);
    for (Index k = delassus.row_begin(block); k < delassus.row_begin(block + 1); ++k) {
      const auto entries = delassus.block(block, k);
      terms.segment(row, size) +=
          entries.cwiseAbs() * impulse.segment(delassus.block_offset(delassus.column(k)), entries.cols()).cwiseAbs();
      count.segment(row, size) += static_cast<double>(entries.cols());
    }
  }
  return epsilon * (count * terms.array()).maxCoeff();
}

std::optional<double> free_term_rounding(const ContactProblem& problem) {
  const auto& primal = problem.data().primal;
  if (!primal) return std::nullopt;
  const Vector speeds = primal->jacobian * primal->free_velocity;
  const Vector bias = problem.bias() ? *problem.bias() : Vector(problem.free_term() - speeds);
  Vector terms = bias.cwiseAbs();
  Eigen::ArrayXd count = Eigen::ArrayXd::Ones(problem.rows());
  for (Index k = 0; k < primal->jacobian.outerSize(); ++k) {
    for (SparseMatrix::InnerIterator entry(primal->jacobian, k); entry; ++entry) {
      terms[entry.row()] += std::abs(entry.value() * primal->free_velocity[entry.col()]);
      count[entry.row()] += entry.value() != 0.0 ? 1.0 : 0.0;
    }
  }
  return problem.rows() > 0 ? epsilon * (count * terms.array()).maxCoeff() : 0.0;
}

std::optional<double> noise_ratio(const ContactProblem& problem) {
  const double size = problem.rows() > 0 ? problem.free_term().lpNorm<Eigen::Infinity>() : 0.0;
  if (size == 0.0) return std::nullopt;
  double rounding = 0.0;
  if (const auto of_terms = free_term_rounding(problem)) {
    rounding = *of_terms;
  } else {
    const double of_units = rounding_by_units(problem.free_term());
    // One that is no whole number of units at most is no sign of rounding.
    if (size <= of_units) rounding = of_units;
    if (problem.reference() && size <= max_noise_speed) {
      rounding = std::max(rounding, velocity_rounding(problem, problem.reference()->reaction).value_or(0.0));
    }
  }
  if (!(rounding > 0.0)) return std::nullopt;
  return size / rounding;
}

}  // namespace conebench
