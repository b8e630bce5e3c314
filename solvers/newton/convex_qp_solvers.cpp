#include "solvers/newton/convex_qp_solvers.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "problems/linear/shifted_factor.hpp"
#include "solvers/newton/block_functions.hpp"
#include "solvers/newton/line_search.hpp"
#include "solvers/newton/newton_matrix.hpp"

namespace conebench::newton {

namespace {

/// x ← P(x − w_i / λ_max(A_ii)), block by block, w kept up to date row by row.
class GaussSeidel final : public ConvexQpSolver {
 public:
  explicit GaussSeidel(const ConvexQp& qp) : qp_(qp), w_(qp.rows()) {
    const BlockSparseMatrix& matrix = qp.matrix();
    for (Index i = 0; i < matrix.block_rows(); ++i) {
      Matrix d = matrix.block(i, matrix.diagonal(i));
      d.diagonal() += qp.compliance().segment(matrix.block_offset(i), matrix.block_size(i));
      const Matrix symmetric = 0.5 * (d + d.transpose());
      const double largest = Eigen::SelfAdjointEigenSolver<Matrix>(symmetric).eigenvalues().maxCoeff();
      steps_.push_back(largest > 0.0 ? 1.0 / largest : qp.step(i));
    }
  }

  InnerCount solve(const Vector& q, Vector& x, double tolerance, long max_iterations, Watch& watch) override {
    InnerCount count;
    while (count.iterations < max_iterations) {
      const double change = sweep(q, x);
      ++count.iterations;
      ++count.products;
      if (watch.ends(count.iterations)) break;
      if (change > tolerance) continue;
      qp_.multiply(x, w_);
      w_ += q;
      ++count.products;
      if (!(qp_.residual(x, w_) > tolerance)) break;
    }
    return count;
  }

 private:
  using Small = ContactVector<Eigen::Dynamic>;

  /// The largest change of a block over its step [m/s].
  double sweep(const Vector& q, Vector& x) const {
    const BlockSparseMatrix& matrix = qp_.matrix();
    double largest = 0.0;
    for (Index i = 0; i < matrix.block_rows(); ++i) {
      const Index row = matrix.block_offset(i);
      const int size = matrix.block_size(i);
      const auto at = static_cast<std::size_t>(i);
      Small w = q.segment(row, size) + qp_.compliance().segment(row, size).cwiseProduct(x.segment(row, size));
      for (Index k = matrix.row_begin(i); k < matrix.row_begin(i + 1); ++k) {
        const Index j = matrix.column(k);
        w += matrix.block(i, k).lazyProduct(x.segment(matrix.block_offset(j), matrix.block_size(j)));
      }
      Small next = x.segment(row, size) - steps_[at] * w;
      qp_.set().project(at, next);
      largest = std::max(largest, (next - x.segment(row, size)).norm() / steps_[at]);
      x.segment(row, size) = next;
    }
    return largest;
  }

  const ConvexQp& qp_;
  std::vector<double> steps_;
  Vector w_;
};

/// x ← −(A + ρ I)⁻¹ (q − ρ y − z), y ← P(x − z/ρ), z ← z − ρ (x − y): LeLidec24 Alg. 3 with γ = −z.
class Admm final : public ConvexQpSolver {
 public:
  explicit Admm(const ConvexQp& qp)
      : qp_(qp),
        factor_(qp.matrix(), Vector::Ones(qp.rows()), qp.compliance(),
                qp.matrix().symmetry_error() > 1e-12 ? Factorization::lu : Factorization::cholesky),
        y_(Vector::Zero(qp.rows())),
        z_(Vector::Zero(qp.rows())),
        previous_(qp.rows()),
        w_(qp.rows()),
        unconstrained_(qp.rows()) {
    double sum = 0.0;
    for (Index i = 0; i < qp.matrix().block_rows(); ++i) sum += 1.0 / qp.step(i);
    first_rho_ = qp.matrix().block_rows() > 0 ? 0.1 * sum / static_cast<double>(qp.matrix().block_rows()) : 1.0;
  }

  InnerCount solve(const Vector& q, Vector& x, double tolerance, long max_iterations, Watch& watch) override {
    InnerCount count;
    rho_ = first_rho_;
    // The multiplier that goes with x.
    qp_.multiply(x, z_);
    z_ += q;
    y_ = x;
    if (!refactor(count)) return count;
    while (count.iterations < max_iterations) {
      previous_ = y_;
      w_ = rho_ * y_ + z_ - q;
      factor_.solve(w_, unconstrained_);
      y_ = unconstrained_ - z_ / rho_;
      project(y_);
      z_ -= rho_ * (unconstrained_ - y_);
      ++count.iterations;
      if (watch.ends(count.iterations)) break;
      const double primal = (unconstrained_ - y_).norm() * rho_;
      const double dual = (y_ - previous_).norm() * rho_;
      if (std::max(primal, dual) <= tolerance || count.iterations % 20 == 0) {
        qp_.multiply(y_, w_);
        w_ += q;
        ++count.products;
        if (!(qp_.residual(y_, w_) > tolerance)) break;
      }
      if (!balance(primal, dual, count)) break;
    }
    x = y_;
    return count;
  }

 private:
  void project(Vector& x) const {
    for (Index i = 0; i < qp_.matrix().block_rows(); ++i) {
      qp_.set().project(static_cast<std::size_t>(i),
                        x.segment(qp_.matrix().block_offset(i), qp_.matrix().block_size(i)));
    }
  }

  /// ρ times 5 or over 5 where one residual, as a velocity, leads the other by ten; checked every ten iterations.
  bool balance(double primal, double dual, InnerCount& count) {
    if (count.iterations % 10 != 0) return true;
    if (primal > 10.0 * dual) {
      rho_ *= 5.0;
    } else if (dual > 10.0 * primal) {
      rho_ /= 5.0;
    } else {
      return true;
    }
    return refactor(count);
  }

  bool refactor(InnerCount& count) {
    if (rho_ == factored_) return true;
    ++count.factorizations;
    const bool done = factor_.factor(rho_);
    factored_ = done ? rho_ : 0.0;
    return done;
  }

  const ConvexQp& qp_;
  ShiftedFactor factor_;
  double first_rho_ = 1.0;
  double rho_ = 1.0;
  double factored_ = 0.0;
  Vector y_, z_, previous_, w_, unconstrained_;
};

/// Semi-smooth Newton on x − P(x − r (A x + q)), as NSN-NM, with nonmonotone Armijo search.
class Newton final : public ConvexQpSolver {
 public:
  explicit Newton(const ConvexQp& qp)
      : qp_(qp),
        matrix_(qp.matrix(), qp.compliance(), Storage::automatic),
        line_search_({.rule = "armijo", .memory = 10}),
        by_impulse_(qp.matrix().block_rows(), [&](Index i) { return qp.matrix().block_size(i); }),
        by_velocity_(by_impulse_) {
    for (Vector* buffer : {&w_, &f_, &d_, &ad_, &trial_, &trial_w_, &trial_f_}) buffer->setZero(qp.rows());
  }

  InnerCount solve(const Vector& q, Vector& x, double tolerance, long max_iterations, Watch& watch) override {
    InnerCount count;
    line_search_.reset();
    const double scale = std::max(q.lpNorm<Eigen::Infinity>(), 1e-300);
    while (true) {
      qp_.multiply(x, w_);
      w_ += q;
      ++count.products;
      const double residual = qp_.residual(x, w_);
      if (!(residual > tolerance) || count.iterations >= max_iterations) return count;
      evaluate(x, w_, f_, true);
      ++count.iterations;
      ++count.factorizations;
      if (!matrix_.factor(by_impulse_, by_velocity_, std::max(1e-12, std::min(1e-2, residual / scale)))) return count;
      trial_f_ = -f_;
      matrix_.solve(trial_f_, d_);
      if (!d_.allFinite()) return count;
      qp_.multiply(d_, ad_);
      ++count.products;
      const auto merit = [&](double t) {
        trial_ = x + t * d_;
        trial_w_ = w_ + t * ad_;
        evaluate(trial_, trial_w_, trial_f_, false);
        return 0.5 * trial_f_.squaredNorm();
      };
      const double now = 0.5 * f_.squaredNorm();
      const LineSearchStep step = line_search_.search(now, -2.0 * now, merit);
      x += (step.found ? step.t : 1.0) * d_;
      if (watch.ends(count.iterations, 1)) return count;
    }
  }

 private:
  void evaluate(const Vector& x, const Vector& w, Vector& f, bool derivatives) {
    const BlockSparseMatrix& matrix = qp_.matrix();
    const auto store = [&]<int Rows>(Index i, const BlockFunction<Rows>& block) {
      f.segment<Rows>(matrix.block_offset(i), block.value.size()) = block.value;
      if (!derivatives) return;
      by_impulse_.block<Rows>(i) = block.by_impulse;
      by_velocity_.block<Rows>(i) = block.by_velocity;
    };
    const auto store_disk = [&]<int Rows>(Index i, Index row, int size, double radius) {
      const BlockFunction<Rows> disk =
          disk_function<Rows>(x.segment<Rows>(row, size), w.segment<Rows>(row, size), radius, qp_.step(i));
      store(i, disk);
    };
    for (Index b = 0; b < matrix.block_rows(); ++b) {
      const auto i = static_cast<std::size_t>(b);
      const Index row = matrix.block_offset(b);
      const int size = matrix.block_size(b);
      const double radius = qp_.set().radii[i];
      if (const auto& bounds = qp_.set().bounds[i]) {
        store(b, interval_function(x[row], w[row], *bounds, qp_.step(b)));
        continue;
      }
      switch (size) {
        case 1: store_disk.operator()<1>(b, row, size, radius); break;
        case 2: store_disk.operator()<2>(b, row, size, radius); break;
        default: store_disk.operator()<Eigen::Dynamic>(b, row, size, radius);
      }
    }
  }

  const ConvexQp& qp_;
  NewtonMatrix matrix_;
  LineSearch line_search_;
  BlockDiagonal by_impulse_, by_velocity_;
  Vector w_, f_, d_, ad_, trial_, trial_w_, trial_f_;
};

}  // namespace

std::unique_ptr<ConvexQpSolver> make_convex_qp_solver(const std::string& name, const ConvexQp& qp) {
  if (name == "pgs") return std::make_unique<GaussSeidel>(qp);
  if (name == "newton") return std::make_unique<Newton>(qp);
  return std::make_unique<Admm>(qp);
}

const std::vector<std::string>& convex_qp_solver_names() {
  static const std::vector<std::string> names = {"admm", "pgs", "newton"};
  return names;
}

}  // namespace conebench::newton
