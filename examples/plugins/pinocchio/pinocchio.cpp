// Pinocchio's ADMM and projected Gauss-Seidel for constraints (BSD-2-Clause, (c) CNRS and INRIA), of which none is
// here: the user's own headers of 4.1 are compiled in. Its solvers can't be asked while they run, so that their own
// tolerance is tightened until the monitor accepts (tightened()). python/conebench/peers/pinocchio.py does the same.
#include <conebench/solver_plugin.hpp>

#include <sys/resource.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <pinocchio/multibody.hpp>

#include <pinocchio/constraints.hpp>

#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/algorithm/solvers/pgs-solver.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace conebench::plugin;

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;
using SparseDelassus = pinocchio::DelassusOperatorSparseTpl<double, 0, Eigen::SimplicialLLT<Sparse>>;
using DenseDelassus = pinocchio::DelassusOperatorDenseTpl<double, 0>;
using Constraint = pinocchio::ConstraintModelTpl<double, 0, pinocchio::ConstraintCollectionDefaultTpl>;
using ConstraintData = pinocchio::ConstraintDataTpl<double, 0, pinocchio::ConstraintCollectionDefaultTpl>;

/// A problem in Pinocchio's rows and sets: lambda = offset + sign unit x[place], without units if `scaled`. Pinocchio
/// asks a constraint's model for its set alone, so that models of a chain of pins stand for rows. G is (G + G^T)/2,
/// since it reads one triangle.
class Posed {
 public:
  Posed(const Problem& problem, bool scaled) : rows_(problem.rows()) {
    const long first = problem.first_contact_row();
    lower_ = Vector::Zero(first);
    upper_ = Vector::Zero(first);
    std::vector<long> kinds[3];  // joints, limits, intervals
    for (long k = 0; k < first; ++k) {
      const Problem::Block block = problem.block(k);
      lower_[k] = block.lower[0];
      upper_[k] = block.upper[0];
      kinds[std::isfinite(lower_[k]) + std::isfinite(upper_[k])].push_back(k);
    }
    // An anchor has three rows: those that fill the last one up have 1 on the diagonal and couple with nothing.
    const long joints = static_cast<long>(kinds[0].size()), filled = (joints + 2) / 3 * 3;
    size_ = rows_ + filled - joints;
    place_.resize(static_cast<std::size_t>(rows_));
    sign_ = Vector::Ones(rows_);
    offset_ = Vector::Zero(rows_);
    long next = 0;
    for (const auto& kind : kinds) {
      for (const long row : kind) place_[static_cast<std::size_t>(row)] = static_cast<int>(next++);
      if (&kind == kinds) next = filled;
    }
    for (long row = first; row < rows_; ++row) place_[static_cast<std::size_t>(row)] = static_cast<int>(next++);
    // Pinocchio's complementarity of a box, (lambda - l) sigma, is infinite where an end is: such a row is a limit.
    for (const long row : kinds[1]) {
      sign_[row] = std::isfinite(lower_[row]) ? 1.0 : -1.0;
      offset_[row] = std::isfinite(lower_[row]) ? lower_[row] : upper_[row];
    }
    // ADMM's first test takes its start, 0, for a point of every set.
    for (const long row : kinds[2]) offset_[row] = std::clamp(0.0, lower_[row], upper_[row]);
    set_matrix(problem, scaled, joints, filled);
    add_sets(problem, filled, kinds[1].size(), kinds[2]);
  }

  const Sparse& matrix() const { return matrix_; }
  const Vector& free_term() const { return free_term_; }
  const Vector& compliance() const { return compliance_; }
  const std::vector<Constraint>& models() const { return models_; }
  const std::vector<ConstraintData>& datas() const { return datas_; }
  long rows() const { return rows_; }
  long size() const { return size_; }

  Vector own(std::span<const double> impulse) const {
    Vector x = Vector::Zero(size_);
    for (long row = 0; row < rows_; ++row) {
      const auto k = static_cast<std::size_t>(row);
      x[place_[k]] = sign_[row] * (impulse[k] - offset_[row]) / unit_;
    }
    return x;
  }
  void give_back(const Vector& x, std::span<double> impulse) const {
    for (long row = 0; row < rows_; ++row) {
      const auto k = static_cast<std::size_t>(row);
      impulse[k] = offset_[row] + sign_[row] * unit_ * x[place_[k]];
    }
  }

 private:
  void set_matrix(const Problem& problem, bool scaled, long joints, long filled) {
    const conebench_blocks& blocks = problem.blocks();
    const Eigen::Map<const Vector> g(problem.free_term().data(), rows_), r(problem.compliance().data(), rows_);
    std::vector<double> pushed(static_cast<std::size_t>(rows_));
    problem.multiply({offset_.data(), static_cast<std::size_t>(rows_)}, pushed);
    std::vector<Eigen::Triplet<double>> entries;
    Vector diagonal = r;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      for (std::int32_t k = blocks.begin[b]; k < blocks.begin[b + 1]; ++k) {
        const std::int64_t column = blocks.column[k];
        const double* value = blocks.values + blocks.first_value[k];
        for (std::int64_t j = blocks.first_row[column]; j < blocks.first_row[column + 1]; ++j) {
          for (std::int64_t i = blocks.first_row[b]; i < blocks.first_row[b + 1]; ++i, ++value) {
            const double half = 0.5 * sign_[i] * sign_[j] * *value;
            const int row = place_[static_cast<std::size_t>(i)], other = place_[static_cast<std::size_t>(j)];
            entries.emplace_back(row, other, half);
            entries.emplace_back(other, row, half);
            if (i == j) diagonal[i] += *value;
          }
        }
      }
    }
    const double positive = static_cast<double>((diagonal.array() > 0.0).count());
    const double mass = scaled && positive > 0.0 ? diagonal.cwiseMax(0.0).sum() / positive : 1.0;
    const double largest = scaled && rows_ > 0 ? g.lpNorm<Eigen::Infinity>() : 1.0;
    const double speed = largest > 0.0 ? largest : 1.0;
    unit_ = speed / mass;
    matrix_.resize(size_, size_);
    matrix_.setFromTriplets(entries.begin(), entries.end());
    matrix_ /= mass;
    for (long row = joints; row < filled; ++row) matrix_.coeffRef(row, row) = 1.0;
    matrix_.makeCompressed();
    free_term_ = compliance_ = Vector::Zero(size_);
    for (long row = 0; row < rows_; ++row) {
      const auto k = static_cast<std::size_t>(row);
      free_term_[place_[k]] = sign_[row] * (g[row] + pushed[k] + r[row] * offset_[row]) / speed;
      compliance_[place_[k]] = r[row] / mass;
    }
  }

  void add_sets(const Problem& problem, long filled, std::size_t limits, const std::vector<long>& intervals) {
    pinocchio::Model chain;
    pinocchio::JointIndex parent = 0;
    std::vector<pinocchio::JointIndex> pins;
    for (std::size_t k = 0; k < std::max({limits, intervals.size(), std::size_t{1}}); ++k) {
      parent = chain.addJoint(parent, pinocchio::JointModelRX(), pinocchio::SE3::Identity(), "pin" + std::to_string(k));
      pins.push_back(parent);
    }
    const auto front = [&](std::size_t count) {
      return std::vector<pinocchio::JointIndex>(pins.begin(), pins.begin() + static_cast<std::ptrdiff_t>(count));
    };
    for (long k = 0; k < filled; k += 3)
      models_.emplace_back(pinocchio::PointAnchorConstraintModelTpl<double, 0>(chain, 1));
    if (limits > 0) {
      const Vector end = Vector::Constant(chain.nq, std::numeric_limits<double>::infinity());
      models_.emplace_back(
          pinocchio::JointLimitConstraintModelTpl<double, 0>(chain, front(limits), Vector::Zero(chain.nq), end, end));
    }
    if (!intervals.empty()) {
      pinocchio::JointFrictionConstraintModelTpl<double, 0> box(chain, front(intervals.size()));
      box.setFrictionLowerLimit(Vector((lower_(intervals) - offset_(intervals)) / unit_));
      box.setFrictionUpperLimit(Vector((upper_(intervals) - offset_(intervals)) / unit_));
      models_.emplace_back(box);
    }
    for (const double mu : problem.friction()) {
      pinocchio::PointContactConstraintModelTpl<double, 0> contact(chain, 1);
      contact.setFriction(mu);
      models_.emplace_back(contact);
    }
    for (const Constraint& model : models_) datas_.push_back(model.createData());
  }

  long rows_, size_ = 0;
  double unit_ = 1.0;
  std::vector<int> place_;
  Vector sign_, offset_, lower_, upper_, free_term_, compliance_;
  Sparse matrix_;
  std::vector<Constraint> models_;
  std::vector<ConstraintData> datas_;
};

class Base {
 public:
  explicit Base(bool scaled) : scaled_(scaled) {}

  std::optional<std::string> prepare(Problem problem) {
    posed_ = std::make_unique<Posed>(problem, scaled_);
    symmetrised_ = !is_symmetric(problem.blocks());
    return std::nullopt;
  }
  long rows() const { return posed_->rows(); }

 protected:
  /// Of one run; a new operator each, since a solver leaves its damping in the one that it was given.
  template <class Solver, class Result, class Delassus, class Settings>
  Summary run(Delassus delassus, Settings& settings, std::span<const double> guess, double tolerance,
              const StopRule& stop, std::span<double> answer, Result& result) const {
    delassus.updateCompliance(posed_->compliance());
    settings.max_iterations = static_cast<std::size_t>(std::max(stop.max_iterations - 1, std::int64_t{0}));  // one more
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance;
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0;
    if (std::any_of(guess.begin(), guess.end(), [](double r) { return r != 0.0; })) {
      result.setConstraintImpulseGuess(posed_->own(guess));
    }
    Solver solver(static_cast<std::size_t>(posed_->size()));
    const bool claims =
        solver.solve(delassus, posed_->free_term(), posed_->models(), posed_->datas(), settings, result);
    Vector x(posed_->size());
    result.retrieveConstraintImpulses(x);
    posed_->give_back(x, answer);
    Summary reported;
    reported.status = !x.allFinite() ? Status::breakdown : claims ? Status::converged : Status::max_iterations;
    if (!x.allFinite()) {
      reported.breakdown = Breakdown::error;
      reported.message = "Pinocchio went on with impulses that are not finite";
    }
    reported.iterations = static_cast<long>(result.iterations) + (claims ? 1 : 0);
    reported.factorizations = reported.operator_products = not_counted;
    reported.own_residual =
        std::max({result.primal_feasibility, result.dual_feasibility, std::abs(result.complementarity)});
    reported.solved_symmetrised = symmetrised_;
    return reported;
  }
  const Posed& posed() const { return *posed_; }
  DenseDelassus dense() const { return DenseDelassus(Eigen::MatrixXd(posed_->matrix())); }

 private:
  bool scaled_, symmetrised_ = false;
  std::unique_ptr<Posed> posed_;
};

constexpr const char* scaled_doc =
    "G over its mean diagonal, g over its largest entry: tests, penalty and proximal term are absolute";

struct AdmmOptions {
  std::string rule = "osqp", delassus = "sparse";
  long anderson = 0;
  double proximal = 1e-6, tau = 0.5, penalty = 0.0, power = 0.2, factor = 0.05, linear_factor = 2.0, ratio = 10.0;
  bool scaled = true;
};

void declare_options(OptionBinder& bind, AdmmOptions& o) {
  static const char* const rules[] = {"osqp", "spectral", "linear", "constant", nullptr};
  static const char* const forms[] = {"sparse", "dense", nullptr};
  bind.choice("rule", o.rule, rules, "how the penalty moves");
  bind.integer("anderson", o.anderson,
               {.minimum = 0, .maximum = 50, .doc = "iterates that Anderson acceleration combines; 0: none"});
  bind.real("proximal", o.proximal, {.minimum = 1e-12, .maximum = 1.0, .logarithmic = true, .doc = "mu_prox"});
  bind.real("tau", o.tau,
            {.minimum = 1e-3, .maximum = 1.0, .doc = "scales the penalty; paper Carpentier24 has none (1)"});
  bind.real("penalty", o.penalty, {.minimum = 0.0, .maximum = 1e6, .doc = "at the start; 0: sqrt(L m) (L/m)^power"});
  bind.real("power", o.power, {.minimum = 0.0, .maximum = 1.0, .doc = "of the penalty at the start"});
  bind.real("factor", o.factor, {.minimum = 1e-3, .maximum = 1.0, .doc = "by which the power moves (spectral)"});
  bind.real("linear_factor", o.linear_factor,
            {.minimum = 1.001, .maximum = 100.0, .doc = "by which the penalty moves (linear)"});
  bind.real("ratio", o.ratio, {.minimum = 1.0, .maximum = 1e3, .doc = "of the residuals, above which it moves"});
  bind.choice("delassus", o.delassus, forms, "which of Pinocchio's operators holds G");
  bind.flag("scaled", o.scaled, scaled_doc);
}

class Admm : public Base {
 public:
  explicit Admm(const AdmmOptions& options) : Base(options.scaled), o_(options) {}

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    using Rule = pinocchio::ADMMUpdateRule;
    using Result = pinocchio::ADMMSolverResultTpl<double, 0>;
    using Solver = pinocchio::ADMMConstraintSolverTpl<double, 0>;
    pinocchio::ADMMSolverSettingsTpl<double> settings;
    settings.admm_update_rule = o_.rule == "osqp"       ? Rule::OSQP
                                : o_.rule == "spectral" ? Rule::SPECTRAL
                                : o_.rule == "linear"   ? Rule::LINEAR
                                                        : Rule::CONSTANT;
    settings.anderson_capacity = static_cast<std::size_t>(o_.anderson);
    settings.mu_prox = o_.proximal;
    settings.tau = o_.tau;
    if (o_.penalty > 0.0) settings.rho_init = o_.penalty;
    settings.spectral_rho_power_init = o_.power;
    settings.spectral_rho_power_factor = o_.factor;
    settings.linear_update_rule_factor = o_.linear_factor;
    settings.ratio_primal_dual = o_.ratio;
    return tightened(stop, monitor, impulse, [&](double tolerance, std::span<double> answer) {
      Result result;
      Summary reported = o_.delassus == "dense" ? run<Solver>(dense(), settings, guess, tolerance, stop, answer, result)
                                                : run<Solver>(SparseDelassus(posed().matrix()), settings, guess,
                                                              tolerance, stop, answer, result);
      reported.factorizations = static_cast<long>(result.delassus_decomposition_update_count);
      // The start passed.
      if (reported.status == Status::converged && reported.factorizations == 1) reported.iterations = 0;
      return reported;
    });
  }

 private:
  AdmmOptions o_;
};

struct PgsOptions {
  double relaxation = 1.0;
  bool scaled = true;
};

void declare_options(OptionBinder& bind, PgsOptions& o) {
  bind.real("relaxation", o.relaxation, {.minimum = 0.1, .maximum = 1.9, .doc = "over_relaxation"});
  bind.flag("scaled", o.scaled, scaled_doc);
}

class Pgs : public Base {
 public:
  explicit Pgs(const PgsOptions& options) : Base(options.scaled), o_(options) {}

  /// It copies the matrix to the stack.
  std::optional<std::string> unsupported_reason(Problem problem) const {
    rlimit stack{};
    const double bytes = 8.0 * static_cast<double>(problem.rows()) * static_cast<double>(problem.rows());
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY) return std::nullopt;
    if (bytes < 0.5 * static_cast<double>(stack.rlim_cur)) return std::nullopt;
    return std::to_string(problem.rows()) + " rows need " + std::to_string(static_cast<long>(bytes / 1e6)) +
           " MB of the stack, more than half of it";
  }

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    pinocchio::PGSSolverSettingsTpl<double> settings;
    settings.over_relaxation = o_.relaxation;
    return tightened(stop, monitor, impulse, [&](double tolerance, std::span<double> answer) {
      pinocchio::PGSSolverResultTpl<double, 0> result;
      return run<pinocchio::PGSConstraintSolverTpl<double, 0>>(dense(), settings, guess, tolerance, stop, answer,
                                                               result);
    });
  }

 private:
  PgsOptions o_;
};

/// Of both: what Pinocchio has sets for.
Info info(const char* id, const char* name, const char* summary) {
  return {.id = id,
          .name = name,
          .citation =
              "Pinocchio " PINOCCHIO_VERSION " (BSD-2-Clause), github.com/stack-of-tasks/pinocchio; paper Carpentier24",
          .summary = summary,
          .version = 2,
          .two_dimensional = false,
          .intervals = true,
          .uses_blocks = true,
          .needs_symmetry = true,
          .observed_every_iteration = false,
          .allocates = true};
}

}  // namespace

CONEBENCH_PLUGIN(
    row<Admm, AdmmOptions>(info("PINOCCHIO-ADMM", "Pinocchio's ADMM",
                                "ADMM with a choice of penalty's rules and Anderson acceleration.")),
    row<Pgs, PgsOptions>(info("PINOCCHIO-PGS", "Pinocchio's projected Gauss-Seidel",
                              "Its test looks at each contact just after its own update and claims too much.")))
