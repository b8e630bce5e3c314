#include "solvers/cascade/block_krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solvers/cascade/row_blocks.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Up-looking as RowLu, but what falls outside the pattern of a row is dropped. Values stand in the order of G's
/// blocks.
template <int Dim>
class RowIlu final : public BlockKrylov::Preconditioner {
 public:
  explicit RowIlu(const ScaledProblem& problem)
      : problem_(problem),
        values_(static_cast<Index>(packed) * problem.stored_blocks() + 1),
        inverse_diagonal_(at(problem.contacts())),
        right_(at(problem.contacts())),
        position_(at(problem.contacts()), -1),
        intermediate_(at(problem.contacts())),
        dropped_(at(problem.contacts())) {
    int longest = 0;
    for (int i = 0; i < problem.contacts(); ++i)
      longest = std::max(longest, problem.row_begin(i + 1) - problem.row_begin(i));
    work_.resize(at(longest));
    values_.setZero();
  }

  bool factor(const ScaledProblem& problem, const BlockSystem& system) override {
    const int n = problem_.contacts();
    bool regular = true;
    for (int i = 0; i < n; ++i) {
      dropped_[at(i)] = system.left_out[at(i)];
      right_[at(i)] = Work::of(system.right[at(i)].data());
    }
    for (int i = 0; i < n; ++i) {
      if (dropped_[at(i)]) continue;
      load_row(i, problem, system);
      eliminate_lower(i);
      const int begin = problem_.row_begin(i);
      if (!work_[at(problem_.diagonal(i) - begin)].invert(inverse_diagonal_[at(i)])) regular = false;
      for (int k = begin; k < problem_.row_begin(i + 1); ++k) {
        work_[at(k - begin)].put(value(k));
        position_[at(problem_.column(k))] = -1;
      }
    }
    return regular;
  }

  void apply(const Vector& x, Vector& y) override {
    const int n = problem_.contacts();
    for (int i = 0; i < n; ++i) {
      Row rest = Work::from_contact(x.data() + 3 * static_cast<Index>(i));
      if (!dropped_[at(i)]) rest -= products(problem_.row_begin(i), problem_.diagonal(i));
      intermediate_[at(i)] = rest;
    }
    for (int i = n - 1; i >= 0; --i) {
      Row& result = intermediate_[at(i)];
      if (!dropped_[at(i)]) {
        const Row rest = result - products(problem_.diagonal(i) + 1, problem_.row_begin(i + 1));
        result = inverse_diagonal_[at(i)].times(rest);
      }
      const Index index = 3 * static_cast<Index>(i);
      Work::to_contact(result, x.data() + index, y.data() + index);
    }
  }

 private:
  using Work = RowBlock<Dim>;
  using Row = typename Work::Row;
  static constexpr int packed = Work::packed;

  double* value(int k) { return values_.data() + packed * static_cast<Index>(k); }

  void load_row(int i, const ScaledProblem& problem, const BlockSystem& system) {
    const auto l = Work::Factor::of(system.left[at(i)].data());
    const int begin = problem.row_begin(i);
    for (int k = begin; k < problem.row_begin(i + 1); ++k) {
      const int j = problem.column(k);
      Work& block = work_[at(k - begin)] = {};
      if (j == i) block = Work::of(system.diagonal[at(i)].data());
      if (dropped_[at(j)]) continue;
      position_[at(j)] = k - begin;
      block.add_product(l, problem.template block<Dim>(k).data(), right_[at(j)]);
    }
  }

  void eliminate_lower(int i) {
    const int begin = problem_.row_begin(i);
    for (int k = begin; k < problem_.diagonal(i); ++k) {
      const int j = problem_.column(k);
      if (dropped_[at(j)]) continue;
      Work& lower = work_[at(k - begin)];
      lower = lower.times(inverse_diagonal_[at(j)]);
      double entries[packed + 1];  // a row's register is one longer
      lower.put(entries);
      const typename Work::Factor l(entries);
      for (int m = problem_.diagonal(j) + 1; m < problem_.row_begin(j + 1); ++m) {
        const int position = position_[at(problem_.column(m))];
        if (position >= 0) l.subtract_product(value(m), work_[at(position)]);
      }
    }
  }

  /// The products of blocks begin … end − 1 with what stands in intermediate_.
  Row products(int begin, int end) {
    typename Work::Sum sum;
    for (int k = begin; k < end; ++k) {
      const std::size_t j = at(problem_.column(k));
      if (!dropped_[j]) sum.add(value(k), intermediate_[j]);
    }
    return sum.total();
  }

  const ScaledProblem& problem_;
  Vector values_;  ///< L and U, packed blocks, and one entry that is read and written past the last
  std::vector<Work> inverse_diagonal_, right_;
  std::vector<Work> work_;     ///< the row that is eliminated
  std::vector<int> position_;  ///< of a column in work_; -1 outside the pattern, between rows everywhere
  std::vector<Row> intermediate_;
  std::vector<char> dropped_;
};

}  // namespace

BlockKrylov::BlockKrylov(const ScaledProblem& problem, Limits limits) : problem_(problem), limits_(limits) {
  problem.with_dimension([&]<int Dim>() { preconditioner_ = std::make_unique<RowIlu<Dim>>(problem); });
  for (Vector* buffer : {&scaled_, &residual_, &shadow_, &direction_, &product_, &preconditioned_, &half_product_})
    buffer->setZero(problem.size());
}

bool BlockKrylov::factor(const ScaledProblem& problem, const BlockSystem& system) {
  system_ = &system;
  return preconditioner_->factor(problem, system);
}

void BlockKrylov::multiply(const Vector& x, Vector& y) {
  ++products_;
  for (int i = 0; i < problem_.contacts(); ++i) {
    auto scaled = scaled_.segment<3>(3 * i);
    if (system_->left_out[at(i)])
      scaled.setZero();
    else
      scaled.noalias() = system_->right[at(i)] * x.segment<3>(3 * i);
  }
  problem_.multiply(scaled_, y);
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d own = x.segment<3>(3 * i);
    const Eigen::Vector3d velocity = y.segment<3>(3 * i);
    y.segment<3>(3 * i) = system_->left_out[at(i)]
                              ? own
                              : Eigen::Vector3d(system_->left[at(i)] * velocity + system_->diagonal[at(i)] * own);
  }
}

void BlockKrylov::solve(const Vector& right_side, Vector& solution) {
  // residual_ r, shadow_ r̂, direction_ p, product_ v, half_product_ t, in van der Vorst's letters.
  solution.setZero();
  residual_ = shadow_ = right_side;
  direction_.setZero();
  product_.setZero();
  const double size = right_side.norm();
  relative_residual_ = size > 0.0 ? 1.0 : 0.0;
  double rho = 1.0, alpha = 1.0, omega = 1.0;
  for (int k = 0; k < limits_.max_products && relative_residual_ > limits_.tolerance; k += 2) {
    const double next_rho = shadow_.dot(residual_);
    const double beta = next_rho / rho * alpha / omega;
    rho = next_rho;
    direction_ = residual_ + beta * (direction_ - omega * product_);
    preconditioner_->apply(direction_, preconditioned_);
    multiply(preconditioned_, product_);
    alpha = rho / shadow_.dot(product_);
    if (!std::isfinite(alpha)) break;
    solution += alpha * preconditioned_;
    residual_ -= alpha * product_;
    preconditioner_->apply(residual_, preconditioned_);
    multiply(preconditioned_, half_product_);
    const double square = half_product_.squaredNorm();
    omega = square > 0.0 ? half_product_.dot(residual_) / square : 0.0;
    solution += omega * preconditioned_;
    residual_ -= omega * half_product_;
    relative_residual_ = residual_.norm() / size;
    if (omega == 0.0) break;
  }
  if (!std::isfinite(relative_residual_)) relative_residual_ = std::numeric_limits<double>::infinity();
}

}  // namespace conebench::cascade
