#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fclib_loader/block_group.hpp"
#include "fclib_loader/component_order.hpp"
#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_extension.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_image.hpp"
#include "fclib_loader/isolation.hpp"
#include "fclib_loader/recording.hpp"

namespace conebench {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

constexpr double coupling_tolerance = 1e-12;

SparseMatrix made(Index rows, Index cols, const Triplets& triplets) {
  SparseMatrix matrix(rows, cols);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

class Writer {
 public:
  Writer(const ContactProblem& problem, const std::string& name, hdf5::Image& image)
      : problem_(problem), cones_(problem.cones()), order_(RowOrder::of(cones_)), name_(name), image_(image) {}

  void write(const FclibWriteOptions& options) {
    const bool blocks = options.given != nullptr || !fits_fclib(problem_);
    if (options.given != nullptr) {
      write_block_group(*options.given, image_);
    } else if (blocks) {
      write_block_group(problem_, image_);
    } else {
      write_parts();
    }
    const GivenRows rows = options.given == nullptr ? answer_rows(problem_, AnswerOf::written)
                           : problem_.given_rows()  ? *problem_.given_rows()
                                                    : GivenRows::same(problem_.rows());
    const auto& reference = problem_.reference();
    if (options.solution || reference) {
      write_answer("/solution", options.solution ? *options.solution : FclibAnswer{reference->reaction, {}}, rows,
                   blocks);
    }
    std::vector<FclibAnswer> guesses = options.guesses;
    if (guesses.empty() && problem_.guess()) guesses.push_back({*problem_.guess(), {}});
    if (guesses.empty()) return;
    image_.make_group("/guesses");
    image_.write_size("/guesses/number_of_guesses", static_cast<Index>(guesses.size()));
    for (std::size_t k = 0; k < guesses.size(); ++k) {
      write_answer(fmt::format("/guesses/{}", k + 1), guesses[k], rows, blocks);
    }
  }

  /// FCLIB's and Conebench's own parts.
  void write_parts() {
    const char* const global = cones_.rolls() ? "/fclib_global_rolling" : "/fclib_global";
    group_ = problem_.primal() ? global : "/fclib_local";
    image_.make_group(group_ + "/vectors");
    image_.write_size(group_ + "/spacedim", cones_.contact_dimension());
    if (problem_.primal()) {
      write_global(*problem_.primal());
    } else {
      write_local();
    }
    Vector friction = Vector::Zero(cones_.contacts() + cones_.limits());
    std::copy(cones_.friction().begin(), cones_.friction().end(), friction.begin());
    image_.write_reals(group_ + "/vectors/mu", friction);
    if (cones_.rolls()) {
      std::ranges::copy(cones_.rolling_friction(), friction.begin());
      image_.write_reals(group_ + "/vectors/mu_r", friction);
    }
    write_info();
    write_extension(problem_, image_);
  }

  /// r, u and, where they exist, l and v; or where a file describes blocks, r, u and v.
  void write_answer(const std::string& group, const FclibAnswer& answer, const GivenRows& rows, bool blocks) {
    if (answer.impulse.size() != cones_.rows() ||
        (answer.velocity.size() != 0 && answer.velocity.size() != cones_.rows())) {
      throw hdf5::Failure(fmt::format("{}: {}: the answer has {} rows, the problem {}", name_, group,
                                      answer.impulse.size(), cones_.rows()));
    }
    Vector velocity = answer.velocity;
    if (velocity.size() != cones_.rows()) {
      velocity.resize(cones_.rows());
      problem_.velocity(answer.impulse, velocity);
    }
    image_.make_group(group);
    const Index joints = blocks ? 0 : cones_.joints();
    const Vector impulses = rows.to_given(answer.impulse);
    image_.write_reals(group + "/r", impulses.tail(impulses.size() - joints));
    image_.write_reals(group + "/u", blocks ? rows.velocity_to_given(velocity) : order_.reaction(velocity));
    if (joints > 0) image_.write_reals(group + "/l", impulses.head(joints));
    if (!problem_.primal()) return;
    if (!mass_factor_) {
      const Result<MassFactor> factor = MassFactor::create(problem_.primal()->mass);
      if (!factor) throw hdf5::Failure(name_ + ": " + factor.error().message, factor.error().code);
      mass_factor_ = *factor;
    }
    const Vector push = problem_.primal()->jacobian.transpose() * answer.impulse;
    const Vector velocities = problem_.primal()->free_velocity + mass_factor_->solve(push);
    if (blocks) {
      image_.write_reals(group + "/v", velocities);
      return;
    }
    const AddedVelocities added = added_velocities();
    Vector all(velocities.size() + added.diagonal.size());
    all.head(velocities.size()) = velocities;
    for (Index k = 0; k < added.diagonal.size(); ++k) {
      all[velocities.size() + k] = added.diagonal[k] * impulses[added.rows[static_cast<std::size_t>(k)]];
    }
    image_.write_reals(group + "/v", all);
  }

 private:
  bool is_joint(Index row) const { return row < cones_.joints(); }
  int fclib_row_of(Index row) const { return static_cast<int>(is_joint(row) ? row : order_.reaction_row(row)); }

  /// What FCLIB's part adds to the diagonal of G, over the rows of l and r: R; and on the tangents of limits, which
  /// have no part in anything, the limit's own entry, so that no reader's solver meets a singular block.
  Vector added_diagonal() const {
    Vector added = Vector::Zero(order_.joints + order_.reaction_rows());
    for (Index row = 0; row < cones_.rows(); ++row) {
      added[(is_joint(row) ? 0 : order_.joints) + fclib_row_of(row)] = problem_.compliance()[row];
    }
    for (Index k = cones_.joints(); k < cones_.first_contact_row(); ++k) {
      const double own = problem_.diagonal().block(k)(0, 0) + problem_.compliance()[k];
      added.segment(order_.joints + order_.reaction_row(k) + 1, order_.dimension - 1)
          .setConstant(own > 0.0 ? own : 1.0);
    }
    return added;
  }

  /// In a global problem each row k with an added diagonal d has a velocity more, of mass 1/d: the row moves by d λ_k
  /// more.
  struct AddedVelocities {
    std::vector<Index> rows;  ///< of l and r
    Vector diagonal;
  };
  AddedVelocities added_velocities() const {
    const Vector all = added_diagonal();
    AddedVelocities added;
    for (Index row = 0; row < all.size(); ++row) {
      if (all[row] > 0.0) added.rows.push_back(row);
    }
    added.diagonal.resize(static_cast<Index>(added.rows.size()));
    for (Index k = 0; k < added.diagonal.size(); ++k) {
      added.diagonal[k] = all[added.rows[static_cast<std::size_t>(k)]];
    }
    if (!added.diagonal.cwiseInverse().allFinite()) {
      throw hdf5::Failure(name_ + ": a compliance is so small that its inverse overflows; use 0",
                          ErrorCode::unsupported);
    }
    return added;
  }

  void write_local() {
    const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix = problem_.blocks().sparse();
    const Index joints = cones_.joints();
    Triplets w, v, vt, r;
    for (Index row = 0; row < matrix.outerSize(); ++row) {
      for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(matrix, row); it; ++it) {
        if (it.value() == 0.0) continue;
        const bool joint_row = is_joint(row);
        const bool joint_col = is_joint(it.col());
        const int i = fclib_row_of(row);
        const int j = fclib_row_of(it.col());
        if (joint_row && joint_col) r.emplace_back(i, j, it.value());
        if (joint_row && !joint_col) vt.emplace_back(j, i, it.value());
        if (!joint_row && joint_col) v.emplace_back(i, j, it.value());
        if (!joint_row && !joint_col) w.emplace_back(i, j, it.value());
      }
    }
    const Vector added = added_diagonal();
    for (Index k = 0; k < added.size(); ++k) {
      const int row = static_cast<int>(k < joints ? k : k - joints);
      if (added[k] > 0.0) (k < joints ? r : w).emplace_back(row, row, added[k]);
    }
    const Index rows = order_.reaction_rows();
    write_matrix(image_, group_ + "/W", made(rows, rows, w));
    image_.write_reals(group_ + "/vectors/q", order_.reaction(problem_.free_term()));
    if (joints == 0) return;
    const SparseMatrix coupling = made(rows, joints, v);
    const SparseMatrix difference = coupling - made(rows, joints, vt);
    if (difference.size() > 0 && difference.norm() > coupling_tolerance * coupling.norm()) {
      throw hdf5::Failure(name_ + ": FCLIB's mixed form needs the joints' coupling to be symmetric (V and V^T)",
                          ErrorCode::unsupported);
    }
    write_matrix(image_, group_ + "/V", coupling);
    write_matrix(image_, group_ + "/R", made(joints, joints, r));
    image_.write_reals(group_ + "/vectors/s", problem_.free_term().head(joints));
  }

  /// M, H and G with the added velocities behind the problem's own.
  void write_global(const PrimalForm& primal) {
    const Index own = primal.mass.rows();
    const Index joints = cones_.joints();
    const AddedVelocities added = added_velocities();
    const Index velocities = own + added.diagonal.size();
    Triplets m, h, g;
    for (Index col = 0; col < primal.mass.outerSize(); ++col) {
      for (SparseMatrix::InnerIterator it(primal.mass, col); it; ++it) {
        m.emplace_back(static_cast<int>(it.row()), static_cast<int>(col), it.value());
      }
    }
    for (Index col = 0; col < primal.jacobian.outerSize(); ++col) {
      for (SparseMatrix::InnerIterator it(primal.jacobian, col); it; ++it) {
        (is_joint(it.row()) ? g : h).emplace_back(static_cast<int>(col), fclib_row_of(it.row()), it.value());
      }
    }
    for (Index k = 0; k < added.diagonal.size(); ++k) {
      const int velocity = static_cast<int>(own + k);
      const Index row = added.rows[static_cast<std::size_t>(k)];
      m.emplace_back(velocity, velocity, 1.0 / added.diagonal[k]);
      (row < joints ? g : h).emplace_back(velocity, static_cast<int>(row < joints ? row : row - joints), 1.0);
    }
    write_matrix(image_, group_ + "/M", made(velocities, velocities, m));
    write_matrix(image_, group_ + "/H", made(velocities, order_.reaction_rows(), h));
    const Vector bias =
        problem_.bias() ? *problem_.bias() : Vector(problem_.free_term() - primal.jacobian * primal.free_velocity);
    Vector momentum = Vector::Zero(velocities);
    momentum.head(own) = primal.mass * primal.free_velocity;
    if (!momentum.allFinite()) {
      throw hdf5::Failure(name_ + ": M v_free overflows, and FCLIB holds that product", ErrorCode::unsupported);
    }
    image_.write_reals(group_ + "/vectors/f", momentum);
    image_.write_reals(group_ + "/vectors/w", order_.reaction(bias));
    if (joints == 0) return;
    write_matrix(image_, group_ + "/G", made(velocities, joints, g));
    image_.write_reals(group_ + "/vectors/b", bias.head(joints));
  }

  void write_info() {
    const Provenance& provenance = problem_.provenance();
    const auto own = hdf5::TextType::ascii_where_it_is;
    image_.make_group(group_ + "/info");
    image_.write_text(group_ + "/info/title", provenance.name, own);
    image_.write_text(group_ + "/info/description", provenance.description, own);
    image_.write_text(group_ + "/info/math_info", "", own);
  }

  const ContactProblem& problem_;
  const ConeProduct& cones_;
  RowOrder order_;
  std::string name_, group_;
  hdf5::Image& image_;
  std::optional<MassFactor> mass_factor_;
};

}  // namespace

Result<void> write_fclib(const ContactProblem& problem, const std::filesystem::path& file,
                         const FclibWriteOptions& options) {
  return hdf5::guarded(file.string(), [&] {
    hdf5::Image image(options.compress);
    Writer(problem, hdf5::one_line(file.string()), image).write(options);
    image.save(file);
  });
}

Result<std::vector<char>> fclib_bytes(const ContactProblem& problem, const std::string& name,
                                      const FclibWriteOptions& options) {
  return hdf5::guarded(name, [&] {
    hdf5::Image image(options.compress);
    Writer(problem, hdf5::one_line(name), image).write(options);
    return image.bytes();
  });
}

Result<void> write_solution(const std::filesystem::path& source, const std::filesystem::path& target,
                            const ContactProblem& problem, ConstVectorRef impulse) {
  CONEBENCH_TRY(const auto content, read_fclib(source));
  const FclibAnswer answer{Vector(impulse), {}};
  if (content.format == FileFormat::siconos) return write_fclib(problem, target, {.solution = answer, .guesses = {}});
  if (content.blocks && step_address(source)) {
    return write_fclib(problem, target, {.solution = answer, .guesses = {}, .given = &*content.blocks});
  }
  const auto write = [&](bool blocks) -> Result<void> {
    // HDF5 changes a file that somebody else made.
    CONEBENCH_CHECK(hdf5::isolated(source, [&] {
      hdf5::Image image(source, false);
      image.remove("/solution");
      image.remove("/conebench/reference");
      Writer(problem, hdf5::one_line(target.string()), image)
          .write_answer("/solution", {Vector(impulse), {}},
                        blocks ? answer_rows(problem) : RowOrder::of(problem.cones()).answer_rows(), blocks);
      image.save(target);
      return std::string();
    }));
    return {};
  };
  if (content.blocks) {
    const Index rows = content.blocks->blocks.rows();
    if (problem.given_rows() && static_cast<Index>(problem.given_rows()->row.size()) == rows) return write(true);
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: has {} rows, the solved problem is another", hdf5::one_line(source.string()), rows)};
  }
  const Index joints = content.s.size() + content.b.size();
  if (content.mu.size() != problem.cones().contacts() + problem.cones().limits() ||
      joints != problem.cones().joints() || content.space_dimension != problem.cones().contact_dimension()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: holds {} contacts and {} joint rows, the solved problem has {} and {}",
                             hdf5::one_line(source.string()), content.mu.size(), joints,
                             problem.cones().contacts() + problem.cones().limits(), problem.cones().joints())};
  }
  return write(false);
}

}  // namespace conebench
