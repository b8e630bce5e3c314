#include "solvers/gauss_seidel/coulomb_block.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include <cmath>
#include <numbers>
#include <random>

namespace conebench::gauss_seidel {
namespace {

using Block3 = Eigen::Matrix3d;
using Block2 = Eigen::Matrix2d;

/// The NCP of one contact, checked from its definition: how far it is from open, stick or slip, as a velocity over ‖b‖.
/// Written apart from coulomb_residual, which the solver uses.
template <int Dim>
double coulomb_error(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                     const ContactVector<Dim>& impulse) {
  constexpr int n = Dim - 1;
  const ContactVector<Dim> velocity = block * impulse + free;
  const double in_velocity = block.norm();
  const double radius = friction * impulse[n];
  const auto tangent = impulse.template head<n>();
  const auto slip = velocity.template head<n>();
  // Signorini: r_n ≥ 0, σ_n ≥ 0, one of them zero.
  double error = std::abs(std::min(in_velocity * impulse[n], velocity[n]));
  // Coulomb: in the disk; where it is not at its rim no slip, at the rim slip against friction.
  error = std::max(error, in_velocity * (tangent.norm() - radius));
  const double to_rim = in_velocity * std::max(0.0, radius - tangent.norm());
  const double against =
      slip.norm() > 0.0 && tangent.norm() > 0.0 ? (slip / slip.norm() + tangent / tangent.norm()).norm() : 0.0;
  error =
      std::max(error, std::min(slip.norm(), std::max(to_rim, against * std::min(slip.norm(), in_velocity * radius))));
  return error / free.norm();
}

template <int Dim>
Eigen::Matrix<double, Dim, Dim> random_matrix(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Eigen::Matrix<double, Dim, Dim> matrix;
  for (double& entry : matrix.reshaped()) entry = normal(random);
  return matrix;
}

template <int Dim>
ContactVector<Dim> solve(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                         const ContactVector<Dim>& old = ContactVector<Dim>::Zero()) {
  const CoulombBlock local;
  const auto prepared = local.prepare<Dim>(block, friction);
  return local.solve<Dim>(prepared, Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>(block.data()), friction, free,
                          old);
}

template <int Dim>
struct Contact {
  Eigen::Matrix<double, Dim, Dim> block;
  double friction;
  ContactVector<Dim> free;
  ContactVector<Dim> old;
};

/// A positive definite block of condition up to 10^(2 spread), with |G_NT| up to G_NN, scaled by 10^±6.
template <int Dim>
Contact<Dim> random_contact(std::mt19937_64& random, double spread) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Contact<Dim> contact;
  Eigen::Matrix<double, Dim, Dim> factor = random_matrix<Dim>(random);
  for (int c = 0; c < Dim; ++c) factor.col(c) *= std::pow(10.0, spread * unit(random));
  contact.block =
      (factor * factor.transpose() + 1e-3 * Eigen::Matrix<double, Dim, Dim>::Identity() * factor.squaredNorm()) *
      std::pow(10.0, 6.0 * unit(random));
  contact.friction = std::pow(10.0, 1.0 * unit(random) - 0.5);
  contact.free = random_matrix<Dim>(random).col(0) * std::pow(10.0, 3.0 * unit(random));
  contact.old = random_matrix<Dim>(random).col(0);
  return contact;
}

template <int Dim>
void expect_exact(const Contact<Dim>& c, double tolerance, const char* what) {
  const ContactVector<Dim> impulse = solve<Dim>(c.block, c.friction, c.free, c.old);
  ASSERT_TRUE(impulse.allFinite());
  ASSERT_LE((coulomb_error<Dim>(c.block, c.friction, c.free, impulse)), tolerance)
      << what << "\nD =\n"
      << c.block << "\nmu = " << c.friction << "\nb = " << c.free.transpose() << "\nr = " << impulse.transpose();
}

TEST(CoulombBlock, SolvesThousandsOfRandomContacts) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 20000; ++k) expect_exact<3>(random_contact<3>(random, 0.5), 1e-11, "3D");
}

TEST(CoulombBlock, SolvesIllConditionedContacts) {
  std::mt19937_64 random(2);
  for (int k = 0; k < 20000; ++k) expect_exact<3>(random_contact<3>(random, 2.0), 1e-9, "3D, ill-conditioned");
}

TEST(CoulombBlock, SolvesRandomPlanarContacts) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 20000; ++k) expect_exact<2>(random_contact<2>(random, 1.0), 1e-11, "2D");
}

TEST(CoulombBlock, SolvesUnsymmetricContacts) {
  std::mt19937_64 random(4);
  for (int k = 0; k < 20000; ++k) {
    Contact<3> contact = random_contact<3>(random, 0.3);
    contact.block += 0.2 * contact.block.norm() / 3.0 * random_matrix<3>(random);
    const Block3 symmetric = 0.5 * (contact.block + contact.block.transpose());
    if (Eigen::LLT<Block3>(symmetric).info() != Eigen::Success) continue;
    expect_exact<3>(contact, 1e-10, "3D, unsymmetric");
  }
}

}  // namespace
}  // namespace conebench::gauss_seidel
