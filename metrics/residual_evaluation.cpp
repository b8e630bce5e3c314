#include "metrics/residual_evaluation.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "problems/cones/contact_cones.hpp"
#include "problems/cones/contact_rows.hpp"

namespace conebench {

namespace {

double norm_of_block(const ConeProduct& cones, ConstVectorRef x, Index block) {
  const Index row = cones.block_row(block);
  return with_block_rows(cones.block_size(block),
                         [&]<int Rows>() { return block_norm(BlockVector<Rows>(x.segment<Rows>(row))); });
}

Vector make_lengths(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  Vector lengths = Vector::Ones(problem.rows());
  if (!cones.rolls()) return lengths;
  double sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    const auto own = problem.diagonal().block(cones.first_contact_row() + i);
    const auto entry = [&](int k) { return own(k, k) + problem.compliance()[row + k]; };
    const double translations = (entry(0) + entry(1) + entry(2)) / 3.0;
    const double rotations = (entry(3) + entry(4)) / 2.0;
    const double length = translations > 0.0 && rotations > 0.0 ? std::sqrt(translations / rotations) : 0.0;
    const bool usable = length > 0.0 && std::isfinite(length) && std::isfinite(1.0 / length);
    lengths.segment<2>(row + 3).setConstant(usable ? length : 0.0);
    if (!usable) continue;
    sum += length;
    count += 1.0;
  }
  const double mean = count > 0.0 ? sum / count : 1.0;
  for (double& length : lengths) length = length > 0.0 ? length : mean;
  return lengths;
}

/// Mean of the diagonal of (G + R)_ii.
double mean_diagonal(const ContactProblem& problem, const Vector& lengths, Index block) {
  const auto diagonal = problem.diagonal().block(block);
  const Index row = problem.cones().block_row(block);
  double trace = 0.0;
  for (Index k = 0; k < diagonal.rows(); ++k) {
    trace += (diagonal(k, k) + problem.compliance()[row + k]) * (lengths[row + k] * lengths[row + k]);
  }
  return trace / static_cast<double>(diagonal.rows());
}

std::vector<BlockScale> make_blocks(const ContactProblem& problem, const Vector& lengths) {
  const ConeProduct& cones = problem.cones();
  std::vector<BlockScale> blocks(static_cast<std::size_t>(cones.blocks()));
  double sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.blocks(); ++i) {
    BlockScale& block = blocks[static_cast<std::size_t>(i)];
    block.kind = cones.block_kind(i);
    block.row = cones.block_row(i);
    if (block.kind == BlockKind::contact) {
      const auto contact = static_cast<std::size_t>(i - cones.first_contact_row());
      block.friction.sliding = cones.friction()[contact];
      if (cones.rolls()) block.friction.rolling = cones.rolling_friction()[contact] / lengths[block.row + 3];
    }
    const double mean = mean_diagonal(problem, lengths, i);
    const bool usable = mean > 0.0 && std::isfinite(1.0 / mean);
    block.r = usable ? 1.0 / mean : 0.0;
    if (usable) {
      sum += mean;
      count += 1.0;
    }
  }
  const double fallback = count > 0.0 ? count / sum : 1.0;
  for (BlockScale& block : blocks) {
    if (block.r == 0.0) block.r = fallback;
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

ResidualEvaluation::ResidualEvaluation(const ContactProblem& problem)
    : problem_(problem),
      lengths_(make_lengths(problem)),
      free_term_(lengths_.cwiseProduct(problem.free_term())),
      blocks_(make_blocks(problem, lengths_)),
      impulse_(Vector::Zero(problem.rows())),
      sigma_(Vector::Zero(problem.rows())),
      augmented_(Vector::Zero(problem.rows())),
      scratch_(Vector::Zero(problem.cones().blocks())) {
  WorstBlock largest;
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    largest.take(norm_of_block(problem.cones(), free_term_, i), i);
  }
  if (largest.value > 0.0) velocity_scale_ = largest.value;
}

void ResidualEvaluation::set_impulse(ConstVectorRef impulse) {
  if (impulse.size() != problem_.rows()) {
    throw std::invalid_argument("judge: the impulse has " + std::to_string(impulse.size()) + " entries, the problem " +
                                std::to_string(problem_.rows()) + " rows");
  }
  impulse_ = impulse;
  finite_ = impulse_.allFinite();
  if (finite_) {
    problem_.delassus().apply(impulse_, sigma_);
    sigma_ += problem_.compliance().cwiseProduct(impulse_);
    sigma_ += problem_.free_term();
    sigma_ = sigma_.cwiseProduct(lengths_);
    impulse_ = impulse_.cwiseQuotient(lengths_);
    finite_ = sigma_.allFinite() && impulse_.allFinite();
  } else {
    sigma_.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  augmented_ = sigma_;
  first_bad_block_ = -1;
  const Vector& suspect = impulse_.allFinite() ? sigma_ : impulse_;
  const ConeProduct& cones = problem_.cones();
  for (Index i = 0; !finite_ && first_bad_block_ < 0 && i < cones.blocks(); ++i) {
    if (!suspect.segment(cones.block_row(i), cones.block_size(i)).allFinite()) first_bad_block_ = i;
  }
  with_contact_cone(cones, [&]<class Cone>() {
    constexpr int rows = Cone::rows;
    for (const BlockScale& block : blocks_) {
      if (block.kind != BlockKind::contact) continue;
      augmented_[block.row + normal_of<rows>] +=
          de_saxce_of<rows>(BlockVector<rows>(sigma_.segment<rows>(block.row)), block.friction);
    }
  });
}

}  // namespace conebench
