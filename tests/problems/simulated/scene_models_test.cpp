#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/problems/simulated/engine_model.hpp"
#include "tests/problems/simulated/scene_cases.hpp"

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

TEST(SimulatedScenesDocument, HasEverySceneWithItsSizes) {
  std::ifstream stream(std::string(CONEBENCH_SOURCE_DIR) + "/docs/simulated_scenes.md");
  const std::string document(std::istreambuf_iterator<char>(stream), {});
  for (const auto& row : simulated_scene_table()) {
    if (row.id == "file") continue;
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
