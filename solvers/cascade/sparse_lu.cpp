#include "solvers/cascade/sparse_lu.hpp"

#include <algorithm>
#include <utility>

#include "problems/cones/contact_rows.hpp"
#include "solvers/cascade/dense_lu.hpp"
#include "solvers/cascade/row_blocks.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in row_blocks.hpp

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Whether a nested dissection may be worth its time.
bool large(const Elimination& elimination) {
  return elimination.flops >
         std::max(tuned.dissect_from, tuned.dissect_from_each * static_cast<double>(elimination.order.size()));
}

/// Up-looking by rows, without pivoting: blocks of Dim × Dim lie in registers, so that a block row update is vector
/// arithmetic; diagonal blocks are inverted.
template <int Dim>
class RowLu final : public SparseLu::Factors {
 public:
  /// Takes the pattern of `matrix` and what eliminating it fills.
  RowLu(const BlockMatrix& matrix, Elimination elimination);

  bool factor(const BlockMatrix& matrix, const BlockSystem& system) override;
  void solve(const Vector& right_side, Vector& solution) override;

  /// What all of the members below take for a matrix of `rows` and `stored` blocks that fills `filled` below the
  /// diagonal.
  static double bytes(double rows, double stored, double filled) {
    constexpr std::size_t each_row = 4 * sizeof(int) + 3 * sizeof(Work) + sizeof(Row) + sizeof(char);
    return rows * static_cast<double>(each_row) + stored * sizeof(Entry) +
           2.0 * filled * (sizeof(int) + packed * sizeof(double));
  }

 private:
  using Work = RowBlock<Dim>;
  using Row = typename Work::Row;
  static constexpr std::size_t packed = Work::packed;
  /// A stored block that belongs to a row of the new order.
  struct Entry {
    int block, column;  ///< of the matrix; new
  };

  void load_row(int i, const BlockMatrix& matrix, const BlockSystem& system);
  /// Subtracts from row i in work_ what its lower pattern takes of the rows before.
  void eliminate_lower(int i);

  int n_ = 0;
  std::vector<int> permutation_;  ///< new → old
  std::vector<int> entry_begin_;
  std::vector<Entry> entries_;            ///< by new rows
  std::vector<int> lower_begin_, lower_;  ///< strictly lower pattern by rows, columns ascending
  std::vector<int> upper_begin_, upper_;  ///< strictly upper pattern by rows, columns ascending
  Vector lower_values_, upper_values_;    ///< packed blocks
  std::vector<Work> inverse_diagonal_;
  std::vector<Work> right_;  ///< by new rows
  std::vector<Work> work_;   ///< one dense block row; zero between rows
  std::vector<Row> intermediate_;
  std::vector<char> dropped_;  ///< by new row
};

template <int Dim>
RowLu<Dim>::RowLu(const BlockMatrix& matrix, Elimination elimination) : n_(matrix.rows()) {
  FactorPattern pattern = factor_pattern(elimination);
  permutation_ = std::move(elimination.order);
  std::vector<int> position(at(n_));
  for (int i = 0; i < n_; ++i) position[at(permutation_[at(i)])] = i;
  entry_begin_.assign(1, 0);
  entry_begin_.reserve(at(n_) + 1);
  entries_.reserve(matrix.columns.size());
  for (const int original : permutation_) {
    for (int k = matrix.row_begin(original); k < matrix.row_begin(original + 1); ++k)
      entries_.push_back({k, position[at(matrix.column(k))]});
    entry_begin_.push_back(static_cast<int>(entries_.size()));
  }

  upper_begin_ = std::move(pattern.begin);
  upper_ = std::move(pattern.rows);
  const std::size_t blocks = upper_.size();
  lower_.resize(blocks);
  lower_begin_.assign(at(n_) + 1, 0);
  for (const int row : upper_) ++lower_begin_[at(row) + 1];
  for (std::size_t i = 1; i < lower_begin_.size(); ++i) lower_begin_[i] += lower_begin_[i - 1];
  std::vector<int> next(lower_begin_.begin(), lower_begin_.end() - 1);
  for (int j = 0; j < n_; ++j) {
    for (int k = upper_begin_[at(j)]; k < upper_begin_[at(j) + 1]; ++k) lower_[at(next[at(upper_[at(k)])]++)] = j;
  }
  // Beyond a 3×3 block's last entry one more is read and written.
  lower_values_.setZero(static_cast<Index>(packed * blocks + 1));
  upper_values_.setZero(static_cast<Index>(packed * blocks + 1));
  inverse_diagonal_.resize(at(n_));
  right_.resize(at(n_));
  work_.resize(at(n_));
  intermediate_.resize(at(n_));
  dropped_.assign(at(n_), 0);
}

template <int Dim>
void RowLu<Dim>::load_row(int i, const BlockMatrix& matrix, const BlockSystem& system) {
  const auto l = Work::Factor::of(system.left[at(permutation_[at(i)])].data());
  work_[at(i)] = Work::of(system.diagonal[at(permutation_[at(i)])].data());
  for (int k = entry_begin_[at(i)]; k < entry_begin_[at(i) + 1]; ++k) {
    const Entry& entry = entries_[at(k)];
    if (dropped_[at(entry.column)]) continue;
    work_[at(entry.column)].add_product(l, matrix.block(entry.block), right_[at(entry.column)]);
  }
}

template <int Dim>
bool RowLu<Dim>::factor(const BlockMatrix& matrix, const BlockSystem& system) {
  bool regular = true;
  for (int i = 0; i < n_; ++i) {
    dropped_[at(i)] = system.left_out[at(permutation_[at(i)])];
    right_[at(i)] = Work::of(system.right[at(permutation_[at(i)])].data());
  }
  for (int i = 0; i < n_; ++i) {
    if (dropped_[at(i)]) continue;
    load_row(i, matrix, system);
    eliminate_lower(i);
    if (!work_[at(i)].invert(inverse_diagonal_[at(i)])) regular = false;
    work_[at(i)] = {};
    double* values = upper_values_.data() + packed * at(upper_begin_[at(i)]);
    for (int k = upper_begin_[at(i)]; k < upper_begin_[at(i) + 1]; ++k, values += packed) {
      Work& block = work_[at(upper_[at(k)])];
      block.put(values);
      block = {};
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
      const double* upper = upper_values_.data() + packed * at(upper_begin_[at(j)]);
      for (int m = upper_begin_[at(j)]; m < upper_begin_[at(j) + 1]; ++m, upper += packed)
        l.subtract_product(upper, work[upper_[at(m)]]);
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
      const Row rest = result - products(upper_, upper_values_, upper_begin_[at(i)], upper_begin_[at(i) + 1]);
      result = inverse_diagonal_[at(i)].times(rest);
    }
    const Index place = 3 * static_cast<Index>(permutation_[at(i)]);
    Work::to_contact(result, right_side.data() + place, solution.data() + place);
  }
}

}  // namespace

void SparseLu::analyse(const BlockMatrix& matrix) {
  dimension_ = matrix.dimension;
  stored_ = static_cast<double>(matrix.columns.size());
  factors_.reset();
  if (matrix.rows() <= DenseLu::most_contacts) {
    DenseLu few(matrix);
    flops_ = few.flops;
    bytes_ = few.bytes;
    factors_ = std::move(few.factors);
    return;
  }
  elimination_ = eliminate(matrix.graph(), minimum_degree_order(matrix.graph()));
  dissected_ = false;
  estimate();
  if (bytes_ > tuned.dissect_bytes) dissect(matrix.graph());
}

void SparseLu::estimate() {
  const double entries = dimension_ * dimension_;
  flops_ = entries * dimension_ * 2.0 / flops_of_block_product * elimination_.flops;
  bytes_ = with_contact_rows(dimension_, [&]<int Dim>() {
    return RowLu<Dim>::bytes(static_cast<double>(elimination_.order.size()), stored_, elimination_.blocks);
  });
}

void SparseLu::dissect(const BlockGraph& graph) {
  dissected_ = true;
  auto order = nested_dissection_order(graph);
  if (!order) return;
  Elimination other = eliminate(graph, std::move(*order));
  if (other.flops < elimination_.flops) elimination_ = std::move(other);
  estimate();
}

bool SparseLu::factor(const BlockMatrix& matrix, const BlockSystem& system) {
  if (!factors_) {
    if (!dissected_ && large(elimination_)) dissect(matrix.graph());
    with_contact_rows(dimension_, [&]<int Dim>() {
      factors_ = std::make_unique<RowLu<Dim>>(matrix, std::exchange(elimination_, {}));
    });
  }
  return factors_->factor(matrix, system);
}

}  // namespace conebench::cascade
