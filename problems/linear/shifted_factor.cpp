#include "problems/linear/shifted_factor.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <utility>

#include "base/workers.hpp"
#include "problems/linear/elimination.hpp"

namespace conebench {

namespace {

constexpr double panel_cost =
    60.0;  ///< of a panel, in multiplications that take as long as what it costs besides its values
/// Most times that a panel's diagonal may be the shift where it is inverted as a whole: the residuals of products with
/// an inverse grow with the condition.
constexpr double inverted_ratio = 1e4;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Block columns [first, last] that share the rows below them, those of `last`.
struct Supernode {
  int first = 0;
  int last = 0;
  int pivots = 0;  ///< scalar rows
  int below = 0;
  double cost() const { return panel_cost + static_cast<double>(pivots) * (pivots + below); }
};

/// `sizes`: scalar rows of each block, in the new order.
std::vector<Supernode> supernodes(const FactorPattern& pattern, const std::vector<int>& parent,
                                  const std::vector<int>& sizes) {
  std::vector<Supernode> nodes;
  for (int j = 0; j < static_cast<int>(sizes.size()); ++j) {
    Supernode node{.first = j, .last = j, .pivots = sizes[at(j)]};
    for (const int i : pattern.below(j)) node.below += sizes[at(i)];
    // Only the column directly before is contiguous with this one; merging may cascade down the last children.
    while (!nodes.empty() && parent[at(nodes.back().last)] >= node.first &&
           parent[at(nodes.back().last)] <= node.last) {
      const Supernode& child = nodes.back();
      const Supernode both{.first = child.first, .last = j, .pivots = child.pivots + node.pivots, .below = node.below};
      if (both.cost() > child.cost() + node.cost()) break;
      node = both;
      nodes.pop_back();
    }
    nodes.push_back(node);
  }
  return nodes;
}

constexpr int lanes = 4;  ///< rows are rounded up to

template <int Rows>
using Some = Eigen::Array<double, Rows, 1>;
template <int Rows>
using SomeMap = Eigen::Map<const Some<Rows>>;

/// store(target + i, Σ_c factors[c] · column c) for rows from `begin` (rounded down) to `end`, some at a time.
template <class Store>
void combine(double* target, const double* columns, int lead, const double* factors, int count, int begin, int end,
             const Store& store) {
  int i = begin / lanes * lanes;
  const auto rows = [&]<int Rows>() {
    Some<Rows> sum = Some<Rows>::Zero();
    for (int c = 0; c < count; ++c) {
      sum += SomeMap<Rows>(columns + static_cast<std::ptrdiff_t>(c) * lead + i) * factors[c];
    }
    Eigen::Map<Some<Rows>> own(target + i);
    store(own, sum);
    i += Rows;
  };
  while (i + 4 * lanes <= end) rows.template operator()<4 * lanes>();
  if (i + 2 * lanes <= end) rows.template operator()<2 * lanes>();
  if (i < end) rows.template operator()<lanes>();
}

/// Multiplications from which on threads gain: handing them out costs some 10 us.
constexpr double min_shared = 2e5;

/// combine() to the last row, its rows shared among threads. They have the lanes that one thread gives them, and so the
/// same bits.
template <class Store>
void combine_shared(double* target, const double* columns, int lead, const double* factors, int count, int begin,
                    const Store& store, Workers* workers) {
  constexpr int rows_a_tile = 4 * lanes;
  const int first = begin / lanes * lanes;
  if (workers == nullptr || static_cast<double>(count) * (lead - first) < min_shared) {
    return combine(target, columns, lead, factors, count, first, lead, store);
  }
  workers->run(at((lead - first + rows_a_tile - 1) / rows_a_tile), [&](std::size_t tile, std::size_t last_tile) {
    const int end = first + static_cast<int>(last_tile) * rows_a_tile;
    combine(target, columns, lead, factors, count, first + static_cast<int>(tile) * rows_a_tile, std::min(end, lead),
            store);
  });
}

constexpr auto assign = [](auto& own, const auto& sum) { own = sum; };
constexpr auto add = [](auto& own, const auto& sum) { own += sum; };

/// sums[c] = column c · vector, three columns at a time.
void dot(double* sums, const double* columns, int lead, const double* vector, int count) {
  const auto some = [&]<int Count>() {
    Some<lanes> partial[Count];
    for (auto& sum : partial) sum.setZero();
    for (int i = 0; i < lead; i += lanes) {
      const Some<lanes> v = SomeMap<lanes>(vector + i);
      for (int k = 0; k < Count; ++k) partial[k] += SomeMap<lanes>(columns + k * lead + i) * v;
    }
    for (const auto& sum : partial) *sums++ = sum.sum();
    columns += Count * lead;
    count -= Count;
  };
  while (count >= 3) some.template operator()<3>();
  while (count > 0) some.template operator()<1>();
}

/// What solve() multiplies by: the triangle D of a panel becomes D⁻¹ and all rows B below it −B D⁻¹, so that a step is
/// one product. X = [D⁻¹; −B D⁻¹] solves X D = [I; −B], from the last column on. `factors`: scratch.
void invert_pivots(double* panel, int lead, int pivots, double* factors, Workers* workers) {
  for (int j = pivots; j-- > 0;) {
    double* const own = panel + static_cast<std::ptrdiff_t>(j) * lead;
    const double inverse = 1.0 / own[j];
    std::copy(own + j + 1, own + pivots, factors);
    std::fill(own, own + pivots, 0.0);
    own[j] = -1.0;
    combine_shared(own, own + lead, lead, factors, pivots - j - 1, j, add, workers);
    for (int i = j; i < lead; ++i) own[i] *= -inverse;
  }
}

/// L⁻¹ becomes U⁻¹ L⁻¹. `upper`: U⁻¹ transposed, or `lower` again; `column`: scratch.
void multiply_inverses(double* lower, const double* upper, int lead, int pivots, double* column) {
  const bool symmetric = lower == upper;
  for (std::ptrdiff_t j = 0; j < pivots; ++j) {
    const std::ptrdiff_t first = symmetric ? j : 0;  // columns before j are gone
    dot(column, upper + first * lead, lead, lower + j * lead, pivots - static_cast<int>(first));
    std::copy(column, column + (pivots - first), lower + j * lead + first);
  }
  for (std::ptrdiff_t j = 0; symmetric && j < pivots; ++j) {
    for (std::ptrdiff_t i = 0; i < j; ++i) lower[i + j * lead] = lower[j + i * lead];
  }
}

}  // namespace

ShiftedFactor::ShiftedFactor(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance,
                             Factorization factorization)
    : sides_(factorization == Factorization::cholesky ? 1 : 2) {
  analyse(matrix);
  assemble(matrix, scale, compliance);
}

void ShiftedFactor::analyse(const BlockSparseMatrix& matrix) {
  const BlockGraph graph{matrix.row_begins(), matrix.columns()};
  const Elimination elimination = eliminate(graph, minimum_degree_order(graph));
  const FactorPattern pattern = factor_pattern(elimination);
  std::vector<int> sizes, first_row;
  new_row_.resize(at(matrix.rows()));
  for (const int block : elimination.order) {
    sizes.push_back(matrix.block_size(block));
    first_row.push_back(static_cast<int>(old_row_.size()));
    for (Index row = matrix.block_offset(block); row < matrix.block_offset(block + 1); ++row) {
      new_row_[at(row)] = static_cast<int>(old_row_.size());
      old_row_.push_back(static_cast<int>(row));
    }
  }
  const auto append_rows = [&](int block) {
    for (int r = 0; r < sizes[at(block)]; ++r) rows_.push_back(first_row[at(block)] + r);
  };
  int max_rows = 0;
  for (const Supernode& node : supernodes(pattern, elimination.parent, sizes)) {
    const Panel panel{.first = first_row[at(node.first)],
                      .pivots = node.pivots,
                      .rows = node.pivots + node.below,
                      .lead = (node.pivots + node.below + lanes - 1) / lanes * lanes,
                      .row_begin = static_cast<std::int64_t>(rows_.size()),
                      .value_begin = panel_values_};
    for (int block = node.first; block <= node.last; ++block) append_rows(block);
    for (const int block : pattern.below(node.last)) append_rows(block);
    panel_of_.resize(panel_of_.size() + at(panel.pivots), static_cast<int>(panels_.size()));
    panel_values_ += static_cast<std::int64_t>(panel.lead) * panel.pivots;
    max_rows = std::max(max_rows, panel.lead);
    panels_.push_back(panel);
  }
  first_of_later_.resize(rows_.size());
  positions_of_later_.resize(rows_.size());
  for (const Panel& panel : panels_) {
    const int* const row = rows_.data() + panel.row_begin;
    for (int begin = panel.pivots, end = begin; begin < panel.rows; begin = end) {
      const Panel& later = panels_[at(panel_of_[at(row[begin])])];
      for (; end < panel.rows && row[end] < later.first + later.pivots; ++end) {
        first_of_later_[at(panel.row_begin + end)] = begin;
        positions_of_later_[at(panel.row_begin + end)] = static_cast<std::int64_t>(positions_.size());
      }
      const int* const other = rows_.data() + later.row_begin;
      for (int i = begin, position = 0; i < panel.rows; ++i) {
        while (other[position] != row[i]) ++position;
        positions_.push_back(position);
      }
    }
  }
  scratch_ = {{Vector(max_rows), Vector(max_rows)}};
  make(work_);
}

std::int64_t ShiftedFactor::offset(int i, int j) const {
  const Panel& panel = panels_[at(panel_of_[at(j)])];
  std::int64_t position = i - panel.first;
  if (position >= panel.pivots) {
    const auto begin = rows_.begin() + panel.row_begin;
    position = std::lower_bound(begin, begin + panel.rows, i) - begin;
  }
  return panel.value_begin + position + static_cast<std::int64_t>(panel.lead) * (j - panel.first);
}

/// With one side, G and its transpose are added by halves.
void ShiftedFactor::assemble(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance) {
  original_.setZero(sides_ * panel_values_);
  double* const lower = original_.data();
  double* const upper = lower + (sides_ - 1) * panel_values_;
  const double share = sides_ == 1 ? 0.5 : 1.0;
  for (Index block_row = 0; block_row < matrix.block_rows(); ++block_row) {
    const Index row = matrix.block_offset(block_row);
    for (Index k = matrix.row_begin(block_row); k < matrix.row_begin(block_row + 1); ++k) {
      const Index column = matrix.block_offset(matrix.column(k));
      const auto block = matrix.block(block_row, k);
      // The rows of a block stay together, so one search serves the block.
      const int i = new_row_[at(row)], j = new_row_[at(column)];
      const std::int64_t begin = offset(std::max(i, j), std::min(i, j));
      const std::int64_t lead = panels_[at(panel_of_[at(std::min(i, j))])].lead;
      for (Index c = 0; c < block.cols(); ++c) {
        for (Index r = 0; r < block.rows(); ++r) {
          const double value = share * block(r, c) * scale[row + r] * scale[column + c];
          if (i >= j) lower[begin + r + lead * c] += value;
          if (i <= j) upper[begin + c + lead * r] += value;
        }
      }
    }
  }
  diagonal_.resize(rows());
  for (int i = 0; i < rows(); ++i) {
    for (int side = 0; side < sides_; ++side) lower[side * panel_values_ + offset(i, i)] += compliance[old_row_[at(i)]];
    diagonal_[i] = lower[offset(i, i)];
  }
}

bool ShiftedFactor::factor(double shift, Workers* workers) {
  values_ = original_;
  if (workers != nullptr) scratch_.resize(static_cast<std::size_t>(workers->count()), scratch_.front());
  return eliminate_panels(shift, 0.0, workers);
}

bool ShiftedFactor::factor_once(double min_share) {
  values_ = std::move(original_);
  return eliminate_panels(0.0, min_share, nullptr);
}

bool ShiftedFactor::eliminate_panels(double shift, double min_share, Workers* workers) {
  double* const factors = scratch_.front().factors.data();
  for (Panel& panel : panels_) {
    double* const lower = values(panel, 0);
    double largest = 0.0;
    for (int j = 0; j < panel.pivots; ++j) largest = std::max(largest, shift + lower[j * (panel.lead + 1)]);
    panel.inverted = panel.rows == panel.pivots && largest <= inverted_ratio * shift;
    if (!eliminate_pivots(panel, shift, min_share, workers)) return false;
    for (int side = 0; side < sides_; ++side) update_later(panel, side, workers);
    for (int side = 0; side < sides_; ++side) {
      invert_pivots(values(panel, side), panel.lead, panel.pivots, factors, workers);
    }
    if (panel.inverted) multiply_inverses(lower, values(panel, sides_ - 1), panel.lead, panel.pivots, factors);
  }
  return true;
}

/// The panel's columns of L and Uᵀ, each with a square root of the pivot on the diagonal. False as factor_once().
bool ShiftedFactor::eliminate_pivots(const Panel& panel, double shift, double min_share, Workers* workers) {
  double* const factors = scratch_.front().factors.data();
  for (int j = 0; j < panel.pivots; ++j) {
    const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(j) * panel.lead;
    for (int side = 0; side < sides_; ++side) {
      double* const own = values(panel, side);
      const double* const other = values(panel, sides_ - 1 - side);
      for (int c = 0; c < j; ++c) factors[c] = -other[j + static_cast<std::ptrdiff_t>(c) * panel.lead];
      combine_shared(own + column, own, panel.lead, factors, j, j, add, workers);
      own[column + j] += shift;
    }
    const double pivot = values(panel, 0)[column + j];
    if (!(pivot > min_share * (diagonal_[panel.first + j] + shift) && pivot > 0.0) || !std::isfinite(pivot))
      return false;
    const double inverse = 1.0 / std::sqrt(pivot);
    for (int side = 0; side < sides_; ++side) {
      double* const own = values(panel, side) + column;
      for (int i = j; i < panel.lead; ++i) own[i] *= inverse;
    }
  }
  return true;
}

/// Subtracts the products of L's rows below the pivots with U's columns from the later panels that have these columns,
/// or the other way round. Of the diagonal blocks all is subtracted.
void ShiftedFactor::update_later(const Panel& panel, int side, Workers* workers) {
  const double below = panel.rows - panel.pivots;
  if (workers == nullptr || panel.pivots * below * below < min_shared) {
    for (int c = panel.pivots; c < panel.rows; ++c) update_later(panel, side, c, scratch_.front());
    return;
  }
  // Later columns are shorter, so each goes to the next thread that is free. No two threads have the same.
  std::atomic<int> next = panel.pivots;
  workers->run_parts(static_cast<std::size_t>(workers->count()), [&](std::size_t part, std::size_t, std::size_t) {
    for (int c = next++; c < panel.rows; c = next++) update_later(panel, side, c, scratch_[part]);
  });
}

void ShiftedFactor::update_later(const Panel& panel, int side, int column, Scratch& scratch) {
  const double* const other = values(panel, sides_ - 1 - side);
  for (int k = 0; k < panel.pivots; ++k) {
    scratch.factors[k] = other[column + static_cast<std::ptrdiff_t>(k) * panel.lead];
  }
  const std::size_t index = at(panel.row_begin + column);
  const int begin = first_of_later_[index], row = rows_[index];
  combine(scratch.panel.data(), values(panel, side), panel.lead, scratch.factors.data(), panel.pivots, begin,
          panel.lead, assign);
  const Panel& later = panels_[at(panel_of_[at(row)])];
  double* const target = values(later, side) + static_cast<std::ptrdiff_t>(row - later.first) * later.lead;
  const int* const position = positions_.data() + positions_of_later_[index];
  for (int i = begin; i < panel.rows; ++i) target[position[i - begin]] -= scratch.panel[i];
}

void ShiftedFactor::make(Workspace& work) const {
  if (work.rows.size() != rows()) work.rows.setZero(rows());
  if (work.panel.size() < scratch_.front().panel.size()) work.panel.resize(scratch_.front().panel.size());
}

void ShiftedFactor::forward(const Panel& panel, Workspace& work) const {
  const int* const row = rows_.data() + panel.row_begin;
  double* const own = work.rows.data() + panel.first;
  combine(work.panel.data(), values(panel, 0), panel.lead, own, panel.pivots, 0, panel.lead, assign);
  for (int i = 0; i < panel.pivots; ++i) own[i] = work.panel[i];
  for (int i = panel.pivots; i < panel.rows; ++i) work.rows[row[i]] += work.panel[i];
}

void ShiftedFactor::solve(ConstVectorRef b, VectorRef x, Workspace& work) const {
  make(work);
  for (Index i = 0; i < rows(); ++i) work.rows[i] = b[old_row_[at(i)]];
  for (const Panel& panel : panels_) forward(panel, work);
  for (auto panel = panels_.rbegin(); panel != panels_.rend(); ++panel) {
    if (panel->inverted) continue;
    const int* const row = rows_.data() + panel->row_begin;
    for (int i = 0; i < panel->rows; ++i) work.panel[i] = work.rows[row[i]];
    for (int i = panel->rows; i < panel->lead; ++i) work.panel[i] = 0.0;
    dot(work.rows.data() + panel->first, values(*panel, sides_ - 1), panel->lead, work.panel.data(), panel->pivots);
  }
  for (Index i = 0; i < rows(); ++i) x[old_row_[at(i)]] = std::exchange(work.rows[i], 0.0);
}

void ShiftedFactor::gram(const SparseMatrix& columns, Index first, int count, double* gram, Workspace& work) const {
  make(work);
  std::set<int> path;
  for (Index c = first; c < first + count; ++c) {
    for (SparseMatrix::InnerIterator it(columns, c); it; ++it) {
      for (int p = panel_of_[at(new_row_[at(it.row())])]; path.insert(p).second;) {
        const Panel& panel = panels_[at(p)];
        if (panel.rows > panel.pivots) p = panel_of_[at(rows_[at(panel.row_begin + panel.pivots)])];
      }
    }
  }
  Index length = 0;
  for (const int p : path) length += panels_[at(p)].pivots;
  Matrix solved(length, count);
  for (Index c = 0; c < count; ++c) {
    for (SparseMatrix::InnerIterator it(columns, first + c); it; ++it) work.rows[new_row_[at(it.row())]] += it.value();
    Index done = 0;
    for (const int p : path) {
      const Panel& panel = panels_[at(p)];
      forward(panel, work);
      solved.col(c).segment(done, panel.pivots) = work.rows.segment(panel.first, panel.pivots);
      work.rows.segment(panel.first, panel.pivots).setZero();
      done += panel.pivots;
    }
  }
  Eigen::Map<Matrix>(gram, count, count).noalias() = solved.transpose() * solved;
}

}  // namespace conebench
