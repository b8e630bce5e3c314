// Siconos' solvers behind the harness's interface. They can't be asked while they run, so the verdict is put to the
// final reaction of a run, and runs with a tighter tolerance of their own follow until it is accepted.

#include "solvers/siconos/adapter.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "solvers/attempts.hpp"
#include "solvers/shared_library.hpp"
#include "solvers/siconos/library.hpp"
#include "solvers/siconos/problem_copy.hpp"

namespace conebench::siconos {

namespace {

// VI_cst.h, which Debian's package leaves out.
constexpr int vi_error_evaluation = 7;
constexpr int vi_error_full = 0;
constexpr int vi_error_light_with_full_final = 1;

/// The ladder of own tolerances starts above the wanted one, since Siconos' measure may be the stricter of the two; it
/// ends below rounding.
constexpr double loosest = 100.0;
constexpr double tightest = 1e-17;

/// Below these numbers of contacts a dense matrix is faster: MUMPS' analysis weighs on Newton, which factors in every
/// iteration, and its solves weigh on ADMM, which factors once.
constexpr Index dense_contacts_newton = 30;
constexpr Index dense_contacts_admm = 100;

/// Siconos' options of one run. Siconos keeps results in them, so they are made anew.
class RunOptions {
 public:
  RunOptions(const Library& library, int id) : library_(library), options_(create_options(library, id)) {}
  ~RunOptions() { free_options(library_, options_); }
  RunOptions(const RunOptions&) = delete;
  RunOptions& operator=(const RunOptions&) = delete;

  SolverOptions* get() { return options_; }
  int& integer(int index) { return options_->iparam[index]; }
  double& real(int index) { return options_->dparam[index]; }
  SolverOptions& inner() { return *options_->internalSolvers[0]; }
  void set_inner(int id) { replace_inner(library_, options_, id); }

 private:
  const Library& library_;
  SolverOptions* options_;
};

int solver_id(const Settings& settings, ConeType cone) {
  if (cone == ConeType::coulomb_plane) return SICONOS_FRICTION_2D_NSGS;
  if (cone == ConeType::rolling) {
    return settings.method == Method::admm ? SICONOS_ROLLING_FRICTION_3D_ADMM : SICONOS_ROLLING_FRICTION_3D_NSGS;
  }
  switch (settings.method) {
    case Method::nsgs: return SICONOS_FRICTION_3D_NSGS;
    case Method::nsn_ac: return SICONOS_FRICTION_3D_NSN_AC;
    case Method::nsn_ac_new: return id_nsn_ac_new;
    case Method::nsn_nm: return SICONOS_FRICTION_3D_NSN_NM;
    case Method::ipm_snm: return id_ipm_snm;
    case Method::admm: return SICONOS_FRICTION_3D_ADMM;
    case Method::vi_eg: return SICONOS_FRICTION_3D_VI_EG;
    case Method::prox: return SICONOS_FRICTION_3D_PROX;
    case Method::aclm: return SICONOS_FRICTION_3D_ACLMFP;
  }
  return SICONOS_FRICTION_3D_NSGS;
}

void set_nsgs(const Settings& settings, ConeType cone, RunOptions& options) {
  // The planar sweep knows no other way than "light".
  options.integer(SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION) =
      settings.error_evaluation == "full" && cone != ConeType::coulomb_plane
          ? SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL
          : SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_LIGHT_WITH_FULL_FINAL;
  if (settings.projection_local_solver && cone == ConeType::coulomb_space) {
    options.set_inner(SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration);
  }
  // With rolling friction Siconos' default is the projection.
  if (!settings.projection_local_solver && cone == ConeType::rolling) options.set_inner(id_rolling_newton);
}

void set_newton(const Settings& settings, RunOptions& options) {
  if (settings.method == Method::nsn_ac_new) {
    // By default it tests the absolute norm of its function. Its search is Goldstein's, whatever is set.
    options.integer(newton_stop_test) = newton_stop_by_error;
  } else {
    options.integer(SICONOS_FRICTION_3D_NSN_LINESEARCH) = settings.line_search == "goldstein-price"
                                                              ? SICONOS_FRICTION_3D_NSN_LINESEARCH_GOLDSTEINPRICE
                                                              : SICONOS_FRICTION_3D_NSN_LINESEARCH_NO;
  }
  if (settings.warm_up == "vi-eg") {
    options.integer(SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY) = SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN;
  }
}

void set_admm(const Settings& settings, RunOptions& options) {
  options.real(SICONOS_FRICTION_3D_ADMM_RHO) = settings.penalty;
  options.integer(SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO) = settings.initial_penalty == "norm"
                                                                     ? SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_NORM_INF
                                                                     : SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_GIVEN;
  int& balancing = options.integer(SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY);
  if (settings.balancing == "residual") balancing = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_RESIDUAL_BALANCING;
  if (settings.balancing == "scaled") balancing = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING;
}

void set_prox(const Settings& settings, RunOptions& options) {
  options.real(SICONOS_FRICTION_3D_PROXIMAL_DPARAM_SIGMA) = settings.sigma;
  options.real(SICONOS_FRICTION_3D_PROXIMAL_DPARAM_NU) = settings.exponent;
  if (settings.inner == "nsn-ac" && has_registry) options.set_inner(SICONOS_FRICTION_3D_NSN_AC);  // not its default
  if (settings.inner == "nsgs") {
    options.set_inner(SICONOS_FRICTION_3D_NSGS);
    options.inner().iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] =
        SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
  }
}

void set_method(const Settings& settings, ConeType cone, RunOptions& options) {
  switch (settings.method) {
    case Method::nsgs: return set_nsgs(settings, cone, options);
    case Method::nsn_ac:
    case Method::nsn_ac_new:
    case Method::nsn_nm: return set_newton(settings, options);
    case Method::admm: return set_admm(settings, options);
    case Method::vi_eg:
      options.integer(vi_error_evaluation) =
          settings.error_evaluation == "full" ? vi_error_full : vi_error_light_with_full_final;
      return;
    case Method::prox: return set_prox(settings, options);
    case Method::aclm: return;
    case Method::ipm_snm:
      options.integer(ipm_writes_iterates) = 0;  // by default it writes a file where it runs
      return;
  }
}

Storage choose_storage(const Settings& settings, const ConeProduct& cones) {
  // The planar sweep over a dense matrix ignores the guess.
  if (cones.contact_type() == ConeType::coulomb_plane) return Storage::block;
  // Its sweep with rolling friction aborts on every other storage (NM_extract_diag_block5).
  if (cones.contact_type() == ConeType::rolling && settings.method == Method::nsgs) return Storage::dense;
  if (settings.storage == "block") return Storage::block;
  if (settings.storage == "sparse") return Storage::sparse;
  if (settings.storage == "dense") return Storage::dense;
  switch (settings.method) {
    case Method::ipm_snm: return Storage::sparse;
    case Method::nsn_ac:
    case Method::nsn_ac_new:
    case Method::nsn_nm: return cones.contacts() < dense_contacts_newton ? Storage::dense : Storage::sparse;
    case Method::admm: return cones.contacts() < dense_contacts_admm ? Storage::dense : Storage::sparse;
    case Method::prox:
      if (settings.inner == "nsgs") return Storage::block;
      return cones.contacts() < dense_contacts_newton ? Storage::dense : Storage::sparse;
    default: return Storage::block;
  }
}

/// Siconos asserts, also in Debian's build, that the diagonal of a contact's block and what it computes from it are
/// positive, and aborts.
std::optional<std::string> bad_diagonal(const ContactProblem& problem) {
  const BlockSparseMatrix& g = problem.blocks();
  for (Index contact = 0; contact < g.block_rows(); ++contact) {
    const auto block = g.block(contact, g.diagonal(contact));
    for (Index i = 0; i < block.rows(); ++i) {
      const double value = block(i, i) + problem.compliance()[g.block_offset(contact) + i];
      if (value > 1e-100 && value < 1e100) continue;
      return "Siconos takes no contact whose diagonal is not positive, and contact " + std::to_string(contact) +
             " has " + std::to_string(value);
    }
  }
  return std::nullopt;
}

/// The interior-point method divides by the coefficients of friction.
std::optional<std::string> bad_friction(const ContactProblem& problem) {
  const auto& friction = problem.cones().friction();
  for (std::size_t contact = 0; contact < static_cast<std::size_t>(friction.size()); ++contact) {
    if (friction[contact] > 0.0) continue;
    return "Siconos' interior-point method takes no contact without friction, and contact " + std::to_string(contact) +
           " has none";
  }
  return std::nullopt;
}

class Adapter final : public Solver {
 public:
  /// Loads the library, which is no part of a set-up.
  Adapter(SolverInfo info, Settings settings)
      : info_(std::move(info)), settings_(std::move(settings)), library_(library()) {}

  const SolverInfo& info() const override { return info_; }
  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (auto reason = unsupported_by_flags(info_, problem)) return reason;
    if (settings_.method == Method::ipm_snm) return bad_friction(problem);
    const bool newton_at_contacts = settings_.method == Method::nsgs && !settings_.projection_local_solver;
    return newton_at_contacts ? bad_diagonal(problem) : std::nullopt;
  }

  Result<void> prepare(const ContactProblem& problem) override {
    if (const auto reason = unsupported_reason(problem)) return Error{ErrorCode::unsupported, *reason};
    if (!library_) return library_.error();
    problem_ = std::make_unique<ContactProblem>(problem);
    if (problem.rows() == 0) return {};
    copy_ = std::make_unique<ProblemCopy>(**library_, problem, choose_storage(settings_, problem.cones()),
                                          settings_.scaling == "units" ? Units::free : Units::given);
    reaction_.resize(static_cast<std::size_t>(problem.rows()));
    velocity_.resize(reaction_.size());
    guessed_velocity_.resize(problem.rows());
    return {};
  }

  SolveSummary solve(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) override {
    impulse = guess;
    SolveSummary summary;
    if (problem_->rows() == 0) {
      summary.own_residual = 0.0;
      return ended(summary, SolveStatus::converged);
    }
    if (!guess.allFinite()) return ended(summary, SolveStatus::diverged, "the guess is not finite");
    renew();
    if (stop.stop_by == StopBy::solver) return solve_once(guess, stop, monitor, impulse);

    // A repeat goes straight to the run that was accepted.
    Attempts* const attempts = attempts_of(monitor);
    const long last = last_rung(stop.tolerance);
    long rung = 1;
    while (rung <= last && !monitor.should_check(rung)) ++rung;
    if (rung > last) rung = 1;
    long refused = rung - 1;   // the tightest that was not good enough
    long accepted = last + 1;  // the loosest that was
    for (;;) {
      summary = run(guess, tolerance_of(rung, stop.tolerance), stop.max_iterations, impulse);
      const Decision decision = monitor.propose(rung, impulse, summary.own_residual);
      if (decision == Decision::accept) {
        accepted = rung;
        if (refused + 1 == accepted) return ended(summary, SolveStatus::converged);
        rung = (refused + accepted) / 2;  // several rungs were taken at once: one between may do
      } else if (rung < accepted && accepted <= last) {
        refused = rung;
        rung = refused + 1 == accepted ? accepted : (refused + accepted) / 2;
      } else if (decision == Decision::out_of_time) {
        return ended(summary, SolveStatus::time_limit);
      } else if (summary.status != SolveStatus::converged) {
        return summary;  // a tighter run would come to the same
      } else if (rung == last) {
        return ended(summary, SolveStatus::stalled, "its own error is 0 up to rounding, so it can't be asked for more");
      } else {
        refused = rung;
        rung = std::min(last, rung + (attempts != nullptr ? steps(attempts->verdict_ratio()) : 1));
      }
      renew();
      if (attempts != nullptr) attempts->start_over();
    }
  }

 private:
  /// The proximal method leaves its copy changed, which is no part of the next run's time.
  void renew() {
    if (std::exchange(spent_, false)) copy_->restore();
  }

  static SolveSummary ended(SolveSummary summary, SolveStatus status, const char* message = "") {
    summary.status = status;
    if (*message != '\0') summary.message = message;
    return summary;
  }

  SolveSummary solve_once(ConstVectorRef guess, const StopRule& stop, Monitor& monitor, VectorRef impulse) {
    const SolveSummary summary = run(guess, stop.tolerance, stop.max_iterations, impulse);
    const Decision decision = monitor.propose(1, impulse, summary.own_residual);
    if (decision == Decision::accept) return ended(summary, SolveStatus::converged);
    if (decision == Decision::out_of_time) return ended(summary, SolveStatus::time_limit);
    return summary;
  }

  /// Own tolerance of the ladder's rung 1, 2, ….
  double tolerance_of(long rung, double wanted) const {
    return std::min(0.1, loosest * wanted) / std::pow(settings_.tightening, static_cast<double>(rung - 1));
  }
  long last_rung(double wanted) const {
    long rung = 1;
    while (tolerance_of(rung + 1, wanted) >= tightest) ++rung;
    return rung;
  }
  /// Rungs to go down after a verdict that was `behind` times the wanted one.
  long steps(double behind) const {
    if (!(behind > 1.0) || !std::isfinite(behind)) return 1;
    return std::max(1L, static_cast<long>(std::ceil(std::log(behind) / std::log(settings_.tightening))));
  }

  long factorizations(long iterations) const {
    switch (settings_.method) {
      case Method::nsn_ac:
      case Method::nsn_ac_new:
      case Method::nsn_nm:
      case Method::ipm_snm: return iterations;
      case Method::nsgs:
      case Method::vi_eg: return 0;
      case Method::admm:
      case Method::prox:
      case Method::aclm: return not_counted;
    }
    return not_counted;
  }

  /// One call of Siconos, from `guess`.
  SolveSummary run(ConstVectorRef guess, double tolerance, long max_iterations, VectorRef impulse) {
    const Library& siconos = **library_;
    siconos.numerics_set_verbose(0);
    const ConeType cone = problem_->cones().contact_type();
    const auto max_int_iterations =
        static_cast<int>(std::min<long>(max_iterations, std::numeric_limits<int>::max() - 1));
    spent_ = settings_.method == Method::prox;
    copy_->to_siconos(guess, reaction_, copy_->impulse_unit());
    std::fill(velocity_.begin(), velocity_.end(), 0.0);
    if (!guess.isZero(0.0)) {
      problem_->velocity(guess, guessed_velocity_);
      copy_->to_siconos(guessed_velocity_, velocity_, copy_->velocity_unit());
    }
    RunOptions options(siconos, solver_id(settings_, cone));
    options.integer(SICONOS_IPARAM_MAX_ITER) = max_int_iterations;
    options.real(SICONOS_DPARAM_TOL) = std::max(tolerance, std::numeric_limits<double>::min());  // it asserts > 0
    set_method(settings_, cone, options);
    const int info =
        siconos.solve(copy_->problem(), copy_->rolling_problem(), reaction_.data(), velocity_.data(), options.get());
    copy_->from_siconos(reaction_, impulse);

    SolveSummary summary;
    // Newton's count is one too many where it runs out; the interior-point method leaves its last iteration out.
    const long counted = options.integer(SICONOS_IPARAM_ITER_DONE) + (settings_.method == Method::ipm_snm ? 1 : 0);
    summary.iterations = std::min(counted, max_iterations);
    summary.own_residual = options.real(SICONOS_DPARAM_RESIDU);
    summary.operator_products = not_counted;
    summary.factorizations = factorizations(summary.iterations);
    if (!impulse.allFinite()) return ended(summary, SolveStatus::diverged);
    // `info` is 0 after some failures, so that the error it measured has a say; the proximal method leaves it at -1
    // where the start is good enough.
    const bool well = info == 0 || settings_.method == Method::prox;
    if (well && summary.own_residual <= tolerance) return ended(summary, SolveStatus::converged);
    if (summary.iterations >= max_iterations) return ended(summary, SolveStatus::max_iterations);
    summary.message = "Siconos returned info " + std::to_string(info);
    return ended(summary, SolveStatus::stalled);
  }

  SolverInfo info_;
  Settings settings_;
  Result<const Library*> library_;
  std::unique_ptr<ContactProblem> problem_;
  std::unique_ptr<ProblemCopy> copy_;
  bool spent_ = false;  ///< copy_ is to be renewed before it is used again
  std::vector<double> reaction_, velocity_;
  Vector guessed_velocity_;
};

}  // namespace

std::optional<std::string> missing_reason(Method method) {
  if (auto reason = missing_peer_library(CONEBENCH_SICONOS_LIBRARY, "libsiconos-numerics7")) return reason;
  if (has_registry || (method != Method::nsn_ac_new && method != Method::ipm_snm)) return std::nullopt;
  return "the Siconos of this build has no such solver: build a version after 4.5 and set SiconosNumerics_ROOT, see "
         "docs/solvers/SICONOS.md";
}

bool has_rolling_newton() { return has_registry; }

std::string library_file() {
  const std::filesystem::path link = peer_library(CONEBENCH_SICONOS_LIBRARY);
  std::error_code failure;
  const auto file = std::filesystem::canonical(link, failure);
  return failure ? link.filename().string() + " (not found)" : file.filename().string();
}

std::unique_ptr<Solver> make_adapter(SolverInfo info, Settings settings) {
  return std::make_unique<Adapter>(std::move(info), std::move(settings));
}

}  // namespace conebench::siconos
