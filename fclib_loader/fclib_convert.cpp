#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fclib_loader/component_order.hpp"
#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_names.hpp"
#include "fclib_loader/hdf5_file.hpp"

namespace conebench {

namespace {

using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;

// Above this many entries (about 3 GB) M⁻¹ Jᵀ is not formed.
constexpr double max_condensed_entries = 2.5e8;

/// Adds `matrix` with its rows at `first_row`, contact rows reordered where asked.
void append(Triplets& triplets, const SparseMatrix& matrix, Index first_row, bool contact_rows, Index first_col,
            bool contact_cols, int dimension) {
  for (Index col = 0; col < matrix.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(matrix, col); it; ++it) {
      const Index row = contact_rows ? contact_row(it.row(), dimension) : it.row();
      const Index column = contact_cols ? contact_row(col, dimension) : col;
      triplets.emplace_back(static_cast<int>(first_row + row), static_cast<int>(first_col + column), it.value());
    }
  }
}

Vector joined(const Vector& joints, const Vector& contacts, int dimension) {
  Vector result(joints.size() + contacts.size());
  result << joints, to_normal_last(contacts, dimension);
  return result;
}

/// [[R, Vᵀ], [V, W]] with joints first and the normal last.
RowMatrix composite_matrix(const FclibContent& content) {
  const int dimension = content.space_dimension;
  const Index joints = content.s.size();
  Triplets triplets;
  triplets.reserve(static_cast<std::size_t>(content.w_matrix.nonZeros() + 2 * content.v_matrix.nonZeros() +
                                            content.r_matrix.nonZeros()));
  append(triplets, content.r_matrix, 0, false, 0, false, dimension);
  append(triplets, content.v_matrix.transpose(), 0, false, joints, true, dimension);
  append(triplets, content.v_matrix, joints, true, 0, false, dimension);
  append(triplets, content.w_matrix, joints, true, joints, true, dimension);
  const Index rows = joints + content.q.size();
  RowMatrix matrix(rows, rows);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

/// J = [Gᵀ; Hᵀ] with joints first and the normal last.
SparseMatrix jacobian_of(const FclibContent& content) {
  const Index joints = content.b.size();
  Triplets triplets;
  triplets.reserve(static_cast<std::size_t>(content.h_matrix.nonZeros() + content.g_matrix.nonZeros()));
  append(triplets, content.g_matrix.transpose(), 0, false, 0, false, content.space_dimension);
  append(triplets, content.h_matrix.transpose(), joints, true, 0, false, content.space_dimension);
  SparseMatrix jacobian(joints + content.w.size(), content.m_matrix.rows());
  jacobian.setFromTriplets(triplets.begin(), triplets.end());
  return jacobian;
}

std::optional<Vector> reaction_of(const FclibContent::Guess& answer, Index joints, Index rows, int dimension) {
  if (joints + answer.r.size() != rows) return std::nullopt;
  const Vector joint_part = answer.l.size() == joints ? answer.l : Vector::Zero(joints);
  return joined(joint_part, answer.r, dimension);
}

/// max_i ‖λ_i − P_K(λ_i − r_i v̂_i)‖ / (r_i V), r_i = d_i / trace(G_ii), V = max_i ‖g_i‖: how right a stored answer is.
double scaled_natural_map(const ConeProduct& cones, const BlockSparseMatrix& blocks, const Vector& free_term,
                          const Vector& reaction) {
  const Index count = cones.blocks();
  Vector step = Vector::Constant(count, -1.0);
  double inverse_sum = 0.0;
  Index usable = 0;
  double scale = 0.0;
  for (Index b = 0; b < count; ++b) {
    const double trace = blocks.block(b, blocks.diagonal(b)).trace();
    scale = std::max(scale, free_term.segment(cones.block_row(b), cones.block_size(b)).norm());
    if (!(trace > 0.0)) continue;
    step[b] = cones.block_size(b) / trace;
    inverse_sum += trace / cones.block_size(b);
    ++usable;
  }
  const double fallback = usable > 0 ? static_cast<double>(usable) / inverse_sum : 1.0;
  if (scale == 0.0) scale = 1.0;
  Vector velocity(cones.rows());
  blocks.apply(reaction, velocity);
  velocity += free_term;
  add_de_saxce(cones, velocity, velocity);
  Vector moved = reaction;
  for (Index b = 0; b < count; ++b) {
    if (step[b] < 0.0) step[b] = fallback;
    const Index row = cones.block_row(b);
    moved.segment(row, cones.block_size(b)) -= step[b] * velocity.segment(row, cones.block_size(b));
  }
  project_cone(cones, moved, moved);
  double worst = 0.0;
  for (Index b = 0; b < count; ++b) {
    const Index row = cones.block_row(b);
    const Index size = cones.block_size(b);
    worst = std::max(worst, (reaction - moved).segment(row, size).norm() / (step[b] * scale));
  }
  return worst;
}

class Converter {
 public:
  Converter(const FclibContent& content, const std::filesystem::path& file)
      : content_(content), name_(hdf5::one_line(file.string())) {
    data_.provenance = {family_of_name(file.stem().string()), hdf5::one_line(file.stem().string()), file.string(),
                        to_string(content.kind), content.description};
  }

  Result<ContactProblem> convert() {
    if (content_.mu_rolling.size() > 0 || content_.kind == FclibKind::local_rolling ||
        content_.kind == FclibKind::global_rolling) {
      return error(ErrorCode::unsupported, "rolling friction is loaded for inspection only; no solver here handles it");
    }
    const bool global = content_.kind == FclibKind::global || content_.kind == FclibKind::mixed_global;
    joints_ = global ? content_.b.size() : content_.s.size();
    Result<ConeProduct> cones =
        ConeProduct::create(joints_, 0, {content_.mu.begin(), content_.mu.end()}, content_.space_dimension);
    if (!cones) return error(cones.error().code, cones.error().message);
    data_.cones = *cones;
    if (const std::optional<Error> failed = global ? condense() : assemble()) return *failed;
    attach_configuration();
    attach_answers();
    Result<ContactProblem> problem = ContactProblem::create(std::move(data_));
    if (!problem) return error(problem.error().code, problem.error().message);
    return problem;
  }

 private:
  Error error(ErrorCode code, const std::string& message) const { return {code, name_ + ": " + message}; }

  std::optional<Error> assemble() {
    data_.delassus =
        make_block_sparse_delassus(BlockSparseMatrix::from_sparse(composite_matrix(content_), data_.cones));
    data_.free_term = joined(content_.s, content_.q, content_.space_dimension);
    return std::nullopt;
  }

  std::optional<Error> condense() {
    PrimalForm primal;
    primal.mass = content_.m_matrix;
    primal.jacobian = jacobian_of(content_);
    const double entries = entries_of_solution(primal.mass, SparseMatrix(primal.jacobian.transpose()));
    if (entries > max_condensed_entries) {
      return error(
          ErrorCode::unsupported,
          fmt::format("condensing it may need {:.1f} GB (M^-1 H fills in), more than is allowed", entries * 12e-9));
    }
    const Result<MassFactor> factor = MassFactor::create(primal.mass);
    if (!factor) return error(factor.error().code, factor.error().message);
    primal.free_velocity = free_velocity(*factor);
    if (!primal.free_velocity.allFinite()) return error(ErrorCode::bad_input, "M^-1 f is not finite");
    data_.bias = joined(content_.b, content_.w, content_.space_dimension);
    data_.free_term = primal.jacobian * primal.free_velocity + *data_.bias;
    Result<std::shared_ptr<const DelassusOperator>> delassus = make_factored_delassus(primal.mass, primal.jacobian);
    if (!delassus) return error(delassus.error().code, delassus.error().message);
    data_.delassus = *delassus;
    data_.primal = std::move(primal);
    return std::nullopt;
  }

  /// M⁻¹ f; or the v_free that the file keeps beside f, where it solves M v = f to rounding.
  Vector free_velocity(const MassFactor& factor) const {
    if (content_.extension && content_.extension->free_velocity.size() == content_.f.size()) {
      const Vector& kept = content_.extension->free_velocity;
      const Vector size = SparseMatrix(content_.m_matrix.cwiseAbs()) * kept.cwiseAbs() + content_.f.cwiseAbs();
      const Vector difference = (content_.m_matrix * kept - content_.f).cwiseAbs();
      if ((difference.array() <= 1e-13 * size.array()).all()) return kept;
    }
    return factor.solve(content_.f);
  }

  void attach_configuration() {
    Configuration known;
    if (content_.extension) {
      known = content_.extension->configuration;
      if (!content_.extension->family.empty()) data_.provenance.family = content_.extension->family;
      if (const std::optional<Vector>& bias = content_.extension->bias; bias && !data_.bias) {
        data_.bias = joined(bias->head(joints_), bias->tail(bias->size() - joints_), content_.space_dimension);
      }
    }
    if (!known.bodies) known.bodies = content_.bodies;
    if (known.gaps || known.time_step || known.bodies || known.generalised_velocities || known.joint_count) {
      data_.configuration = std::move(known);
    }
  }

  void attach_answers() {
    const Index rows = data_.cones.rows();
    const int dimension = content_.space_dimension;
    if (!content_.guesses.empty()) data_.guess = reaction_of(content_.guesses.front(), joints_, rows, dimension);
    if (!content_.solution) return;
    const std::optional<Vector> reaction = reaction_of(*content_.solution, joints_, rows, dimension);
    // All real files hold zeros in /solution where nobody solved the problem.
    if (!reaction || (reaction->array() == 0.0).all()) return;
    const BlockSparseMatrix blocks = data_.delassus->assemble(data_.cones);
    data_.reference = Reference{*reaction, scaled_natural_map(data_.cones, blocks, data_.free_term, *reaction),
                                "/solution of the file"};
  }

  const FclibContent& content_;
  std::string name_;
  Index joints_ = 0;
  ContactProblemData data_;
};

}  // namespace

Result<ContactProblem> to_problem(const FclibContent& content, const std::filesystem::path& file) {
  try {
    return Converter(content, file).convert();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::bad_input, hdf5::one_line(file.string()) + ": not enough memory for the problem"};
  }
}

Result<ContactProblem> load_fclib(const std::filesystem::path& file) {
  const Result<FclibContent> content = read_fclib(file);
  if (!content) return content.error();
  return to_problem(*content, file);
}

}  // namespace conebench
