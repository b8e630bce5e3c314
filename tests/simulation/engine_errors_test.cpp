#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EngineErrors : public WithMujoco {
 protected:
  void SetUp() override {
    WithMujoco::SetUp();
    std::filesystem::remove("MUJOCO_LOG.TXT");
  }
  void TearDown() override { EXPECT_FALSE(std::filesystem::exists("MUJOCO_LOG.TXT")); }

  static Error refusal(const std::string& mjcf) {
    SimulatedModel model;
    model.mjcf = mjcf;
    const auto engine = load_engine(model, "robot");
    if (engine) return {ErrorCode::internal, "was taken"};
    EXPECT_THAT(engine.error().message, Not(HasSubstr("\n")));
    return engine.error();
  }
};

TEST_F(EngineErrors, BrokenXmlIsNamedWithItsLocation) {
  const Error error = refusal("<mujoco><worldbody><body></worldbody></mujoco>");
  EXPECT_EQ(error.code, ErrorCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("robot: MuJoCo"));
  EXPECT_THAT(error.message, HasSubstr("XML"));
}

TEST_F(EngineErrors, AnUnknownElementIsNamed) { EXPECT_THAT(refusal(world("<spring/>")).message, HasSubstr("spring")); }

TEST_F(EngineErrors, AMissingMeshIsNamed) {
  const Error error = refusal(world("<body><freejoint/><geom type=\"mesh\" mesh=\"arm\"/></body>",
                                    "<asset><mesh name=\"arm\" file=\"no_such_arm.stl\"/></asset>"));
  EXPECT_EQ(error.code, ErrorCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("no_such_arm.stl"));
}

TEST_F(EngineErrors, ABodyWithoutMassIsRefused) {
  EXPECT_THAT(refusal(world("<body><freejoint/></body>")).message, HasSubstr("mass"));
}

TEST_F(EngineErrors, AModelInWhichNothingMovesIsRefused) {
  EXPECT_THAT(refusal(world("<geom type=\"sphere\" size=\"1\"/>")).message, HasSubstr("nothing in the model can move"));
}

TEST_F(EngineErrors, AMissingFileIsNamed) {
  SimulatedModel model;
  model.source_file = "/no/such/robot.xml";
  const auto engine = load_engine(model, "robot");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::bad_input);
  EXPECT_THAT(engine.error().message, HasSubstr("/no/such/robot.xml"));
}

TEST_F(EngineErrors, AMeshThatIsAPipeIsNotWaitedForForEver) {
  const TemporaryFolder temporary;
  const auto& folder = temporary.path();
  ASSERT_EQ(mkfifo((folder / "pipe.stl").c_str(), 0600), 0);
  std::ofstream(folder / "robot.xml") << world("<body><freejoint/><geom type=\"mesh\" mesh=\"arm\"/></body>",
                                               "<asset><mesh name=\"arm\" file=\"pipe.stl\"/></asset>");
  SimulatedModel model;
  model.source_file = (folder / "robot.xml").string();
  const auto engine = load_engine(model, "robot");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::bad_input);
  EXPECT_THAT(engine.error().message, HasSubstr("is a pipe"));
}

TEST_F(EngineErrors, MeshesAreSearchedInTheFolderOfTheFile) {
  const TemporaryFolder temporary;
  const auto& folder = temporary.path();
  std::ofstream(folder / "tetra.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder / "robot.xml") << world("<body><freejoint/><geom type=\"mesh\" mesh=\"arm\"/></body>",
                                               "<asset><mesh name=\"arm\" file=\"tetra.obj\"/></asset>");
  SimulatedModel model;
  model.source_file = (folder / "robot.xml").string();
  const auto engine = load_engine(model, "robot");
  EXPECT_TRUE(engine) << engine.error().message;
}

TEST_F(EngineErrors, UrdfIsReadToo) {
  const TemporaryFolder temporary;
  const auto file = temporary.path() / "robot.urdf";
  std::ofstream(file) << R"(<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>)";
  SimulatedModel model;
  model.source_file = file.string();
  const auto engine = load_engine(model, "robot");
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->dimensions().velocities, 1);
}

TEST_F(EngineErrors, WhatIsLeftOutOfAModelIsAFact) {
  SimulatedModel model;
  model.mjcf = world(
      "<body><joint name=\"wire\" stiffness=\"1\" springyield=\"0.1\"/>"
      "<geom type=\"sphere\" size=\"1\" condim=\"6\"/></body>");
  const auto engine = load_engine(model, "robot");
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_EQ((*engine)->left_out().size(), 1U);
  EXPECT_EQ((*engine)->left_out()[0].element, "joint 'wire'");
}

TEST_F(EngineErrors, PyramidalConesAreTakenAsEllipticOnesAndSaidToBe) {
  SimulatedModel model;
  model.mjcf = R"(<mujoco><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>)";
  const auto engine = load_engine(model, "robot");
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_THAT((*engine)->notes(), Contains(HasSubstr("pyramidal")));
}

TEST_F(EngineErrors, FlexesAreRefusedByName) {
  SimulatedModel model;
  model.mjcf =
      world(R"(<flexcomp name="sheet" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" dim="2" radius="0.01"/>)");
  const auto engine = load_engine(model, "robot");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::unsupported);
  EXPECT_THAT(engine.error().message, HasSubstr("sheet"));
}

TEST_F(EngineErrors, RoomThatTheFileDoesNotGiveIsNoWarning) {
  SimulatedModel model;
  model.mjcf = world(R"(<geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>)",
                     R"(<size nconmax="1" njmax="1"/>)");
  const auto engine = load_engine(model, "robot");
  ASSERT_TRUE(engine);
  EXPECT_THAT((*engine)->notes(), IsEmpty()) << "the engine has room of its own";
}

TEST_F(EngineErrors, AVelocityAboveTheBoundIsABlowUp) {
  SimulationOptions options;
  options.max_speed = 2.0;
  auto simulation = simulation_of(world("<body><freejoint/><geom type=\"sphere\" size=\"1\"/></body>"), 0.01, options);
  Error error{ErrorCode::internal, "never blew up"};
  for (int k = 0; k < 100; ++k) {
    const double height = simulation.state().position[2];
    const auto record = simulation.step();
    if (record) continue;
    error = record.error();
    EXPECT_EQ(simulation.state().position[2], height) << "the state is that before the step";
    break;
  }
  EXPECT_EQ(error.code, ErrorCode::bad_input);
  EXPECT_THAT(error.message, HasSubstr("step 21 (t = 0.2 s)"));
  EXPECT_THAT(error.message, AllOf(HasSubstr("max_speed = 2"), HasSubstr("falls"))) << "another solver would not help";
}

TEST_F(EngineErrors, ABlowUpBlamesTheSolverWhereItMissedItsToleranceAlone) {
  const auto advice = [](long iterations) {
    SimulationOptions options;
    options.max_speed = 2.0;
    options.max_iterations = iterations;
    options.tolerance = 1e-8;
    auto simulation = simulation_of(world(R"(<geom type="plane" size="9 9 1" euler="1 0 0"/><body pos="0 0 0.01">
        <freejoint/><geom type="box" size=".1 .1 .1" euler="1 0 0" pos="0 0 .18" friction="0.1"/></body>)"),
                                    0.01, options);
    for (int k = 0; k < 200; ++k) {
      if (const auto record = simulation.step(); !record) return record.error().message;
    }
    return std::string("never blew up");
  };
  EXPECT_THAT(advice(100'000), ::testing::EndsWith("max_speed = 2; use a smaller time_step"));
  EXPECT_THAT(advice(1), AllOf(HasSubstr("use another solver (NSGS missed its tolerance in "), HasSubstr("time_step")));
}

TEST_F(EngineErrors, ShapesThatOverlapAtTheStartAreNamed) {
  const auto notes = [](double height, long steps, double max_speed = 1e3) {
    SimulationOptions options;
    options.max_speed = max_speed;
    auto simulation = simulation_of(
        world(R"(<geom name="ground" type="plane" size="9 9 1"/><body pos="0 0 )" + std::to_string(height) +
              R"("><freejoint/><geom name="ball" type="sphere" size=".2"/></body>)"),
        0.01, options);
    for (long k = 0; k < steps; ++k) {
      if (const auto record = simulation.step(); !record) return std::vector{record.error().message};
    }
    return simulation.notes();
  };
  EXPECT_THAT(notes(0.09, 3),
              ElementsAre("test: shapes overlap by 0.11 m at the start (ground and ball); they will be pushed apart"));
  EXPECT_THAT(notes(0.189, 1), ElementsAre(HasSubstr("overlap by 0.011 m")));
  EXPECT_THAT(notes(0.191, 1), IsEmpty()) << "less than 1 cm";
  EXPECT_THAT(notes(1.0, 60), IsEmpty()) << "falls later";
  EXPECT_THAT(notes(0.09, 3, 0.5),
              ElementsAre(AllOf(HasSubstr("blown up"), HasSubstr("(ground and ball): move them"))));
}

TEST_F(EngineErrors, AVelocityThatIsNoNumberIsABlowUp) {
  auto simulation = simulation_of(world("<body><freejoint/><geom type=\"sphere\" size=\"1\"/></body>"), 0.01);
  State broken = simulation.state();
  broken.velocity[0] = std::nan("");
  simulation.set_state(broken);
  const auto record = simulation.step();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message, HasSubstr("blown up"));
}

TEST(WithoutMujoco, AModelIsRefusedWithTheWayOut) {
  if (!engine_version().empty()) GTEST_SKIP() << "built with MuJoCo";
  const auto engine = load_engine({}, "robot");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::unsupported);
  EXPECT_THAT(engine.error().message, HasSubstr("MuJoCo_ROOT"));
}

}  // namespace
}  // namespace conebench::simulation
