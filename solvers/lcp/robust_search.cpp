#include "solvers/lcp/robust_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conebench::lcp {

void declare_options(OptionBinder& bind, RobustOptions& o) {
  declare_options(bind, static_cast<LcpOptions&>(o));
  bind.real("min_q", o.min_q,
            {.minimum = 0.0,
             .maximum = 1.0,
             .scale = OptionScale::logarithmic,
             .doc = "epsilon of Yamane Alg. 2: rows whose pivot leaves q above minus this are candidates"});
  bind.flag("frictionless_first", o.frictionless_first,
            "start with the normals constrained that the problem without friction closes (Yamane Sec. IV-C)");
  bind.integer("max_nodes", o.max_nodes, {.minimum = 1, .maximum = 1e8, .doc = "pivots that the search may store"});
  bind.real("memory_mb", o.memory_mb,
            {.minimum = 1.0,
             .maximum = 1e6,
             .unit = "MB",
             .scale = OptionScale::logarithmic,
             .doc = "for tableaus kept to return to; others are pivoted anew"});
}

RobustSolver::RobustSolver(SolverInfo info, RobustOptions options)
    : LcpSolver(std::move(info), options), options_(options) {}

void RobustSolver::allocate(Index size) {
  for (Vector* buffer : {&c_, &error_, &change_, &values_}) buffer->setZero(size);
  met_.reserve(static_cast<std::size_t>(64 * size + 256));
  const double tableau_mb = 8e-6 * static_cast<double>(size + 1) * static_cast<double>(size + 1);
  slots_ = static_cast<std::size_t>(std::clamp(options_.memory_mb / tableau_mb, 2.0, 1e5));
  tableaus_.clear();
}

/// Algorithm 1.
Ending RobustSolver::search(const SolveProgress& progress, VectorRef impulse, SolveSummary& summary) {
  if (start()) {
    tableau_.read_solution(z_);
    return Ending::solved;
  }
  for (long k = 1; k <= progress.stop().max_iterations && !queue_.empty(); ++k) {
    const int x = best_node();
    update_tableau(x);  // line 1 of Algorithm 2
    summary.iterations = k;
    if (nodes_[x].leaving == tableau_.artificial()) {
      if (options_.depth_first) restore_digits();
      tableau_.read_solution(z_);
      if (lcp().residual(z_) <= options_.max_error) return Ending::solved;
      continue;
    }
    if (const auto ending = observe(progress, k, impulse)) return *ending;
    add_descendants(x);
    if (full_) break;
  }
  tableau_.read_solution(z_);
  if (!queue_.empty() && !full_) return Ending::out_of_pivots;
  summary.message = full_ ? "max_nodes stored" : "no candidate left";
  return Ending::queue_exhausted;
}

/// Step 0 and the queue with its first node. True where q ≥ 0 already.
bool RobustSolver::start() {
  c_.setOnes();
  tableau_.reset(lcp().matrix(), lcp().offset(), c_);
  full_ = false;
  drift_limit_ = 1e-10;
  nodes_.clear();
  queue_.clear();
  met_.clear();
  if (tableau_.size() == 0 || tableau_.q().minCoeff() >= 0.0) return true;
  if (options_.frictionless_first) constrain_active_normals();
  if (tableau_.q().minCoeff() >= 0.0) return true;

  const Index row = SmallestRatio().first_row(tableau_.q());
  Node root;
  root.entering = tableau_.artificial();
  root.leaving = tableau_.pivot(row, tableau_.column_of(tableau_.artificial()));
  root.saved = 0;
  nodes_.push_back(root);
  queue_.push_back({0.0, 0});
  met_.insert(tableau_.pivot_set());
  if (tableaus_.empty()) tableaus_.resize(1);
  tableaus_[0] = tableau_;
  owners_.assign(1, 0);
  current_ = 0;
  return false;
}

/// Yamane Sec. IV-C: the normals that the LCP without friction closes are exchanged with their velocities. z_0 then
/// enters the pivoted system with a column of ones, which is c_ in the original one.
void RobustSolver::constrain_active_normals() {
  const Index normals = lcp().normal_rows();
  Tableau frictionless(normals);
  frictionless.reset(lcp().matrix().topLeftCorner(normals, normals), lcp().offset().head(normals),
                     Vector::Ones(normals));
  LexicographicRatio rule(1e-10);
  PivotSets met;
  long pivots = 0;
  const Ending ending =
      run_lemke(frictionless, rule, met, 20 * normals + 100, pivots, [](long) { return std::optional<Ending>(); });
  if (ending != Ending::solved) return;
  for (Index i = 0; i < normals; ++i) {
    if (!frictionless.is_basic(normals + i)) continue;
    const Index row = tableau_.row_of(i);
    const Index column = tableau_.column_of(tableau_.size() + i);
    if (!(tableau_.column(column)[row] > 1e-10)) continue;  // dependent on those before
    tableau_.pivot(row, column);
  }
  tableau_.set_artificial_column(1.0);
  // w_α = M_αα z_α + … + c_α z_0 with z_α = … + z_0, and likewise for the other rows.
  values_.setZero();
  for (Index i = 0; i < normals; ++i) values_[i] = tableau_.is_basic(tableau_.size() + i) ? 1.0 : 0.0;
  c_ = (1.0 - values_.array()).matrix();
  c_.noalias() -= lcp().matrix() * values_;
}

/// Q.getBest
int RobustSolver::best_node() {
  if (!options_.depth_first) std::pop_heap(queue_.begin(), queue_.end());
  const int node = queue_.back().node;
  queue_.pop_back();
  return node;
}

/// From the parent's tableau by one pivot where that is at hand, else from the nearest ancestor that is saved.
void RobustSolver::update_tableau(int node) {
  path_.clear();
  const auto saved = [this](int x) {
    const int slot = nodes_[x].saved;
    return slot >= 0 && owners_[slot] == x;
  };
  int from = node;
  for (; from != current_ && !saved(from); from = nodes_[from].parent) path_.push_back(from);
  if (from != current_) tableau_ = tableaus_[nodes_[from].saved];
  for (; !path_.empty(); path_.pop_back()) {
    const Node& x = nodes_[path_.back()];
    tableau_.pivot(tableau_.row_of(x.leaving), tableau_.column_of(x.entering));
  }
  current_ = node;
}

/// Algorithm 2.
void RobustSolver::add_descendants(int node) {
  const Index n = tableau_.size();
  const Index driving = tableau_.complement(nodes_[node].leaving);
  measure_error(driving);
  if (options_.depth_first && drift() > drift_limit_) {
    restore_digits();
    measure_error(driving);
    drift_limit_ = std::max(drift_limit_, 10.0 * drift());
  }
  const Index column = tableau_.column_of(driving);
  const auto m = tableau_.column(column);
  const Vector& q = tableau_.q();

  // A candidate may not move further than any entry of q' can take.
  double reach = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < n; ++i) {
    if (m[i] < 0.0) reach = std::min(reach, (q[i] + options_.min_q) / -m[i]);
  }
  candidates_.clear();
  for (Index i = 0; i < n; ++i) {
    if (!(m[i] < 0.0)) continue;
    const double step = -q[i] / m[i];
    if (!(step <= reach)) continue;
    double least = step;
    for (Index k = 0; k < n; ++k) {
      if (k != i) least = std::min(least, q[k] + step * m[k]);
    }
    if (!(least > -options_.min_q)) continue;
    const double error = (error_ + step * change_).lpNorm<Eigen::Infinity>();
    if (!(error <= options_.max_error) || !met_.insert(tableau_.pivot_set_after(tableau_.basic(i), driving))) continue;
    candidates_.push_back({i, least, -m[i], tableau_.basic(i) == tableau_.artificial()});
  }
  if (options_.depth_first) std::sort(candidates_.begin(), candidates_.end(), worse);
  for (const Candidate& candidate : candidates_) append(node, candidate, driving);
  if (candidates_.size() > 1) save_tableau(node);
}

/// x.newNode and Q.appendNode
void RobustSolver::append(int parent, const Candidate& candidate, Index driving) {
  full_ = full_ || static_cast<long>(nodes_.size()) >= options_.max_nodes;
  if (full_) return;
  const double total = nodes_[parent].total_cost + std::exp(-candidate.least);
  nodes_.push_back(
      {.parent = parent, .entering = driving, .leaving = tableau_.basic(candidate.row), .total_cost = total});
  queue_.push_back({total, static_cast<int>(nodes_.size()) - 1});
  if (!options_.depth_first) std::push_heap(queue_.begin(), queue_.end());
}

/// The depth-first order: a goal first, then rows that tie up to rounding by their pivot, then by q_min.
bool RobustSolver::worse(const Candidate& a, const Candidate& b) {
  constexpr double rounding = 1e-10;
  if (a.goal != b.goal) return b.goal;
  const bool a_ties = a.least > -rounding;
  const bool b_ties = b.least > -rounding;
  if (a_ties != b_ties) return b_ties;
  return a_ties ? a.pivot < b.pivot : a.least < b.least;
}

/// The tableau of the same pivot set from the LCP as assembled, by pivots chosen for their size (Gauss–Jordan with
/// complete pivoting): (6), (7) instead of the incremental update.
void RobustSolver::restore_digits() {
  const Index n = tableau_.size();
  entering_.clear();
  leaving_.clear();
  for (Index i = 0; i < n; ++i) {
    if (tableau_.basic(i) >= n) entering_.push_back(tableau_.basic(i));
    if (!tableau_.is_basic(i)) leaving_.push_back(i);
  }
  tableau_.reset(lcp().matrix(), lcp().offset(), c_);
  while (!entering_.empty()) {
    double largest = -1.0;
    std::size_t in = 0;
    std::size_t out = 0;
    for (std::size_t j = 0; j < entering_.size(); ++j) {
      const auto column = tableau_.column(tableau_.column_of(entering_[j]));
      for (std::size_t i = 0; i < leaving_.size(); ++i) {
        const double size = std::abs(column[tableau_.row_of(leaving_[i])]);
        if (!(size > largest)) continue;
        largest = size;
        in = j;
        out = i;
      }
    }
    tableau_.pivot(tableau_.row_of(leaving_[out]), tableau_.column_of(entering_[in]));
    entering_.erase(entering_.begin() + static_cast<std::ptrdiff_t>(in));
    leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(out));
  }
}

/// error_ = w − M z − z_0 c − q of the tableau's values, change_ its growth per unit of the driving variable.
void RobustSolver::measure_error(Index driving) {
  const Index n = tableau_.size();
  const auto m = tableau_.column(tableau_.column_of(driving));
  const Vector& q = tableau_.q();
  error_ = -lcp().offset();
  change_.setZero();
  const auto subtract = [&](Index variable, double value, double growth) {
    if (variable < n) {
      error_[variable] += value;
      change_[variable] += growth;
    } else if (variable == tableau_.artificial()) {
      error_ -= value * c_;
      change_ -= growth * c_;
    } else {
      const auto entries = lcp().matrix().col(variable - n);
      error_ -= value * entries;
      change_ -= growth * entries;
    }
  };
  for (Index i = 0; i < n; ++i) subtract(tableau_.basic(i), q[i], m[i]);
  subtract(driving, 0.0, 1.0);
}

/// Largest error of the tableau's values, and of its driving column relative to the column.
double RobustSolver::drift() const {
  return std::max(error_.lpNorm<Eigen::Infinity>(), change_.lpNorm<Eigen::Infinity>());
}

void RobustSolver::save_tableau(int node) {
  if (node == 0) return;  // it has slot 0 for itself
  next_slot_ = next_slot_ % (slots_ - 1) + 1;
  if (next_slot_ >= tableaus_.size()) {
    next_slot_ = tableaus_.size();
    tableaus_.emplace_back();
  }
  if (next_slot_ >= owners_.size()) owners_.resize(next_slot_ + 1, -1);
  tableaus_[next_slot_] = tableau_;
  owners_[next_slot_] = node;
  nodes_[node].saved = static_cast<int>(next_slot_);
}

}  // namespace conebench::lcp
