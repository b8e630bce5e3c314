#include "solvers/cascade/block_lu.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "solvers/cascade/row_blocks.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Up-looking by rows, without pivoting: blocks of Dim × Dim lie in registers, so that a block row update is vector
/// arithmetic; diagonal blocks are inverted.
template <int Dim>
class RowLu final : public BlockLu::Factors {
 public:
  explicit RowLu(Elimination elimination);

  bool factor(const ScaledProblem& problem, const BlockSystem& system) override;
  void solve(const Vector& right_side, Vector& solution) override;

  /// What all of the members below take.
  static double bytes(const Elimination& elimination) {
    constexpr std::size_t each_row = 4 * sizeof(int) + 3 * sizeof(Work) + sizeof(Row) + sizeof(char);
    return static_cast<double>(elimination.order.size() * each_row) +
           2.0 * elimination.blocks * (sizeof(int) + packed * sizeof(double));
  }

 private:
  using Work = RowBlock<Dim>;
  using Row = typename Work::Row;
  static constexpr std::size_t packed = Work::packed;

  void load_row(int i, const ScaledProblem& problem, const BlockSystem& system);
  /// Subtracts from row i in work_ what its lower pattern takes of the rows before.
  void eliminate_lower(int i);

  int n_;
  std::vector<int> permutation_, index_;  ///< new → old, old → new
  std::vector<int> lower_begin_, lower_;  ///< strictly lower pattern by rows, columns ascending
  FactorPattern upper_;                   ///< strictly upper pattern by rows, columns ascending
  Vector lower_values_, upper_values_;    ///< packed blocks
  std::vector<Work> inverse_diagonal_;
  std::vector<Work> right_;  ///< by new rows
  std::vector<Work> work_;   ///< one dense block row; zero between rows
  std::vector<Row> intermediate_;
  std::vector<char> dropped_;  ///< by new row
};

template <int Dim>
RowLu<Dim>::RowLu(Elimination elimination)
    : n_(static_cast<int>(elimination.order.size())),
      upper_(factor_pattern(elimination)),
      inverse_diagonal_(at(n_)),
      right_(at(n_)),
      work_(at(n_)),
      intermediate_(at(n_)),
      dropped_(at(n_)) {
  permutation_ = std::move(elimination.order);
  index_ = std::move(elimination.index);
  const std::size_t blocks = upper_.rows.size();
  lower_.resize(blocks);
  lower_begin_.assign(at(n_) + 2, 0);  // filled as in eliminate()
  for (const int row : upper_.rows) ++lower_begin_[at(row) + 2];
  std::partial_sum(lower_begin_.begin(), lower_begin_.end(), lower_begin_.begin());
  for (int j = 0; j < n_; ++j) {
    for (const int row : upper_.below(j)) lower_[at(lower_begin_[at(row) + 1]++)] = j;
  }
  // Beyond a 3×3 block's last entry one more is read and written.
  lower_values_.setZero(static_cast<Index>(packed * blocks + 1));
  upper_values_.setZero(static_cast<Index>(packed * blocks + 1));
}

template <int Dim>
void RowLu<Dim>::load_row(int i, const ScaledProblem& problem, const BlockSystem& system) {
  const int row = permutation_[at(i)];
  const auto l = Work::Factor::of(system.left[at(row)].data());
  work_[at(i)] = Work::of(system.diagonal[at(row)].data());
  const double* block = problem.block<Dim>(problem.row_begin(row)).data();
  for (int k = problem.row_begin(row); k < problem.row_begin(row + 1); ++k, block += packed) {
    const std::size_t j = at(index_[at(problem.column(k))]);
    if (!dropped_[j]) work_[j].add_product(l, block, right_[j]);
  }
}

template <int Dim>
bool RowLu<Dim>::factor(const ScaledProblem& problem, const BlockSystem& system) {
  bool regular = true;
  for (int i = 0; i < n_; ++i) {
    dropped_[at(i)] = system.left_out[at(permutation_[at(i)])];
    right_[at(i)] = Work::of(system.right[at(permutation_[at(i)])].data());
  }
  for (int i = 0; i < n_; ++i) {
    if (dropped_[at(i)]) continue;
    load_row(i, problem, system);
    eliminate_lower(i);
    if (!work_[at(i)].invert(inverse_diagonal_[at(i)])) regular = false;
    work_[at(i)] = {};
    double* values = upper_values_.data() + packed * at(upper_.begin[at(i)]);
    for (const int column : upper_.below(i)) {
      Work& block = work_[at(column)];
      block.put(values);
      block = {};
      values += packed;
    }
  }
  return regular;
}

template <int Dim>
void RowLu<Dim>::eliminate_lower(int i) {
  Work* const work = work_.data();
  for (int k = lower_begin_[at(i)]; k < lower_begin_[at(i) + 1]; ++k) {
    const int j = lower_[at(k)];
    if (!dropped_[at(j)]) {
      double* const lower = lower_values_.data() + packed * at(k);
      work[j].times(inverse_diagonal_[at(j)]).put(lower);
      const typename Work::Factor l(lower);
      const double* upper = upper_values_.data() + packed * at(upper_.begin[at(j)]);
      for (int m = upper_.begin[at(j)]; m < upper_.begin[at(j) + 1]; ++m, upper += packed)
        l.subtract_product(upper, work[upper_.rows[at(m)]]);
    }
    work[j] = {};  // where dropped, too: what is not a number times 0 would stay
  }
}

template <int Dim>
void RowLu<Dim>::solve(const Vector& right_side, Vector& solution) {
  // The products of blocks begin … end − 1 with what stands in intermediate_.
  const auto products = [&](const std::vector<int>& columns, const Vector& values, int begin, int end) {
    typename Work::Sum sum;
    const double* block = values.data() + packed * at(begin);
    for (int k = begin; k < end; ++k, block += packed) {
      const int j = columns[at(k)];
      if (!dropped_[at(j)]) sum.add(block, intermediate_[at(j)]);
    }
    return sum.total();
  };
  for (int i = 0; i < n_; ++i) {
    const double* given = right_side.data() + 3 * static_cast<Index>(permutation_[at(i)]);
    Row rest = Work::from_contact(given);
    if (!dropped_[at(i)]) rest -= products(lower_, lower_values_, lower_begin_[at(i)], lower_begin_[at(i) + 1]);
    intermediate_[at(i)] = rest;
  }
  for (int i = n_ - 1; i >= 0; --i) {
    Row& result = intermediate_[at(i)];
    if (!dropped_[at(i)]) {
      const Row rest = result - products(upper_.rows, upper_values_, upper_.begin[at(i)], upper_.begin[at(i) + 1]);
      result = inverse_diagonal_[at(i)].times(rest);
    }
    const Index index = 3 * static_cast<Index>(permutation_[at(i)]);
    Work::to_contact(result, right_side.data() + index, solution.data() + index);
  }
}

/// Few contacts couple nearly all with each other: a better order would cost more than it saves.
std::vector<int> order_of(const ScaledProblem& problem) {
  if (problem.contacts() > tuned.few_in_order) return minimum_degree_order(problem.graph());
  std::vector<int> given(at(problem.contacts()));
  std::iota(given.begin(), given.end(), 0);
  return given;
}

Elimination cheapest_elimination(const ScaledProblem& problem) {
  Elimination first = eliminate(problem.graph(), order_of(problem));
  if (first.flops <= tuned.dissected_above) return first;
  Elimination dissected = eliminate(problem.graph(), nested_dissection_order(problem.graph()));
  return dissected.flops < first.flops ? dissected : first;
}

}  // namespace

BlockLu::BlockLu(const ScaledProblem& problem, double max_bytes)
    : elimination_(cheapest_elimination(problem)), max_bytes_(max_bytes) {
  problem.with_dimension([&]<int Dim>() {
    flops_ = 2.0 * Dim * Dim * Dim / flops_of_block_product * elimination_.flops;
    bytes_ = RowLu<Dim>::bytes(elimination_);
  });
}

bool BlockLu::factor(const ScaledProblem& problem, const BlockSystem& system) {
  if (!fits()) return false;
  if (!factors_) {
    problem.with_dimension(
        [&]<int Dim>() { factors_ = std::make_unique<RowLu<Dim>>(std::exchange(elimination_, {})); });
  }
  return factors_->factor(problem, system);
}

void BlockLu::solve(const Vector& right_side, Vector& solution) {
  factors_ ? factors_->solve(right_side, solution) : void(solution.setZero());
}

}  // namespace conebench::cascade
