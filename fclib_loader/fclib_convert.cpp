#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fclib_loader/block_group.hpp"
#include "fclib_loader/component_order.hpp"
#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_names.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "problems/mass_solve.hpp"
#include "problems/scaled_natural_map.hpp"

namespace conebench {

namespace {

using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Triplets = std::vector<Eigen::Triplet<double>>;

// Above this many entries (about 3 GB) M⁻¹ Jᵀ is not formed.
constexpr double max_condensed_entries = 2.5e8;

/// The problem's rows that the columns (or rows) of one of the file's matrices stand for: l's or r's.
enum class Rows { joints, reaction };

int problem_row(const RowOrder& order, Rows rows, Index k) {
  return static_cast<int>(rows == Rows::joints ? k : order.row_of_reaction(k));
}

/// [[R, Vᵀ], [V, W]] over the problem's rows.
RowMatrix composite_matrix(const FclibContent& content, const RowOrder& order) {
  Triplets triplets;
  triplets.reserve(static_cast<std::size_t>(content.w_matrix.nonZeros() + 2 * content.v_matrix.nonZeros() +
                                            content.r_matrix.nonZeros()));
  const auto append = [&](const SparseMatrix& matrix, Rows rows, Rows cols) {
    for (Index col = 0; col < matrix.outerSize(); ++col) {
      const int j = problem_row(order, cols, col);
      for (SparseMatrix::InnerIterator it(matrix, col); it; ++it) {
        const int i = problem_row(order, rows, it.row());
        if (i >= 0 && j >= 0) triplets.emplace_back(i, j, it.value());
      }
    }
  };
  append(content.r_matrix, Rows::joints, Rows::joints);
  append(content.v_matrix.transpose(), Rows::joints, Rows::reaction);
  append(content.v_matrix, Rows::reaction, Rows::joints);
  append(content.w_matrix, Rows::reaction, Rows::reaction);
  RowMatrix matrix(order.rows(), order.rows());
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

/// J = [Gᵀ; Hᵀ] over the problem's rows and the first `velocities` velocities.
SparseMatrix jacobian_of(const FclibContent& content, const RowOrder& order, Index velocities) {
  Triplets triplets;
  triplets.reserve(static_cast<std::size_t>(content.h_matrix.nonZeros() + content.g_matrix.nonZeros()));
  const auto append = [&](const SparseMatrix& matrix, Rows cols) {
    for (Index col = 0; col < matrix.outerSize(); ++col) {
      const int row = problem_row(order, cols, col);
      for (SparseMatrix::InnerIterator it(matrix, col); it && row >= 0; ++it) {
        if (it.row() < velocities) triplets.emplace_back(row, static_cast<int>(it.row()), it.value());
      }
    }
  };
  append(content.g_matrix, Rows::joints);
  append(content.h_matrix, Rows::reaction);
  SparseMatrix jacobian(order.rows(), velocities);
  jacobian.setFromTriplets(triplets.begin(), triplets.end());
  return jacobian;
}

/// The extension's matrix over the problem's rows.
RowMatrix matrix_of_extension(const SparseMatrix& stored, const RowOrder& order) {
  std::vector<int> row_of(static_cast<std::size_t>(order.rows()));
  for (Index row = 0; row < order.rows(); ++row) {
    row_of[static_cast<std::size_t>(order.extension_row(row))] = static_cast<int>(row);
  }
  Triplets triplets;
  for (Index col = 0; col < stored.outerSize(); ++col) {
    for (SparseMatrix::InnerIterator it(stored, col); it; ++it) {
      triplets.emplace_back(row_of[static_cast<std::size_t>(it.row())], row_of[static_cast<std::size_t>(col)],
                            it.value());
    }
  }
  RowMatrix matrix(order.rows(), order.rows());
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

std::optional<Vector> reaction_of(const FclibContent::Guess& answer, const RowOrder& order) {
  if (answer.r.size() != order.reaction_rows()) return std::nullopt;
  return order.joined(answer.l.size() == order.joints ? answer.l : Vector::Zero(order.joints), answer.r);
}

ContactProblem judged(const ContactProblem& problem, Reference reference) {
  // For an elastic body each row of the natural map takes a solve, so the file's own residual is kept.
  const auto kept = reference.residuals.find("natural_map_scaled");
  const bool costly = !problem.condenses_sparsely() && kept != reference.residuals.end();
  reference.residual = costly ? kept->second : scaled_natural_map(problem, reference.reaction);
  return problem.with_reference(std::move(reference));
}

class Converter {
 public:
  Converter(const FclibContent& content, const std::filesystem::path& file)
      : content_(content), name_(hdf5::one_line(file.string())) {
    data_.provenance = {family_of_name(file.stem().string()), hdf5::one_line(file.stem().string()), file.string(),
                        to_string(content.kind), content.description};
  }

  Result<ContactProblem> convert() {
    const bool rolling = content_.kind == FclibKind::local_rolling || content_.kind == FclibKind::global_rolling;
    if (rolling && content_.space_dimension != 5) {
      return error(ErrorCode::unsupported,
                   "rolling friction in the plane (3 rows a contact) is loaded for inspection only; no solver here "
                   "handles it");
    }
    const bool global = content_.kind == FclibKind::global || content_.kind == FclibKind::mixed_global ||
                        content_.kind == FclibKind::global_rolling;
    const Index limits = content_.extension ? content_.extension->limits : 0;
    const Index contacts = content_.mu.size() - limits;
    order_ = {content_.s.size() + content_.b.size(), limits, contacts, content_.space_dimension};
    std::vector<double> rolling_friction;
    if (rolling) rolling_friction.assign(content_.mu_rolling.begin(), content_.mu_rolling.begin() + contacts);
    CONEBENCH_TRY(data_.cones,
                  ConeProduct::create(order_.joints, limits, {content_.mu.begin(), content_.mu.begin() + contacts},
                                      content_.space_dimension, std::move(rolling_friction))
                      .within(name_));
    if (content_.extension && content_.extension->compliance) {
      data_.compliance = order_.from_extension(*content_.extension->compliance);
    }
    CONEBENCH_CHECK(global ? condense() : assemble());
    attach_configuration();
    if (!content_.guesses.empty()) data_.guess = reaction_of(content_.guesses.front(), order_);
    CONEBENCH_TRY(const auto problem, ContactProblem::create(std::move(data_)).within(name_));
    return with_solution(problem);
  }

 private:
  Error error(ErrorCode code, const std::string& message) const { return {code, name_ + ": " + message}; }

  std::shared_ptr<const DelassusOperator> in_stored_form(const RowMatrix& matrix) const {
    // A dense form of few entries and many rows would need memory that the file does not account for.
    const bool affordable = matrix.size() <= 64 * (matrix.nonZeros() + (Index{1} << 20));
    if (affordable && content_.extension && content_.extension->delassus_form == "dense") {
      return make_dense_delassus(Matrix(matrix));
    }
    return make_block_sparse_delassus(BlockSparseMatrix::from_sparse(matrix, data_.cones));
  }

  Result<void> assemble() {
    const auto& extension = content_.extension;
    const bool kept = extension && extension->delassus;
    data_.delassus =
        in_stored_form(kept ? matrix_of_extension(*extension->delassus, order_) : composite_matrix(content_, order_));
    data_.free_term = order_.joined(content_.s, content_.q);
    if (extension && extension->bias) data_.bias = order_.from_extension(*extension->bias);
    return {};
  }

  Result<void> condense() {
    // The writer added the velocities beyond v_free (docs/sample_format.md).
    const bool given = content_.extension && content_.extension->free_velocity;
    const Index velocities = given ? content_.extension->free_velocity->size() : content_.m_matrix.rows();
    PrimalForm primal;
    primal.mass = content_.m_matrix.topLeftCorner(velocities, velocities);
    if (content_.extension) primal.metric = content_.extension->metric;
    primal.jacobian = jacobian_of(content_, order_, velocities);
    const bool kept = content_.extension && content_.extension->delassus;
    if (!kept) CONEBENCH_CHECK(check_size(primal));
    std::optional<Vector> velocity = kept_velocity(primal.mass);
    if (kept || !velocity) {
      CONEBENCH_TRY(const auto factor, MassFactor::create(primal.mass).within(name_));
      if (kept) use_kept_matrix(primal, factor);
      if (!velocity) velocity = factor.solve(Vector(content_.f.head(velocities)));
    }
    if (!data_.delassus) CONEBENCH_CHECK(check_size(primal));
    primal.free_velocity = std::move(*velocity);
    if (!primal.free_velocity.allFinite()) return error(ErrorCode::bad_input, "M^-1 f is not finite");
    const Vector bias = order_.joined(content_.b, content_.w);
    data_.free_term = free_term(primal, bias);
    if (!content_.extension || content_.extension->bias_known) data_.bias = bias;
    data_.primal = std::move(primal);
    return {};
  }

  Result<void> check_size(const PrimalForm& primal) const {
    if (!in_small_blocks(primal.mass)) return {};  // it will not be formed
    const double entries = entries_of_solution(primal.mass, SparseMatrix(primal.jacobian.transpose()));
    if (entries <= max_condensed_entries) return {};
    return error(
        ErrorCode::unsupported,
        fmt::format("condensing it may need {:.1f} GB (M^-1 H fills in), more than is allowed", entries * 12e-9));
  }

  /// The G that the file keeps beside M and H, where these condense to it.
  void use_kept_matrix(const PrimalForm& primal, const MassFactor& factor) {
    const RowMatrix kept = matrix_of_extension(*content_.extension->delassus, order_);
    if (condenses_to(primal, factor, kept)) data_.delassus = in_stored_form(kept);
  }

  /// Whether G z = J M⁻¹ Jᵀ z for a vector z without pattern: a G that somebody else's M or H contradicts is not used.
  static bool condenses_to(const PrimalForm& primal, const MassFactor& factor, const RowMatrix& matrix) {
    Vector z(matrix.rows());
    for (Index k = 0; k < z.size(); ++k) z[k] = std::cos(1.0 + 2.0 * static_cast<double>(k));
    const Vector expected = primal.jacobian * factor.solve(Vector(primal.jacobian.transpose() * z));
    return (matrix * z - expected).norm() <= 1e-6 * expected.norm();
  }

  /// The v_free that the file keeps beside f, where it solves M v = f to rounding.
  std::optional<Vector> kept_velocity(const SparseMatrix& mass) const {
    if (!content_.extension || !content_.extension->free_velocity) return std::nullopt;
    const Vector f = content_.f.head(mass.rows());
    const Vector& kept = *content_.extension->free_velocity;
    const Vector size = SparseMatrix(mass.cwiseAbs()) * kept.cwiseAbs() + f.cwiseAbs();
    const Vector difference = (mass * kept - f).cwiseAbs();
    if (!(difference.array() <= 1e-13 * size.array()).all()) return std::nullopt;
    return kept;
  }

  /// J v_free + b; or the g that the file keeps beside them, where it is that to rounding.
  Vector free_term(const PrimalForm& primal, const Vector& bias) const {
    Vector sum = primal.jacobian * primal.free_velocity + bias;
    if (!content_.extension || !content_.extension->g) return sum;
    const Vector kept = order_.from_extension(*content_.extension->g);
    const Vector size = SparseMatrix(primal.jacobian.cwiseAbs()) * primal.free_velocity.cwiseAbs() + bias.cwiseAbs();
    if (((kept - sum).cwiseAbs().array() <= 1e-10 * size.array()).all()) return kept;
    return sum;
  }

  void attach_configuration() {
    Configuration known;
    if (content_.extension) {
      known = content_.extension->configuration;
      if (!content_.extension->family.empty()) data_.provenance.family = content_.extension->family;
      data_.provenance.category = content_.extension->category;
      data_.provenance.conditioning = content_.extension->conditioning;
      data_.provenance.loop = content_.extension->loop;
    }
    if (!known.bodies) known.bodies = content_.bodies;
    if (!known.empty()) data_.configuration = std::move(known);
  }

  ContactProblem with_solution(const ContactProblem& problem) const {
    if (!content_.solution) return problem;
    const std::optional<Vector> reaction = reaction_of(*content_.solution, order_);
    // All real files hold zeros in /solution where nobody solved the problem.
    if (!reaction || (reaction->array() == 0.0).all()) return problem;
    Reference reference{*reaction, 0.0, "/solution of the file"};
    if (content_.extension) {
      const std::string& source = content_.extension->reference_source;
      if (!source.empty()) reference.source = source;
      reference.residuals = content_.extension->reference_residuals;
    }
    return judged(problem, std::move(reference));
  }

  const FclibContent& content_;
  std::string name_;
  RowOrder order_;
  ContactProblemData data_;
};

}  // namespace

Result<ContactProblem> to_problem(const FclibContent& content, const std::filesystem::path& file) {
  try {
    if (!content.blocks) return Converter(content, file).convert();
    CONEBENCH_TRY(const auto problem, block_problem(*content.blocks, file));
    return problem.reference() ? judged(problem, *problem.reference()) : problem;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::bad_input, hdf5::one_line(file.string()) + ": not enough memory for the problem"};
  }
}

Result<ContactProblem> load_fclib(const std::filesystem::path& file) {
  CONEBENCH_TRY(const auto content, read_fclib(file));
  return to_problem(content, file);
}

}  // namespace conebench
