#include "solvers/gauss_seidel/coulomb_block.hpp"

#include <Eigen/QR>
#include <array>
#include <limits>
#include <utility>

#include "solvers/gauss_seidel/slip_angle.hpp"

namespace conebench::gauss_seidel {

namespace {

/// Candidates for one contact, tried in the order in which they are preferred.
template <class Cone>
class Candidates {
 public:
  using Block = typename Cone::Block;

  void add(const Block& impulse) {
    if (count_ < static_cast<int>(impulses_.size()) && impulse.allFinite()) {
      impulses_[static_cast<std::size_t>(count_++)] = impulse;
    }
  }
  /// The first with a residual of rounding size, else the one with the smallest.
  Block choose(const typename Cone::Square& block, const Cone& cone, const Block& free, const Block& otherwise) const {
    const double rounding = 1e-13 * free.norm();
    double best = std::numeric_limits<double>::infinity();
    Block chosen = otherwise;
    for (int k = 0; k < count_; ++k) {
      const auto& impulse = impulses_[static_cast<std::size_t>(k)];
      const double residual = coulomb_residual<Cone>(block, cone, free, impulse);
      if (residual < best) {
        best = residual;
        chosen = impulse;
      }
      if (best <= rounding) break;
    }
    return chosen;
  }

 private:
  std::array<Block, 20> impulses_;
  int count_ = 0;
};

/// The impulse on the cone's side e with σ_n = 0.
void add_slip(const Eigen::Matrix3d& block, double friction, const ContactVector<3>& free, double e0, double e1,
              Candidates<CoulombSpace>& candidates) {
  const double resistance = block(2, 2) + friction * (block(2, 0) * e0 + block(2, 1) * e1);
  if (!(resistance > 0.0)) return;
  const double normal = -free[2] / resistance;
  candidates.add({friction * normal * e0, friction * normal * e1, normal});
}

void add_slips(const Eigen::Matrix3d& block, double friction, const ContactVector<3>& free, const ContactVector<3>& old,
               Candidates<CoulombSpace>& candidates) {
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
               Candidates<CoulombPlane>& candidates) {
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

template <class Cone>
double coulomb_residual(const typename Cone::Square& block, const Cone& cone, const typename Cone::Block& free,
                        const typename Cone::Block& impulse) {
  typename Cone::Block velocity = block * impulse + free;
  velocity[cone.normal] += cone.de_saxce(velocity);
  const double trace = block.trace();
  const double size = block.norm();
  const double step = trace > 0.0 ? Cone::rows / trace : (size > 0.0 ? 1.0 / size : 1.0);
  const typename Cone::Block moved = impulse - step * velocity;
  return (impulse - cone.project(moved)).norm() / step;
}

template <class Cone>
typename Cone::Block solve_coulomb_carefully(const typename Cone::Square& block, const Cone& cone,
                                             const typename Cone::Block& free, const typename Cone::Block& old) {
  using Block = typename Cone::Block;
  constexpr int n = Cone::normal;
  if (free[n] >= 0.0) return Block::Zero();
  if (block.isZero(0.0)) return old;

  Candidates<Cone> candidates;
  Block normal_only = Block::Zero();
  if (block(n, n) > 0.0) normal_only[n] = -free[n] / block(n, n);
  if (cone.friction > 0.0) {
    const Block stick = -least_squares<Cone::rows>(block, free);
    if (tangential_norm<Cone::rows>(stick) <= cone.friction * stick[n]) candidates.add(stick);
    add_slips(block, cone.friction, free, old, candidates);
  }
  candidates.add(normal_only);
  candidates.add(old);
  candidates.add(Block::Zero());
  return candidates.choose(block, cone, free, old);
}

template ContactVector<2> solve_coulomb_carefully(const Eigen::Matrix2d&, const CoulombPlane&, const ContactVector<2>&,
                                                  const ContactVector<2>&);
template ContactVector<3> solve_coulomb_carefully(const Eigen::Matrix3d&, const CoulombSpace&, const ContactVector<3>&,
                                                  const ContactVector<3>&);
template double coulomb_residual(const Eigen::Matrix2d&, const CoulombPlane&, const ContactVector<2>&,
                                 const ContactVector<2>&);
template double coulomb_residual(const Eigen::Matrix3d&, const CoulombSpace&, const ContactVector<3>&,
                                 const ContactVector<3>&);

namespace {

/// The exact solution of a contact whose cone is `own`, in vectors of its size.
template <class Cone>
FrictionCone::Block solve_as(const Cone& own, const CoulombBlock::Prepared<FrictionCone>& prepared,
                             const Eigen::Map<const FrictionCone::Square>& block, const FrictionCone::Block& free,
                             const FrictionCone::Block& old) {
  return CoulombBlock{}.solve(CoulombBlock::Prepared<Cone>{prepared.inverse, prepared.inverse_normal},
                              Eigen::Map<const typename Cone::Square>(block.data()), own, typename Cone::Block(free),
                              typename Cone::Block(old));
}

}  // namespace

FrictionCone::Block CoulombBlock::solve(const Prepared<FrictionCone>& prepared,
                                        const Eigen::Map<const FrictionCone::Square>& block, const FrictionCone& cone,
                                        const FrictionCone::Block& free, const FrictionCone::Block& old) const {
  const auto [first, size, mu] = cone.groups()[0];
  if (cone.groups().size() == 1 && size == 1) return solve_as(CoulombPlane{{mu}}, prepared, block, free, old);
  if (cone.groups().size() == 1 && size == 2 && cone.shape() == ConeShape::discs) {
    return solve_as(CoulombSpace{{mu}}, prepared, block, free, old);
  }
  return solve_friction_contact(block, cone, free, old, prepared.inverse_normal > 0.0);
}

}  // namespace conebench::gauss_seidel
