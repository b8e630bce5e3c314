#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/temporary_folder.hpp"
#include "scenes/scene_table.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

TEST(SimulatedSceneTable, EveryIdIsItsOwn) {
  std::set<std::string> ids;
  for (const auto& row : scene_table()) ids.insert(row.id);
  for (const auto& row : simulated_scene_table()) EXPECT_TRUE(ids.insert(row.id).second) << row.id;
}

TEST(SimulatedSceneTable, AModelIsTheSameForTheSameValuesAndSeed) {
  for (const auto& row : simulated_scene_table()) {
    if (row.id == "file") continue;
    const auto once = row.make({}, 3);
    const auto again = row.make({}, 3);
    ASSERT_TRUE(once && again) << row.id;
    EXPECT_EQ(once->soft.has_value(), row.elastic);
    if (row.elastic) {
      ASSERT_EQ(once->soft->bodies.size(), again->soft->bodies.size());
      for (std::size_t b = 0; b < once->soft->bodies.size(); ++b) {
        EXPECT_EQ(once->soft->bodies[b].position, again->soft->bodies[b].position);
        EXPECT_EQ(once->soft->bodies[b].young, again->soft->bodies[b].young);
      }
      ASSERT_EQ(once->soft->rigid.size(), again->soft->rigid.size());
      for (std::size_t b = 0; b < once->soft->rigid.size(); ++b) {
        EXPECT_EQ(once->soft->rigid[b].pose.position, again->soft->rigid[b].pose.position);
      }
    } else {
      EXPECT_THAT(once->mjcf, HasSubstr("<mujoco"));
    }
    EXPECT_EQ(once->mjcf, again->mjcf);
    EXPECT_GT(once->time_step, 0.0);
    EXPECT_GT(once->steps, 0);
  }
}

TEST(SimulatedSceneTable, AWrongOptionIsNamedWithItsScene) {
  const auto made = (*require_simulated_scene("box-on-plane"))->make({{"friction", -1.0}}, 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::wrong_usage);
  EXPECT_THAT(made.error().message, HasSubstr("scene 'box-on-plane': option 'friction' = -1"));
}

TEST(SimulatedSceneTable, AnUnknownSceneIsAnsweredWithTheKnownOnes) {
  const auto row = require_simulated_scene("no-such-scene");
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("box-on-plane"));
}

TEST(SimulatedSceneTable, AFileIsTakenAsItIs) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.xml";
  std::ofstream(path) << "<mujoco/>\n";
  const auto model = (*require_simulated_scene("file"))->make({{"path", path.string()}}, 1);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->mjcf, "<mujoco/>\n");
  EXPECT_EQ(model->source_file, path.string());
}

TEST(SimulatedSceneTable, AMissingFileIsBadInput) {
  const auto model = (*require_simulated_scene("file"))->make({{"path", std::string("/no/such/robot.xml")}}, 1);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::bad_input);
  EXPECT_THAT(model.error().message, HasSubstr("/no/such/robot.xml"));
}

}  // namespace
}  // namespace conebench
