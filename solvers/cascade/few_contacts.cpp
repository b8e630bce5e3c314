#include "solvers/cascade/few_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/LU>

#include "problems/natural_map.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"
#include "solvers/natural_map_scaling.hpp"
#include "solvers/newton/block_functions.hpp"

namespace conebench::cascade {

namespace {

/// λ lies in the caller's array, everything else on the stack.
template <int Dim>
class SmallProblem {
 public:
  using Part = ContactVector<Dim>;
  using Block = Eigen::Matrix<double, Dim, Dim>;

  explicit SmallProblem(const ContactProblem& problem)
      : problem_(problem), matrix_(problem.blocks()), contacts_(static_cast<int>(matrix_.block_rows())) {
    velocity_scale_ = natural_map_scaling(problem, Eigen::Map<Vector>(inverse_steps_.data(), contacts_));
  }

  /// One sweep. Returns the largest ‖Δλ_i‖ / (r_i V).
  double sweep(double* impulse) {
    double change = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      Eigen::Map<Part> own(impulse + Dim * i);
      const Part old = own;
      const Part free = velocity_without(i, impulse);
      // An opening contact needs no inverse of its block.
      own = free[Dim - 1] >= 0.0 ? Part(Part::Zero()) : solve(i, free, old);
      change = std::max(change, (own - old).norm() * inverse_steps_[static_cast<std::size_t>(i)]);
    }
    return change / velocity_scale_;
  }

  /// One Newton step on Alart and Curnier's function. G_ii is shifted a little for redundant contacts.
  void newton_step(double* impulse) {
    constexpr double shift = 1e-10;
    const int rows = Dim * contacts_;
    SmallMatrix derivative = SmallMatrix::Zero(rows, rows);
    SmallVector value(rows);
    for (int i = 0; i < contacts_; ++i) {
      const Eigen::Map<const Part> own(impulse + Dim * i);
      const double inverse_step = inverse_steps_[static_cast<std::size_t>(i)];
      const auto f = newton::alart_curnier_function<Dim>(own, velocity(i, impulse), friction(i),
                                                         {1.0 / inverse_step, 1.0 / inverse_step});
      value.template segment<Dim>(Dim * i) = f.value;
      for (Index k = matrix_.row_begin(i); k < matrix_.row_begin(i + 1); ++k)
        derivative.template block<Dim, Dim>(Dim * i, Dim * matrix_.column(k)) = f.by_velocity * matrix_.block<Dim>(k);
      const Part added = compliance(i).array() + shift * inverse_step;
      derivative.template block<Dim, Dim>(Dim * i, Dim * i) += f.by_impulse + f.by_velocity * added.asDiagonal();
    }
    const Eigen::PartialPivLU<SmallMatrix> factors(derivative);
    Eigen::Map<Vector>(impulse, rows) -= factors.solve(value);
  }

  /// The scaled natural map.
  double residual(const double* impulse) const {
    double worst = 0.0;
    for (int i = 0; i < contacts_; ++i) {
      const double mu = friction(i);
      const Eigen::Map<const Part> own(impulse + Dim * i);
      Part modified = velocity(i, impulse);
      modified[Dim - 1] += mu * tangential_norm<Dim>(modified);
      const double inverse_step = inverse_steps_[static_cast<std::size_t>(i)];
      const Part step = modified / inverse_step;
      const double error = safe_norm<Dim>(natural_map<Dim>(own, step, mu)) * inverse_step;
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) break;
    }
    return worst / velocity_scale_;
  }

 private:
  static constexpr int most_rows = Dim * FewContacts::newton_at_once;
  using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, most_rows>;
  using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_rows, 1>;

  double friction(int i) const { return problem_.cones().friction()[static_cast<std::size_t>(i)]; }
  Eigen::Map<const Block> diagonal(int i) const { return matrix_.block<Dim>(matrix_.diagonal(i)); }
  Eigen::Map<const Part> compliance(int i) const {
    return Eigen::Map<const Part>(problem_.compliance().data() + Dim * i);
  }

  /// g_i + Σ_j (G + R)_ij λ_j.
  Part velocity(int i, const double* impulse) const {
    const Eigen::Map<const Part> own(impulse + Dim * i);
    return velocity_without(i, impulse) + diagonal(i) * own + compliance(i).cwiseProduct(own);
  }

  /// g_i + Σ_{j≠i} G_ij λ_j.
  Part velocity_without(int i, const double* impulse) const {
    Part sum = Eigen::Map<const Part>(problem_.free_term().data() + Dim * i);
    for (Index k = matrix_.row_begin(i); k < matrix_.row_begin(i + 1); ++k) {
      const Index j = matrix_.column(k);
      if (j != i) sum += matrix_.block<Dim>(k) * Eigen::Map<const Part>(impulse + Dim * j);
    }
    return sum;
  }

  Part solve(int i, const Part& free, const Part& old) {
    const auto at = static_cast<std::size_t>(i);
    if (!ready_[at]) {
      blocks_[at] = diagonal(i);
      blocks_[at].diagonal() += compliance(i);
      prepared_[at] = local_.template prepare<Dim>(blocks_[at], friction(i));
      ready_[at] = true;
    }
    const Eigen::Map<const Block> block(blocks_[at].data());
    return local_.template solve<Dim>(prepared_[at], block, friction(i), free, old);
  }

  const ContactProblem& problem_;
  const BlockSparseMatrix& matrix_;
  const int contacts_;
  double velocity_scale_ = 1.0;
  gauss_seidel::CoulombBlock local_;
  std::array<bool, FewContacts::most_contacts> ready_{};
  std::array<double, FewContacts::most_contacts> inverse_steps_;
  std::array<Block, FewContacts::most_contacts> blocks_;  ///< G_ii + R_ii
  std::array<gauss_seidel::CoulombBlock::Prepared<Dim>, FewContacts::most_contacts> prepared_;
};

template <int Dim>
FewContacts run(const ContactProblem& problem, ConstVectorRef guess, const FewContacts::Effort& effort,
                const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  constexpr double near = 10.0;  // a change of that many tolerances is worth a look
  const bool few = problem.cones().contacts() <= FewContacts::thoroughly;
  // Sweeps that cost about as much as Newton's way to the end.
  const double worth_it = few ? 20.0 : 0.0;
  const long most = std::lround(2.0 * worth_it);
  FewContacts count;
  SmallProblem<Dim> contacts(problem);
  impulse = guess;
  const auto iterations = [&] { return count.sweeps + count.newton_steps; };
  const auto done = [&] { return count.accepted || count.halted; };
  const auto look = [&] {
    count.residual = contacts.residual(impulse.data());
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
  // Each second step must halve the residual. Goes back to where it began unless it arrives or, at the end of what is
  // allowed, has come nearer.
  const auto newton = [&] {
    std::array<double, 3 * FewContacts::newton_at_once> before;
    std::copy(impulse.begin(), impulse.end(), before.begin());
    const double start = count.residual;
    double best = start;
    for (int slow = 0; slow < 2 && !done() && iterations() < stop.max_iterations;) {
      contacts.newton_step(impulse.data());
      ++count.newton_steps;
      ++count.products;
      look();
      slow = count.residual <= 0.5 * best ? 0 : slow + 1;
      best = std::min(best, count.residual);
    }
    if (iterations() >= stop.max_iterations) count.halted = !count.accepted;
    if (count.accepted || (count.halted && count.residual <= start)) return;
    std::copy_n(before.begin(), impulse.size(), impulse.begin());
    count.residual = start;
  };
  // A start from elsewhere may be the answer already.
  if (stop.max_iterations <= 0 || !guess.isZero(0.0)) look();
  long decide_at = effort.sweeps;
  long halfway_at = effort.sweeps / 2;
  double halfway = 0.0;
  while (!done()) {
    if (iterations() >= stop.max_iterations) {
      count.halted = true;
      break;
    }
    const double change = contacts.sweep(impulse.data());
    ++count.sweeps;
    const bool decides = count.sweeps >= decide_at;
    const bool asked_for = count.sweeps <= 2 || count.sweeps == halfway_at || iterations() == stop.max_iterations;
    if (change > near * stop.tolerance && !asked_for && !decides) continue;
    look();
    if (done() || iterations() == stop.max_iterations) continue;
    if (effort.newton && problem.cones().contacts() <= FewContacts::newton_at_once && count.sweeps == 1) {
      newton();
      if (done()) continue;
    }
    if (decides) {
      const double rate =
          std::pow(count.residual / halfway, 1.0 / static_cast<double>(std::max(1L, count.sweeps - halfway_at)));
      const double needed = rate < 1.0 ? std::log(stop.tolerance / count.residual) / std::log(rate) : worth_it + 1.0;
      if (!(halfway > 0.0 && needed <= worth_it && count.sweeps < most)) break;
      halfway_at = count.sweeps;
      decide_at = std::min(most, count.sweeps + static_cast<long>(std::max(0.0, needed)) + 1);
    }
    if (count.sweeps == halfway_at) halfway = count.residual;
  }
  return count;
}

}  // namespace

bool FewContacts::fit(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  return cones.contacts() > 0 && cones.contacts() <= most_contacts && cones.blocks() == cones.contacts();
}

SolveSummary FewContacts::summary() const {
  SolveSummary summary;
  summary.status = accepted      ? SolveStatus::converged
                   : out_of_time ? SolveStatus::time_limit
                                 : SolveStatus::max_iterations;
  summary.iterations = sweeps + newton_steps;
  summary.factorizations = newton_steps;
  summary.operator_products = sweeps + products;
  summary.own_residual = residual;
  return summary;
}

bool FewContacts::worth_a_glance(const ContactProblem& problem) {
  return fit(problem) && 2 * problem.blocks().stored_blocks() <= 3 * problem.cones().contacts();
}

FewContacts FewContacts::solve(const ContactProblem& problem, ConstVectorRef guess, const Effort& effort,
                               const StopRule& stop, Monitor& monitor, VectorRef impulse) {
  return problem.cones().contact_dimension() == 2 ? run<2>(problem, guess, effort, stop, monitor, impulse)
                                                  : run<3>(problem, guess, effort, stop, monitor, impulse);
}

}  // namespace conebench::cascade
