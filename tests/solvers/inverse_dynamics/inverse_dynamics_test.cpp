#include "solvers/inverse_dynamics/inverse_dynamics.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "runners/execute/solve_cell.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {
namespace {

ConeProduct one_contact(double friction) { return ConeProduct::create(0, 0, {friction}).value(); }

Vector vector(std::initializer_list<double> values) {
  Vector made(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), made.begin());
  return made;
}

TEST(ContactInversion, OfARigidContactThatSlidesIsZeroFromZeroAndTheConesEdgeFromAnImpulse) {
  const auto target = vector({0.1, 0.0, 0.0});
  const auto from_zero = invert_contacts(one_contact(0.4), {}, target, Vector::Zero(3), {});
  EXPECT_TRUE(from_zero.converged);
  EXPECT_EQ(from_zero.iterations, 1);
  EXPECT_EQ(from_zero.impulse, Vector::Zero(3));
  // c + s − ρ λ_0 is (0.1, 0, 0.04 − 1e-8): its negative over ρ is projected. 1 + 0.4² = 1.16.
  const auto pressed = invert_contacts(one_contact(0.4), {}, target, vector({0, 0, 1}), {});
  EXPECT_TRUE(pressed.converged);
  EXPECT_EQ(pressed.iterations, 1);
  EXPECT_NEAR(pressed.impulse[0], -0.4 / 1.16, 1e-6);
  EXPECT_NEAR(pressed.impulse[2], 1.0 / 1.16, 1e-6);
  EXPECT_LE(pressed.residual, 1e-9);
}

TEST(ContactInversion, WithoutDeSaxcesTermGrowsByAConstantWhereAContactSlides) {
  ContactInversionOptions options;
  options.de_saxce = false;
  options.max_iterations = 6;
  const auto found = invert_contacts(one_contact(0.4), {}, vector({0.1, 0.0, 0.0}), Vector::Zero(3), options);
  EXPECT_FALSE(found.converged);
  // A step of −c/ρ along the cone's edge: μ ‖c‖ / (ρ √(1 + μ²)).
  const double step = 0.4 * 0.1 / (1e-8 * std::sqrt(1.16));
  for (Index k = 1; k < found.growth.size(); ++k) {
    EXPECT_NEAR(found.growth[k] - found.growth[k - 1], step, 1e-6 * step) << k;
  }
}

TEST(ContactInversion, OfACompliantContactIsTheSameFromEveryStartAndHasTheClosedForm) {
  const auto cones = one_contact(0.5);
  const Vector compliance = vector({0.02, 0.02, 0.1});
  ContactInversionOptions options;
  options.tolerance = 1e-12;
  options.max_iterations = 100000;
  // It sinks by 0.3 m/s: λ_N = 0.3/0.1 where it sticks; λ_T = −c_T/0.02 = −1, inside the cone.
  const auto stuck = invert_contacts(cones, compliance, vector({0.02, 0, -0.3}), vector({5, -2, 3}), options);
  ASSERT_TRUE(stuck.converged);
  EXPECT_LT((stuck.impulse - vector({-1, 0, 3})).norm(), 1e-9);
  // It slides by 1 m/s: λ_N = 3 still, as Γ keeps the normal's law, and λ_T = −μ λ_N.
  for (const auto& start : {vector({0, 0, 0}), vector({1, 2, 3}), vector({0, -1, 40})}) {
    const auto slid = invert_contacts(cones, compliance, vector({1, 0, -0.3}), start, options);
    ASSERT_TRUE(slid.converged);
    EXPECT_LT((slid.impulse - vector({-1.5, 0, 3})).norm(), 1e-8);
    EXPECT_NEAR(slid.velocity[2], 0.0, 1e-9);
  }
}

TEST(ContactInversion, OfAContactThatWouldBeDrivenInHasNoAnswerWithoutCompliance) {
  ContactInversionOptions options;
  options.max_iterations = 20;
  EXPECT_FALSE(invert_contacts(one_contact(0.4), {}, vector({0.1, 0, -1e-3}), Vector::Zero(3), options).converged);
  EXPECT_TRUE(invert_contacts(one_contact(0.4), {}, vector({0.1, 0, 1e-3}), Vector::Zero(3), options).converged);
}

TEST(ContactInversion, KeepsEveryConeAndItsBounds) {
  const auto cones = ConeProduct::create(0, 0, {{-0.5, 0.5}},
                                         {{ConeShape::discs, {3}, {0.4, 0.4, 0.1}}, FrictionLaw::rolling(0.3, 0.1)})
                         .value();
  // In rows where the groups are balls, as invert_contacts() takes them.
  const ConeProduct balls = cones.with_balls_over(Vector::Ones(cones.rows())).value();
  const Vector compliance = Vector::Constant(balls.rows(), 0.5);
  const Vector target = vector({-2, 0.3, -0.1, 0.2, -1, 0.5, 0, -1, 0.2, 0.1});
  const auto found = invert_contacts(balls, compliance, target, Vector::Zero(balls.rows()), {.tolerance = 1e-10});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.impulse[0], 0.5);
  Vector projected(balls.rows());
  project_cone(balls, found.impulse, projected);
  EXPECT_LT((projected - found.impulse).norm(), 1e-9);
}

class InverseDynamicsOfABox : public ::testing::Test {
 protected:
  /// Forward with the torque: the velocity that was asked for comes out.
  static void expect_forward(const ContactProblem& problem, const InverseDynamics& found) {
    const auto forward = with_torque(problem, found.torque);
    ASSERT_TRUE(forward.ok());
    CellRequest request;
    request.solver = "CASCADE";
    request.tolerance = 1e-11;
    request.repeats.maximum = 1;
    const auto solved = solve_cell(*forward, request);
    ASSERT_TRUE(solved.ok());
    ASSERT_TRUE(solved->solved);
    const Vector impulse = Eigen::Map<const Vector>(solved->reaction.data(), problem.rows());
    Vector sigma(problem.rows());
    forward->velocity(impulse, sigma);
    EXPECT_LT((sigma - found.contacts.velocity).lpNorm<Eigen::Infinity>(), 1e-8);
  }

  ContactProblem problem_ = (*require_scene("sliding-box"))->make({}, 1).value();
};

TEST_F(InverseDynamicsOfABox, IsUndoneByForwardDynamics) {
  Vector wanted = Vector::Zero(problem_.rows());
  Vector start = Vector::Zero(problem_.rows());
  for (Index i = 0; i < problem_.cones().contacts(); ++i) {
    wanted[problem_.cones().contact_row(i)] = 0.05;
    start[problem_.cones().contact_row(i) + 2] = 0.02;
  }
  const auto found = inverse_dynamics(problem_, wanted, start, {});
  ASSERT_TRUE(found.ok());
  EXPECT_LT(found->missed, 1e-12);
  EXPECT_TRUE(found->contacts.converged);
  EXPECT_EQ(found->contacts.iterations, 1);
  EXPECT_GT(found->contacts.impulse.norm(), 0.01);
  expect_forward(problem_, *found);
}

TEST_F(InverseDynamicsOfABox, AtRestNeedsNoTorqueWhereTheStartCarriesTheBox) {
  const ContactProblem problem = (*require_scene("box-stack"))->make({}, 1).value();
  const auto& primal = *problem.primal();
  const Eigen::MatrixXd transposed = Eigen::MatrixXd(primal.jacobian).transpose();
  const Vector start = transposed.completeOrthogonalDecomposition().solve(-(primal.mass * primal.free_velocity));
  const auto found = inverse_dynamics(problem, Vector::Zero(problem.rows()), start, {});
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->contacts.converged);
  EXPECT_LT((found->contacts.impulse - start).norm(), 1e-9 * start.norm());
  EXPECT_LT(found->torque.norm(), 1e-9 * start.norm());
  expect_forward(problem, *found);
}

TEST_F(InverseDynamicsOfABox, NeedsTheBodies) {
  ContactProblemData data = problem_.data();
  data.primal.reset();
  data.bias.reset();
  const auto bare = ContactProblem::create(std::move(data));
  ASSERT_TRUE(bare.ok());
  const auto found = inverse_dynamics(*bare, Vector::Zero(bare->rows()), Vector::Zero(bare->rows()), {});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace conebench
