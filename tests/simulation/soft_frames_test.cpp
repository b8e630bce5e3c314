// Rigid bodies, guides and joints beside elastic bodies: derivatives against finite differences, and motions with
// answers in closed form.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "simulation/deformable/rotations.hpp"
#include "simulation/deformable/shape_distance.hpp"
#include "simulation/deformable/soft_engine.hpp"
#include "simulation/deformable/spring_joint.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using testing::scene_of;
using testing::step;

const Eigen::Matrix3d slanted = exponential({0.4, -0.9, 0.7}).toRotationMatrix();

RigidBody body_at(const Eigen::Vector3d& position, const Eigen::Matrix3d& rotation = Eigen::Matrix3d::Identity()) {
  RigidBody body;
  body.name = "body";
  body.mass = 0.7;
  body.inertia = {0.02, 0.03, 0.04};
  body.pose = {position, rotation};
  return body;
}

Simulation soft_simulation(const SoftModel& soft, const std::string& integrator = "midpoint", double time_step = 0.01,
                           double margin = -1.0) {
  SimulationOptions options;
  options.integrator = integrator;
  options.time_step = time_step;
  options.solver = "CASCADE";
  options.tolerance = 1e-10;
  options.step.form = "factored";
  options.contact_margin = margin;
  options.step.baumgarte_contacts = 1.0;
  return testing::soft_simulation(soft, options);
}

/// Two free bodies and a joint between points of them, all askew.
SoftModel joined(const Eigen::Vector3d& gap) {
  SoftModel model;
  model.rigid = {body_at({0, 0, 0}, slanted),
                 body_at({0.3, 0.1, 0.2}, slanted * exponential({0.2, 0.3, -0.1}).toRotationMatrix())};
  SpringJoint joint;
  joint.a = 1;
  joint.b = 2;
  joint.at_a = {0.1, 0.05, 0.02};
  joint.at_b = {-0.1, 0.02, 0.03};
  joint.length = 0.25;
  joint.gain << 3, 4, 5, 0.6, 0.7, 0.8;
  model.joints = {joint};
  model.rigid[1].pose.position = slanted * joint.at_a - model.rigid[1].pose.rotation * joint.at_b + gap;
  return model;
}

JointAt joint_where(const SoftModel& model, const Vector& q) {
  Frames frames(model, 0, 0);
  frames.move_to(q, Vector::Zero(frames.velocities()), 0.0);
  return joint_at(model.joints[0], frames);
}

Vector moved(const SoftModel& model, const Vector& q, Index column, double by) {
  Frames frames(model, 0, 0);
  Vector v = Vector::Zero(frames.velocities()), to = q;
  v[column] = by;
  frames.advance(to, v, 1.0);
  return to;
}

Vector start_of(const SoftModel& model) {
  Frames frames(model, 0, 0);
  Vector q(frames.positions()), v(frames.velocities());
  frames.start(q, v);
  return q;
}

TEST(SpringJoint, JacobianIsTheErrorsDerivative) {
  const SoftModel model = joined({0.05, -0.03, 0.08});
  const Vector q = start_of(model);
  const JointAt at = joint_where(model, q);
  ASSERT_EQ(at.count, 12);
  const double h = 1e-6;
  for (int c = 0; c < 12; ++c) {
    const auto column = at.columns[std::size_t(c)];
    const Eigen::Matrix<double, 6, 1> difference =
        (joint_where(model, moved(model, q, column, h)).error - joint_where(model, moved(model, q, column, -h)).error) /
        (2 * h);
    EXPECT_LE((difference - at.jacobian.col(c)).norm(), 1e-8 * (1.0 + at.jacobian.col(c).norm())) << c;
  }
}

TEST(SpringJoint, CurvatureIsTheSecondDerivativeAndItsBoundExceedsIt) {
  SoftModel model = joined({0.05, -0.03, 0.08});
  model.joints[0].gain.tail<3>().setZero();
  const Vector q = start_of(model);
  const JointAt at = joint_where(model, q);
  const Eigen::Vector3d pull = model.joints[0].gain.head<3>().cwiseProduct(at.error.head<3>());
  // K e fixed: the quadratic form of L = K e · e(q) along motions that turn several frames at once.
  const auto along = [&](const Vector& direction, double by) {
    Frames frames(model, 0, 0);
    Vector to = q;
    frames.advance(to, direction, by);
    return pull.dot(joint_where(model, to).error.head<3>());
  };
  const double h = 1e-4;
  Eigen::Matrix<double, 12, 12> s = at.curvature.topLeftCorner<12, 12>();
  for (int k = 0; k < 8; ++k) {
    const Vector d = Vector::NullaryExpr(12, [&](Index i) { return std::sin(double(3 * i + 7 * k + 1)); });
    const double second = (along(d, h) - 2 * along(d, 0.0) + along(d, -h)) / (h * h);
    EXPECT_NEAR(second, d.dot(s * d), 1e-5 * s.norm());
  }
  const Matrix bound = at.bound.topLeftCorner<12, 12>();
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(bound - s).eigenvalues().minCoeff(), -1e-12 * s.norm());
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(bound + s).eigenvalues().minCoeff(), -1e-12 * s.norm());
}

TEST(SoftFrames, ForcesAreTheEnergysDerivative) {
  const SoftModel model = joined({0.05, -0.03, 0.08});
  auto engine = make_soft_engine(model, "m").value();
  State state = engine->start();
  Mechanics mechanics;
  const auto energy = [&](const Vector& q) {
    State at = state;
    at.position = q;
    EXPECT_TRUE(engine->evaluate(at, {}, mechanics));
    return engine->energy().potential;
  };
  const double h = 1e-6;
  energy(state.position);
  const Vector force = mechanics.force;
  for (Index c = 0; c < force.size(); ++c) {
    const double difference =
        -(energy(moved(model, state.position, c, h)) - energy(moved(model, state.position, c, -h))) / (2 * h);
    EXPECT_NEAR(force[c], difference, 1e-6 * force.norm()) << c;
  }
}

TEST(SoftFrames, FreeBodiesKeepMomentumAndEnergyToTheOrderOfTheStep) {
  const auto drift_of = [](double time_step) {
    SoftModel model = joined({0.02, 0.01, -0.02});
    model.gravity = 0.0;
    model.stiffness_damping = 0.0;
    model.rigid[0].spin = {3, -2, 1};
    model.rigid[1].velocity = {0.5, 0.2, -0.3};
    Simulation loop = soft_simulation(model, "midpoint", time_step);
    step(loop);
    const Momentum before = loop.engine().momentum();
    const auto steps = std::lround(0.2 / time_step);
    for (long k = 0; k < steps; ++k) step(loop);
    const Momentum after = loop.engine().momentum();
    EXPECT_LE((after.linear - before.linear).norm(), 1e-12);
    return (after.angular - before.angular).norm();
  };
  const double coarse = drift_of(2e-3), fine = drift_of(1e-3);
  EXPECT_LT(fine, 0.6 * coarse);
  EXPECT_LT(coarse, 1e-2);
}

TEST(SoftFrames, FallsFreelyWithItsSlide) {
  // A body with another one on a slide, both spun: the centre of both falls as a stone does.
  SoftModel model;
  model.rigid = {body_at({0, 0, 1}), body_at({0.2, 0, 1})};
  model.rigid[0].spin = {0, 2, 3};
  model.rigid[1].slide = Slide{.parent = 0, .axis = {1, 0, 0}, .force = 0.4, .damping = 0.3};
  for (const char* integrator : {"midpoint", "euler"}) {
    Simulation loop = soft_simulation(model, integrator, 1e-3);
    step(loop);
    const Momentum before = loop.engine().momentum();
    const int steps = 100;
    for (int k = 0; k < steps; ++k) step(loop);
    const Momentum after = loop.engine().momentum();
    const Eigen::Vector3d expected = before.linear - Eigen::Vector3d(0, 0, 1.4 * 9.81 * steps * 1e-3);
    // Coriolis terms are those of the step's start, so that it is of first order.
    EXPECT_LE((after.linear - expected).norm(), 5e-3 * expected.norm()) << integrator;
    EXPECT_GT(loop.state().position[7], 1e-3) << "the slide moved";
  }
}

TEST(ShapeDistance, IsTheDistanceAndItsGradient) {
  Shape box, cylinder, sphere;
  box.kind = Shape::Kind::box;
  box.size = {0.1, 0.2, 0.3};
  cylinder.kind = Shape::Kind::cylinder;
  cylinder.size = {0.1, 0.3, 0};
  sphere.kind = Shape::Kind::sphere;
  sphere.size = {0.2, 0, 0};
  EXPECT_NEAR(distance_to(box, {0.4, 0.6, 0.3}).gap, 0.5, 1e-12);
  EXPECT_NEAR(distance_to(box, {0.05, -0.19, 0.0}).gap, -0.01, 1e-12);
  EXPECT_EQ(distance_to(box, {0.05, -0.19, 0.0}).normal, Eigen::Vector3d(0, -1, 0));
  EXPECT_NEAR(distance_to(cylinder, {0.3, 0.4, 0.1}).gap, 0.4, 1e-12);
  EXPECT_NEAR(distance_to(cylinder, {0.0, 0.4, 0.7}).gap, 0.5, 1e-12);
  EXPECT_NEAR(distance_to(cylinder, {0.0, 0.0, -0.29}).gap, -0.01, 1e-12);
  EXPECT_NEAR(distance_to(sphere, {0.3, 0.0, 0.4}).gap, 0.3, 1e-12);
  const double h = 1e-6;
  for (const Shape& shape : {box, cylinder, sphere}) {
    for (int k = 0; k < 20; ++k) {
      const Eigen::Vector3d p(0.4 * std::sin(7.0 * k + 1), 0.4 * std::sin(3.0 * k + 2), 0.6 * std::sin(5.0 * k + 3));
      const ShapeDistance at = distance_to(shape, p);
      for (int c = 0; c < 3; ++c) {
        const Eigen::Vector3d by = h * Eigen::Vector3d::Unit(c);
        const double slope = (distance_to(shape, p + by).gap - distance_to(shape, p - by).gap) / (2 * h);
        EXPECT_NEAR(slope, at.normal[c], 1e-4);
      }
      const Eigen::Matrix3d frame = frame_of(at.normal);
      EXPECT_LE((frame.transpose() * frame - Eigen::Matrix3d::Identity()).norm(), 1e-12);
      EXPECT_NEAR(frame.determinant(), 1.0, 1e-12);
    }
  }
}

TEST(SoftFrames, BoxOnAnInclineSlidesByCoulombsLawAndSticksBelowItsAngle) {
  for (const double slope : {0.2, 0.5}) {
    const double mu = 0.3, g = 9.81;
    SoftModel model;
    RigidBody box = body_at({0, 0, 0.05});
    box.inertia.setConstant(1e-3);
    for (const double x : {-0.1, 0.1}) {
      for (const double y : {-0.1, 0.1}) box.points.push_back({x, y, -0.05});
    }
    // Gravity is turned in place of the ground.
    model.gravity = g * std::cos(slope);
    box.force = {box.mass * g * std::sin(slope), 0, 0};
    model.rigid = {box};
    model.shapes.emplace_back();
    model.shapes[0].friction = mu;
    Simulation loop = soft_simulation(model, "euler");
    const int steps = 50;
    for (int k = 0; k < steps; ++k) step(loop);
    const double speed = std::max(0.0, g * (std::sin(slope) - mu * std::cos(slope))) * steps * 0.01;
    EXPECT_NEAR(loop.state().velocity[0], speed, 1e-6) << slope;
  }
}

TEST(SoftFrames, SurfacesThatMoveDragWhatSticksToThem) {
  // A box on a plate that a guide leads away at constant speed.
  SoftModel model;
  RigidBody box = body_at({0, 0, 0.05});
  for (const double x : {-0.1, 0.1}) {
    for (const double y : {-0.1, 0.1}) box.points.push_back({x, y, -0.05});
  }
  model.rigid = {box};
  Guide plate;
  plate.moves.push_back({.until = 1.0, .by = {0.3, 0, 0}, .steady = true});
  model.guides = {plate};
  model.shapes.emplace_back();
  model.shapes[0].carrier = model.guide_number(0);
  Simulation loop = soft_simulation(model, "euler");
  for (int k = 0; k < 50; ++k) step(loop);
  EXPECT_NEAR(loop.state().velocity[0], 0.3, 1e-6);
}

/// A rod of links along x, its first end held, sinking to rest under its weight.
struct Rod {
  SoftModel model;
  double link, weight;  ///< [m], [N/m]
  static constexpr double radius = 0.01, young = 1e7;
  static constexpr double area = std::numbers::pi * radius * radius, bending = 0.25 * area * radius * radius;

  Rod(int links, double length, double gravity) : link(length / links), weight(1000.0 * area * gravity) {
    Eigen::Matrix3d along;
    along << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    model.gravity = gravity;
    model.guides.emplace_back();
    model.guides[0].pose.rotation = along;
    for (int k = 0; k < links; ++k) {
      RigidBody body = body_at({(k + 0.5) * link, 0, 0}, along);
      body.mass = 1000.0 * area * link;
      const double across = body.mass * (3 * radius * radius + link * link) / 12.0;
      body.inertia = {across, across, 0.5 * body.mass * radius * radius};
      model.rigid.push_back(body);
    }
    for (int k = 0; k < links; ++k) {
      SpringJoint joint;
      joint.a = k == 0 ? model.guide_number(0) : model.rigid_number(std::size_t(k - 1));
      joint.b = model.rigid_number(std::size_t(k));
      joint.at_a = k == 0 ? Eigen::Vector3d(0, 0, 0) : Eigen::Vector3d(0, 0, 0.5 * link);
      joint.at_b = {0, 0, -0.5 * link};
      // The joint at the wall stands for half a link's length.
      joint.length = link;
      const double shear = young / 2.6 * area * 5.0 / 6.0;
      joint.gain << shear, shear, young * area, young * bending, young * bending, young / 1.3 * bending;
      joint.gain *= link;
      model.joints.push_back(joint);
    }
    model.mass_damping = 10.0;
  }
};

TEST(SoftFrames, RodThatAGuideLeadsSteadilyDoesNotLag) {
  // Along itself and about its axis; across itself where it is pulled taut. It starts as it goes on.
  for (const char* integrator : {"euler", "midpoint", "newton", "moreau", "positions"}) {
    for (const bool taut : {false, true}) {
      const int links = 6;
      Rod rod(links, 0.6, 0.0);
      rod.model.mass_damping = 0.0;
      rod.model.stiffness_damping = 0.02;
      const Eigen::Vector3d velocity = taut ? Eigen::Vector3d(0, 0.4, -0.3) : Eigen::Vector3d(-0.5, 0, 0);
      const Eigen::Vector3d spin = taut ? Eigen::Vector3d(0, 0, 0) : Eigen::Vector3d(2.0, 0, 0);
      rod.model.guides[0].moves.push_back(
          {.until = 1.0, .by = velocity, .angle = spin.norm(), .axis = Eigen::Vector3d::UnitX(), .steady = true});
      for (RigidBody& body : rod.model.rigid) {
        body.velocity = velocity;
        body.spin = spin;
      }
      if (taut) rod.model.rigid.back().force = {2.0, 0, 0};
      Simulation loop = soft_simulation(rod.model, integrator, 0.01);
      for (int k = 0; k < 80; ++k) step(loop);
      const double time = loop.state().time;
      ASSERT_NEAR(time, 0.8, 1e-12);
      for (int k = 0; k < links; ++k) {
        const auto q = loop.state().position.segment<7>(7 * k);
        const Eigen::Vector3d lag = q.head<3>() - Eigen::Vector3d((k + 0.5) * rod.link, 0, 0) - time * velocity;
        const std::string where = std::string(integrator) + (taut ? ", taut" : "") + ", link " + std::to_string(k);
        EXPECT_LE(lag.tail<2>().norm(), 1e-9) << where;
        if (taut) {
          EXPECT_GT(lag[0], 1e-5) << where;
          continue;
        }
        EXPECT_NEAR(lag[0], 0.0, 1e-9) << where;
        const Eigen::Matrix3d turn = exponential(time * spin).toRotationMatrix() * rod.model.rigid[0].pose.rotation;
        EXPECT_LE((Eigen::Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix() - turn).norm(), 1e-8) << where;
      }
    }
  }
}

TEST(SoftFrames, NodesTiedToAGuideDoNotLag) {
  for (const char* integrator : {"euler", "midpoint", "newton", "moreau"}) {
    const Eigen::Vector3d velocity(0.4, -0.2, 0.3);
    SoftModel model;
    model.gravity = 0.0;
    SoftBody body;
    body.mesh.nodes = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}};
    body.mesh.tetrahedra = {{0, 1, 2, 3}};
    body.position.resize(12);
    for (Index k = 0; k < 4; ++k) body.position.segment<3>(3 * k) = body.mesh.nodes[std::size_t(k)];
    body.velocity = velocity.replicate(4, 1);
    model.bodies = {body};
    model.guides.emplace_back();
    model.guides[0].moves.push_back({.until = 1.0, .by = velocity, .steady = true});
    model.ties = {{.nodes = {0, 1, 2, 3}}};
    Simulation loop = soft_simulation(model, integrator, 0.01);
    for (int k = 0; k < 50; ++k) step(loop);
    const Vector expected = body.position + loop.state().time * body.velocity;
    EXPECT_LE((loop.state().position - expected).cwiseAbs().maxCoeff(), 1e-9) << integrator;
  }
}

TEST(SoftFrames, CantileverOfLinksBendsAsEulerAndBernoulliSay) {
  const double length = 0.4, gravity = 0.5;
  const auto tip = [&](int links) {
    const Rod rod(links, length, gravity);
    Simulation loop = soft_simulation(rod.model, "euler", 0.05);
    for (int k = 0; k < 200; ++k) step(loop);
    EXPECT_LT(loop.state().velocity.cwiseAbs().maxCoeff(), 1e-6);
    return -loop.engine().world_point(rod.model.rigid_number(std::size_t(links - 1)), {0, 0, 0.5 * rod.link})[2];
  };
  const double weight = 1000.0 * Rod::area * gravity;
  const double exact = weight * std::pow(length, 4) / (8.0 * Rod::young * Rod::bending) +
                       weight * length * length / 2.0 / (Rod::young / 2.6 * Rod::area * 5.0 / 6.0);
  // Hinges at the links' ends: of first order, as the one at the wall is a whole link's.
  const double coarse = tip(20) / exact - 1.0, fine = tip(40) / exact - 1.0;
  EXPECT_NEAR(fine / coarse, 0.5, 0.1);
  EXPECT_LT(std::abs(fine), 0.1);
}

TEST(SoftFrames, CapstanHoldsMoreByTheExponentialOfTheAngle) {
  // A rod bent half round a post, one end pulled by T2, the other by T1: it slides once T2 > T1 exp(μ π).
  const double mu = 0.3, post = 0.1, radius = 0.002, limit = std::exp(mu * std::numbers::pi);
  const auto slid = [&](double ratio) {
    const int straight = 4, bent = 40;
    const double link = std::numbers::pi * (post + radius) / bent;
    SoftModel model;
    model.gravity = 0.0;
    model.mass_damping = 2.0;
    for (int k = 0; k < bent + 2 * straight; ++k) {
      // Down along x = −(post + radius), over the top, down along x = post + radius; links go the same way.
      const double s = (k + 0.5 - straight) * link, r = post + radius;
      const double angle = std::clamp(s / r, 0.0, std::numbers::pi);
      const double beyond = s < 0.0 ? s : s > std::numbers::pi * r ? std::numbers::pi * r - s : 0.0;
      RigidBody body = body_at({-r * std::cos(angle), 0.0, r * std::sin(angle) + beyond});
      const Eigen::Vector3d along(std::sin(angle), 0, std::cos(angle));
      body.pose.rotation.col(2) = along;
      body.pose.rotation.col(1) = Eigen::Vector3d::UnitY();
      body.pose.rotation.col(0) = Eigen::Vector3d::UnitY().cross(along);
      body.mass = 0.01;
      body.inertia.setConstant(0.01 * link * link / 10.0);
      body.points.push_back(Eigen::Vector3d::Zero());
      body.point_radius = radius;
      model.rigid.push_back(body);
    }
    for (std::size_t k = 1; k < model.rigid.size(); ++k) {
      SpringJoint joint;
      joint.a = model.rigid_number(k - 1);
      joint.b = model.rigid_number(k);
      joint.at_a = {0, 0, 0.5 * link};
      joint.at_b = {0, 0, -0.5 * link};
      joint.length = link;
      joint.gain << 2e3, 2e3, 2e3, 1e-6, 1e-6, 1e-6;  // limp
      joint.gain *= link;
      model.joints.push_back(joint);
    }
    model.rigid.front().force = {0, 0, -1.0};
    model.rigid.back().force = {0, 0, -ratio};
    Shape cylinder;
    cylinder.kind = Shape::Kind::cylinder;
    cylinder.size = {post, 1.0, 0};
    cylinder.pose.rotation << 1, 0, 0, 0, 0, -1, 0, 1, 0;  // its axis along y
    cylinder.friction = mu;
    model.shapes = {cylinder};
    Simulation loop = soft_simulation(model, "euler", 0.01, 1e-3);
    for (int k = 0; k < 100; ++k) step(loop);
    const double then = loop.state().position[7 * 20 + 2];
    const Eigen::Vector3d velocity = loop.state().velocity.segment<3>(6 * 20);
    EXPECT_GT(then, 0.03) << "it is still on the post";
    return velocity.norm();
  };
  EXPECT_LT(slid(0.95 * limit), 2e-3);
  EXPECT_GT(slid(1.1 * limit), 2e-2);
}

TEST(SoftScenes, BallIsLifted) {
  Simulation loop = scene_of(
      "soft-ball-grip",
      {{"cells", 4L}, {"solver", "CASCADE"}, {"tolerance", 1e-6}, {"close_duration", 0.5}, {"lift_duration", 0.5}});
  const int ball = *loop.engine().body_number("ball");
  for (int k = 0; k < 120; ++k) step(loop);
  const double height = loop.engine().body_pose(ball).position[2];
  EXPECT_GT(height, 0.04 + 0.08);
  EXPECT_LT(height, 0.04 + 0.11);
}

TEST(SoftScenes, GripperLiftsItsObject) {
  Simulation loop =
      scene_of("soft-gripper", {{"nx", 2L}, {"ny", 2L}, {"nz", 6L}, {"solver", "CASCADE"}, {"tolerance", 1e-6}});
  const int object = *loop.engine().body_number("object");
  for (int k = 0; k < 160; ++k) step(loop);
  EXPECT_GT(loop.engine().body_pose(object).position[2], 0.03 + 0.07);
}

TEST(SoftScenes, CableIsWoundUp) {
  Simulation loop =
      scene_of("cable-winding", {{"links", 40L}, {"length", 1.2}, {"tolerance", 1e-6}, {"solver", "CASCADE"}});
  int most = 0;
  for (int k = 0; k < 100; ++k) {
    step(loop);
    int on_post = 0;
    for (const ContactPoint& contact : loop.mechanics().contacts) {
      on_post += contact.first_shape == 0 && contact.gap < 1e-4 ? 1 : 0;
    }
    most = std::max(most, on_post);
  }
  EXPECT_GE(most, 3);
  EXPECT_LT(loop.state().velocity.cwiseAbs().maxCoeff(), 100.0);
}

TEST(SoftScenes, AnisotropicFrictionTurnsThePath) {
  // A flat box: a point mass on an ellipse of friction, v̇ = −g (μ1² v1, μ2² v2) / |(μ1 v1, μ2 v2)|.
  const double mu1 = 0.1, mu2 = 0.4, g = 9.81, dt = 1e-3;
  Simulation loop =
      scene_of("box-anisotropic", {{"height", 1e-4}, {"integrator", "euler"}, {"time_step", dt}, {"tolerance", 1e-10}});
  Eigen::Vector2d v(1, 1), x(0, 0);
  for (int k = 0; k < 400; ++k) {
    const StepRecord record = step(loop);
    EXPECT_LE(record.residual, 1e-10);
    ASSERT_TRUE(record.problem.configuration()->friction_axes);
    // The same law in the implicit step: the direction is that of the velocity after it.
    Eigen::Vector2d after = v;
    for (int pass = 0; pass < 50; ++pass) {
      const Eigen::Vector2d weighted(mu1 * after[0], mu2 * after[1]);
      after = v - dt * g * Eigen::Vector2d(mu1 * mu1 * after[0], mu2 * mu2 * after[1]) / weighted.norm();
    }
    v = after;
    x += dt * v;
  }
  EXPECT_NEAR(loop.state().position[0], x[0], 1e-4);
  EXPECT_NEAR(loop.state().position[1], x[1], 1e-4);
  EXPECT_GT(v[0], 2.0 * v[1]);
}

}  // namespace
}  // namespace conebench::simulation
