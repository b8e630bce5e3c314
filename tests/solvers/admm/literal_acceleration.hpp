#pragma once

#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/solvers/admm/literal_admm.hpp"

namespace conebench::admm_test {

/// Kamino's accelerated P-ADMM (Newton 1.8, padmm/kernels.py, _project_dual_convergence_accel): Goldstein et al. 2014
/// Alg. 8 around Tsounis Alg. 6.
struct LiteralKamino {
  LiteralAdmm admm;
  Vector y, z;  ///< of the last iteration; admm.y, admm.z hold where the next one begins
  double alpha = 1.0;
  double last = std::numeric_limits<double>::infinity();
  int restarts = 0;

  LiteralKamino(const ContactProblem& problem, const Vector& guess, bool ncp = true)
      : admm(problem, guess, ncp), y(admm.y), z(admm.z) {}

  void step() {
    const Vector y_before = y, z_before = z, y_hat = admm.y, z_hat = admm.z;
    admm.step();
    y = admm.y;
    z = admm.z;
    double c = admm.rho * (y - y_hat).squaredNorm() + (z - z_hat).squaredNorm() / admm.rho;
    if (c < 0.999 * last) {
      const double next = (1.0 + std::sqrt(1.0 + 4.0 * alpha * alpha)) / 2.0;
      admm.y = y + (alpha - 1.0) / next * (y - y_before);
      admm.z = z + (alpha - 1.0) / next * (z - z_before);
      alpha = next;
    } else {
      admm.y = y_before;
      admm.z = z_before;
      alpha = 1.0;
      c = last / 0.999;
      ++restarts;
    }
    last = c;
  }
};

/// Pinocchio 4.1's ADMM (admm-solver.hxx, anderson-acceleration.hxx) with tau = tau_prox = 1, but for two slips of its
/// code: its second iteration repeats the first, and where the capacity is no power of two its ring's indices, which
/// wrap modulo 2^64, pick wrong differences.
struct LiteralPinocchio {
  Matrix d;
  Vector g;
  ConeProduct cones;
  double eta = 1e-6;
  double rho = 1.0;
  bool de_saxce = true;
  std::size_t differences = 0;  ///< anderson_capacity − 1

  struct Entry {
    Vector x, z, step;
  };
  std::vector<Entry> history;
  Vector x, y, z, z_start;
  double last_split = std::numeric_limits<double>::infinity();
  bool first = true;
  int accepted = 0, rejected = 0;

  LiteralPinocchio(const ContactProblem& problem, const Vector& guess, bool ncp = true) : de_saxce(ncp) {
    d = problem.delassus().dense();
    d.diagonal() += problem.compliance();
    g = problem.free_term();
    cones = problem.cones();
    y = Vector::Zero(g.size());
    project_cone(cones, guess, y);
    x = y;
    z = corrected(d * y + g);
  }
  Vector corrected(const Vector& sigma) const {
    Vector result = sigma;
    if (de_saxce) add_de_saxce(cones, sigma, result);
    return result;
  }
  double project(const Vector& from_x, const Vector& from_z) {
    project_cone(cones, Vector(from_x - from_z / rho), y);
    return (from_x - y).lpNorm<Eigen::Infinity>();
  }

  void step() {
    Vector x_start = x, z_next = z;
    bool full = false;
    if (!first && differences > 0) {
      history.push_back({x, z, z - z_start});
      if (history.size() > differences + 1) history.erase(history.begin());
      full = history.size() == differences + 1;
    }
    if (full) {
      const Index rows = g.size(), columns = static_cast<Index>(differences);
      Matrix steps(rows, columns), xs(rows, columns), zs(rows, columns);
      for (Index c = 0; c < columns; ++c) {
        const Entry &older = history[static_cast<std::size_t>(c)], &newer = history[static_cast<std::size_t>(c) + 1];
        steps.col(c) = newer.step - older.step;
        xs.col(c) = newer.x - older.x;
        zs.col(c) = newer.z - older.z;
      }
      const Vector weights = steps.colPivHouseholderQr().solve(history.back().step);
      x_start -= xs * weights;
      z_next -= zs * weights;
    }
    double split = project(x_start, z_next);
    if (full && split >= last_split) {
      x_start = x;
      z_next = z;
      history.clear();
      split = project(x_start, z_next);
      ++rejected;
    } else if (full) {
      ++accepted;
    }
    last_split = split;
    z_start = z_next;
    const Matrix shifted = d + (eta + rho) * Matrix::Identity(d.rows(), d.rows());
    const Vector s = corrected(z_start) - z_start;
    x = shifted.partialPivLu().solve(-(g + s - rho * y - eta * x_start - z_start));
    z = z_start - rho * (x - y);
    first = false;
  }
};

/// Tsounis Alg. 6 as a map of w = y − z/ρ from its second iteration on, with Anderson's extrapolation of w by dense
/// least squares, and no safeguard.
struct LiteralShadow {
  LiteralAdmm admm;
  std::size_t capacity = 5;
  std::vector<Vector> points, images;
  Vector y;  ///< of the last iteration

  LiteralShadow(const ContactProblem& problem, const Vector& guess, bool ncp = true) : admm(problem, guess, ncp) {}

  void step() {
    if (!points.empty()) {
      project_cone(admm.cones, points.back(), admm.y);
      admm.z = admm.rho * (admm.y - points.back());
    }
    admm.step();
    y = admm.y;
    const Vector w = admm.y - admm.z / admm.rho;
    if (!points.empty()) images.push_back(w);
    points.push_back(images.size() < 2 ? w : extrapolated());
  }

  Vector extrapolated() const {
    const std::size_t k = images.size() - 1, oldest = k > capacity ? k - capacity : 0;
    Matrix steps(admm.g.size(), static_cast<Index>(k - oldest)), moves = steps;
    for (std::size_t i = oldest; i < k; ++i) {
      moves.col(static_cast<Index>(i - oldest)) = images[i + 1] - images[i];
      steps.col(static_cast<Index>(i - oldest)) = images[i + 1] - points[i + 1] - images[i] + points[i];
    }
    return images[k] - moves * steps.colPivHouseholderQr().solve(images[k] - points[k]);
  }
};

}  // namespace conebench::admm_test
