#include "metrics/structure.hpp"

#include <gtest/gtest.h>

#include "problem_builders.hpp"

namespace conebench {
namespace {

/// Rigid bodies of these masses, one contact of each with the next one, along the normal z through their centres; the
/// first stands on the ground.
ContactProblem tower(const std::vector<double>& masses) {
  const auto bodies = static_cast<Index>(masses.size());
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, std::vector<double>(masses.size(), 0.5), 3);
  PrimalForm primal;
  primal.mass = SparseMatrix(6 * bodies, 6 * bodies);
  primal.jacobian = SparseMatrix(3 * bodies, 6 * bodies);
  for (Index b = 0; b < bodies; ++b) {
    const double mass = masses[static_cast<std::size_t>(b)];
    for (Index k = 0; k < 3; ++k) primal.mass.insert(6 * b + k, 6 * b + k) = mass;
    for (Index k = 3; k < 6; ++k) primal.mass.insert(6 * b + k, 6 * b + k) = 0.4 * mass + 0.1 * static_cast<double>(k);
    for (Index k = 0; k < 3; ++k) {
      primal.jacobian.insert(3 * b + k, 6 * b + k) = 1.0;
      if (b > 0) primal.jacobian.insert(3 * b + k, 6 * (b - 1) + k) = -1.0;
    }
  }
  primal.free_velocity = Vector::Zero(6 * bodies);
  data.free_term = Vector::Zero(3 * bodies);
  for (Index b = 0; b < bodies; ++b) primal.free_velocity[6 * b + 2] = -1.0;
  data.free_term = primal.jacobian * primal.free_velocity;
  data.primal = primal;
  return *ContactProblem::create(std::move(data));
}

TEST(Structure, FindsRigidBodiesTheirMassesAndWhichContactsTouchThem) {
  const ContactProblem problem = tower({1.0, 1000.0});
  const MovingParts parts(problem);
  ASSERT_EQ(parts.list().size(), 2U);
  EXPECT_EQ(parts.list()[1].velocities, (std::vector<Index>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(parts.list()[1].mass, 1000.0);
  EXPECT_EQ(parts.of(0), (std::vector<Index>{0}));
  EXPECT_EQ(parts.of(1), (std::vector<Index>{0, 1}));
  const Structure structure = analyse_structure(problem, parts);
  EXPECT_EQ(structure.islands, 1);
  EXPECT_EQ(structure.largest_island, 2);
  ASSERT_TRUE(structure.mass);
  EXPECT_DOUBLE_EQ(structure.mass->ratio(), 1000.0);
  EXPECT_EQ(structure.mass->largest, 1);
  // G_00 = 1 (the light body alone), G_01 = −1, G_11 = 1 + 1/1000.
  EXPECT_DOUBLE_EQ(structure.coupling_between.value(), 1.0);
  EXPECT_EQ(structure.coupled_block, 0);
  EXPECT_DOUBLE_EQ(structure.velocity_scale, 1.0);
}

TEST(Structure, OneOnAnotherIsFeltMoreThanItself) {
  const ContactProblem problem = tower({1.0, 1.0, 1.0});
  const Structure structure = analyse_structure(problem, MovingParts(problem));
  // The middle contact: G_11 = 2, and −1 with each neighbour. The top one: 1/2; the bottom one: 1.
  EXPECT_DOUBLE_EQ(structure.coupling_between.value(), 1.0);
  ASSERT_TRUE(structure.effective_mass);
  EXPECT_DOUBLE_EQ(structure.effective_mass->ratio(), 2.0);
}

TEST(Structure, ContactsApartAreIslandsWithoutBodiesWhereMIsNotKnown) {
  const ContactProblem problem =
      problem_of({.friction = {0.5, 0.5}}, 2.0 * Matrix::Identity(6, 6), vector_of({0, 0, -1, 0, 0, -3}));
  const MovingParts parts(problem);
  EXPECT_TRUE(parts.list().empty());
  EXPECT_TRUE(parts.of(1).empty());
  const Structure structure = analyse_structure(problem, parts);
  EXPECT_EQ(structure.islands, 2);
  EXPECT_EQ(structure.coupling_between, 0.0);
  EXPECT_FALSE(structure.mass);
  EXPECT_EQ(structure.velocity_scale, 3.0);
}

TEST(Structure, ABlockThatNothingMovesHasNoCoupling) {
  Matrix delassus = Matrix::Identity(6, 6);
  delassus.block(3, 3, 3, 3).setZero();
  const ContactProblem problem = problem_of({.friction = {0.5, 0.5}}, delassus, vector_of({0, 0, -1, 0, 0, -1}));
  const Structure structure = analyse_structure(problem, MovingParts(problem));
  EXPECT_FALSE(structure.coupling_between);
  EXPECT_EQ(structure.coupled_block, 1);
}

TEST(Structure, CoupledVelocitiesAreOnePartWithoutAMass) {
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 1, {}, 3);
  PrimalForm primal;
  Matrix mass(2, 2);
  mass << 2.0, 0.5, 0.5, 1.0;
  primal.mass = mass.sparseView();
  Matrix jacobian(1, 2);
  jacobian << 0.0, 1.0;
  primal.jacobian = jacobian.sparseView();
  primal.free_velocity = vector_of({0.0, -1.0});
  data.free_term = vector_of({-1.0});
  data.primal = primal;
  const MovingParts parts(*ContactProblem::create(std::move(data)));
  ASSERT_EQ(parts.list().size(), 1U);
  EXPECT_EQ(parts.list()[0].velocities, (std::vector<Index>{0, 1}));
  EXPECT_FALSE(parts.list()[0].mass);
  EXPECT_EQ(parts.of(0), (std::vector<Index>{0}));
}

}  // namespace
}  // namespace conebench
