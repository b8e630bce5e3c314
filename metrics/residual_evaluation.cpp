#include "metrics/residual_evaluation.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "metrics/accurate_velocity.hpp"
#include "problems/cones/contact_cones.hpp"
#include "problems/cones/contact_rows.hpp"

namespace conebench {

namespace {

template <class Real>
Real norm_of_block(const ConeProduct& cones, const RealVector<Real>& x, Index block) {
  const Index row = cones.block_row(block);
  return with_block_rows(cones.block_size(block), [&]<int Rows>() {
    return block_norm(BlockVector<Real, Rows>(x.template segment<Rows>(row)));
  });
}

template <class Real>
bool all_finite(const auto& x) {
  for (Index i = 0; i < x.size(); ++i) {
    if (!std::isfinite(to_double(x[i]))) return false;
  }
  return true;
}

template <class Real>
RealVector<Real> make_lengths(const ContactProblem& problem) {
  using std::sqrt;
  const ConeProduct& cones = problem.cones();
  RealVector<Real> lengths = RealVector<Real>::Constant(problem.rows(), Real(1.0));
  if (!cones.rolls()) return lengths;
  Real sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const auto own = problem.diagonal().block(cones.first_contact_row() + i);
    const auto entry = [&](int k) { return Real(own(k, k)) + problem.compliance()[row + k]; };
    const Real translations = (entry(0) + entry(1) + entry(2)) / 3.0;
    const Real rotations = (entry(3) + entry(4)) / 2.0;
    const Real length = translations > 0.0 && rotations > 0.0 ? Real(sqrt(Real(translations / rotations))) : Real(0.0);
    const double rounded = to_double(length);
    const bool usable = rounded > 0.0 && std::isfinite(rounded) && std::isfinite(1.0 / rounded);
    lengths.template segment<2>(row + 3).setConstant(usable ? length : Real(0.0));
    if (!usable) continue;
    sum += length;
    count += 1.0;
  }
  const Real mean = count > 0.0 ? Real(sum / count) : Real(1.0);
  for (Real& length : lengths) length = length > 0.0 ? length : mean;
  return lengths;
}

/// Mean of the diagonal of (G + R)_ii.
template <class Real>
Real mean_diagonal(const ContactProblem& problem, const RealVector<Real>& lengths, Index block) {
  const auto diagonal = problem.diagonal().block(block);
  const Index row = problem.cones().block_row(block);
  Real trace = 0.0;
  for (Index k = 0; k < diagonal.rows(); ++k) {
    trace += (Real(diagonal(k, k)) + problem.compliance()[row + k]) * (lengths[row + k] * lengths[row + k]);
  }
  return trace / static_cast<double>(diagonal.rows());
}

template <class Real>
std::vector<BlockScale<Real>> make_blocks(const ContactProblem& problem, const RealVector<Real>& lengths) {
  const ConeProduct& cones = problem.cones();
  std::vector<BlockScale<Real>> blocks(static_cast<std::size_t>(cones.blocks()));
  Real sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.blocks(); ++i) {
    BlockScale<Real>& block = blocks[static_cast<std::size_t>(i)];
    block.kind = cones.block_kind(i);
    block.row = cones.block_row(i);
    if (block.kind == BlockKind::contact) {
      const auto contact = static_cast<std::size_t>(i - cones.first_contact_row());
      block.friction.sliding = cones.friction()[contact];
      const Real length = hypotenuse(std::array{Real(1.0), block.friction.sliding});
      block.friction.cosine = 1.0 / length;
      block.friction.sine = block.friction.sliding / length;
      if (cones.rolls()) block.friction.rolling = cones.rolling_friction()[contact] / lengths[block.row + 3];
    }
    const Real mean = mean_diagonal(problem, lengths, i);
    const bool usable = mean > 0.0 && std::isfinite(1.0 / to_double(mean));
    block.inverse_step = usable ? mean : Real(0.0);
    if (usable) {
      sum += mean;
      count += 1.0;
    }
  }
  const Real fallback = count > 0.0 ? Real(sum / count) : Real(1.0);
  for (BlockScale<Real>& block : blocks) {
    if (block.inverse_step == 0.0) block.inverse_step = fallback;
  }
  return blocks;
}

}  // namespace

void WorstBlock::take(double candidate, Index from) {
  if (std::isnan(candidate)) candidate = std::numeric_limits<double>::infinity();
  if (candidate > value) {
    value = candidate;
    block = from;
  }
}

template <class Real>
ResidualEvaluation<Real>::ResidualEvaluation(const ContactProblem& problem)
    : problem_(problem),
      lengths_(make_lengths<Real>(problem)),
      free_term_(lengths_.cwiseProduct(problem.free_term().cast<Real>())),
      blocks_(make_blocks(problem, lengths_)),
      impulse_(RealVector<Real>::Zero(problem.rows())),
      sigma_(impulse_),
      augmented_(impulse_) {
  shared_.fill(impulse_);
  Real largest = 0.0;
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    largest = larger<Real>(largest, norm_of_block(problem.cones(), free_term_, i));
  }
  if (largest > 0.0) velocity_scale_ = largest;
  if constexpr (!std::is_same_v<Real, double>) error_ = Vector::Zero(problem.rows());
}

template <class Real>
void ResidualEvaluation<Real>::set_impulse(ConstVectorRef impulse) {
  if (impulse.size() != problem_.rows()) {
    throw std::invalid_argument("judge: the impulse has " + std::to_string(impulse.size()) + " entries, the problem " +
                                std::to_string(problem_.rows()) + " rows");
  }
  finite_ = impulse.allFinite();
  for (Index i = 0; i < impulse.size(); ++i) impulse_[i] = impulse[i];
  shared_known_ = {};
  if (finite_) {
    if constexpr (std::is_same_v<Real, double>) {
      problem_.delassus().apply(impulse, sigma_);
      sigma_ += problem_.compliance().cwiseProduct(impulse);
      sigma_ += problem_.free_term();
    } else {
      accurate_velocity(problem_, impulse, sigma_, error_);
    }
    if (problem_.cones().rolls()) {
      sigma_ = sigma_.cwiseProduct(lengths_).eval();
      impulse_ = impulse_.cwiseQuotient(lengths_).eval();
    }
    finite_ = all_finite<Real>(sigma_) && all_finite<Real>(impulse_);
  } else {
    sigma_.setConstant(Real(std::numeric_limits<double>::quiet_NaN()));
  }
  augmented_ = sigma_;
  first_bad_block_ = -1;
  const RealVector<Real>& suspect = all_finite<Real>(impulse_) ? sigma_ : impulse_;
  const ConeProduct& cones = problem_.cones();
  for (Index i = 0; !finite_ && first_bad_block_ < 0 && i < cones.blocks(); ++i) {
    if (!all_finite<Real>(suspect.segment(cones.block_row(i), cones.block_size(i)))) first_bad_block_ = i;
  }
  with_contact_cone(cones, [&]<class Cone>() {
    constexpr int rows = Cone::rows;
    for (const BlockScale<Real>& block : blocks_) {
      if (block.kind != BlockKind::contact) continue;
      augmented_[block.row + normal_of<rows>] +=
          de_saxce_of<Real, rows>(sigma_.template segment<rows>(block.row), block.friction);
    }
  });
  if constexpr (!std::is_same_v<Real, double>) find_rounding();
}

template <class Real>
void ResidualEvaluation<Real>::find_rounding() {
  rounding_ = 0.0;
  const ConeProduct& cones = problem_.cones();
  const double velocity = to_double(velocity_scale_);
  // A projection and a norm are some ten operations.
  constexpr double formula = 16.0 * unit_roundoff<Real>;
  for (Index i = 0; finite_ && i < cones.blocks(); ++i) {
    const BlockScale<Real>& block = blocks_[static_cast<std::size_t>(i)];
    double error = 0.0;
    double size = 0.0;
    for (Index row = block.row; row < block.row + cones.block_size(i); ++row) {
      error += error_[row] * to_double(lengths_[row]);
      if (block.kind != BlockKind::joint) size += std::abs(to_double(impulse_[row]));
    }
    const double friction = 1.0 + to_double(block.friction.sliding) + to_double(block.friction.rolling);
    const double bound = error / velocity * friction + formula * (size * to_double(block.inverse_step) / velocity);
    rounding_ = std::fmax(rounding_, std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound);
  }
}

template class ResidualEvaluation<double>;
template class ResidualEvaluation<Doubled>;
template class ResidualEvaluation<Wide>;

}  // namespace conebench
