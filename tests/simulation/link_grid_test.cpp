// Links of a cable that touch each other: near pairs, nearest points of segments, contacts.

#include "simulation/deformable/link_grid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>

#include "scenes/random_source.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using testing::scene_of;
using testing::step;

Eigen::Vector3d random_point(RandomSource& random, double span) {
  return {random.uniform(-span, span), random.uniform(-span, span), random.uniform(-span, span)};
}

TEST(NearPairs, AreThoseOfAllPairs) {
  RandomSource random(3);
  NearPairs near;
  for (const double reach : {0.05, 0.4, 3.0}) {
    std::vector<Eigen::Vector3d> points;
    for (int k = 0; k < 200; ++k) points.push_back(random_point(random, 1.0));
    points.push_back({1e9, 0, 0});
    points.push_back({1e9, 0, 0});
    std::vector<std::pair<int, int>> expected;
    for (int i = 0; i < int(points.size()); ++i) {
      for (int j = i + 1; j < int(points.size()); ++j) {
        if ((points[std::size_t(i)] - points[std::size_t(j)]).norm() <= reach) expected.emplace_back(i, j);
      }
    }
    EXPECT_EQ(near.find(points, reach), expected);
    EXPECT_FALSE(expected.empty());
  }
}

TEST(NearestPoints, AreNotFartherThanAnySampledOnes) {
  RandomSource random(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Eigen::Vector3d c1 = random_point(random, 1.0), c2 = random_point(random, 1.0);
    const Eigen::Vector3d a1 = random_point(random, 1.0).normalized();
    const Eigen::Vector3d a2 = trial % 5 == 0 ? Eigen::Vector3d(-a1) : random_point(random, 1.0).normalized();
    const double h1 = random.uniform(0.05, 1.0), h2 = random.uniform(0.05, 1.0);
    const SegmentPair pair = nearest_points(c1, a1, h1, c2, a2, h2);
    double least = 1e9;
    for (int i = -50; i <= 50; ++i) {
      for (int j = -50; j <= 50; ++j) {
        least = std::min(least, (c1 + i / 50.0 * h1 * a1 - c2 - j / 50.0 * h2 * a2).norm());
      }
    }
    const double distance = (pair.first - pair.second).norm();
    EXPECT_LE(distance, least + 1e-12);
    EXPECT_GE(distance, least - 0.05);
    EXPECT_LE((pair.first - c1).cross(a1).norm(), 1e-12);
    EXPECT_LE((pair.first - c1).norm(), h1 + 1e-12);
    EXPECT_LE((pair.second - c2).norm(), h2 + 1e-12);
  }
}

TEST(NearestPoints, OfParallelSegmentsLieInTheMiddleOfTheirOverlap) {
  const SegmentPair pair = nearest_points({0, 0, 0}, {0, 0, 1}, 1.0, {0.5, 0, 1.5}, {0, 0, -1}, 1.0);
  EXPECT_LE((pair.first - Eigen::Vector3d(0, 0, 0.75)).norm(), 1e-12);
  EXPECT_LE((pair.second - Eigen::Vector3d(0.5, 0, 0.75)).norm(), 1e-12);
}

RigidBody rod(const Eigen::Vector3d& at, const Eigen::Vector3d& along, double half_length, double radius) {
  RigidBody body;
  body.name = "rod";
  body.mass = 0.2;
  body.inertia = {1e-3, 1e-3, 1e-4};
  body.pose.position = at;
  body.pose.rotation = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), along).toRotationMatrix();
  body.half_length = half_length;
  body.point_radius = radius;
  return body;
}

Simulation rods(SoftModel model, bool self_contact) {
  SimulatedModel whole;
  whole.control = "none";
  whole.soft = std::move(model);
  SimulationOptions options;
  options.integrator = "euler";
  options.solver = "CASCADE";
  options.tolerance = 1e-11;
  options.step.form = "factored";
  options.step.baumgarte_contacts = 1.0;
  options.self_contact = self_contact;
  auto made = Simulation::create(whole, options, 1, "test", "test");
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

TEST(Capsules, CrossedRodsRestOnEachOtherWithTheirWeight) {
  // The lower one lies on balls about its ends, which touch the ground.
  SoftModel model;
  model.rigid = {rod({0, 0, 0.02}, {1, 0, 0}, 0.3, 0.02), rod({0, 0, 0.0601}, {0, 1, 0}, 0.3, 0.02)};
  model.rigid[0].mass = 5.0;
  for (const double z : {-0.3, 0.3}) model.rigid[0].points.push_back({0, 0, z});
  model.shapes.emplace_back();
  Simulation loop = rods(model, true);
  StepRecord last = step(loop);
  for (int k = 0; k < 30; ++k) last = step(loop);
  EXPECT_NEAR(loop.state().position[7 + 2], 0.06, 1e-6);
  double carried = 0.0;
  for (std::size_t c = 0; c < loop.mechanics().contacts.size(); ++c) {
    if (loop.mechanics().contacts[c].second_body == 2) carried += last.impulse[3 * Index(c) + 2];
  }
  EXPECT_NEAR(carried, 0.2 * 9.81 * 0.01, 1e-9);
  EXPECT_EQ(loop.engine().shape_name(loop.mechanics().contacts.back().second_shape), "rod");
}

TEST(Capsules, PassThroughEachOtherWithoutSelfContact) {
  SoftModel model;
  model.rigid = {rod({0, 0, 1}, {1, 0, 0}, 0.3, 0.02), rod({0, 0, 1.05}, {0, 1, 0}, 0.3, 0.02)};
  model.gravity = 0.0;
  model.rigid[1].velocity = {0, 0, -1};
  Simulation on = rods(model, true), off = rods(model, false);
  for (int k = 0; k < 20; ++k) {
    step(on);
    EXPECT_EQ(step(off).problem.rows(), 0);
  }
  EXPECT_NEAR(off.state().position[9], 0.85, 1e-12);
  // An impact without restitution: the two move on together, and nothing is lost.
  EXPECT_NEAR(on.state().velocity[2], -0.5, 1e-9);
  EXPECT_NEAR(on.state().velocity[8], -0.5, 1e-9);
  EXPECT_NEAR(on.state().position[9] - on.state().position[2], 0.04, 1e-9);
}

TEST(Capsules, KeepMomentumWhereTheyGlanceOffEachOther) {
  SoftModel model;
  model.rigid = {rod({0.1, 0, 1}, {1, 0, 0}, 0.3, 0.02), rod({0, 0.15, 1.09}, {0, 1, 0.2}, 0.3, 0.02)};
  model.gravity = 0.0;
  model.capsule_friction = 0.7;
  model.rigid[1].velocity = {0.5, 0.3, -1};
  Simulation loop = rods(model, true);
  step(loop);
  const Momentum before = loop.engine().momentum();
  Index rows = 0;
  for (int k = 0; k < 10; ++k) rows += step(loop).problem.rows();
  const Momentum after = loop.engine().momentum();
  EXPECT_GT(rows, 0);
  EXPECT_LE((after.linear - before.linear).norm(), 1e-12);
  // Impulses are one and the other at one point; what is left is of the order of the step.
  EXPECT_LE((after.angular - before.angular).norm(), 1e-2 * before.linear.norm());
}

/// Deepest overlap of two links that no three joints connect [m].
double overlap(Simulation& loop, long links, double half, double radius) {
  double worst = 0.0;
  for (long i = 1; i <= links; ++i) {
    for (long j = i + 4; j <= links; ++j) {
      const BodyPose a = loop.engine().body_pose(int(i)), b = loop.engine().body_pose(int(j));
      const auto axis = [](const BodyPose& pose) -> Eigen::Vector3d {
        const Eigen::Vector4d& q = pose.quaternion;
        return Eigen::Quaterniond(q[0], q[1], q[2], q[3]) * Eigen::Vector3d::UnitZ();
      };
      const SegmentPair pair = nearest_points(a.position, axis(a), half, b.position, axis(b), half);
      worst = std::max(worst, 2.0 * radius - (pair.first - pair.second).norm());
    }
  }
  return worst;
}

TEST(CableWinding, LinksOfNextTurnsDoNotPassThroughEachOther) {
  // Without a rise every turn is laid on the one before.
  const auto worst = [](bool self_contact) {
    Simulation loop = scene_of("cable-winding", {{"links", 80L},
                                                 {"length", 1.2},
                                                 {"rise", 0.0},
                                                 {"turns", 1.0},
                                                 {"solver", "CASCADE"},
                                                 {"integrator", "euler"},
                                                 {"self_contact", self_contact},
                                                 {"tolerance", 1e-6}});
    double deepest = 0.0;
    for (int k = 0; k < 160; ++k) step(loop);
    for (int k = 0; k < 10; ++k) {
      step(loop);
      deepest = std::max(deepest, overlap(loop, 80, 0.0075, 0.005));
    }
    return deepest;
  };
  EXPECT_GT(worst(false), 2e-3);
  EXPECT_LT(worst(true), 1e-3);
}

}  // namespace
}  // namespace conebench::simulation
