#include "solvers/cascade/contact_sweep.hpp"

#include <algorithm>
#include <cmath>

namespace conebench::cascade {

ContactSweep::ContactSweep(const ScaledProblem& problem) : problem_(problem) {
  prepared_.reserve(static_cast<std::size_t>(problem_.contacts()));
  for (int i = 0; i < problem_.contacts(); ++i) {
    prepared_.push_back(local_.prepare<3>(problem_.block(problem_.diagonal(i)), 1.0));
  }
}

double ContactSweep::sweep(Vector& r) const {
  double change = 0.0;
  double size = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double* g = problem_.free_term().data() + 3 * static_cast<std::ptrdiff_t>(i);
    Eigen::Array4d others(g[0], g[1], g[2], 0.0);
    problem_.add_row_product(problem_.row_begin(i), problem_.diagonal(i), r, others);
    problem_.add_row_product(problem_.diagonal(i) + 1, problem_.row_begin(i + 1), r, others);
    const Eigen::Vector3d free = others.head<3>().matrix();
    const Eigen::Vector3d old = r.segment<3>(3 * i);
    const Eigen::Map<const Eigen::Matrix3d> block(problem_.block(problem_.diagonal(i)).data());
    const Eigen::Vector3d solved = local_.solve<3>(prepared_[static_cast<std::size_t>(i)], block, 1.0, free, old);
    change += (solved - old).squaredNorm();
    size += solved.squaredNorm();
    r.segment<3>(3 * i) = solved;
  }
  return std::sqrt(change / std::max(size, 1e-300));
}

}  // namespace conebench::cascade
