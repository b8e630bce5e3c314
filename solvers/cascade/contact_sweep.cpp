#include "solvers/cascade/contact_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conebench::cascade {

ContactSweep::ContactSweep(const ScaledProblem& problem) : problem_(problem) { refresh(); }

void ContactSweep::refresh() {
  prepared_.clear();
  prepared_in_plane_.clear();
  problem_.planar() ? prepared_in_plane_.reserve(static_cast<std::size_t>(problem_.contacts()))
                    : prepared_.reserve(static_cast<std::size_t>(problem_.contacts()));
  for (int i = 0; i < problem_.contacts(); ++i) {
    const int k = problem_.diagonal(i);
    if (problem_.planar()) {
      prepared_in_plane_.push_back(local_.prepare<2>(problem_.block_in_plane(k), 1.0));
    } else {
      prepared_.push_back(local_.prepare<3>(problem_.block(k), 1.0));
    }
  }
}

template <int Dim, class Blocks>
double ContactSweep::sweep_in(const Blocks& prepared, Vector& r) const {
  using Part = Eigen::Matrix<double, Dim, 1>;
  double change = 0.0;
  double size = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    double* const at = r.data() + 3 * static_cast<std::ptrdiff_t>(i);
    const double* const g = problem_.free_term().data() + 3 * static_cast<std::ptrdiff_t>(i);
    // Whole registers, the fourth number of one anything; t2 is left out in the plane.
    auto [old, others] = [&] {
      if constexpr (Dim == 2) {
        return std::pair(Part(at[0], at[2]), Eigen::Array2d(g[0], g[2]));
      } else {
        return std::pair(Part(at[0], at[1], at[2]), Eigen::Array4d(g[0], g[1], g[2], 0.0));
      }
    }();
    const int own = problem_.diagonal(i);
    problem_.add_row_product(problem_.row_begin(i), own, r, others);
    problem_.add_row_product(own + 1, problem_.row_begin(i + 1), r, others);
    const Eigen::Map<const Eigen::Matrix<double, Dim, Dim>> block(problem_.matrix().block(own));
    const Part free = others.template head<Dim>().matrix();
    const Part solved = local_.solve<Dim>(prepared[static_cast<std::size_t>(i)], block, 1.0, free, old);
    change += (solved - old).squaredNorm();
    size += solved.squaredNorm();
    for (int a = 0; a < Dim; ++a) at[a + 1 < Dim ? a : 2] = solved[a];
  }
  return std::sqrt(change / std::max(size, std::numeric_limits<double>::min()));
}

double ContactSweep::sweep(Vector& r) const {
  return problem_.planar() ? sweep_in<2>(prepared_in_plane_, r) : sweep_in<3>(prepared_, r);
}

}  // namespace conebench::cascade
