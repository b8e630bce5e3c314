#include "solvers/cascade/few_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "problems/cones/contact_rows.hpp"
#include "problems/natural_map.hpp"
#include "problems/scaled_natural_map.hpp"
#include "solvers/cascade/constants.hpp"
#include "solvers/cascade/few_newton.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

namespace {

/// λ lies in the caller's array, everything else on the stack.
template <int Dim, bool Limits>
class SmallProblem {
 public:
  using Part = ContactVector<Dim>;
  using Block = Eigen::Matrix<double, Dim, Dim>;

  explicit SmallProblem(const ContactProblem& problem)
      : problem_(problem),
        matrix_(problem.blocks()),
        limits_(static_cast<int>(problem.cones().limits())),
        blocks_(static_cast<int>(matrix_.block_rows())) {
    velocity_scale_ = natural_map_scaling(problem, Eigen::Map<Vector>(inverse_steps_.data(), blocks_));
  }

  /// One sweep. Returns the largest ‖Δλ_i‖ / (r_i V).
  double sweep(double* impulse) {
    double change = 0.0;
    for (int i = 0; i < limits(); ++i) {
      const double old = impulse[i];
      impulse[i] = solve_limit(i, impulse);
      change = std::max(change, std::abs(impulse[i] - old) * inverse_step(i));
    }
    for (int i = limits(); i < blocks_; ++i) {
      Eigen::Map<Part> own(impulse + row(i));
      const Part old = own;
      const Part free = velocity_without(i, impulse);
      // An opening contact needs no inverse of its block.
      own = free[Dim - 1] >= 0.0 ? Part(Part::Zero()) : solve(i, free, old);
      change = std::max(change, (own - old).norm() * inverse_step(i));
    }
    return change / velocity_scale_;
  }

  /// The scaled natural map.
  double residual(const double* impulse) const {
    double worst = 0.0;
    for (int i = 0; i < limits(); ++i) {
      const double step = (limit_velocity_without(i, impulse) + limit_diagonal(i) * impulse[i]) / inverse_step(i);
      const double error = std::abs(natural_map(impulse[i], step)) * inverse_step(i);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) return worst;
    }
    for (int i = limits(); i < blocks_; ++i) {
      const double mu = friction(i);
      const Eigen::Map<const Part> own(impulse + row(i));
      Part modified = velocity(i, impulse);
      modified[Dim - 1] += mu * tangential_norm<Dim>(modified);
      const Part step = modified / inverse_step(i);
      const double error = safe_norm<Dim>(natural_map<Dim>(own, step, mu)) * inverse_step(i);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) break;
    }
    return worst / velocity_scale_;
  }

  FewNewton<Dim, Limits> newton() const { return {problem_, inverse_steps_.data(), velocity_scale_}; }

 private:
  // Block i is a limit, of row i, below limits(), and a contact from there on.
  int limits() const { return Limits ? limits_ : 0; }
  int row(int i) const { return Dim * i - (Dim - 1) * limits(); }
  double friction(int i) const { return problem_.cones().friction()[static_cast<std::size_t>(i - limits())]; }
  double inverse_step(int i) const { return inverse_steps_[static_cast<std::size_t>(i)]; }
  Eigen::Map<const Block> diagonal(int i) const { return matrix_.block<Dim>(matrix_.diagonal(i)); }
  Eigen::Map<const Part> compliance(int i) const {
    return Eigen::Map<const Part>(problem_.compliance().data() + row(i));
  }
  double limit_diagonal(int i) const { return *matrix_.block_values(matrix_.diagonal(i)) + problem_.compliance()[i]; }

  /// g_i + Σ_j (G + R)_ij λ_j.
  Part velocity(int i, const double* impulse) const {
    const Eigen::Map<const Part> own(impulse + row(i));
    return velocity_without(i, impulse) + diagonal(i) * own + compliance(i).cwiseProduct(own);
  }

  /// g_i + Σ_{j≠i} G_ij λ_j.
  Part velocity_without(int i, const double* impulse) const {
    Part sum = Eigen::Map<const Part>(problem_.free_term().data() + row(i));
    Index k = matrix_.row_begin(i);
    if constexpr (Limits) {
      for (; matrix_.column(k) < limits_; ++k) sum += matrix_.block<Dim, 1>(k) * impulse[matrix_.column(k)];
    }
    for (; k < matrix_.row_begin(i + 1); ++k) {
      const auto j = static_cast<int>(matrix_.column(k));
      if (j != i) sum += matrix_.block<Dim>(k) * Eigen::Map<const Part>(impulse + row(j));
    }
    return sum;
  }

  double limit_velocity_without(int i, const double* impulse) const {
    double sum = problem_.free_term()[i];
    for (Index k = matrix_.row_begin(i); k < matrix_.row_begin(i + 1); ++k) {
      const auto j = static_cast<int>(matrix_.column(k));
      if (j >= limits()) {
        sum += Eigen::Map<const Part>(matrix_.block_values(k)).dot(Eigen::Map<const Part>(impulse + row(j)));
      } else if (j != i) {
        sum += *matrix_.block_values(k) * impulse[j];
      }
    }
    return sum;
  }

  double solve_limit(int i, const double* impulse) const {
    const double free = limit_velocity_without(i, impulse);
    if (free >= 0.0) return 0.0;
    const double own = limit_diagonal(i);
    return own > 0.0 ? -free / own : impulse[i];
  }

  Part solve(int i, const Part& free, const Part& old) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_prepared_[at]) {
      is_prepared_[at] = true;
      blocks_with_compliance_[at] = diagonal(i);
      blocks_with_compliance_[at].diagonal() += compliance(i);
      prepared_[at] = local_.template prepare<Dim>(blocks_with_compliance_[at], friction(i));
    }
    const Eigen::Map<const Block> block(blocks_with_compliance_[at].data());
    return local_.template solve<Dim>(prepared_[at], block, friction(i), free, old);
  }

  const ContactProblem& problem_;
  const BlockSparseMatrix& matrix_;
  const int limits_;
  const int blocks_;
  double velocity_scale_ = 1.0;
  gauss_seidel::CoulombBlock local_;
  std::array<bool, FewContacts::most_contacts> is_prepared_{};
  std::array<double, FewContacts::most_contacts> inverse_steps_;
  std::array<Block, FewContacts::most_contacts> blocks_with_compliance_;  ///< G_ii + R_ii
  std::array<gauss_seidel::CoulombBlock::Prepared<Dim>, FewContacts::most_contacts> prepared_;
};

/// At λ = 0 all of at least four contacts press, and all of them stick, or all slip at one speed (1 %). No limits.
template <int Dim>
bool alike(const ContactProblem& problem) {
  const Index contacts = problem.cones().contacts();
  if (contacts < 4 || problem.cones().limits() > 0) return false;
  const std::span<const double> friction = problem.cones().friction();
  bool stick = true;
  double slowest = std::numeric_limits<double>::infinity();
  double fastest = 0.0;
  for (Index i = 0; i < contacts; ++i) {
    const Eigen::Map<const ContactVector<Dim>> free(problem.free_term().data() + Dim * i);
    const double speed = tangential_norm<Dim>(ContactVector<Dim>(free));
    if (!(free[Dim - 1] < 0.0) || !std::isfinite(speed)) return false;
    const bool sticks = 2.0 * friction[static_cast<std::size_t>(i)] * speed <= -free[Dim - 1];
    if (i > 0 && sticks != stick) return false;
    stick = sticks;
    slowest = std::min(slowest, speed);
    fastest = std::max(fastest, speed);
  }
  return stick || slowest >= tuned.one_speed * fastest;
}

template <int Dim, bool Limits>
FewContacts run(const ContactProblem& problem, ConstVectorRef guess, const FewContacts::Effort& effort,
                const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  FewContacts count;
  SmallProblem<Dim, Limits> contacts(problem);
  impulse = guess;
  const auto iterations = [&] { return count.sweeps + count.newton_steps; };
  const auto done = [&] { return count.accepted || count.halted; };
  const auto look = [&](double residual) {
    count.residual = residual;
    ++count.products;
    ++count.looks;
    const bool good = count.residual <= stop.tolerance;
    if (stop.criterion == Criterion::own) {
      count.accepted = good;
    } else if (good || monitor.due(count.looks)) {
      const Decision decision = good ? monitor.propose(count.looks, impulse, count.residual)
                                     : monitor.observe(count.looks, impulse, count.residual);
      count.accepted = decision == Decision::accept;
      count.halted = count.out_of_time = decision == Decision::out_of_time;
    }
  };
  // Goes back to where it began unless it arrives or, at the end of what is allowed, has come nearer.
  const auto newton = [&] {
    constexpr int most_slow_steps = 16;
    count.stage = FewContacts::newton_name;
    std::array<double, static_cast<std::size_t>(FewNewton<Dim, Limits>::most_rows)> before;
    std::copy(impulse.begin(), impulse.end(), before.begin());
    const double start = count.residual;
    double best = start;
    FewNewton<Dim, Limits> point = contacts.newton();
    point.start_from(impulse.data());
    double residual = start;
    for (int slow = 0;
         slow < most_slow_steps && !done() && std::isfinite(residual) && iterations() < stop.max_iterations;) {
      point.step(residual);
      residual = point.measure();
      point.write(impulse.data());
      ++count.newton_steps;
      ++count.products;
      look(residual);
      slow = residual <= tuned.progress * best ? 0 : slow + 1;
      best = std::min(best, residual);
    }
    if (iterations() >= stop.max_iterations) count.halted = !count.accepted;
    if (count.accepted || (count.halted && count.residual <= start)) return;
    std::copy_n(before.begin(), impulse.size(), impulse.begin());
    count.residual = start;
  };
  bool newton_waits = effort.newton && FewContacts::dense_enough(problem);
  const bool from_zero = guess.isZero(0.0);
  // A body that rests or slides as a whole, which a sweep would tilt.
  const bool newton_first = newton_waits && from_zero && stop.max_iterations > 0 &&
                            problem.rows() <= FewContacts::dense * Dim && alike<Dim>(problem);
  // A start from elsewhere may be the answer already.
  if (stop.max_iterations <= 0 || !from_zero || newton_first) look(contacts.residual(impulse.data()));
  if (newton_first && !done()) newton();
  while (!done()) {
    if (iterations() >= stop.max_iterations) {
      count.halted = true;
      break;
    }
    const double change = contacts.sweep(impulse.data());
    count.stage = FewContacts::sweeps_name;
    ++count.sweeps;
    const bool last = count.sweeps >= effort.sweeps;
    const bool asked_for = last || count.sweeps <= 2 || iterations() == stop.max_iterations;
    if (change > tuned.near_tolerances * stop.tolerance && !asked_for) continue;
    look(contacts.residual(impulse.data()));
    if (done() || iterations() == stop.max_iterations) continue;
    if (newton_waits) newton();
    newton_waits = false;
    if (last) break;
  }
  return count;
}

}  // namespace

bool FewContacts::fit(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  return cones.joints() == 0 && cones.blocks() > 0 && cones.blocks() <= most_contacts;
}

SolveSummary FewContacts::summary() const {
  SolveSummary summary;
  summary.status = accepted      ? SolveStatus::converged
                   : out_of_time ? SolveStatus::time_limit
                                 : SolveStatus::max_iterations;
  if (accepted) summary.stage = stage;
  summary.iterations = sweeps + newton_steps;
  summary.factorizations = newton_steps;
  summary.operator_products = sweeps + products;
  summary.own_residual = residual;
  return summary;
}

bool FewContacts::dense_enough(const ContactProblem& problem) {
  const Index dim = problem.cones().contact_dimension();
  const Index blocks = problem.cones().blocks();
  return problem.rows() <= dense * dim || (problem.rows() <= FewNewton<3, true>::most_contacts * dim &&
                                           4 * problem.blocks().stored_blocks() >= blocks * blocks);
}

FewContacts FewContacts::solve(const ContactProblem& problem, ConstVectorRef guess, const Effort& effort,
                               const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  const auto run_in = [&]<bool Limits>() {
    return with_contact_rows(problem.cones().contact_dimension(), [&]<int Dim>() {
      return run<Dim, Limits>(problem, guess, effort, stop, monitor, impulse);
    });
  };
  return problem.cones().limits() > 0 ? run_in.template operator()<true>() : run_in.template operator()<false>();
}

}  // namespace conebench::cascade
