#include <fmt/format.h>

#include <cmath>

#include "fclib_loader/component_order.hpp"
#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/hdf5_image.hpp"
#include "fclib_loader/isolation.hpp"

namespace conebench {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

constexpr double coupling_tolerance = 1e-12;

Vector contact_part(const ConeProduct& cones, const Vector& rows) {
  return to_normal_first(rows.tail(rows.size() - cones.first_contact_row()), cones.contact_dimension());
}

/// The rows and columns of `matrix` that belong to joints or to contacts, in FCLIB's order, without exact zeros.
class Splitter {
 public:
  explicit Splitter(const ConeProduct& cones) : cones_(cones) {}

  bool is_joint(Index row) const { return row < cones_.joints(); }
  int fclib(Index row) const {
    return static_cast<int>(is_joint(row) ? row : fclib_row(row - cones_.joints(), cones_.contact_dimension()));
  }

 private:
  const ConeProduct& cones_;
};

SparseMatrix made(Index rows, Index cols, const Triplets& triplets) {
  SparseMatrix matrix(rows, cols);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

class Writer {
 public:
  Writer(const ContactProblem& problem, const std::string& name, hdf5::Image& image)
      : problem_(problem), cones_(problem.cones()), name_(name), image_(image) {}

  void write(const FclibWriteOptions& options) {
    require_expressible();
    group_ = problem_.primal() ? "/fclib_global" : "/fclib_local";
    image_.make_group(group_ + "/vectors");
    image_.write_size(group_ + "/spacedim", cones_.contact_dimension());
    if (problem_.primal()) {
      write_global(*problem_.primal());
    } else {
      write_local();
    }
    image_.write_reals(group_ + "/vectors/mu", Eigen::Map<const Vector>(cones_.friction().data(), cones_.contacts()));
    write_info();
    write_extension();
    if (options.solution) write_answer("/solution", *options.solution);
    if (options.guesses.empty()) return;
    image_.make_group("/guesses");
    image_.write_size("/guesses/number_of_guesses", static_cast<Index>(options.guesses.size()));
    for (std::size_t k = 0; k < options.guesses.size(); ++k) {
      write_answer(fmt::format("/guesses/{}", k + 1), options.guesses[k]);
    }
  }

  /// r, u and, where they exist, l and v.
  void write_answer(const std::string& group, const FclibAnswer& answer) {
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
    image_.write_reals(group + "/r", contact_part(cones_, answer.impulse));
    image_.write_reals(group + "/u", contact_part(cones_, velocity));
    if (cones_.joints() > 0) image_.write_reals(group + "/l", answer.impulse.head(cones_.joints()));
    if (!problem_.primal()) return;
    if (!mass_factor_) {
      const Result<MassFactor> factor = MassFactor::create(problem_.primal()->mass);
      if (!factor) throw hdf5::Failure(name_ + ": " + factor.error().message, factor.error().code);
      mass_factor_ = *factor;
    }
    const Vector push = problem_.primal()->jacobian.transpose() * answer.impulse;
    image_.write_reals(group + "/v", problem_.primal()->free_velocity + mass_factor_->solve(push));
  }

 private:
  void require_expressible() const {
    const auto refuse = [&](const std::string& what) {
      throw hdf5::Failure(fmt::format("{}: FCLIB's layout has no place for {}", name_, what), ErrorCode::unsupported);
    };
    if (cones_.limits() > 0) refuse(fmt::format("limits (the problem has {})", cones_.limits()));
    if (!problem_.rigid()) refuse("a compliance R");
  }

  void write_matrix(const std::string& name, const SparseMatrix& matrix) {
    const std::string path = group_ + "/" + name + "/";
    image_.make_group(group_ + "/" + name);
    image_.write_size(path + "nzmax", matrix.nonZeros());
    image_.write_size(path + "m", matrix.rows());
    image_.write_size(path + "n", matrix.cols());
    image_.write_size(path + "nz", -1);
    const auto entries = static_cast<std::size_t>(matrix.nonZeros());
    image_.write_sizes(path + "p", {matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.cols() + 1});
    image_.write_sizes(path + "i", {matrix.innerIndexPtr(), matrix.innerIndexPtr() + entries});
    image_.write_reals(path + "x", Eigen::Map<const Vector>(matrix.valuePtr(), matrix.nonZeros()));
  }

  void write_local() {
    const Splitter split(cones_);
    const auto matrix = problem_.blocks().sparse();
    Triplets w, v, vt, r;
    for (Index row = 0; row < matrix.outerSize(); ++row) {
      for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(matrix, row); it; ++it) {
        if (it.value() == 0.0) continue;
        const bool joint_row = split.is_joint(row);
        const bool joint_col = split.is_joint(it.col());
        const int i = split.fclib(row);
        const int j = split.fclib(it.col());
        if (joint_row && joint_col) r.emplace_back(i, j, it.value());
        if (joint_row && !joint_col) vt.emplace_back(j, i, it.value());
        if (!joint_row && joint_col) v.emplace_back(i, j, it.value());
        if (!joint_row && !joint_col) w.emplace_back(i, j, it.value());
      }
    }
    const Index joints = cones_.joints();
    const Index rows = cones_.rows() - joints;
    write_matrix("W", made(rows, rows, w));
    image_.write_reals(group_ + "/vectors/q", contact_part(cones_, problem_.free_term()));
    if (joints == 0) return;
    const SparseMatrix coupling = made(rows, joints, v);
    const SparseMatrix difference = coupling - made(rows, joints, vt);
    if (difference.size() > 0 && difference.norm() > coupling_tolerance * coupling.norm()) {
      throw hdf5::Failure(name_ + ": FCLIB's mixed form needs the joints' coupling to be symmetric (V and V^T)",
                          ErrorCode::unsupported);
    }
    write_matrix("V", coupling);
    write_matrix("R", made(joints, joints, r));
    image_.write_reals(group_ + "/vectors/s", problem_.free_term().head(joints));
  }

  void write_global(const PrimalForm& primal) {
    const Splitter split(cones_);
    Triplets h, g;
    for (Index col = 0; col < primal.jacobian.outerSize(); ++col) {
      for (SparseMatrix::InnerIterator it(primal.jacobian, col); it; ++it) {
        (split.is_joint(it.row()) ? g : h).emplace_back(static_cast<int>(col), split.fclib(it.row()), it.value());
      }
    }
    const Index velocities = primal.mass.rows();
    const Index joints = cones_.joints();
    SparseMatrix mass = primal.mass;
    mass.makeCompressed();
    write_matrix("M", mass);
    write_matrix("H", made(velocities, cones_.rows() - joints, h));
    const Vector bias =
        problem_.bias() ? *problem_.bias() : Vector(problem_.free_term() - primal.jacobian * primal.free_velocity);
    image_.write_reals(group_ + "/vectors/f", primal.mass * primal.free_velocity);
    image_.write_reals(group_ + "/vectors/w", contact_part(cones_, bias));
    if (joints == 0) return;
    write_matrix("G", made(velocities, joints, g));
    image_.write_reals(group_ + "/vectors/b", bias.head(joints));
  }

  void write_info() {
    const Provenance& provenance = problem_.provenance();
    image_.make_group(group_ + "/info");
    image_.write_text(group_ + "/info/title", provenance.name);
    image_.write_text(group_ + "/info/description", provenance.description);
    image_.write_text(group_ + "/info/math_info", "");
  }

  /// What the problem knows beyond FCLIB's layout, in a group of its own that FCLIB's readers don't look at.
  void write_extension() {
    const std::string group = "/conebench";
    image_.make_group(group);
    image_.write_text(group + "/family", problem_.provenance().family);
    // f = M v_free rounds; kept, so that what is read back is the same problem to the last bit.
    if (problem_.primal()) image_.write_reals(group + "/v_free", problem_.primal()->free_velocity);
    if (!problem_.primal() && problem_.bias()) {
      Vector bias = *problem_.bias();
      bias.tail(bias.size() - cones_.joints()) = contact_part(cones_, *problem_.bias());
      image_.write_reals(group + "/bias", bias);
    }
    if (!problem_.configuration()) return;
    const Configuration& known = *problem_.configuration();
    if (known.gaps) image_.write_reals(group + "/gaps", *known.gaps);
    if (known.time_step) image_.write_reals(group + "/time_step", Vector::Constant(1, *known.time_step));
    if (known.bodies) image_.write_size(group + "/bodies", *known.bodies);
    if (known.generalised_velocities) {
      image_.write_size(group + "/generalised_velocities", *known.generalised_velocities);
    }
    if (known.joint_count) image_.write_size(group + "/joint_count", *known.joint_count);
  }

  const ContactProblem& problem_;
  const ConeProduct& cones_;
  std::string name_, group_;
  hdf5::Image& image_;
  std::optional<MassFactor> mass_factor_;
};

}  // namespace

Result<std::monostate> write_fclib(const ContactProblem& problem, const std::filesystem::path& file,
                                   const FclibWriteOptions& options) {
  return hdf5::guarded(file.string(), [&] {
    hdf5::Image image(options.compress);
    Writer(problem, hdf5::one_line(file.string()), image).write(options);
    image.save(file);
    return std::monostate{};
  });
}

Result<std::monostate> write_solution(const std::filesystem::path& source, const std::filesystem::path& target,
                                      const ContactProblem& problem, ConstVectorRef impulse) {
  const Result<FclibContent> content = read_fclib(source);
  if (!content) return content.error();
  const Index joints = content->s.size() + content->b.size();
  if (content->mu.size() != problem.cones().contacts() || joints != problem.cones().joints() ||
      content->space_dimension != problem.cones().contact_dimension()) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: holds {} contacts and {} joint rows, the solved problem has {} and {}",
                             hdf5::one_line(source.string()), content->mu.size(), joints, problem.cones().contacts(),
                             problem.cones().joints())};
  }
  // HDF5 changes a file that somebody else made.
  const Result<std::string> done = hdf5::isolated(source, [&] {
    hdf5::Image image(source, false);
    image.remove("/solution");
    Writer(problem, hdf5::one_line(target.string()), image).write_answer("/solution", {Vector(impulse), {}});
    image.save(target);
    return std::string();
  });
  if (!done) return done.error();
  return std::monostate{};
}

}  // namespace conebench
