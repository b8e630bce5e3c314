// Pinocchio's ADMM and projected Gauss-Seidel for contacts (BSD-2-Clause, (c) CNRS and INRIA), of which none is here:
// the user's own headers are compiled in. Its solvers can't be asked while they run, so that their own tolerance is
// tightened until the monitor accepts (tightened()).
#include <conebench/solver_plugin.hpp>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <pinocchio/algorithm/admm-solver.hpp>
#include <pinocchio/algorithm/delassus-operator-base.hpp>
#include <pinocchio/algorithm/delassus-operator-dense.hpp>
#include <pinocchio/algorithm/delassus-operator-sparse.hpp>
#include <pinocchio/algorithm/pgs-solver.hpp>

#include <memory>

namespace {

using namespace conebench::plugin;

using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<double>;
using SparseDelassus = pinocchio::DelassusOperatorSparseTpl<double, 0, Eigen::SimplicialLLT<Sparse>>;
using DenseDelassus = pinocchio::DelassusOperatorDenseTpl<double, 0>;
using Cone = pinocchio::CoulombFrictionConeTpl<double>;

/// What both need of a problem: (G + G^T)/2, since Pinocchio reads one triangle.
struct Copied {
  explicit Copied(const Problem& problem)
      : g(Eigen::Map<const Vector>(problem.free_term().data(), problem.rows())),
        compliance(Eigen::Map<const Vector>(problem.compliance().data(), problem.rows())) {
    for (const double mu : problem.friction()) cones.emplace_back(mu);
    const conebench_blocks& blocks = problem.blocks();
    std::vector<Eigen::Triplet<double>> entries;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      for (std::int32_t k = blocks.begin[b]; k < blocks.begin[b + 1]; ++k) {
        const std::int64_t column = blocks.column[k];
        const double* value = blocks.values + blocks.first_value[k];
        for (std::int64_t j = blocks.first_row[column]; j < blocks.first_row[column + 1]; ++j) {
          for (std::int64_t i = blocks.first_row[b]; i < blocks.first_row[b + 1]; ++i, ++value) {
            entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 0.5 * *value);
            entries.emplace_back(static_cast<int>(j), static_cast<int>(i), 0.5 * *value);
          }
        }
      }
    }
    matrix.resize(problem.rows(), problem.rows());
    matrix.setFromTriplets(entries.begin(), entries.end());
  }
  Sparse matrix;
  Vector g, compliance;
  std::vector<Cone> cones;
};

class Base {
 public:
  std::optional<std::string> prepare(Problem problem) {
    copied_ = std::make_unique<Copied>(problem);
    symmetrised_ = !is_symmetric(problem.blocks());
    return std::nullopt;
  }
  long rows() const { return copied_->g.size(); }

 protected:
  Summary summary(bool claims, bool out_of_iterations, long iterations, double own_residual) const {
    Summary reported;
    reported.status = claims ? Status::converged : out_of_iterations ? Status::max_iterations : Status::stalled;
    reported.iterations = iterations;
    reported.factorizations = reported.operator_products = not_counted;
    reported.own_residual = own_residual;
    reported.solved_symmetrised = symmetrised_;
    return reported;
  }
  const Copied& copied() const { return *copied_; }

 private:
  std::unique_ptr<Copied> copied_;
  bool symmetrised_ = false;
};

struct AdmmOptions {
  double proximal = 1e-6, tau = 0.5, power = 0.2, factor = 0.05, ratio = 10.0;
  std::string delassus = "sparse";
};

void declare_options(OptionBinder& bind, AdmmOptions& o) {
  static const char* const forms[] = {"sparse", "dense", nullptr};
  bind.real("proximal", o.proximal, {.minimum = 1e-12, .maximum = 1.0, .logarithmic = true, .doc = "mu_prox"});
  bind.real("tau", o.tau,
            {.minimum = 1e-3, .maximum = 1.0, .doc = "scales the penalty; paper Carpentier24 has none (1)"});
  bind.real("power", o.power, {.minimum = 0.0, .maximum = 1.0, .doc = "rho = sqrt(L m) (L/m)^power at the start"});
  bind.real("factor", o.factor, {.minimum = 1e-3, .maximum = 1.0, .doc = "by which the power moves"});
  bind.real("ratio", o.ratio, {.minimum = 1.0, .maximum = 1e3, .doc = "of the residuals, above which it moves"});
  bind.choice("delassus", o.delassus, forms, "which of Pinocchio's operators holds G");
}

class Admm : public Base {
 public:
  explicit Admm(const AdmmOptions& options) : o_(options) {}

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    return tightened(stop, monitor, impulse, [&](double tolerance, std::span<double> answer) {
      if (o_.delassus == "dense") {
        DenseDelassus delassus{Eigen::MatrixXd(copied().matrix)};
        return run(delassus, guess, tolerance, stop, answer);
      }
      SparseDelassus delassus(copied().matrix);
      return run(delassus, guess, tolerance, stop, answer);
    });
  }

 private:
  template <class Delassus>
  Summary run(Delassus& delassus, std::span<const double> guess, double tolerance, const StopRule& stop,
              std::span<double> answer) const {
    pinocchio::ADMMContactSolverTpl<double> solver(static_cast<int>(rows()), o_.proximal, o_.tau, o_.power, o_.factor,
                                                   o_.ratio);
    solver.setMaxIterations(static_cast<int>(stop.max_iterations));
    solver.setAbsolutePrecision(tolerance);
    solver.setRelativePrecision(tolerance);
    const Vector start = Eigen::Map<const Vector>(guess.data(), rows());
    using Start = boost::optional<const Eigen::Ref<const Vector>>;
    const bool claims = start.isZero(0.0) ? solver.solve(delassus, copied().g, copied().cones, copied().compliance)
                                          : solver.solve(delassus, copied().g, copied().cones, copied().compliance,
                                                         Start(Eigen::Ref<const Vector>(start)));
    Eigen::Map<Vector>(answer.data(), rows()) = solver.getPrimalSolution();
    Summary reported = summary(claims, solver.getIterationCount() >= stop.max_iterations, solver.getIterationCount(),
                               solver.getAbsoluteConvergenceResidual());
    reported.factorizations = solver.getCholeskyUpdateCount();
    return reported;
  }

  AdmmOptions o_;
};

struct PgsOptions {
  double relaxation = 1.0;
};

void declare_options(OptionBinder& bind, PgsOptions& o) {
  bind.real("relaxation", o.relaxation, {.minimum = 0.1, .maximum = 1.9, .doc = "over_relax"});
}

class Pgs : public Base {
 public:
  explicit Pgs(const PgsOptions& options) : o_(options) {}

  Summary solve(std::span<const double> guess, const StopRule& stop, Monitor& monitor, std::span<double> impulse) {
    RowMatrix g = copied().matrix;
    g.diagonal() += copied().compliance;
    return tightened(stop, monitor, impulse, [&](double tolerance, std::span<double> answer) {
      pinocchio::PGSContactSolverTpl<double> solver(static_cast<int>(rows()));
      solver.setMaxIterations(static_cast<int>(stop.max_iterations));
      solver.setAbsolutePrecision(tolerance);
      solver.setRelativePrecision(tolerance);
      Vector x = Eigen::Map<const Vector>(guess.data(), rows());
      const bool claims = solver.solve(g, copied().g, copied().cones, x, o_.relaxation);
      Eigen::Map<Vector>(answer.data(), rows()) = x;
      return summary(claims, solver.getIterationCount() >= stop.max_iterations, solver.getIterationCount(),
                     solver.getAbsoluteConvergenceResidual());
    });
  }

 private:
  PgsOptions o_;
};

/// Of both: contacts in 3D with a symmetric G.
Info info(const char* id, const char* name, const char* summary) {
  return {.id = id,
          .name = name,
          .citation = "Pinocchio (BSD-2-Clause), github.com/stack-of-tasks/pinocchio; paper Carpentier24",
          .summary = summary,
          .joints = false,
          .limits = false,
          .two_dimensional = false,
          .uses_blocks = true,
          .needs_symmetry = true,
          .observed_every_iteration = false,
          .allocates = true};
}

}  // namespace

CONEBENCH_PLUGIN(row<Admm, AdmmOptions>(info("PINOCCHIO-ADMM", "Pinocchio's ADMM",
                                             "The original of ADMM-NCP-SA; symmetric G alone.")),
                 row<Pgs, PgsOptions>(info("PINOCCHIO-PGS", "Pinocchio's projected Gauss-Seidel",
                                           "The original of PGS-NCP; its own stop test may claim what it has not.")))
