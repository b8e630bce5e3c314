#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/simulated_scenes.hpp"

namespace conebench::testing {
namespace {

using ::testing::HasSubstr;

class ScenePicture : public SimulatedScenes {};

TEST_F(ScenePicture, APictureIsWrittenWhereItIsAskedFor) {
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5", "--picture", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  if (outcome.json()["picture"].is_null()) GTEST_SKIP() << outcome.err;
  const std::string picture = outcome.json()["picture"];
  EXPECT_EQ(picture, folder / "out/picture.png");
  const std::string bytes = text_of(picture);
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_GT(bytes.size(), 2000U);
  EXPECT_LT(bytes.size(), 30000U);
  ASSERT_EQ(conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(picture)) << "of the run before";
}

TEST_F(ScenePicture, WithoutALibraryToDrawWithThePictureIsLeftOut) {
  // A file named as OSMesa that is no library.
  std::filesystem::create_directory(folder / "lib");
  std::ofstream(folder / "lib/libOSMesa.so.8") << "no library, and long enough to be read: " << std::string(4096, '.');
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" + (folder / "lib")};
  const auto outcome =
      conebench({"generate", "box-on-plane", "--out", folder / "out", "--steps", "5", "--picture", "--json"}, options);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.json()["picture"].is_null());
  EXPECT_THAT(outcome.err, HasSubstr("no picture: "));
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install"));
  const std::size_t path = outcome.err.find("no picture: ");
  EXPECT_EQ(outcome.err.find("no picture: ", path + 1), std::string::npos) << "once, in one line";
  EXPECT_LT(outcome.err.find("apt-get install", path), outcome.err.find('\n', path));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/picture.png"));
  EXPECT_EQ(outcome.json()["samples"], 5);
}

TEST_F(ScenePicture, ACrashWhileThePictureIsDrawnCostsThePictureAlone) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 4}],
    "solvers": ["NSGS"]})";
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" CONEBENCH_DEADLY_OSMESA};
  const auto ran = conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"}, options);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4 of 4 cells solved"));
  EXPECT_THAT(ran.err, HasSubstr("no picture of the scene could be drawn"));
}

TEST_F(ScenePicture, ASuitesReportShowsTheScene) {
  std::ofstream(folder / "suite.json") << R"({"problems": [{"scene": "box-on-plane", "steps": 20, "every": 10},
    {"scene": "box-stack"}], "solvers": ["NSGS"]})";
  const auto ran = conebench({"run", folder / "suite.json", "--db", folder / "s.sqlite"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(conebench({"report", folder / "s.sqlite", "--out", folder / "report"}).code, 0);
  if (ran.err.find("no picture") != std::string::npos) GTEST_SKIP() << ran.err;
  const std::string page = text_of(folder / "report/index.html");
  const std::size_t begin = page.find(R"(id="pictures">)") + std::string(R"(id="pictures">)").size();
  const auto pictures = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(pictures["images"].size(), 1U);
  EXPECT_EQ(pictures["of"].size(), 2U) << "of the samples, not of the box stack";
}

}  // namespace
}  // namespace conebench::testing
