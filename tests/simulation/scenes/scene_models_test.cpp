#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "scenes/random_source.hpp"
#include "tests/simulation/scenes/engine_model.hpp"
#include "tests/simulation/scenes/scene_cases.hpp"
#include "tests/support/paths.hpp"

namespace conebench {
namespace {

using ::testing::IsEmpty;

class SimulatedScene : public ::testing::TestWithParam<SceneCase> {};

INSTANTIATE_TEST_SUITE_P(EveryScene, SimulatedScene, ::testing::ValuesIn(all_scene_cases()), name_of_case);

TEST_P(SimulatedScene, CompilesWithoutAWarning) {
  const auto engine = compile_scene(GetParam().id, GetParam().values);
  ASSERT_TRUE(engine.model);
  EXPECT_THAT(engine.message, IsEmpty());
  EXPECT_EQ(engine.data->warning[mjWARN_CONTACTFULL].number, 0);
}

TEST_P(SimulatedScene, MassesAndInertiasArePositiveAndFinite) {
  const auto engine = compile_scene(GetParam().id, GetParam().values);
  ASSERT_TRUE(engine.model);
  for (int body = 1; body < engine.model->nbody; ++body) {
    const char* name = mj_id2name(engine.model.get(), mjOBJ_BODY, body);
    const mjtNum mass = engine.model->body_mass[body];
    EXPECT_GT(mass, 0.0) << name;
    EXPECT_LT(mass, 1e6) << name;
    const mjtNum* inertia = engine.model->body_inertia + 3 * body;
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GT(inertia[axis], 0.0) << name;
      EXPECT_LE(inertia[axis], inertia[(axis + 1) % 3] + inertia[(axis + 2) % 3] + 1e-12) << name;
    }
  }
}

/// Shapes may touch at the start, and overlap by a hundredth of a millimetre at most.
TEST_P(SimulatedScene, NothingOverlapsAtTheStart) {
  const auto engine = compile_scene(GetParam().id, GetParam().values);
  ASSERT_TRUE(engine.model);
  for (int i = 0; i < engine.data->ncon; ++i) {
    const mjContact& contact = engine.data->contact[i];
    const auto body = [&](int geom) {
      return mj_id2name(engine.model.get(), mjOBJ_BODY, engine.model->geom_bodyid[geom]);
    };
    EXPECT_GE(contact.dist, -1e-5) << body(contact.geom1) << " and " << body(contact.geom2);
    EXPECT_GE(contact.friction[0], 0.0);
    EXPECT_LE(contact.friction[0], 2.0);
  }
}

TEST_P(SimulatedScene, LoopsAreClosedAtTheStart) {
  auto engine = compile_scene(GetParam().id, GetParam().values);
  ASSERT_TRUE(engine.model);
  if (engine.model->neq == 0) return;
  mj_makeConstraint(engine.model.get(), engine.data.get());
  ASSERT_GE(engine.data->ne, 3 * engine.model->neq);
  for (int row = 0; row < engine.data->ne; ++row) EXPECT_LT(std::abs(engine.data->efc_pos[row]), 1e-12);
}

/// Joints of bodies that MuJoCo knows by type.
int joints_of(const EngineModel& engine, mjtJoint type) {
  return static_cast<int>(std::count(engine.model->jnt_type, engine.model->jnt_type + engine.model->njnt, int{type}));
}

/// The robots and mechanisms as Carpentier24, Yamane and LeLidec24 describe them.
TEST(SimulatedSceneFacts, JointsAreAsManyAsThePapersHave) {
  const auto joints = [](const std::string& scene, mjtJoint type, const OptionValues& values = {}) {
    return joints_of(compile_scene(scene, values), type);
  };
  EXPECT_EQ(joints("humanoid", mjJNT_HINGE), 32);
  EXPECT_EQ(joints("humanoid", mjJNT_FREE), 1);
  EXPECT_EQ(joints("hand", mjJNT_HINGE), 16);
  EXPECT_EQ(joints("hand", mjJNT_FREE), 3) << "the cubes";
  EXPECT_EQ(joints("hand", mjJNT_FREE, {{"object", std::string("ball")}}), 1);
  EXPECT_EQ(joints("humanoid-squat", mjJNT_HINGE), 20);
  EXPECT_EQ(joints("arm-on-wall", mjJNT_HINGE), 6) << "as the UR5 of Carpentier24";
  EXPECT_EQ(joints("quadruped", mjJNT_HINGE), 12);
  EXPECT_EQ(joints("hoist", mjJNT_BALL), 25);
  auto net = compile_scene("net");
  const Counts c = count(net);
  EXPECT_EQ(c.joints, 4 * 16) << "of the strings, their last ends on the world included";
  EXPECT_EQ(net.model->neq, 4);
  const int cylinders =
      static_cast<int>(std::count(net.model->geom_type, net.model->geom_type + net.model->ngeom, int{mjGEOM_CYLINDER}));
  EXPECT_EQ(cylinders, joints_of(net, mjJNT_FREE));
  EXPECT_EQ(cylinders, 5);
}

TEST(SimulatedSceneFacts, DrivesOfTheHumanoidAreOneAHingeWhereItStands) {
  auto standing = compile_scene("humanoid", {{"pose", std::string("standing")}});
  EXPECT_EQ(count(standing).joint_drives, 32);
  auto falling = compile_scene("humanoid");
  EXPECT_EQ(count(falling).joint_drives, 0) << "limp";
}

/// Carpentier24: 15 cubes of 1 to 1e4 kg, hit by a ball of 1e3 kg.
TEST(SimulatedSceneFacts, ANunchukOfMoreLinksHasABallBetweenAnyTwo) {
  for (const long links : {2L, 3L, 30L}) {
    auto engine = compile_scene("nunchuk", {{"links", links}});
    ASSERT_TRUE(engine.model) << engine.message;
    const Counts c = count(engine);
    EXPECT_EQ(c.bodies, links);
    EXPECT_EQ(c.rows, 3 * (links - 1));
    EXPECT_EQ(c.mobility, 6 + 3 * (links - 1));
  }
}

TEST(SimulatedSceneFacts, FourbarsSideBySideMoveAsOne) {
  for (const long loops : {1L, 2L, 10L}) {
    auto engine = compile_scene("fourbar", {{"loops", loops}});
    ASSERT_TRUE(engine.model) << engine.message;
    const Counts c = count(engine);
    EXPECT_EQ(c.bodies, 2 + 2 * loops);
    EXPECT_EQ(c.rows, 11 + 15 * loops);
    EXPECT_EQ(c.mobility, 1);
  }
}

TEST(SimulatedSceneFacts, MassesOfTheStackRunOverFourDecades) {
  const auto stack = compile_scene("cube-stack-hit");
  ASSERT_EQ(stack.model->nbody, 1 + 15 + 1);
  const auto [least, most] = std::minmax_element(stack.model->body_mass + 1, stack.model->body_mass + 16);
  EXPECT_NEAR(*least, 1.0, 1e-9);
  EXPECT_NEAR(*most, 1e4, 1e-5);
  EXPECT_NEAR(stack.model->body_mass[16], 1e3, 1e-9);
  EXPECT_GE(stack.data->ncon, 60);
}

/// FCLIB's families: bodies, masses, sizes and friction of the pairs.
TEST(SimulatedSceneFacts, FclibsFamiliesHaveItsBodiesAndFriction) {
  const auto friction = [](const EngineModel& engine) {
    return *std::max_element(engine.model->geom_friction, engine.model->geom_friction + 1);
  };
  const auto bodies = [](const EngineModel& engine) { return engine.model->nbody - 1; };
  const auto boxes = compile_scene("fclib-boxes-stack");
  EXPECT_EQ(bodies(boxes), 50);
  EXPECT_NEAR(boxes.model->body_mass[1], 1.0, 1e-12);
  EXPECT_EQ(boxes.model->geom_size[3 * (boxes.model->ngeom - 1)], 1.0) << "half of 2 m";
  EXPECT_EQ(friction(boxes), 0.7);
  const auto chain = compile_scene("fclib-chain");
  EXPECT_EQ(bodies(chain), 10) << "and the first, which is fixed";
  EXPECT_NEAR(chain.model->body_mass[1], 1.0, 1e-12);
  EXPECT_EQ(friction(chain), 0.3);
  const auto capsules = compile_scene("fclib-capsules");
  EXPECT_EQ(bodies(capsules), 100);
  const mjtNum* size = capsules.model->geom_size + 3 * (capsules.model->ngeom - 1);
  EXPECT_EQ(size[0], 1.0);
  EXPECT_EQ(size[1], 2.5) << "half of 5 m";
  EXPECT_EQ(friction(capsules), 0.7);
  const auto tower = compile_scene("fclib-kapla-tower");
  EXPECT_EQ(bodies(tower), 132);
  EXPECT_EQ(friction(tower), 0.7);
  EXPECT_EQ(friction(compile_scene("fclib-chute")), 1.0);
  EXPECT_EQ(bodies(compile_scene("fclib-chute", {{"grains", 1000L}})), 1000);
}

// Rays from above meet the triangles between the elevations that the seed gives.
TEST(BumpyGround, IsAHeightFieldOfRandomElevations) {
  const OptionValues bumpy = {{"ground", std::string("bumpy")}, {"roughness", 0.08}};
  const auto engine = compile_scene("quadruped", bumpy, 3);
  ASSERT_TRUE(engine.model);
  const mjModel& m = *engine.model;
  ASSERT_EQ(m.nhfield, 1);
  EXPECT_EQ(m.nmesh, 0);
  const int side = 33;
  ASSERT_EQ(m.hfield_nrow[0], side);
  ASSERT_EQ(m.hfield_ncol[0], side);
  const auto ground_at = [&](double x, double y) {
    const std::array<mjtNum, 3> from = {x, y, 5.0};
    const std::array<mjtNum, 3> down = {0.0, 0.0, -1.0};
    const int geom = static_cast<int>(std::find(m.geom_type, m.geom_type + m.ngeom, int{mjGEOM_HFIELD}) - m.geom_type);
    return 5.0 - mj_rayHfield(&m, engine.data.get(), geom, from.data(), down.data(), nullptr);
  };
  RandomSource random(3);
  std::vector<double> elevations;
  for (int i = 0; i < side * side; ++i) elevations.push_back(random.uniform(-0.08, 0.0));
  const auto elevation = [&](int row, int column) { return elevations[static_cast<std::size_t>(row * side + column)]; };
  for (int row = 0; row + 1 < side; ++row) {
    for (int column = 0; column + 1 < side; ++column) {
      const double near = elevation(row, column);
      const double far = elevation(row + 1, column + 1);
      const auto ground_in_cell = [&](double u, double v) {
        return ground_at((column + u - 16) * 0.15, (row + v - 16) * 0.15);
      };
      const double right = elevation(row, column + 1);
      EXPECT_NEAR(ground_in_cell(0.6, 0.2), near + 0.6 * (right - near) + 0.2 * (far - right), 1e-5);
      const double left = elevation(row + 1, column);
      EXPECT_NEAR(ground_in_cell(0.2, 0.6), near + 0.6 * (left - near) + 0.2 * (far - left), 1e-5);
    }
  }
  const auto plane = std::find(m.geom_type, m.geom_type + m.ngeom, int{mjGEOM_PLANE}) - m.geom_type;
  ASSERT_LT(plane, m.ngeom);
  EXPECT_LT(m.geom_pos[3 * plane + 2], -0.08 - 0.02) << "no foot in a valley touches it";
}

TEST(BumpyGround, IsAPlaneWhereElevationsCannotBeDistinguished) {
  for (const double roughness : {0.0, 1e-300, 1e-20, 1e-7, 2e-6, 1e-3}) {
    const auto engine = compile_scene("quadruped", {{"ground", std::string("bumpy")}, {"roughness", roughness}});
    ASSERT_TRUE(engine.model) << roughness << ": " << engine.message;
    const mjModel& m = *engine.model;
    EXPECT_EQ(m.nhfield, roughness > 1e-6 ? 1 : 0) << roughness;
    const auto plane = std::find(m.geom_type, m.geom_type + m.ngeom, int{mjGEOM_PLANE}) - m.geom_type;
    ASSERT_LT(plane, m.ngeom);
    if (m.nhfield == 0) {
      EXPECT_EQ(m.geom_pos[3 * plane + 2], 0.0);
    }
  }
}

TEST(SimulatedScenesDocument, HasEverySceneWithItsSizes) {
  std::ifstream stream(std::string(CONEBENCH_SOURCE_DIR) + "/docs/simulated_scenes.md");
  const std::string document(std::istreambuf_iterator<char>(stream), {});
  for (const auto& row : simulated_scene_table()) {
    if (row.id == "file" || row.elastic) continue;
    auto engine = compile_scene(row.id);
    ASSERT_TRUE(engine.model);
    const Counts c = count(engine);
    std::ostringstream line;
    line << "| `" << row.id << "` | " << c.bodies << " | " << engine.model->nv << " | " << c.joints << " | " << c.rows
         << " | " << c.joint_drives << " | " << engine.data->ncon << " |";
    EXPECT_NE(document.find(line.str()), std::string::npos) << line.str();
  }
}

}  // namespace
}  // namespace conebench
