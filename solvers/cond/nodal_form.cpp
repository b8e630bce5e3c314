#include "solvers/cond/nodal_form.hpp"

#include <algorithm>
#include <cmath>

#include "problems/conversions.hpp"
#include "problems/mass_solve.hpp"

namespace conebench::cond {

namespace {

constexpr double rounding = 1e-9;

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
/// Columns of one node, and the rows' entries there.
struct Part {
  std::array<int, 3> columns{};
  Eigen::Matrix3d entries = Eigen::Matrix3d::Zero();
};

/// D and R with D R = `entries`, where there are such.
bool split_scale(const Eigen::Matrix3d& entries, int size, bool ellipses, NodalBlock& block) {
  block.axes.setIdentity();
  block.scale.setOnes();
  for (int r = 0; r < size; ++r) {
    const double norm = entries.row(r).head(size).norm();
    if (!(norm > 0.0) || !std::isfinite(norm)) return false;
    const bool unit = std::abs(norm - 1.0) <= rounding;
    block.scale[r] = unit ? 1.0 : norm;
    block.axes.row(r).head(size) = entries.row(r).head(size) / block.scale[r];
  }
  if (size == 3 && std::abs(block.scale[0] - block.scale[1]) <= rounding * block.scale[0]) {
    block.scale[1] = block.scale[0];
  }
  if (size == 3 && !ellipses && block.scale[0] != block.scale[1]) return false;
  const auto axes = block.axes.topLeftCorner(size, size);
  return (axes * axes.transpose() - Eigen::MatrixXd::Identity(size, size)).cwiseAbs().maxCoeff() <= rounding;
}

/// Collects the entries of a block's rows by columns.
class BlockRows {
 public:
  BlockRows(const Rows& jacobian, Index row, int size) : size_(size) {
    for (int r = 0; r < size; ++r) {
      for (Rows::InnerIterator entry(jacobian, row + r); entry; ++entry) {
        if (entry.value() != 0.0) entries_.push_back({static_cast<int>(entry.col()), r, entry.value()});
      }
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    for (const Entry& e : entries_) {
      if (columns_.empty() || columns_.back() != e.column) columns_.push_back(e.column);
    }
  }

  struct Entry {
    int column, row;
    double value;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<int>& columns() const { return columns_; }

  /// The part of `size` columns, from index `from` among columns() on, or of the columns first, first + 1, ….
  Part part_at(std::size_t from) const {
    Part part;
    for (int c = 0; c < size_; ++c)
      part.columns[static_cast<std::size_t>(c)] = columns_[from + static_cast<std::size_t>(c)];
    return filled(part);
  }
  Part part_of(int first) const {
    Part part;
    for (int c = 0; c < size_; ++c) part.columns[static_cast<std::size_t>(c)] = first + c;
    return filled(part);
  }

 private:
  Part filled(Part part) const {
    for (const Entry& e : entries_) {
      for (int c = 0; c < size_; ++c) {
        if (part.columns[static_cast<std::size_t>(c)] == e.column) part.entries(e.row, c) = e.value;
      }
    }
    return part;
  }
  int size_;
  std::vector<Entry> entries_;
  std::vector<int> columns_;
};

class Nodaliser {
 public:
  Nodaliser(const ContactProblem& problem, const NodalOptions& options)
      : options_(options),
        primal_(*problem.primal()),
        jacobian_(primal_.jacobian),
        used_(static_cast<std::size_t>(primal_.mass.rows()), false),
        node_at_(used_.size(), !options.nodes) {
    form_.own = primal_.mass.rows();
    if (options.nodes) {
      for (const std::int64_t first : *options.nodes) node_at_[static_cast<std::size_t>(first)] = true;
    }
    squares_ = Vector::Zero(form_.own);
    for (Index c = 0; c < form_.own; ++c) {
      for (SparseMatrix::InnerIterator entry(primal_.mass, c); entry; ++entry) {
        squares_[entry.row()] += entry.value() * entry.value();
      }
    }
    diagonal_ = primal_.mass.diagonal();
    const ConeProduct& cones = problem.cones();
    for (Index block = 0; block < cones.blocks(); ++block) {
      add_block(cones.block_row(block), cones.block_size(block),
                problem.compliance().segment(cones.block_row(block), cones.block_size(block)));
    }
    level_gains();
    form_.bias = problem.free_term() - primal_.jacobian * primal_.free_velocity;
    assemble();
  }
  NodalForm take() { return std::move(form_); }

 private:
  void add_block(Index row, int size, const Vector& compliance) {
    const BlockRows rows(jacobian_, row, size);
    NodalBlock block;
    block.row = row;
    block.size = size;
    // A contact's compliance stays one number for both tangents.
    const bool ellipses = options_.ellipses && (size < 3 || (compliance[0] == 0.0 && compliance[1] == 0.0));
    const bool by_table = options_.nodes.has_value() && size > 1;
    const std::vector<Part> nodes =
        by_table ? nodes_of_table(rows, size, ellipses) : nodes_of_pattern(rows, size, ellipses);
    if (nodes.empty()) {
      block.axes.setIdentity();
      block.scale.setOnes();
    } else {
      split_scale(nodes[0].entries, size, ellipses, block);
      block.i = nodes[0].columns;
      take(nodes[0]);
      if (nodes.size() > 1) {
        block.j = nodes[1].columns;
        block.paired = true;
        take(nodes[1]);
      }
    }
    const auto is_of = [&](const Part& part, int column) {
      return std::find(part.columns.begin(), part.columns.begin() + size, column) != part.columns.begin() + size;
    };
    std::vector<BlockRows::Entry> left;
    for (const BlockRows::Entry& e : rows.entries()) {
      if (std::none_of(nodes.begin(), nodes.end(), [&](const Part& part) { return is_of(part, e.column); })) {
        left.push_back(e);
      }
    }
    if (!left.empty() || nodes.empty()) add_virtual_node(block, rows, nodes.empty(), left);
    form_.blocks.push_back(block);
  }

  bool free(const Part& part, int size) const {
    return std::none_of(part.columns.begin(), part.columns.begin() + size,
                        [&](int c) { return used_[static_cast<std::size_t>(c)]; });
  }
  void take(const Part& part) {
    for (const int c : part.columns) used_[static_cast<std::size_t>(c)] = true;
  }
  static bool opposite(const Part& a, const Part& b, int size) {
    const double largest = a.entries.topLeftCorner(size, size).cwiseAbs().maxCoeff();
    return (a.entries + b.entries).topLeftCorner(size, size).cwiseAbs().maxCoeff() <= rounding * largest;
  }

  /// (13) as it stands: all of the block is D R, or D R and −D R.
  std::vector<Part> nodes_of_pattern(const BlockRows& rows, int size, bool ellipses) const {
    const std::size_t count = rows.columns().size();
    const auto width = static_cast<std::size_t>(size);
    NodalBlock unused;
    if (count != width && count != 2 * width) return {};
    std::vector<Part> nodes{rows.part_at(0)};
    if (!free(nodes[0], size) || !split_scale(nodes[0].entries, size, ellipses, unused)) return {};
    if (count == width) return nodes;
    nodes.push_back(rows.part_at(width));
    if (!free(nodes[1], size) || !opposite(nodes[0], nodes[1], size)) return {};
    return nodes;
  }

  /// The first triple of the table on which the block is a node's, and one against it. Of a triple and more, the second
  /// node is the virtual one.
  std::vector<Part> nodes_of_table(const BlockRows& rows, int size, bool ellipses) const {
    std::vector<Part> nodes;
    NodalBlock unused;
    std::size_t columns = 0;
    for (std::size_t k = 0; k < rows.columns().size(); ++k) {
      const int first = first_of_node(rows.columns()[k], size);
      if (first < 0 || (k > 0 && first_of_node(rows.columns()[k - 1], size) == first)) continue;
      const Part part = rows.part_of(first);
      if (!free(part, size) || nodes.size() == 2) continue;
      if (nodes.empty() ? !split_scale(part.entries, size, ellipses, unused) : !opposite(nodes[0], part, size))
        continue;
      nodes.push_back(part);
    }
    for (const int c : rows.columns()) {
      const int first = first_of_node(c, size);
      for (const Part& part : nodes) columns += part.columns[0] == first && first >= 0 ? 1 : 0;
    }
    if (nodes.size() == 2 && columns < rows.columns().size()) nodes.pop_back();
    return nodes;
  }
  int first_of_node(int column, int size) const {
    for (int c = column; c > column - size && c >= 0; --c) {
      if (node_at_[static_cast<std::size_t>(c)] && c + size <= form_.own) return c;
    }
    return -1;
  }

  /// Of what is left of the block's rows: v_v = J_v v_o.
  void add_virtual_node(NodalBlock& block, const BlockRows& rows, bool alone,
                        const std::vector<BlockRows::Entry>& left) {
    const int size = block.size;
    const int first = static_cast<int>(form_.own + virtual_);
    std::array<int, 3>& columns = alone ? block.i : block.j;
    for (int c = 0; c < size; ++c) columns[static_cast<std::size_t>(c)] = first + c;
    block.paired = !alone;
    // D R (v_i − v_v) is the rows' velocity, so that the rest of them is −D R J_v.
    Eigen::Matrix3d back = Eigen::Matrix3d::Identity();
    if (!alone) back = -block.axes.transpose() * block.scale.cwiseInverse().asDiagonal();
    for (const BlockRows::Entry& e : left) {
      for (int r = 0; r < size; ++r) {
        const double value = back(r, e.row) * e.value;
        if (value != 0.0) points_.emplace_back(static_cast<int>(virtual_) + r, e.column, value);
      }
    }
    block.gain = options_.virtual_gain > 0.0 ? options_.virtual_gain : gain_for(block, rows, alone);
    if (alone && options_.virtual_gain == 0.0 && !is_of_node(rows)) {
      largest_gain_ = std::max(largest_gain_, block.gain);
      lone_.push_back(form_.blocks.size());
    }
    for (int r = 0; r < size; ++r) gains_.push_back(block.gain);
    virtual_ += size;
  }

  /// Whether the rows hold a node of the table, which is in another contact then.
  bool is_of_node(const BlockRows& rows) const {
    return options_.nodes && std::any_of(rows.columns().begin(), rows.columns().end(),
                                         [&](int c) { return node_at_[static_cast<std::size_t>(c)]; });
  }

  /// 0.3/w of the partner node. Without one w is that of the heaviest body whose translation the rows hold, else what
  /// they have with the diagonal of A: 0.3/w of nodes, 3/w of what no elastic forces hold, where contacts carry loads.
  double gain_for(const NodalBlock& block, const BlockRows& rows, bool alone) const {
    double step = 0.0;
    if (alone) {
      for (const BlockRows::Entry& e : rows.entries()) step += e.value * e.value / diagonal_[e.column];
      step /= block.size;
      NodalBlock unused;
      for (const int first : rows.columns()) {
        if (first + block.size > form_.own ||
            !split_scale(rows.part_of(first).entries, block.size, options_.ellipses, unused))
          continue;
        step = std::min(step, diagonal_.segment(first, block.size).cwiseInverse().mean());
      }
    } else {
      double diagonal = 0.0, squares = 0.0;
      for (int c = 0; c < block.size; ++c) {
        diagonal += diagonal_[block.i[static_cast<std::size_t>(c)]];
        squares += squares_[block.i[static_cast<std::size_t>(c)]];
      }
      step = diagonal / squares;
    }
    const double share = alone && !is_of_node(rows) ? 3.0 : 0.3;
    return step > 0.0 && std::isfinite(share / step) ? share / step : diagonal_.mean();
  }

  /// A light contact in a chain carries what the heavy ones do: all that have no partner or node get the largest gain.
  void level_gains() {
    for (const std::size_t m : lone_) {
      NodalBlock& block = form_.blocks[m];
      for (int c = 0; c < block.size; ++c) {
        gains_[static_cast<std::size_t>(block.i[static_cast<std::size_t>(c)] - form_.own)] = largest_gain_;
      }
      block.gain = largest_gain_;
    }
  }

  void assemble() {
    const Index all = form_.own + virtual_;
    form_.point_velocities.resize(virtual_, form_.own);
    form_.point_velocities.setFromTriplets(points_.begin(), points_.end());
    form_.momentum = Vector::Zero(all);
    form_.momentum.head(form_.own) = primal_.mass * primal_.free_velocity;
    if (virtual_ == 0) {
      form_.matrix = primal_.mass;
      return;
    }
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](const SparseMatrix& part, Index row, Index column) {
      for (Index c = 0; c < part.outerSize(); ++c) {
        for (SparseMatrix::InnerIterator e(part, c); e; ++e) {
          entries.emplace_back(static_cast<int>(row + e.row()), static_cast<int>(column + e.col()), e.value());
        }
      }
    };
    const Eigen::Map<const Vector> gains(gains_.data(), virtual_);
    const SparseMatrix weighted = gains.asDiagonal() * form_.point_velocities;  // k J_v
    const SparseMatrix across = -SparseMatrix(weighted.transpose());
    add(primal_.mass, 0, 0);
    add(SparseMatrix(form_.point_velocities.transpose() * weighted), 0, 0);
    add(-weighted, form_.own, 0);
    add(across, 0, form_.own);
    for (Index v = 0; v < virtual_; ++v) {
      entries.emplace_back(static_cast<int>(form_.own + v), static_cast<int>(form_.own + v), gains[v]);
    }
    form_.matrix.resize(all, all);
    form_.matrix.setFromTriplets(entries.begin(), entries.end());
  }

  const NodalOptions& options_;
  const PrimalForm& primal_;
  Rows jacobian_;
  NodalForm form_;
  std::vector<bool> used_;     ///< columns that are in a block
  std::vector<bool> node_at_;  ///< whether a node begins there
  Vector squares_, diagonal_;  ///< ‖A_i‖² and a_ii of the problem's M
  std::vector<Eigen::Triplet<double>> points_;
  std::vector<double> gains_;
  std::vector<std::size_t> lone_;  ///< blocks whose virtual node has no partner, and that hold no node
  double largest_gain_ = 0.0;      ///< of these
  Index virtual_ = 0;
};

}  // namespace

Index NodalForm::virtual_nodes() const {
  return std::count_if(blocks.begin(), blocks.end(), [](const NodalBlock& block) { return block.gain > 0.0; });
}

Vector NodalForm::added_compliance(Index rows) const {
  Vector compliance = Vector::Zero(rows);
  for (const NodalBlock& block : blocks) {
    if (block.gain == 0.0) continue;
    // R of the virtual node's own axes, in the problem's rows.
    for (int r = 0; r < block.size; ++r) compliance[block.row + r] = block.scale[r] * block.scale[r] / block.gain;
  }
  return compliance;
}

SparseMatrix NodalForm::jacobian(Index rows) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (const NodalBlock& block : blocks) {
    for (int r = 0; r < block.size; ++r) {
      for (int c = 0; c < block.size; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const double value = block.scale[r] * block.axes(r, c);
        entries.emplace_back(static_cast<int>(block.row) + r, block.i[at], value);
        if (block.paired) entries.emplace_back(static_cast<int>(block.row) + r, block.j[at], -value);
      }
    }
  }
  SparseMatrix result(rows, matrix.rows());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

std::optional<std::string> without_nodal_form(const ContactProblem& problem) {
  if (!problem.primal()) return "M, J and v_free";
  const SparseMatrix& mass = problem.primal()->mass;
  if (asymmetry(mass) > symmetry_tolerance) return "a symmetric M";
  if (mass.rows() > 0 && !(Vector(mass.diagonal()).minCoeff() > 0.0)) return "a positive diagonal of M";
  const ConeProduct& cones = problem.cones();
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto tangential = problem.compliance().segment(cones.contact_row(i), cones.normal_of(i));
    if ((tangential.array() == tangential[0]).all()) continue;
    return "one tangential compliance a contact, and contact " + std::to_string(i) + " has two";
  }
  return std::nullopt;
}

std::optional<std::string> unsupported_by_nodes(const SolverInfo& info, const ContactProblem& problem) {
  if (auto reason = unsupported_by_flags(info, problem)) return reason;
  if (problem.rows() == 0) return std::nullopt;
  if (auto reason = without_nodal_form(problem)) return info.id + " needs " + *reason;
  return std::nullopt;
}

NodalForm nodalise(const ContactProblem& problem, const NodalOptions& options) {
  return Nodaliser(problem, options).take();
}

Vector frobenius_steps(const NodalForm& form, bool pair, bool equilibrated) {
  const Index n = form.matrix.rows();
  Vector diagonal = form.matrix.diagonal();
  Vector squares = Vector::Zero(n);
  for (Index c = 0; c < n; ++c) {
    for (SparseMatrix::InnerIterator e(form.matrix, c); e; ++e) {
      squares[c] += e.value() * e.value() * (equilibrated ? diagonal[c] / diagonal[e.row()] : 1.0);
    }
  }
  Vector steps = diagonal.cwiseQuotient(squares);
  const auto tie = [&](std::initializer_list<const std::array<int, 3>*> nodes, int size) {
    double over = 0.0, under = 0.0;
    for (const auto* node : nodes) {
      for (int c = 0; c < size; ++c) {
        over += diagonal[(*node)[static_cast<std::size_t>(c)]];
        under += squares[(*node)[static_cast<std::size_t>(c)]];
      }
    }
    for (const auto* node : nodes) {
      for (int c = 0; c < size; ++c) steps[(*node)[static_cast<std::size_t>(c)]] = over / under;
    }
  };
  for (const NodalBlock& block : form.blocks) {
    if (block.paired && pair) {
      tie({&block.i, &block.j}, block.size);
    } else {
      tie({&block.i}, block.size);
      if (block.paired) tie({&block.j}, block.size);
    }
  }
  return steps;
}

}  // namespace conebench::cond
