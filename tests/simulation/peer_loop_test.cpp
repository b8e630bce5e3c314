// MuJoCo's own loop against ours, and the configuration of Carpentier24 Fig. 6 that both can have.

#include "simulation/peer_loop.hpp"

#include <gtest/gtest.h>

#include "tests/simulation/gravity.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

constexpr double peer_step_s = 1e-3;

std::unique_ptr<PeerLoop> peer_of(const std::string& mjcf, const EngineOptions& options = {}) {
  SimulatedModel model;
  model.mjcf = mjcf;
  auto peer = load_peer_loop(model, "test", options, peer_step_s);
  if (!peer) throw std::runtime_error(peer.error().message);
  return std::move(*peer);
}

PeerStep run_peer(PeerLoop& peer, int steps, PeerLoop::Clock clock = nullptr) {
  PeerStep last;
  for (int k = 0; k < steps; ++k) last = peer.step(Vector(0), clock).value();
  return last;
}

/// Each reading a second later than the one before.
double ticking() {
  static double seconds = 0.0;
  return seconds += 1.0;
}

std::string box_at(double height) {
  return world("<geom type=\"plane\" size=\"1 1 1\"/><body pos=\"0 0 " + std::to_string(height) +
               "\"><freejoint/><geom type=\"box\" size=\".1 .1 .1\" mass=\"1\"/></body>");
}

class PeerLoops : public WithMujoco {};

TEST_F(PeerLoops, ABodyFallsAndStartsAgain) {
  const auto peer = peer_of(box_at(5.0));
  EXPECT_EQ(run_peer(*peer, 100).contacts, 0);
  EXPECT_NEAR(peer->highest_speed(), g * 100 * peer_step_s, 1e-12);
  peer->restart();
  EXPECT_EQ(peer->highest_speed(), 0.0);
}

TEST_F(PeerLoops, ABoxRestsOnTheFloorsSolver) {
  const auto peer = peer_of(box_at(0.1));
  const PeerStep step = run_peer(*peer, 500);
  EXPECT_EQ(step.contacts, 4);
  EXPECT_LT(peer->highest_speed(), 1e-3);
}

TEST_F(PeerLoops, PartsOfAStepAddUpToNoMoreThanTheStep) {
  const auto peer = peer_of(box_at(0.1));
  const PeerStep timed = run_peer(*peer, 3, ticking);
  EXPECT_GT(timed.collision, 0.0);
  EXPECT_GT(timed.solve, 0.0);
  EXPECT_GE(timed.all, timed.collision + timed.rows + timed.solve);
  EXPECT_EQ(run_peer(*peer, 1).all, 0.0) << "without a clock nothing is timed";
}

/// A pendulum that its spring, damper, drive and limit would hold at rest, level.
const std::string held_pendulum = world(
    "<body><joint name=\"j\" axis=\"0 1 0\" limited=\"true\" range=\"-0.01 0.01\" stiffness=\"100\" "
    "damping=\"100\"/><geom type=\"sphere\" size=\".01\" pos=\"1 0 0\" mass=\"1\"/></body>",
    "<actuator><motor joint=\"j\"/></actuator>" + keyframe("0", "0", "-9.81"));

TEST_F(PeerLoops, APassivePendulumFallsInBothLoops) {
  const double inertia = 1.0 + 0.4 * 0.01 * 0.01;
  SimulationOptions options;
  options.passive = true;
  auto ours = simulation_of(held_pendulum, peer_step_s, options);
  const auto theirs = peer_of(held_pendulum, options.engine());
  const Vector control = Vector::Constant(1, -9.81);
  double angle = 0.0, rate = 0.0;
  for (int k = 0; k < 100; ++k) {
    rate += peer_step_s * g * std::cos(angle) / inertia;
    angle += peer_step_s * rate;
    EXPECT_EQ(step(ours).problem.rows(), 0);
    ASSERT_TRUE(theirs->step(control, nullptr));
  }
  EXPECT_NEAR(ours.state().velocity[0], rate, 1e-9);
  EXPECT_NEAR(theirs->highest_speed(), rate, 1e-9);
  auto held = simulation_of(held_pendulum, peer_step_s);
  for (int k = 0; k < 100; ++k) step(held);
  EXPECT_LT(std::abs(held.state().velocity[0]), 0.1 * rate) << "it is held without the option";
}

TEST_F(PeerLoops, WithSelfContactAllTouchButWhatAJointConnects) {
  // Three links in a row, overlapping, that the model keeps from touching.
  const std::string ball = "<geom type=\"sphere\" size=\".2\" contype=\"0\" conaffinity=\"2\" mass=\"1\"/>";
  const std::string chain =
      world("<body pos=\"0 0 1\"><freejoint/>" + ball + "<body pos=\".1 0 0\"><joint axis=\"0 1 0\"/>" + ball +
            "<body pos=\".1 0 0\"><joint axis=\"0 1 0\"/>" + ball + "</body></body></body>");
  const auto contacts = [&](bool self_contact) {
    SimulationOptions options;
    options.self_contact = self_contact;
    auto simulation = simulation_of(chain, peer_step_s, options);
    return step(simulation).problem.cones().contacts();
  };
  EXPECT_EQ(contacts(false), 0);
  EXPECT_EQ(contacts(true), 1);  // of the first and the third
}

}  // namespace
}  // namespace conebench::simulation
