#include "fclib_loader/fclib_extension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fclib_loader/component_order.hpp"
#include "fclib_loader/fclib_matrix.hpp"
#include "fclib_loader/group_reader.hpp"

namespace conebench {

namespace {

using hdf5::Object;
using hdf5::ReadFile;

/// Frames whose normal's axis moves from one index to another: the file has it first, as everything there.
Vector normal_moved(const Vector& frames, int dimension, int from, int to) {
  Vector moved(frames.size());
  const Index size = Index{dimension} * dimension;
  for (Index at = 0; at < frames.size(); at += size) {
    int tangent = 0;
    for (int axis = 0; axis < dimension; ++axis) {
      if (axis == to) {
        moved.segment(at + axis * dimension, dimension) = frames.segment(at + from * dimension, dimension);
        continue;
      }
      tangent += tangent == from ? 1 : 0;
      moved.segment(at + axis * dimension, dimension) = frames.segment(at + tangent++ * dimension, dimension);
    }
  }
  return moved;
}

class ExtensionReader : GroupReader {
 public:
  ExtensionReader(const ReadFile& file, const Object& root, const FclibContent& content)
      : GroupReader(file, file.open_group(root, "conebench")), content_(content) {}

  FclibContent::Extension read() {
    read_version();
    read_rows();
    read_configuration();
    read_reference(extension_.reference_source, extension_.reference_residuals);
    extension_.family = file_.read_text(group_, "family");
    extension_.category = file_.read_text(group_, "category");
    if (const std::optional<Vector> conditioning = read_reals("conditioning", 1)) {
      extension_.conditioning = (*conditioning)[0];
    }
    extension_.loop = read_loop();
    check_limits();
    if (local_) {
      check_local_matrix();
    } else {
      check_added_velocities();
    }
    return std::move(extension_);
  }

 private:
  std::optional<std::vector<std::int64_t>> read_identities(const char* part, Index size) const {
    auto identities = read_integers(part, size);
    std::vector<std::int64_t> sorted = identities.value_or(std::vector<std::int64_t>{});
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail(part, fmt::format("has {} twice", *twice));
    return identities;
  }

  void read_version() {
    if (!has("version")) return;
    extension_.version = file_.read_scalar(group_, "version");
    if (extension_.version < 1 || extension_.version > extension_version) {
      fail("version", fmt::format("is {}, this build reads 1 to {} beside an FCLIB part; a newer Conebench may read it",
                                  extension_.version, extension_version));
    }
  }

  /// What runs over rows: sizes first, as everywhere.
  void read_rows() {
    extension_.limits = read_count("limits").value_or(0);
    if (extension_.limits > content_.mu.size()) {
      fail("limits", fmt::format("is {}, the file has {} contacts", extension_.limits, content_.mu.size()));
    }
    local_ = content_.kind == FclibKind::local || content_.kind == FclibKind::mixed_local ||
             content_.kind == FclibKind::local_rolling;
    order_ = {content_.s.size() + content_.b.size(), extension_.limits, content_.mu.size() - extension_.limits,
              content_.space_dimension};
    const Index rows = order_.rows();
    extension_.compliance = read_reals("compliance", rows);
    if (extension_.compliance) {
      for (Index k = 0; k < rows; ++k) {
        if ((*extension_.compliance)[k] < 0.0) fail("compliance", fmt::format("entry {} is negative", k));
      }
    }
    if (local_) {
      extension_.bias = read_reals("bias", rows);
    } else {
      read_free_velocity();
      extension_.bias_known = read_count("bias_known").value_or(1) != 0;
    }
    extension_.g = read_reals("g", rows);
    extension_.delassus_form = file_.read_text(group_, "delassus_form");
    const std::string& form = extension_.delassus_form;
    if (!form.empty() && form != "dense" && form != "block_sparse" && form != "factored") {
      fail("delassus_form", "is '" + form + "', expected dense, block_sparse or factored");
    }
    if (!has("delassus")) return;
    const MatrixHeader header = open_matrix(file_, group_, "delassus");
    if (header.rows != rows || header.cols != rows) {
      fail("delassus", fmt::format("has {} rows and {} columns, expected {}", header.rows, header.cols, rows));
    }
    extension_.delassus = read_matrix(file_, header);
  }

  void read_free_velocity() {
    const Index all = content_.m_matrix.rows();
    velocities_ = all;
    if (!has("v_free")) return;
    velocities_ = file_.open_dataset(group_, "v_free", Values::reals).length;
    if (velocities_ > all) fail("v_free", fmt::format("has {} entries, the file has {} velocities", velocities_, all));
    extension_.free_velocity = read_reals("v_free", velocities_);
    extension_.metric = read_metric();
  }

  void read_configuration() {
    Configuration& known = extension_.configuration;
    known.gaps = read_reals("gaps", order_.contacts);
    read_step("bodies", known);
    known.contact_identities = read_identities("contact_identities", order_.contacts);
    known.limit_identities = read_identities("limit_identities", order_.limits);
    read_frames(known);
    read_nodes(known);
    // Up to version 2 steps were counted from 0.
    const bool from_zero = extension_.version < 3 && known.step.value_or(0) < std::numeric_limits<std::int64_t>::max();
    if (known.step && from_zero) ++*known.step;
  }

  void read_frames(Configuration& known) const {
    const int d = order_.axes();
    std::optional<Vector> frames = read_reals("contact_frames", Index{d} * d * order_.contacts);
    if (!frames) return;
    if (!are_frames(*frames, d)) fail("contact_frames", "has a frame that is not orthonormal");
    known.contact_frames = normal_moved(*frames, d, 0, d - 1);
  }

  void read_nodes(Configuration& known) const {
    const auto size = [&](const char* part) { return local_ ? length_of(part) : velocities_; };
    for (const auto& [part, to] : {std::pair("velocity", &known.velocity), {"inertia", &known.inertia}}) {
      if (has(part)) *to = read_reals(part, size(part));
    }
    known.friction_axes = read_reals("friction_axes", 2 * order_.contacts);
    if (known.friction_axes && (known.friction_axes->array() < 0.0).any()) fail("friction_axes", "has a negative one");
    if (!has("node_dofs")) return;
    known.nodes = file_.read_integers(file_.open_dataset(group_, "node_dofs", Values::integers));
    std::int64_t free = 0;
    for (const std::int64_t node : *known.nodes) {
      if (node < free || (!local_ && node + 3 > velocities_)) {
        fail("node_dofs", fmt::format("has {}, which overlaps another, or is outside of M", node));
      }
      free = node + 3;
    }
  }

  /// Whether row `row` of r is a limit's tangent.
  bool tangent(Index row) const { return order_.row_of_reaction(row) < 0; }

  /// Tangents of limits must have nothing to do with the rest: at most a diagonal of their own, or added velocities.
  void check_limits() const {
    if (order_.limits == 0) return;
    for (Index k = order_.contacts; k < content_.mu.size(); ++k) {
      const double rolling = content_.mu_rolling.size() > k ? content_.mu_rolling[k] : 0.0;
      if (content_.mu[k] != 0.0 || rolling != 0.0)
        fail("limits", fmt::format("contact {} would be a limit, but has friction", k));
    }
    const Vector& vector = local_ ? content_.q : content_.w;
    bool apart = true;
    for (Index row = 0; row < vector.size(); ++row) apart = apart && (!tangent(row) || vector[row] == 0.0);
    const auto look = [&](const SparseMatrix& matrix, const auto& couples) {
      for (Index col = 0; col < matrix.outerSize(); ++col) {
        for (SparseMatrix::InnerIterator it(matrix, col); it; ++it) {
          if (it.value() != 0.0 && couples(it.row(), col)) apart = false;
        }
      }
    };
    if (local_) {
      look(content_.w_matrix, [&](Index row, Index col) { return row != col && (tangent(row) || tangent(col)); });
      look(content_.v_matrix, [&](Index row, Index) { return tangent(row); });
    } else {
      look(content_.h_matrix, [&](Index row, Index col) { return tangent(col) && row < velocities_; });
    }
    if (!apart) fail("limits", "a contact that would be a limit has tangents that are not empty");
  }

  /// W, V and R must be G + R of the extension to rounding. Where that has R alone, they are taken for it.
  void check_local_matrix() {
    const bool compliant = extension_.compliance && (extension_.compliance->array() > 0.0).any();
    if (!compliant && !extension_.delassus) return;
    const Index joints = order_.joints;
    std::vector<Eigen::Triplet<double>> entries;
    const auto row_of = [&](Index row) {
      const Index problem_row = order_.row_of_reaction(row);
      return problem_row < 0 ? -1 : static_cast<int>(order_.extension_row(problem_row));
    };
    const auto add = [&](const SparseMatrix& matrix, bool reaction_rows, bool reaction_cols, bool transposed) {
      for (Index col = 0; col < matrix.outerSize(); ++col) {
        const int j = reaction_cols ? row_of(col) : static_cast<int>(col);
        for (SparseMatrix::InnerIterator it(matrix, col); it; ++it) {
          const int i = reaction_rows ? row_of(it.row()) : static_cast<int>(it.row());
          if (i < 0 || j < 0) continue;
          entries.emplace_back(transposed ? j : i, transposed ? i : j, it.value());
        }
      }
    };
    add(content_.w_matrix, true, true, false);
    if (joints > 0) {
      add(content_.r_matrix, false, false, false);
      add(content_.v_matrix, true, false, false);
      add(content_.v_matrix, true, false, true);
    }
    SparseMatrix difference(order_.rows(), order_.rows());
    difference.setFromTriplets(entries.begin(), entries.end());
    const double scale = difference.norm();
    if (extension_.compliance) difference -= SparseMatrix(extension_.compliance->asDiagonal());
    if (!extension_.delassus) {
      if (!(difference.diagonal().minCoeff() >= 0.0)) fail("compliance", "is larger than the diagonal of the file's W");
      extension_.delassus = std::move(difference);
      return;
    }
    difference -= *extension_.delassus;
    if (!(difference.norm() <= 1e-11 * scale)) fail("delassus", "plus R is not what the file's W (V, R) hold");
  }

  /// The velocities behind v_free must be those that the writer adds: each apart from all others, with a mass and one 1
  /// in H or G, for a limit's tangent or for a row with R = 1/mass.
  void check_added_velocities() const {
    const Index first = velocities_;
    const Index added = content_.m_matrix.rows() - first;
    const Vector compliance = extension_.compliance.value_or(Vector::Zero(order_.rows()));
    Index missing = (compliance.array() > 0.0).count();
    if (added == 0 && missing == 0) return;
    bool good = (content_.f.tail(added).array() == 0.0).all();
    Vector mass = Vector::Zero(added);
    for (Index col = 0; col < content_.m_matrix.outerSize(); ++col) {
      for (SparseMatrix::InnerIterator it(content_.m_matrix, col); it; ++it) {
        if (it.value() == 0.0 || (col < first && it.row() < first)) continue;
        good = good && it.row() == col && it.value() > 0.0;
        if (good) mass[col - first] = it.value();
      }
    }
    std::vector<bool> used(static_cast<std::size_t>(added), false);
    const auto look = [&](const SparseMatrix& matrix, bool reaction) {
      for (Index col = 0; col < matrix.outerSize(); ++col) {
        for (SparseMatrix::InnerIterator it(matrix, col); it; ++it) {
          if (it.row() < first || it.value() == 0.0) continue;
          const Index velocity = it.row() - first;
          const Index row = reaction ? order_.row_of_reaction(col) : col;
          good = good && it.value() == 1.0 && !used[static_cast<std::size_t>(velocity)] && mass[velocity] > 0.0;
          used[static_cast<std::size_t>(velocity)] = true;
          if (row < 0) continue;
          --missing;
          good = good && std::abs(compliance[order_.extension_row(row)] * mass[velocity] - 1.0) <= 1e-12;
        }
      }
    };
    look(content_.h_matrix, true);
    look(content_.g_matrix, false);
    good = good && missing == 0 && std::find(used.begin(), used.end(), false) == used.end();
    if (!good) fail("compliance", "and the tangents of limits are not what the velocities behind v_free hold");
  }

  const FclibContent& content_;
  FclibContent::Extension extension_;
  RowOrder order_;
  bool local_ = false;
  Index velocities_ = 0;  ///< of a global problem, without those that were added
};

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

const char* form_name(DelassusForm form) {
  switch (form) {
    case DelassusForm::dense: return "dense";
    case DelassusForm::block_sparse: return "block_sparse";
    case DelassusForm::factored: return "factored";
  }
  return "block_sparse";
}

/// The coupling of joints with the rest is one matrix in FCLIB's form; here it must be one to the last bit.
bool coupling_is_symmetric(const ContactProblem& problem) {
  const Index joints = problem.cones().joints();
  if (joints == 0) return true;
  const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix = problem.blocks().sparse();
  const SparseMatrix upper = matrix.topRightCorner(joints, matrix.cols() - joints);
  const SparseMatrix lower = matrix.bottomLeftCorner(matrix.rows() - joints, joints);
  return SparseMatrix(upper - SparseMatrix(lower.transpose())).norm() == 0.0;
}

/// Whether the reader finds G to the last bit in FCLIB's part.
bool fclib_part_gives_matrix(const ContactProblem& problem) {
  if (problem.primal()) return problem.form() == DelassusForm::factored;
  return problem.rigid() && coupling_is_symmetric(problem);
}

void write_matrix_part(const ContactProblem& problem, const RowOrder& order, hdf5::Image& image,
                       const std::string& group) {
  const DelassusForm form = problem.form();
  const bool kept = form != DelassusForm::factored || problem.primal();
  if (kept) image.write_text(group + "/delassus_form", form_name(form));
  if (!problem.rigid()) image.write_reals(group + "/compliance", order.to_extension(problem.compliance()));
  if (fclib_part_gives_matrix(problem)) return;
  const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix = problem.blocks().sparse();
  std::vector<Eigen::Triplet<double>> entries;
  for (Index row = 0; row < matrix.outerSize(); ++row) {
    for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(matrix, row); it; ++it) {
      if (it.value() == 0.0) continue;
      entries.emplace_back(static_cast<int>(order.extension_row(row)), static_cast<int>(order.extension_row(it.col())),
                           it.value());
    }
  }
  SparseMatrix ordered(order.rows(), order.rows());
  ordered.setFromTriplets(entries.begin(), entries.end());
  write_matrix(image, group + "/delassus", ordered);
}

void write_free_term(const ContactProblem& problem, const RowOrder& order, hdf5::Image& image,
                     const std::string& group) {
  if (!problem.primal()) {
    if (problem.bias()) image.write_reals(group + "/bias", order.to_extension(*problem.bias()));
    return;
  }
  const PrimalForm& primal = *problem.primal();
  // f = M v_free rounds; kept, so that what is read back is the same problem to the last bit.
  image.write_reals(group + "/v_free", primal.free_velocity);
  write_metric(primal.metric, image, group);
  if (!problem.bias()) image.write_size(group + "/bias_known", 0);
  const Vector bias =
      problem.bias() ? *problem.bias() : Vector(problem.free_term() - primal.jacobian * primal.free_velocity);
  const Vector remade = primal.jacobian * primal.free_velocity + bias;
  if (!same_bits(remade, problem.free_term())) {
    image.write_reals(group + "/g", order.to_extension(problem.free_term()));
  }
}

void write_configuration(const Configuration& known, int dimension, hdf5::Image& image, const std::string& group) {
  if (known.gaps) image.write_reals(group + "/gaps", *known.gaps);
  write_step(known, "bodies", image, group);
  if (known.contact_identities) image.write_longs(group + "/contact_identities", *known.contact_identities);
  if (known.limit_identities) image.write_longs(group + "/limit_identities", *known.limit_identities);
  if (known.contact_frames) {
    image.write_reals(group + "/contact_frames", normal_moved(*known.contact_frames, dimension, dimension - 1, 0));
  }
  if (known.nodes) image.write_sizes(group + "/node_dofs", {known.nodes->begin(), known.nodes->end()});
  if (known.velocity) image.write_reals(group + "/velocity", *known.velocity);
  if (known.inertia) image.write_reals(group + "/inertia", *known.inertia);
  if (known.friction_axes) image.write_reals(group + "/friction_axes", *known.friction_axes);
  write_scene(known, image, group);
}

}  // namespace

FclibContent::Extension read_extension(const ReadFile& file, const Object& root, const FclibContent& content) {
  return ExtensionReader(file, root, content).read();
}

void write_extension(const ContactProblem& problem, hdf5::Image& image) {
  const std::string group = "/conebench";
  const RowOrder order = RowOrder::of(problem.cones());
  image.make_group(group);
  image.write_size(group + "/version", extension_version);
  write_origin(problem.provenance(), image, group);
  if (order.limits > 0) image.write_size(group + "/limits", order.limits);
  write_matrix_part(problem, order, image, group);
  write_free_term(problem, order, image, group);
  if (problem.configuration()) write_configuration(*problem.configuration(), order.axes(), image, group);
  if (problem.reference()) write_reference(*problem.reference(), image, group);
}

template <class Matrix>
void write_compressed(hdf5::Image& image, const std::string& group, const Matrix& matrix, int nz) {
  const std::string path = group + "/";
  image.make_group(group);
  image.write_size(path + "nzmax", matrix.nonZeros());
  image.write_size(path + "m", matrix.rows());
  image.write_size(path + "n", matrix.cols());
  image.write_size(path + "nz", nz);
  const auto entries = static_cast<std::size_t>(matrix.nonZeros());
  image.write_sizes(path + "p", {matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.outerSize() + 1});
  image.write_sizes(path + "i", {matrix.innerIndexPtr(), matrix.innerIndexPtr() + entries});
  image.write_reals(path + "x", Eigen::Map<const Vector>(matrix.valuePtr(), matrix.nonZeros()));
}

void write_matrix(hdf5::Image& image, const std::string& group, const SparseMatrix& matrix) {
  write_compressed(image, group, matrix, -1);
}

void write_matrix(hdf5::Image& image, const std::string& group,
                  const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix) {
  write_compressed(image, group, matrix, -2);
}

}  // namespace conebench
