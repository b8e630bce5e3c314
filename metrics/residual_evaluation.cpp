#include "metrics/residual_evaluation.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "metrics/block_residuals.hpp"

namespace conebench {

namespace {

double norm_of_block(const ConeProduct& cones, ConstVectorRef x, Index block) {
  const Index row = cones.block_row(block);
  switch (cones.block_size(block)) {
    case 1: return std::abs(x[row]);
    case 2: return block_norm(BlockVector<2>(x.segment<2>(row)));
    default: return block_norm(BlockVector<3>(x.segment<3>(row)));
  }
}

/// Mean of the diagonal of (G + R)_ii.
double mean_diagonal(const ContactProblem& problem, Index block) {
  const auto diagonal = problem.diagonal().block(block);
  double trace = 0.0;
  for (Index k = 0; k < diagonal.rows(); ++k) {
    trace += diagonal(k, k) + problem.compliance()[problem.cones().block_row(block) + k];
  }
  return trace / static_cast<double>(diagonal.rows());
}

std::vector<BlockScale> make_blocks(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  std::vector<BlockScale> blocks(static_cast<std::size_t>(cones.blocks()));
  double sum = 0.0;
  double count = 0.0;
  for (Index i = 0; i < cones.blocks(); ++i) {
    BlockScale& block = blocks[static_cast<std::size_t>(i)];
    block.kind = cones.block_kind(i);
    block.row = cones.block_row(i);
    if (block.kind == BlockKind::contact) {
      block.friction = cones.friction()[static_cast<std::size_t>(i - cones.first_contact_row())];
    }
    const double mean = mean_diagonal(problem, i);
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
      blocks_(make_blocks(problem)),
      impulse_(Vector::Zero(problem.rows())),
      sigma_(Vector::Zero(problem.rows())),
      augmented_(Vector::Zero(problem.rows())),
      scratch_(Vector::Zero(problem.cones().blocks())) {
  WorstBlock largest;
  for (Index i = 0; i < problem.cones().blocks(); ++i) {
    largest.take(norm_of_block(problem.cones(), problem.free_term(), i), i);
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
    finite_ = sigma_.allFinite();
  } else {
    sigma_.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  augmented_ = sigma_;
  first_bad_block_ = -1;
  const Vector& suspect = impulse_.allFinite() ? sigma_ : impulse_;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const BlockScale& block = blocks_[i];
    const Index size = block.kind == BlockKind::contact ? dimension() : 1;
    if (!finite_ && first_bad_block_ < 0) {
      if (!suspect.segment(block.row, size).allFinite()) first_bad_block_ = static_cast<Index>(i);
    }
    if (block.kind != BlockKind::contact) continue;
    const double slip = size == 3 ? slip_norm(BlockVector<3>(sigma_.segment<3>(block.row)))
                                  : slip_norm(BlockVector<2>(sigma_.segment<2>(block.row)));
    augmented_[block.row + size - 1] += block.friction * slip;
  }
}

}  // namespace conebench
