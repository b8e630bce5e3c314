#include "solvers/cascade/front_lu.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace conebench::cascade {

namespace {

using Panel = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

template <class Integer>
std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

/// The components that are not left out, by Left.
constexpr int unknowns[8] = {3, 2, 2, 1, 2, 1, 1, 0};
constexpr int component[8][3] = {{0, 1, 2}, {1, 2}, {0, 2}, {2}, {0, 1}, {1}, {0}, {}};

/// l g for a stored block g; in 2D one of t1 and n.
Eigen::Matrix3d times_block(const Eigen::Matrix3d& l, const double* g, int dimension) {
  if (dimension == 3) return l * Eigen::Map<const Eigen::Matrix3d>(g);
  Eigen::Matrix3d product;
  product << l.col(0) * g[0] + l.col(2) * g[1], Eigen::Vector3d::Zero(), l.col(0) * g[2] + l.col(2) * g[3];
  return product;
}

}  // namespace

double FrontLu::flops(const EliminationFronts& fronts, int dimension) {
  double sum = 0.0;
  for (const EliminationFront& front : fronts.fronts) {
    for (int j = 1; j <= front.pivots; ++j) sum += (front.rows - j) * (front.rows - j + 1.0);
  }
  return 2.0 * dimension * dimension * dimension * sum;
}

double FrontLu::bytes(const EliminationFronts& fronts, int dimension) {
  double blocks = static_cast<double>(fronts.stack_values);
  for (const EliminationFront& front : fronts.fronts) {
    blocks += static_cast<double>(front.pivots) * (2.0 * front.rows - front.pivots);
  }
  return dimension * dimension * sizeof(double) * blocks;
}

FrontLu::FrontLu(const BlockMatrix& matrix, EliminationFronts fronts) : fronts_(std::move(fronts)) {
  const int n = matrix.rows();
  const std::size_t count = fronts_.fronts.size();
  std::vector<int> position(at(n)), front_of(at(n));
  for (int i = 0; i < n; ++i) position[at(fronts_.old_row[at(i)])] = i;
  const std::size_t most = at(matrix.dimension);  // unknowns of a contact
  std::size_t values = 0, rows = 0;
  for (std::size_t f = 0; f < count; ++f) {
    const EliminationFront& front = fronts_.fronts[f];
    std::fill_n(front_of.begin() + front.first_pivot, front.pivots, static_cast<int>(f));
    values += most * most * at(front.pivots) * at(2 * front.rows - front.pivots);
    rows += most * at(front.rows);
  }

  const auto owner = [&](int row, int k) {
    return front_of[at(std::min(position[at(row)], position[at(matrix.column(k))]))];
  };
  const auto place = [&](const EliminationFront& front, int contact) {
    if (contact < front.first_pivot + front.pivots) return contact - front.first_pivot;
    const auto begin = fronts_.row_list.begin() + front.row_begin;
    const auto end = begin + (front.rows - front.pivots);
    return front.pivots + static_cast<int>(std::lower_bound(begin, end, contact) - begin);
  };
  entry_begin_.assign(count + 1, 0);
  for (int i = 0; i < n; ++i) {
    for (int k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) ++entry_begin_[at(owner(i, k)) + 1];
  }
  for (std::size_t f = 0; f < count; ++f) entry_begin_[f + 1] += entry_begin_[f];
  entries_.resize(at(matrix.stored_blocks()));
  std::vector<int> next(entry_begin_.begin(), entry_begin_.end() - 1);
  for (int i = 0; i < n; ++i) {
    for (int k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
      const int f = owner(i, k);
      const EliminationFront& front = fronts_.fronts[at(f)];
      entries_[at(next[at(f)]++)] = {k, place(front, position[at(i)]), place(front, position[at(matrix.column(k))])};
    }
  }

  left_out_.resize(at(n));
  offsets_.resize(at(fronts_.most_rows) + 1);
  steps_.resize(count);
  rows_.resize(rows);
  interchanges_.resize(3 * at(n));
  values_.resize(static_cast<Index>(values));
  stack_.resize(static_cast<Index>(most * most) * fronts_.stack_values);
  waiting_.reserve(count);
  work_.resize(3 * n);
  front_work_.resize(3 * fronts_.most_rows);
  permuted_.resize(3 * fronts_.most_rows);
}

FrontLu::Step FrontLu::begin_step(const EliminationFront& front) {
  Step step;
  for (int place = 0; place < front.rows; ++place) {
    if (place == front.pivots) step.pivots = step.rows;
    offsets_[at(place)] = step.rows;
    step.rows += unknowns[at(left_out_[at(contact_at(front, place))])];
  }
  offsets_[at(front.rows)] = step.rows;
  if (front.pivots == front.rows) step.pivots = step.rows;
  return step;
}

void FrontLu::assemble(std::size_t f, const Step& step, const BlockMatrix& matrix, const std::vector<Block>& left,
                       const std::vector<Block>& right, const std::vector<Block>& diagonal, double* schur) {
  const EliminationFront& front = fronts_.fronts[f];
  const auto below = at(step.rows - step.pivots);
  double* panel = values_.data() + step.value_begin;
  double* upper = panel + at(step.rows) * at(step.pivots);
  std::fill_n(panel, at(step.pivots) * (at(step.rows) + below), 0.0);
  std::fill_n(schur, below * below, 0.0);
  const auto add = [&](const Block& block, int row_place, int column_place) {
    const int height = offsets_[at(row_place) + 1] - offsets_[at(row_place)];
    const int width = offsets_[at(column_place) + 1] - offsets_[at(column_place)];
    const int row = offsets_[at(row_place)];
    const int first_column = offsets_[at(column_place)];
    const int* row_component = component[at(left_out_[at(contact_at(front, row_place))])];
    const int* column_component = component[at(left_out_[at(contact_at(front, column_place))])];
    for (int c = 0; c < width; ++c) {
      const int column = first_column + c;
      double* target = column < step.pivots ? panel + at(column) * at(step.rows)
                                            : upper + at(column - step.pivots) * at(step.pivots);
      for (int r = 0; r < height; ++r) target[row + r] += block(row_component[r], column_component[c]);
    }
  };
  for (int e = entry_begin_[f]; e < entry_begin_[f + 1]; ++e) {
    const Entry& entry = entries_[at(e)];
    const auto row = at(fronts_.old_row[at(contact_at(front, entry.row_place))]);
    const auto column = at(fronts_.old_row[at(contact_at(front, entry.column_place))]);
    if (offsets_[at(entry.row_place)] == offsets_[at(entry.row_place) + 1] ||
        offsets_[at(entry.column_place)] == offsets_[at(entry.column_place) + 1])
      continue;
    const Block half = times_block(left[row], matrix.block(entry.block), matrix.dimension);
    add(half * right[column], entry.row_place, entry.column_place);
  }
  for (int place = 0; place < front.pivots; ++place) {
    add(diagonal[at(fronts_.old_row[at(front.first_pivot + place)])], place, place);
  }
}

void FrontLu::add_child(std::size_t child, const Step& parent, const double* update, double* schur) {
  const EliminationFront& front = fronts_.fronts[child];
  const Step& step = steps_[child];
  const int size = step.rows - step.pivots;
  // Where each row of the update goes; those of the parent's pivots come first.
  int* target = rows_.data() + parent.row_begin;  // not yet filled
  int pivotal = 0;
  int filled = 0;
  for (int k = 0; k < front.rows - front.pivots; ++k) {
    const int place = fronts_.parent_position[at(front.row_begin + k)];
    for (int row = offsets_[at(place)]; row < offsets_[at(place) + 1]; ++row) {
      target[filled++] = row;
      if (row < parent.pivots) pivotal = filled;
    }
  }
  const auto below = static_cast<std::ptrdiff_t>(parent.rows - parent.pivots);
  double* panel = values_.data() + parent.value_begin;
  double* upper = panel + at(parent.rows) * at(parent.pivots);
  for (int j = 0; j < size; ++j, update += size) {
    if (j < pivotal) {
      double* column = panel + static_cast<std::ptrdiff_t>(target[j]) * parent.rows;
      for (int i = 0; i < size; ++i) column[target[i]] += update[i];
      continue;
    }
    const std::ptrdiff_t place = target[j] - parent.pivots;
    double* above = upper + place * parent.pivots;
    for (int i = 0; i < pivotal; ++i) above[target[i]] += update[i];
    double* column = schur + place * below - parent.pivots;
    for (int i = pivotal; i < size; ++i) column[target[i]] += update[i];
  }
}

bool FrontLu::eliminate(const Step& step, double* schur) {
  const Index pivots = step.pivots;
  const Index below = step.rows - step.pivots;
  if (pivots == 0) return true;
  bool regular = true;
  double* values = values_.data() + step.value_begin;
  Panel pivot(values, pivots, pivots, Eigen::OuterStride<>(step.rows));
  int* order = interchanges_.data() + rows_[step.row_begin];
  const double magnitude = pivot.cwiseAbs().maxCoeff();
  const Eigen::PartialPivLU<Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>> lu(pivot);
  const auto& permutation = lu.permutationP().indices();
  for (Index k = 0; k < pivots; ++k) order[permutation[k]] = static_cast<int>(k);
  if (lu.permutationP().determinant() < 0) determinant_sign_ = -determinant_sign_;
  for (Index k = 0; k < pivots; ++k) {
    double& diagonal = pivot(k, k);
    if (diagonal < 0.0) determinant_sign_ = -determinant_sign_;
    if (!(std::abs(diagonal) > 1e-300) || !(magnitude < 1e300)) {
      regular = false;
      diagonal += 1e-14 + 1e-12 * magnitude;
    }
  }
  if (below == 0) return regular;
  Panel lower(values + pivots, below, pivots, Eigen::OuterStride<>(step.rows));
  Eigen::Map<Matrix> upper(values + step.rows * pivots, pivots, below);
  for (Index j = 0; j < below; ++j) {
    for (Index k = 0; k < pivots; ++k) permuted_[k] = upper(order[k], j);
    upper.col(j) = permuted_.head(pivots);
  }
  pivot.triangularView<Eigen::UnitLower>().solveInPlace(upper);
  pivot.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(lower);
  Eigen::Map<Matrix>(schur, below, below).noalias() -= lower * upper;
  return regular;
}

bool FrontLu::factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
                     const std::vector<Block>& diagonal, const std::vector<char>& left_out) {
  bool regular = true;
  determinant_sign_ = 1;
  for (std::size_t i = 0; i < left_out_.size(); ++i) left_out_[i] = left_out[at(fronts_.old_row[i])];
  waiting_.clear();
  std::size_t top = 0, value = 0, row = 0;
  for (std::size_t f = 0; f < fronts_.fronts.size(); ++f) {
    const EliminationFront& front = fronts_.fronts[f];
    Step& step = steps_[f];
    step = begin_step(front);
    step.value_begin = value;
    step.row_begin = row;
    const auto below = at(step.rows - step.pivots);
    value += at(step.pivots) * (at(step.rows) + below);
    row += at(step.rows);
    double* schur = stack_.data() + top;
    assemble(f, step, matrix, left, right, diagonal, schur);
    while (!waiting_.empty() && fronts_.fronts[waiting_.back()].parent == static_cast<int>(f)) {
      const std::size_t child = waiting_.back();
      waiting_.pop_back();
      const auto size = at(steps_[child].rows - steps_[child].pivots);
      top -= size * size;
      add_child(child, step, stack_.data() + top, schur);
    }
    for (int place = 0, k = 0; place < front.rows; ++place) {
      const int contact = contact_at(front, place);
      const auto out = at(left_out_[at(contact)]);
      for (int c = 0; c < unknowns[out]; ++c) rows_[step.row_begin + at(k++)] = 3 * contact + component[out][c];
    }
    if (!eliminate(step, schur)) regular = false;
    if (below > 0) std::memmove(stack_.data() + top, schur, below * below * sizeof(double));
    top += below * below;
    waiting_.push_back(f);
  }
  return regular;
}

void FrontLu::solve(const Vector& right_side, Vector& solution) {
  for (std::size_t i = 0; i < left_out_.size(); ++i) {
    work_.segment<3>(3 * static_cast<Index>(i)) = right_side.segment<3>(3 * fronts_.old_row[i]);
  }
  for (const Step& step : steps_) {
    if (step.pivots == 0) continue;
    const Index below = step.rows - step.pivots;
    const int* row = rows_.data() + step.row_begin;
    const int* order = interchanges_.data() + row[0];
    double* values = values_.data() + step.value_begin;
    const Panel pivot(values, step.pivots, step.pivots, Eigen::OuterStride<>(step.rows));
    const Panel lower(values + step.pivots, below, step.pivots, Eigen::OuterStride<>(step.rows));
    auto known = front_work_.head(step.pivots);
    for (int k = 0; k < step.pivots; ++k) known[k] = work_[row[order[k]]];
    pivot.triangularView<Eigen::UnitLower>().solveInPlace(known);
    for (int k = 0; k < step.pivots; ++k) work_[row[k]] = known[k];
    auto update = permuted_.head(below);
    update.noalias() = lower * known;
    for (Index k = 0; k < below; ++k) work_[row[step.pivots + k]] -= update[k];
  }
  for (std::size_t f = steps_.size(); f-- > 0;) {
    const Step& step = steps_[f];
    if (step.pivots == 0) continue;
    const Index below = step.rows - step.pivots;
    const int* row = rows_.data() + step.row_begin;
    double* values = values_.data() + step.value_begin;
    const Panel pivot(values, step.pivots, step.pivots, Eigen::OuterStride<>(step.rows));
    const Eigen::Map<const Matrix> upper(values + at(step.rows) * at(step.pivots), step.pivots, below);
    auto known = front_work_.head(step.pivots);
    auto later = permuted_.head(below);
    for (int k = 0; k < step.pivots; ++k) known[k] = work_[row[k]];
    for (Index k = 0; k < below; ++k) later[k] = work_[row[step.pivots + k]];
    known.noalias() -= upper * later;
    pivot.triangularView<Eigen::Upper>().solveInPlace(known);
    for (int k = 0; k < step.pivots; ++k) work_[row[k]] = known[k];
  }
  for (std::size_t i = 0; i < left_out_.size(); ++i) {
    solution.segment<3>(3 * fronts_.old_row[i]) = work_.segment<3>(3 * static_cast<Index>(i));
  }
}

}  // namespace conebench::cascade
