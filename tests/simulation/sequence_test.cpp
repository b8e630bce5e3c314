#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/temporary_folder.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "simulation/contact_identity.hpp"
#include "simulation/control.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scene_plan.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

ContactPoint contact(int first, int second, const Eigen::Vector3d& at) {
  ContactPoint made;
  made.first_shape = first;
  made.second_shape = second;
  made.frame.setIdentity();
  made.position = made.first_local = made.second_local = at;
  return made;
}

TEST(ContactIdentity, AContactThatMovesLittleStaysTheSame) {
  ContactIdentities identities(0.1);
  const auto before = identities.follow({contact(0, 1, {0, 0, 0}), contact(0, 1, {1, 0, 0})});
  const auto after = identities.follow({contact(0, 1, {1.05, 0, 0}), contact(0, 1, {0.05, 0, 0})});
  EXPECT_EQ(after, (std::vector<std::int64_t>{before[1], before[0]}));
}

TEST(ContactIdentity, AContactBeyondTheRadiusOrOfOtherShapesIsNew) {
  ContactIdentities identities(0.1);
  identities.follow({contact(0, 1, {0, 0, 0})});
  EXPECT_EQ(identities.follow({contact(0, 1, {0.2, 0, 0})})[0], 1);
  EXPECT_EQ(identities.follow({contact(0, 2, {0.2, 0, 0})})[0], 2);
}

TEST(ContactIdentity, ASlidingContactIsKnownByThePointOnTheBodyThatSlides) {
  ContactIdentities identities(0.1);
  ContactPoint corner = contact(0, 1, {0, 0, 0});
  identities.follow({corner});
  corner.first_local = {5, 0, 0};  // far along the plane, and still the same corner
  EXPECT_EQ(identities.follow({corner})[0], 0);
}

TEST(ContactIdentity, TwoContactsNeverShareOneIdentity) {
  ContactIdentities identities(0.1);
  identities.follow({contact(0, 1, {0, 0, 0})});
  const auto after = identities.follow({contact(0, 1, {0.04, 0, 0}), contact(0, 1, {0.01, 0, 0})});
  EXPECT_EQ(after, (std::vector<std::int64_t>{1, 0}));
}

TEST(ContactIdentity, AWarmStartTurnsImpulsesIntoTheNewFrame) {
  Mechanics before;
  before.jacobian.resize(3, 1);
  before.contacts = {contact(0, 1, {0, 0, 0})};
  WarmStart warm;
  warm.keep(before, {7}, Eigen::Vector3d(1, 2, 3));
  Mechanics after = before;
  after.contacts[0].frame.col(0) = Eigen::Vector3d::UnitY();
  after.contacts[0].frame.col(1) = -Eigen::Vector3d::UnitX();
  EXPECT_EQ(warm.guess(after, {7}), Vector(Eigen::Vector3d(2, -1, 3)));
  EXPECT_EQ(warm.guess(after, {8}), Vector::Zero(3));
}

TEST(ControlSignal, HoldsWavesAndDrawsWithinTheRange) {
  Matrix ranges(2, 2);
  ranges << -1, 1, 0, 10;
  const Vector start = (Vector(2) << 0.5, 9.0).finished();
  EXPECT_EQ(Control("none", {}, ranges, Matrix(2, 0), start, 1).at(3.0), Vector::Zero(2));
  EXPECT_EQ(Control("hold", {}, ranges, Matrix(2, 0), start, 1).at(3.0), start);
  for (const std::string kind : {"sine", "random"}) {
    Control control(kind, {}, ranges, Matrix(2, 0), start, 1);
    Control again(kind, {}, ranges, Matrix(2, 0), start, 1);
    Control other(kind, {}, ranges, Matrix(2, 0), start, 2);
    EXPECT_LT((control.at(0.0) - start).norm(), 1e-12) << kind;
    bool differs = false;
    Vector last = start;
    for (double time = 0.0; time < 5.0; time += 0.01) {
      const Vector now = control.at(time);
      EXPECT_EQ(now, again.at(time));
      differs = differs || now != other.at(time);
      EXPECT_TRUE((now.array() >= ranges.col(0).array()).all() && (now.array() <= ranges.col(1).array()).all());
      EXPECT_LT((now - last).cwiseAbs().maxCoeff(), 0.2) << "no jumps";
      last = now;
    }
    EXPECT_TRUE(differs) << kind;
  }
}

TEST(ControlSignal, AModelsOwnWavesComeFirst) {
  Matrix ranges(2, 2), waves(2, 3);
  ranges << -1, 1, 0, 10;
  waves << 0.25, 2.0, 0.5, 0, 0, 0;
  const Vector start = (Vector(2) << 0.5, 9.0).finished();
  const Vector now = Control("sine", {}, ranges, waves, start, 1).at(0.3);
  EXPECT_NEAR(now[0], 0.5 + 0.25 * std::sin(2.0 * M_PI * 2.0 * 0.3 + 0.5), 1e-12);
  EXPECT_NE(now[1], 9.0);
}

class Sequence : public WithMujoco {};

Simulation sliding(const std::string& start) {
  const auto plan =
      plan_scene(**require_simulated_scene("box-on-plane"),
                 {{"start", start}, {"speed", 1.0}, {"solver", std::string("PGS-NCP-SAFE")}, {"tolerance", 1e-6}}, 1);
  if (!plan) throw std::runtime_error(plan.error().message);
  auto made = simulate(*plan);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

TEST_F(Sequence, ContactsKeepTheirIdentityWhileTheBoxSlides) {
  auto simulation = sliding("previous");
  const auto first = step(simulation).identities;
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 4U);
  for (int k = 0; k < 30; ++k) EXPECT_EQ(step(simulation).identities, first);
}

TEST_F(Sequence, AWarmStartSavesIterations) {
  auto warm = sliding("previous");
  auto cold = sliding("cold");
  long of_warm = 0, of_cold = 0;
  for (int k = 0; k < 15; ++k) {
    of_warm += step(warm).summary.iterations;
    of_cold += step(cold).summary.iterations;
  }
  EXPECT_LT(of_warm, of_cold);
}

TEST_F(Sequence, TheSameSeedGivesTheSameProblems) {
  const auto hashes = [] {
    std::vector<std::string> all;
    auto simulation = sliding("previous");
    for (int k = 0; k < 10; ++k) all.push_back(step(simulation).problem.data_hash());
    return all;
  };
  EXPECT_EQ(hashes(), hashes());
}

TEST_F(Sequence, ASampleHoldsAllThatTheStepKnows) {
  auto simulation = sliding("previous");
  step(simulation);
  const StepRecord record = step(simulation);
  const ContactProblem& problem = record.problem;
  ASSERT_TRUE(problem.primal() && problem.bias() && problem.configuration() && problem.guess() && problem.reference());
  EXPECT_EQ(problem.configuration()->time_step, 0.01);
  EXPECT_EQ(problem.configuration()->gaps->size(), 4);
  EXPECT_GT(problem.guess()->norm(), 0.0);
  EXPECT_LE(problem.reference()->residual, 1e-6);
  EXPECT_EQ(problem.provenance().family, "box-on-plane");
  EXPECT_EQ(problem.provenance().name,
            "box-on-plane_solver=PGS-NCP-SAFE_speed=1_start=previous_tolerance=1e-06_step=00002");
}

TEST_F(Sequence, AWrittenSampleReadsBackAsTheIdenticalProblem) {
  const std::string robot = world(R"(<geom type="plane" size="5 5 1" friction="0.8" user="0.2"/>
      <body name="trunk" pos="0 0 0.331"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="3"/>
        <body name="leg" pos="0.2 0 0"><joint type="hinge" axis="0 1 0" limited="true" range="-0.01 0.5" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/></body>
        <body name="arm" pos="-0.2 0 0"><joint type="ball"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.5"/></body></body>)",
                                  R"(<equality><connect body1="leg" body2="arm" anchor="-0.2 0 -0.1"/></equality>)");
  const TemporaryFolder folder;
  for (const std::string coordinates : {"reduced", "maximal"}) {
    for (const double compliance : {0.0, 1e-4}) {
      SimulationOptions options;
      options.coordinates = coordinates;
      options.step.compliance = compliance;
      if (compliance > 0.0) options.step.softening = "mujoco";
      auto simulation = simulation_of(robot, 0.01, options);
      for (int k = 0; k < 4; ++k) step(simulation);
      const StepRecord record = step(simulation);
      const ConeProduct& cones = record.problem.cones();
      ASSERT_GT(cones.joints() * cones.limits() * cones.contacts(), 0);
      const auto file = write_sample(record, folder.path());
      ASSERT_TRUE(file) << file.error().message;
      const auto read = load_fclib(*file);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->content_hash(), record.problem.content_hash()) << coordinates << " " << compliance;
      EXPECT_EQ(read->data_hash(), record.problem.data_hash()) << coordinates << " " << compliance;
      EXPECT_EQ(read->reference()->reaction, record.impulse);
      EXPECT_EQ(read->configuration()->contact_identities, record.identities);
      EXPECT_EQ(read->configuration()->step, 5);
      EXPECT_EQ(*read->configuration()->contact_frames, *record.problem.configuration()->contact_frames);
    }
  }
}

TEST(Options, ElasticScenesHaveNoneThatDoNothingThere) {
  const auto refused = [](const char* id, const OptionValues& values) {
    const auto plan = plan_scene(**require_simulated_scene(id), values, 1);
    return plan ? std::string() : plan.error().message;
  };
  for (const auto& [name, value] : OptionValues{{"coordinates", "maximal"},
                                                {"armature", false},
                                                {"passive", true},
                                                {"control", "sine"},
                                                {"self_contact", true},
                                                {"identity_radius", 0.01}}) {
    const std::string message = refused("soft-ball-grip", {{"cells", 2L}, {name, value}});
    EXPECT_NE(message.find("'" + name + "' does nothing here"), std::string::npos) << message;
    for (const OptionSpec& spec : all_options(**require_simulated_scene("soft-ball-grip"))) EXPECT_NE(spec.name, name);
  }
  EXPECT_EQ(refused("cable-winding", {{"self_contact", false}, {"identity_radius", 0.01}}), "");
  EXPECT_EQ(refused("box-on-plane", {{"coordinates", "maximal"}}), "");
  EXPECT_TRUE(idle_options(**require_simulated_scene("box-on-plane")).empty());
}

TEST_F(Sequence, NoSceneHasAnOptionOfTheSimulation) {
  for (const auto& scene : simulated_scene_table()) {
    std::set<std::string> names;
    for (const auto& spec : all_options(scene)) EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
  }
}

}  // namespace
}  // namespace conebench::simulation
