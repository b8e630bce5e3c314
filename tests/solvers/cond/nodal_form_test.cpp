// Paper Lee23, (13) to (15): what is a node's, and what the others' virtual nodes add.

#include "solvers/cond/nodal_form.hpp"

#include <gtest/gtest.h>

#include "tests/solvers/cond/soft_problems.hpp"

namespace conebench::cond {
namespace {

using namespace conebench::testing;

Matrix delassus(const SparseMatrix& mass, const SparseMatrix& jacobian) {
  return jacobian * Matrix(mass).llt().solve(Matrix(jacobian.transpose()));
}

double largest_off_blocks(const Matrix& gamma, int size) {
  Matrix off = gamma;
  for (Index k = 0; k < gamma.rows(); k += size) off.block(k, k, size, size).setZero();
  return off.cwiseAbs().maxCoeff();
}

TEST(NodalForm, OfNodesAloneIsTheProblemItself) {
  for (const ContactProblem& problem : {soft_mesh(1), two_soft_blocks(1)}) {
    const NodalForm form = nodalise(problem, {});
    EXPECT_EQ(form.virtual_nodes(), 0);
    EXPECT_LE((Matrix(form.jacobian(problem.rows())) - Matrix(problem.primal()->jacobian)).cwiseAbs().maxCoeff(),
              1e-15);
    EXPECT_EQ((form.matrix - problem.primal()->mass).norm(), 0.0);
  }
}

TEST(NodalForm, StepsMakeTheSurrogateDelassusMatrixDiagonal) {
  // Proposition 3, (25), also with unequal steps in a pair, which Theorem 2 rules out without need.
  for (const bool pair : {true, false}) {
    for (const ContactProblem& problem : {soft_mesh(2), two_soft_blocks(2), box_on_corners()}) {
      const NodalForm form = nodalise(problem, {.virtual_gain = 0.3});
      const Vector w = frobenius_steps(form, pair);
      const SparseMatrix j = form.jacobian(problem.rows());
      const Matrix gamma = j * w.asDiagonal() * Matrix(j.transpose());
      EXPECT_LE(largest_off_blocks(gamma, 1), 1e-12 * gamma.maxCoeff());
      for (const NodalBlock& block : form.blocks) {
        const double expected = w[block.i[0]] + (block.paired ? w[block.j[0]] : 0.0);
        for (int r = 0; r < 3; ++r) EXPECT_NEAR(gamma(block.row + r, block.row + r), expected, 1e-12 * expected);
      }
    }
  }
}

TEST(NodalForm, VirtualNodesAddTheirComplianceAndNothingElse) {
  // Eliminated, (15) is G + I/k.
  for (const double gain : {0.0, 0.01, 1.0, 10.0}) {
    const ContactProblem problem = box_on_corners();
    const NodalForm form = nodalise(problem, {.virtual_gain = gain});
    EXPECT_EQ(form.virtual_nodes(), 4);
    const Vector added = form.added_compliance(problem.rows());
    if (gain > 0.0) {
      EXPECT_EQ(added, Vector::Constant(12, 1.0 / gain));
    }
    const Matrix expected = delassus(problem.primal()->mass, problem.primal()->jacobian) + Matrix(added.asDiagonal());
    const Matrix actual = delassus(form.matrix, form.jacobian(problem.rows()));
    EXPECT_LE((actual - expected).norm(), 1e-12 * expected.norm()) << gain;
  }
}

TEST(NodalForm, SecondContactOfANodeGetsAVirtualOne) {
  // One node against floor and wall: as (13) has it, J W Jᵀ is not block diagonal.
  SparseMatrix mass(3, 3);
  mass.setIdentity();
  Eigen::Matrix3d wall;
  wall << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  const ContactProblem problem = primal_problem(mass, contact_jacobian({{0, -1}, {0, -1, wall}}, 3),
                                                Vector::Constant(3, -0.1), Vector::Zero(6), {0.3, 0.3});
  const Matrix direct = problem.primal()->jacobian * Matrix(problem.primal()->jacobian.transpose());
  EXPECT_EQ(largest_off_blocks(direct, 3), 1.0);
  const NodalForm form = nodalise(problem, {.virtual_gain = 2.0});
  EXPECT_EQ(form.virtual_nodes(), 1);
  EXPECT_EQ(form.blocks[0].gain, 0.0);
  const SparseMatrix j = form.jacobian(6);
  const Matrix gamma = j * frobenius_steps(form, true).asDiagonal() * Matrix(j.transpose());
  EXPECT_EQ(largest_off_blocks(gamma, 3), 0.0);
  const Matrix expected = direct + Matrix(form.added_compliance(6).asDiagonal());
  EXPECT_LE((delassus(form.matrix, j) - expected).norm(), 1e-12 * expected.norm());
}

/// A node of 0.1 kg pressed by a rigid body.
ContactProblem node_and_body() {
  SparseMatrix mass(9, 9);
  for (int k = 0; k < 9; ++k) mass.insert(k, k) = k < 3 ? 0.1 : k < 6 ? 2.0 : 0.05;
  Matrix jacobian = Matrix::Zero(3, 9);
  jacobian.leftCols<3>() = -Eigen::AngleAxisd(0.4, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  jacobian.middleCols<3>(3) = -jacobian.leftCols<3>();
  jacobian.rightCols<3>() << 0, 0.1, -0.2, -0.1, 0, 0.3, 0.2, -0.3, 0;
  return primal_problem(mass, jacobian.sparseView(), Vector::LinSpaced(9, -0.3, 0.2), Vector::Zero(3), {0.5});
}

TEST(NodalForm, TableOfNodesLeavesTheVirtualNodeToTheBody) {
  const ContactProblem problem = node_and_body();
  const std::vector<std::int64_t> nodes{0};
  const NodalForm table = nodalise(problem, {.virtual_gain = 0.5, .nodes = nodes});
  ASSERT_EQ(table.virtual_nodes(), 1);
  EXPECT_TRUE(table.blocks[0].paired);
  EXPECT_EQ(table.blocks[0].i[0], 0);
  const NodalForm pattern = nodalise(problem, {.virtual_gain = 0.5});
  ASSERT_EQ(pattern.virtual_nodes(), 1);
  EXPECT_FALSE(pattern.blocks[0].paired);
  const Matrix expected = delassus(problem.primal()->mass, problem.primal()->jacobian) + 2.0 * Matrix::Identity(3, 3);
  for (const NodalForm& form : {table, pattern}) {
    EXPECT_LE((delassus(form.matrix, form.jacobian(3)) - expected).norm(), 1e-12 * expected.norm());
  }
}

TEST(NodalForm, GainFollowsTheStepOfThePartner) {
  const ContactProblem problem = node_and_body();
  const std::vector<std::int64_t> nodes{0};
  EXPECT_NEAR(nodalise(problem, {.nodes = nodes}).blocks[0].gain, 0.3 * 0.1, 1e-15);  // w = 1/m
  // Without one: 3 m of the heavier of the two, which the body's 2 kg are.
  EXPECT_NEAR(nodalise(problem, {}).blocks[0].gain, 3.0 * 2.0, 1e-12);
}

TEST(NodalForm, ContactsBetweenRigidBodiesHaveTheGainOfTheHeaviest) {
  // What presses on the light box is the heavy one's weight.
  const ContactProblem stack = make_problem("box-stack", {{"boxes", 2L}, {"mass_ratio", 1000.0}});
  const NodalForm form = nodalise(stack, {});
  for (const NodalBlock& block : form.blocks) EXPECT_EQ(block.gain, form.blocks[0].gain);
  EXPECT_GT(form.blocks[0].gain, 100.0 * Vector(stack.primal()->mass.diagonal()).minCoeff());
}

TEST(NodalForm, ScaledRowsAreNodesToo) {
  // J' = D J of anisotropic friction.
  ContactProblem mesh = soft_mesh(4);
  ContactProblemData data = mesh.data();
  const Vector d = Vector::NullaryExpr(mesh.rows(), [](Index r) { return r % 3 == 0 ? 0.4 : r % 3 == 1 ? 1.7 : 1.0; });
  data.delassus.reset();
  data.primal->jacobian = d.asDiagonal() * data.primal->jacobian;
  data.bias = d.cwiseProduct(*data.bias);
  data.free_term = d.cwiseProduct(data.free_term);
  const ContactProblem scaled = ContactProblem::create(std::move(data)).value();
  EXPECT_EQ(nodalise(scaled, {}).virtual_nodes(), 0);
  EXPECT_NEAR(nodalise(scaled, {}).blocks[0].scale[1], 1.7, 1e-12);
  EXPECT_EQ(nodalise(scaled, {.ellipses = false}).virtual_nodes(), mesh.cones().contacts());
}

TEST(NodalForm, SaysWhatAProblemLacks) {
  EXPECT_EQ(without_nodal_form(make_problem("random")).value_or(""), "M, J and v_free");
  ContactProblemData data = soft_mesh(1).data();
  data.delassus.reset();
  data.primal->mass.coeffRef(0, 1) += 0.1;
  EXPECT_EQ(without_nodal_form(ContactProblem::create(data).value()).value_or(""), "a symmetric M");
  data = soft_mesh(1).data();
  data.compliance = Vector::Constant(data.cones.rows(), 1.0);
  EXPECT_FALSE(without_nodal_form(ContactProblem::create(data).value()));
  data.compliance[4] = 2.0;
  EXPECT_NE(without_nodal_form(ContactProblem::create(data).value()).value_or("").find("contact 1"), std::string::npos);
}

}  // namespace
}  // namespace conebench::cond
