#include "solvers/gauss_seidel/coulomb_block.hpp"

#include <Eigen/QR>
#include <array>
#include <limits>
#include <utility>

#include "solvers/gauss_seidel/slip_angle.hpp"

namespace conebench::gauss_seidel {

namespace {

/// Candidates for one contact, tried in the order in which they are preferred.
template <int Dim>
class Candidates {
 public:
  void add(const ContactVector<Dim>& impulse) {
    if (count_ < static_cast<int>(impulses_.size()) && impulse.allFinite()) {
      impulses_[static_cast<std::size_t>(count_++)] = impulse;
    }
  }
  /// The first with a residual of rounding size, else the one with the smallest.
  ContactVector<Dim> choose(const Eigen::Matrix<double, Dim, Dim>& block, double friction,
                            const ContactVector<Dim>& free, const ContactVector<Dim>& otherwise) const {
    const double rounding = 1e-13 * free.norm();
    double best = std::numeric_limits<double>::infinity();
    ContactVector<Dim> chosen = otherwise;
    for (int k = 0; k < count_; ++k) {
      const auto& impulse = impulses_[static_cast<std::size_t>(k)];
      const double residual = coulomb_residual<Dim>(block, friction, free, impulse);
      if (residual < best) {
        best = residual;
        chosen = impulse;
      }
      if (best <= rounding) break;
    }
    return chosen;
  }

 private:
  std::array<ContactVector<Dim>, 20> impulses_;
  int count_ = 0;
};

/// The impulse on the cone's side e with σ_n = 0.
void add_slip(const Eigen::Matrix3d& block, double friction, const ContactVector<3>& free, double e0, double e1,
              Candidates<3>& candidates) {
  const double resistance = block(2, 2) + friction * (block(2, 0) * e0 + block(2, 1) * e1);
  if (!(resistance > 0.0)) return;
  const double normal = -free[2] / resistance;
  candidates.add({friction * normal * e0, friction * normal * e1, normal});
}

void add_slips(const Eigen::Matrix3d& block, double friction, const ContactVector<3>& free, const ContactVector<3>& old,
               Candidates<3>& candidates) {
  const Eigen::Vector2d p = block(2, 2) * free.head<2>() - free[2] * block.topRightCorner<2, 1>();
  const Eigen::Matrix2d m =
      friction * (free.head<2>() * block.bottomLeftCorner<1, 2>() - free[2] * block.topLeftCorner<2, 2>());
  const SlipAngle f{0.5 * (m(1, 0) - m(0, 1)), p[1], -p[0], 0.5 * (m(1, 0) + m(0, 1)), 0.5 * (m(1, 1) - m(0, 0))};
  for_each_root(f,
                [&](double angle) { add_slip(block, friction, free, std::cos(angle), std::sin(angle), candidates); });
  // Where f vanishes for every angle (singular blocks, no coupling), any direction does that the others allow.
  const std::array<Eigen::Vector2d, 3> directions{old.head<2>(), -free.head<2>(),
                                                  block.bottomLeftCorner<1, 2>().transpose()};
  for (const auto& direction : directions) {
    const double length = direction.norm();
    if (length > 0.0) add_slip(block, friction, free, direction[0] / length, direction[1] / length, candidates);
  }
}

void add_slips(const Eigen::Matrix2d& block, double friction, const ContactVector<2>& free, const ContactVector<2>&,
               Candidates<2>& candidates) {
  for (const double e : {free[0] > 0.0 ? -1.0 : 1.0, free[0] > 0.0 ? 1.0 : -1.0}) {
    const double resistance = block(1, 1) + friction * e * block(1, 0);
    if (!(resistance > 0.0)) continue;
    const double normal = -free[1] / resistance;
    candidates.add({friction * normal * e, normal});
  }
}

/// The shortest x with the least ‖D x − b‖: CompleteOrthogonalDecomposition's own solve(), which takes memory where D
/// is singular, step by step.
template <int Dim>
ContactVector<Dim> least_squares(const Eigen::Matrix<double, Dim, Dim>& block, const ContactVector<Dim>& b) {
  const Eigen::CompleteOrthogonalDecomposition<Eigen::Matrix<double, Dim, Dim>> decomposition(block);
  const Eigen::Index rank = decomposition.rank();
  ContactVector<Dim> x = ContactVector<Dim>::Zero();
  if (rank == 0) return x;
  ContactVector<Dim> c = b;
  c.applyOnTheLeft(decomposition.matrixQ().setLength(rank).adjoint());
  x.topRows(rank) =
      decomposition.matrixT().topLeftCorner(rank, rank).template triangularView<Eigen::Upper>().solve(c.topRows(rank));
  if (rank < Dim) {
    double workspace = 0.0;
    for (Eigen::Index k = 0; k < rank; ++k) {
      std::swap(x[k], x[rank - 1]);
      x.bottomRows(Dim - rank + 1)
          .applyHouseholderOnTheLeft(decomposition.matrixQTZ().row(k).tail(Dim - rank).transpose(),
                                     decomposition.zCoeffs()(k), &workspace);
      std::swap(x[k], x[rank - 1]);
    }
  }
  return decomposition.colsPermutation() * x;
}

}  // namespace

template <int Dim>
double coulomb_residual(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                        const ContactVector<Dim>& impulse) {
  ContactVector<Dim> velocity = block * impulse + free;
  velocity[Dim - 1] += friction * tangential_norm<Dim>(velocity);
  const double trace = block.trace();
  const double size = block.norm();
  const double step = trace > 0.0 ? Dim / trace : (size > 0.0 ? 1.0 / size : 1.0);
  const ContactVector<Dim> moved = impulse - step * velocity;
  return (impulse - project_friction_cone<Dim>(moved, friction)).norm() / step;
}

template <int Dim>
ContactVector<Dim> solve_coulomb_carefully(const Eigen::Matrix<double, Dim, Dim>& block, double friction,
                                           const ContactVector<Dim>& free, const ContactVector<Dim>& old) {
  constexpr int n = Dim - 1;
  if (free[n] >= 0.0) return ContactVector<Dim>::Zero();
  if (block.isZero(0.0)) return old;

  Candidates<Dim> candidates;
  ContactVector<Dim> normal_only = ContactVector<Dim>::Zero();
  if (block(n, n) > 0.0) normal_only[n] = -free[n] / block(n, n);
  if (friction > 0.0) {
    const ContactVector<Dim> stick = -least_squares<Dim>(block, free);
    if (tangential_norm<Dim>(stick) <= friction * stick[n]) candidates.add(stick);
    add_slips(block, friction, free, old, candidates);
  }
  candidates.add(normal_only);
  candidates.add(old);
  candidates.add(ContactVector<Dim>::Zero());
  return candidates.choose(block, friction, free, old);
}

template ContactVector<2> solve_coulomb_carefully<2>(const Eigen::Matrix2d&, double, const ContactVector<2>&,
                                                     const ContactVector<2>&);
template ContactVector<3> solve_coulomb_carefully<3>(const Eigen::Matrix3d&, double, const ContactVector<3>&,
                                                     const ContactVector<3>&);
template double coulomb_residual<2>(const Eigen::Matrix2d&, double, const ContactVector<2>&, const ContactVector<2>&);
template double coulomb_residual<3>(const Eigen::Matrix3d&, double, const ContactVector<3>&, const ContactVector<3>&);

}  // namespace conebench::gauss_seidel
