#include <gtest/gtest.h>

#include <Eigen/LU>

#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using testing::make_problem;

constexpr double cell = 0.02, young = 1e5, poisson = 0.3, density = 1000.0, step = 0.01, damping = 1e-3;
constexpr long nx = 5, ny = 4, nz = 3;

class SoftBlock : public ::testing::Test {
 protected:
  const ContactProblem elastic = make_problem("soft-block", {{"ny", ny}});
  const ContactProblem cloud = make_problem("soft-block", {{"ny", ny}, {"young", 0.0}});
  const SparseMatrix mass = cloud.primal()->mass;
  const SparseMatrix stiffness = (elastic.primal()->mass - mass) / (step * (step + damping));
  const Index nodes = mass.rows() / 3;

  Eigen::Vector3d position(Index node) const {
    return cell * Eigen::Vector3d(double(node % (nx + 1)), double(node / (nx + 1) % (ny + 1)),
                                  double(node / ((nx + 1) * (ny + 1))));
  }
  bool inside(Index node) const {
    const Eigen::Vector3d at = position(node) / cell;
    return at.minCoeff() > 0.5 && at[0] < double(nx) - 0.5 && at[1] < double(ny) - 0.5 && at[2] < double(nz) - 0.5;
  }
  /// The displacement F x at every node.
  Vector displaced(const Eigen::Matrix3d& gradient) const {
    Vector u(3 * nodes);
    for (Index k = 0; k < nodes; ++k) u.segment<3>(3 * k) = gradient * position(k);
    return u;
  }
};

TEST_F(SoftBlock, WeighsItsVolumeTimesItsDensity) {
  EXPECT_EQ(nodes, (nx + 1) * (ny + 1) * (nz + 1));
  const double volume = double(nx * ny * nz) * cell * cell * cell;
  EXPECT_NEAR(Vector(mass.diagonal()).sum(), 3.0 * density * volume, 1e-12 * density * volume);
  EXPECT_EQ(mass.nonZeros(), 3 * nodes);
}

TEST_F(SoftBlock, RigidMotionsCostNoEnergy) {
  const double size = stiffness.norm();
  EXPECT_EQ(SparseMatrix(stiffness - SparseMatrix(stiffness.transpose())).norm(), 0.0);
  for (int axis = 0; axis < 3; ++axis) {
    const Vector translation = Eigen::Vector3d::Unit(axis).replicate(nodes, 1);
    EXPECT_LT((stiffness * translation).norm(), 1e-11 * size);
    Eigen::Matrix3d spin = Eigen::Matrix3d::Zero();
    spin((axis + 1) % 3, (axis + 2) % 3) = -1.0;
    spin((axis + 2) % 3, (axis + 1) % 3) = 1.0;
    EXPECT_LT((stiffness * displaced(spin)).norm(), 1e-11 * size);
  }
}

TEST_F(SoftBlock, ConstantStrainsAreHookes) {
  // ½ V ε:C:ε, and no force at inner nodes (the patch test).
  Eigen::Matrix3d gradient;
  gradient << 0.3, -0.1, 0.2, 0.4, -0.2, 0.1, 0.0, 0.3, 0.5;
  const Eigen::Matrix3d strain = 0.5 * (gradient + gradient.transpose());
  const double shear = young / (2.0 * (1.0 + poisson));
  const double lame = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
  const double volume = double(nx * ny * nz) * cell * cell * cell;
  const double energy = volume * (0.5 * lame * strain.trace() * strain.trace() + shear * strain.squaredNorm());
  const Vector u = displaced(gradient);
  const Vector force = stiffness * u;
  EXPECT_NEAR(0.5 * u.dot(force), energy, 1e-10 * energy);
  for (Index k = 0; k < nodes; ++k) {
    if (!inside(k)) continue;
    EXPECT_LT(force.segment<3>(3 * k).norm(), 1e-10 * force.norm()) << k;
  }
}

TEST_F(SoftBlock, IsGivenByMassAndJacobianWithContactsBelow) {
  EXPECT_TRUE(elastic.given_as_primal());
  EXPECT_FALSE(elastic.condenses_sparsely());
  EXPECT_TRUE(cloud.condenses_sparsely());
  EXPECT_EQ(elastic.cones().contacts(), (nx + 1) * (ny + 1));
  EXPECT_EQ(elastic.symmetry_error(), 0.0);
  // A v_free = M (v₀ + Δt g): gravity does not deform what falls.
  const PrimalForm& primal = *elastic.primal();
  const Vector momentum = mass * primal.free_velocity;
  EXPECT_LT((primal.mass * primal.free_velocity - momentum).norm(), 1e-12 * momentum.norm());
  EXPECT_DOUBLE_EQ(primal.free_velocity[2], -step * 9.81);
  for (Index i = 0; i < elastic.cones().contacts(); ++i) EXPECT_EQ(position(i)[2], 0.0);
}

}  // namespace
}  // namespace conebench
