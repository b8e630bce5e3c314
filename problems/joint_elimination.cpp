#include "problems/joint_elimination.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "problems/block_sparse_builder.hpp"

namespace conebench {

namespace {

using Run = JointElimination::Group::Run;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A NaN counts as an entry.
bool holds(const BlockSparseMatrix& matrix, Index row, Index position) {
  const double* values = matrix.block_values(position);
  const int size = matrix.block_size(row) * matrix.block_size(matrix.column(position));
  return std::any_of(values, values + size, [](double x) { return !(x == 0.0); });
}

/// Lengthens the last run where `first` follows it.
void append(std::vector<Run>& runs, Index first, Index size, Index index) {
  if (!runs.empty() && runs.back().first + runs.back().size == first) {
    runs.back().size += size;
  } else {
    runs.push_back({first, size, index});
  }
}

/// Joints that belong together, and what they touch. Blocks count from the first joint, as in G.
struct Coupled {
  /// A block row with entries in A_cj, which are rows `index` … of the group's.
  struct Row {
    Index block, index;
  };
  std::vector<int> joints;   ///< rows
  std::vector<int> columns;  ///< blocks beyond the joints with entries in A_jc, ascending
  std::vector<Row> rows;     ///< ascending
  Index width = 0;           ///< of `columns` together
  Index height = 0;          ///< of `rows` together
  Matrix block;              ///< A_jj, scaled
  double largest = 0.0;      ///< its longest column
  Matrix product;            ///< A_cj map, height × width
};

/// A row of a group, for going through the rows of all.
struct Visit {
  Index block;
  int group;
  Index index;
};

class Elimination {
 public:
  explicit Elimination(const ContactProblem& problem)
      : problem_(problem),
        matrix_(problem.blocks()),
        joints_(problem.cones().joints()),
        group_(at(joints_)),
        local_(at(joints_)),
        index_(at(matrix_.block_rows()), -1) {
    join_groups();
    find_columns();
    find_rows();
  }

  /// Of the pseudoinverses with their factors, the maps, the products and the blocks that these fill.
  double bytes() const {
    double values = 0.0;
    for (const Coupled& group : groups_) {
      const auto joints = static_cast<double>(group.joints.size());
      const auto width = static_cast<double>(group.width);
      const auto height = static_cast<double>(group.height);
      values += 3.0 * joints * joints + joints * (3.0 * width + height) + 2.5 * width * height;
    }
    return 8.0 * values;
  }

  JointElimination run() {
    const ConeProduct& all = problem_.cones();
    const Index others = problem_.rows() - joints_;
    JointElimination out{.cones = all.without_joints(),
                         .matrix = {},
                         .free_term = problem_.free_term().tail(others),
                         .groups = {},
                         .offset = Vector(joints_)};
    scale_joints();
    for (std::size_t g = 0; g < groups_.size(); ++g) out.groups.push_back(solve(static_cast<int>(g), out));
    out.matrix = assemble(out.cones);
    return out;
  }

 private:
  int root(int joint) {
    while (group_[at(joint)] != joint) joint = group_[at(joint)] = group_[at(group_[at(joint)])];
    return joint;
  }

  void join_groups() {
    std::iota(group_.begin(), group_.end(), 0);
    for (int j = 0; j < joints_; ++j) {
      for (Index k = matrix_.row_begin(j); k < matrix_.row_begin(j + 1) && matrix_.column(k) < joints_; ++k) {
        if (!holds(matrix_, j, k)) continue;
        const int a = root(j);
        const int b = root(static_cast<int>(matrix_.column(k)));
        group_[at(std::max(a, b))] = std::min(a, b);
      }
    }
    // The root of a group is its first joint, so its number is known before those of the others.
    for (int j = 0; j < joints_; ++j) {
      const int first = root(j);
      if (first == j) {
        local_[at(j)] = static_cast<int>(groups_.size());
        groups_.emplace_back();
      }
      groups_[at(local_[at(first)])].joints.push_back(j);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& joints = groups_[g].joints;
      for (std::size_t k = 0; k < joints.size(); ++k) {
        group_[at(joints[k])] = static_cast<int>(g);
        local_[at(joints[k])] = static_cast<int>(k);
      }
    }
  }

  void find_columns() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Coupled& group = groups_[g];
      for (const int j : group.joints) {
        for (Index k = matrix_.row_begin(j); k < matrix_.row_begin(j + 1); ++k) {
          const Index column = matrix_.column(k);
          Index& found = index_[at(column)];
          if (column < joints_ || found == static_cast<Index>(g) || !holds(matrix_, j, k)) continue;
          found = static_cast<Index>(g);
          group.columns.push_back(static_cast<int>(column));
        }
      }
      std::sort(group.columns.begin(), group.columns.end());
      for (const int c : group.columns) group.width += matrix_.block_size(c);
    }
  }

  void find_rows() {
    std::vector<Index> last(groups_.size(), -1);
    for (Index b = joints_; b < matrix_.block_rows(); ++b) {
      for (Index k = matrix_.row_begin(b); matrix_.column(k) < joints_; ++k) {
        const int g = group_[at(matrix_.column(k))];
        if (last[at(g)] == b || !holds(matrix_, b, k)) continue;
        last[at(g)] = b;
        visits_.push_back({b, g, groups_[at(g)].height});
        groups_[at(g)].rows.push_back({b, groups_[at(g)].height});
        groups_[at(g)].height += matrix_.block_size(b);
      }
    }
  }

  void scale_joints() {
    Vector diagonal(joints_);
    for (Index j = 0; j < joints_; ++j) {
      diagonal[j] = *matrix_.block_values(matrix_.diagonal(j)) + problem_.compliance()[j];
    }
    scale_ = inverse_roots(diagonal);
    for (Coupled& group : groups_) {
      const auto size = static_cast<Index>(group.joints.size());
      group.block.setZero(size, size);
      for (Index r = 0; r < size; ++r) {
        const int j = group.joints[at(r)];
        for (Index k = matrix_.row_begin(j); k < matrix_.row_begin(j + 1) && matrix_.column(k) < joints_; ++k) {
          const Index column = matrix_.column(k);
          double value = *matrix_.block_values(k);
          if (column == j) value += problem_.compliance()[j];
          // An entry between groups is 0.
          if (value != 0.0) group.block(r, local_[at(column)]) = scale_[j] * value * scale_[column];
        }
      }
      group.largest = group.block.colwise().norm().maxCoeff();
      largest_ = std::max(largest_, group.largest);
    }
  }

  JointElimination::Group solve(int g, JointElimination& out) {
    Coupled& group = groups_[at(g)];
    const auto size = static_cast<Index>(group.joints.size());
    JointElimination::Group result;
    Vector scale(size);
    Vector free(size);
    for (Index r = 0; r < size; ++r) {
      const int j = group.joints[at(r)];
      append(result.joints, j, 1, r);
      scale[r] = scale_[j];
      free[r] = scale_[j] * problem_.free_term()[j];
    }
    // A row is redundant by the largest of all groups: one that is rounding must not be measured by itself.
    Eigen::CompleteOrthogonalDecomposition<Matrix> block;
    block.setThreshold(group.largest > 0.0 ? 1e-12 * (largest_ / group.largest) : 1e-12);
    block.compute(group.block);

    const Vector offset = -scale.cwiseProduct(block.solve(free));
    for (Index r = 0; r < size; ++r) out.offset[group.joints[at(r)]] = offset[r];
    if (group.width > 0) {  // Eigen's triangular solve reads the first of no columns
      const Matrix coupling = scale.asDiagonal() * columns_of(group, result);
      result.map = -(scale.asDiagonal() * block.solve(coupling));
    } else {
      result.map.resize(size, 0);
    }
    const Matrix from_joints = rows_of(g);
    group.product.noalias() = from_joints * result.map;
    const Vector moved = from_joints * offset;
    for (const auto& [b, index] : group.rows) {
      const int height = matrix_.block_size(b);
      out.free_term.segment(matrix_.block_offset(b) - joints_, height) += moved.segment(index, height);
    }
    return result;
  }

  /// A_jc of a group.
  Matrix columns_of(const Coupled& group, JointElimination::Group& result) {
    Index index = 0;
    for (const int c : group.columns) {
      append(result.others, matrix_.block_offset(c) - joints_, matrix_.block_size(c), index);
      index_[at(c)] = index;
      index += matrix_.block_size(c);
    }
    Matrix rows = Matrix::Zero(static_cast<Index>(group.joints.size()), group.width);
    for (Index r = 0; r < rows.rows(); ++r) {
      const int j = group.joints[at(r)];
      for (Index k = matrix_.row_begin(j); k < matrix_.row_begin(j + 1); ++k) {
        const Index c = matrix_.column(k);
        if (c < joints_ || !holds(matrix_, j, k)) continue;
        const double* values = matrix_.block_values(k);
        for (int i = 0; i < matrix_.block_size(c); ++i) rows(r, index_[at(c)] + i) = values[i];
      }
    }
    return rows;
  }

  /// A_cj of a group.
  Matrix rows_of(int g) const {
    const Coupled& group = groups_[at(g)];
    Matrix rows = Matrix::Zero(group.height, static_cast<Index>(group.joints.size()));
    for (const auto& [b, index] : group.rows) {
      for (Index k = matrix_.row_begin(b); matrix_.column(k) < joints_; ++k) {
        const Index j = matrix_.column(k);
        if (group_[at(j)] != g) continue;
        const double* values = matrix_.block_values(k);
        for (int i = 0; i < matrix_.block_size(b); ++i) rows(index + i, local_[at(j)]) = values[i];
      }
    }
    return rows;
  }

  BlockSparseMatrix assemble(const ConeProduct& cones) const {
    const auto joints = static_cast<int>(joints_);
    BlockSparseBuilder builder(cones);
    auto visit = visits_.begin();
    for (Index b = joints_; b < matrix_.block_rows(); ++b) {
      const auto first = visit;
      for (; visit != visits_.end() && visit->block == b; ++visit) {
        for (const int c : groups_[at(visit->group)].columns) builder.name(c - joints);
      }
      Index k = matrix_.row_begin(b);
      while (matrix_.column(k) < joints_) ++k;
      const Index begin = k;
      for (; k < matrix_.row_begin(b + 1); ++k) {
        if (holds(matrix_, b, k)) builder.name(static_cast<int>(matrix_.column(k)) - joints);
      }
      builder.begin_row();
      for (k = begin; k < matrix_.row_begin(b + 1); ++k) {
        const Index c = matrix_.column(k);
        if (c != b && !holds(matrix_, b, k)) continue;
        const double* values = matrix_.block_values(k);
        std::copy_n(values, matrix_.block_size(b) * matrix_.block_size(c),
                    builder.block(static_cast<int>(c) - joints).data());
      }
      builder.block(static_cast<int>(b) - joints).diagonal() +=
          problem_.compliance().segment(matrix_.block_offset(b), matrix_.block_size(b));
      for (auto v = first; v != visit; ++v) {
        const Coupled& group = groups_[at(v->group)];
        Index index = 0;
        for (const int c : group.columns) {
          auto block = builder.block(c - joints);
          block += group.product.block(v->index, index, block.rows(), block.cols());
          index += block.cols();
        }
      }
    }
    return builder.finish();
  }

  const ContactProblem& problem_;
  const BlockSparseMatrix& matrix_;
  const Index joints_;
  std::vector<int> group_, local_;  ///< by joint row: its group, and its index there
  std::vector<Coupled> groups_;
  std::vector<Visit> visits_;  ///< block row by block row
  std::vector<Index> index_;   ///< by block: its first column in the group that is being solved
  Vector scale_;
  double largest_ = 0.0;  ///< column of A_jj, scaled
};

}  // namespace

Vector inverse_roots(const Vector& diagonal) {
  const double positive = static_cast<double>((diagonal.array() > 0.0).count());
  const double mean = positive > 0.0 ? diagonal.cwiseMax(0.0).sum() / positive : 1.0;
  return diagonal.unaryExpr([mean](double x) { return 1.0 / std::sqrt(x > 0.0 ? x : mean); });
}

Result<JointElimination> eliminate_joints(const ContactProblem& problem, double max_bytes) {
  Elimination elimination(problem);
  if (const double bytes = elimination.bytes(); bytes > max_bytes) {
    const auto megabytes = [](double x) { return fmt::format("{:.{}f} MB", 1e-6 * x, x < 1e6 ? 3 : 0); };
    return Error{ErrorCode::unsupported, "eliminating the joints takes " + megabytes(bytes) + ", more than the " +
                                             megabytes(max_bytes) + " allowed"};
  }
  return elimination.run();
}

void JointElimination::complete(VectorRef impulse) const {
  impulse.head(joints()) = offset;
  for (const Group& group : groups) {
    for (const Group::Run& j : group.joints) {
      for (const Group::Run& c : group.others) {
        impulse.segment(j.first, j.size).noalias() +=
            group.map.block(j.at, c.at, j.size, c.size) * impulse.segment(joints() + c.first, c.size);
      }
    }
  }
}

}  // namespace conebench
