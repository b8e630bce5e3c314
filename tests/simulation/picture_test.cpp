#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;

struct Image {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;  ///< downwards
  const unsigned char* at(int x, int y) const { return rgb.data() + 3 * (y * width + x); }
};

Image read(const std::string& file) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&header, file.c_str()) == 0) throw std::runtime_error(header.message);
  header.format = PNG_FORMAT_RGB;
  Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
  image.rgb.resize(PNG_IMAGE_SIZE(header));
  if (png_image_finish_read(&header, nullptr, image.rgb.data(), 0, nullptr) == 0)
    throw std::runtime_error(header.message);
  return image;
}

/// Pixels that are much redder than green, the way a body of colour 1 0 0 is in any light.
struct RedPart {
  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1;
  long pixels = 0;
};

RedPart red_part(const Image& image) {
  RedPart part;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const unsigned char* const c = image.at(x, y);
      if (c[0] < 60 || c[0] < 2 * c[1] || c[0] < 2 * c[2]) continue;
      ++part.pixels;
      part.left = std::min(part.left, x);
      part.right = std::max(part.right, x);
      part.top = std::min(part.top, y);
      part.bottom = std::max(part.bottom, y);
    }
  }
  return part;
}

class Picture : public WithMujoco {
 protected:
  /// Of the model after a step, or nothing where this machine can't draw.
  std::optional<Image> drawn(const std::string& mjcf, bool maximal = false) {
    SimulationOptions options;
    options.coordinates = maximal ? "maximal" : "reduced";
    Simulation simulation = simulation_of(mjcf, 0.001, options);
    step(simulation);
    const std::string file = ::testing::TempDir() + "conebench_picture_test_" + std::to_string(getpid()) + ".png";
    const auto made = simulation.engine().write_picture(file);
    if (!made && made.error().code == ErrorCode::unsupported) return std::nullopt;
    EXPECT_TRUE(made) << made.error().message;
    Image image = read(file);
    std::filesystem::remove(file);
    return image;
  }
  void expect_fits(const std::string& mjcf, bool maximal = false) {
    const auto image = drawn(mjcf, maximal);
    if (!image) GTEST_SKIP() << "this machine can't draw";
    const RedPart red = red_part(*image);
    EXPECT_GT(red.pixels, 200);
    EXPECT_GT(red.left, 0);
    EXPECT_GT(red.top, 0);
    EXPECT_LT(red.right, image->width - 1);
    EXPECT_LT(red.bottom, image->height - 1);
    const double across = double(red.right - red.left) / image->width,
                 along = double(red.bottom - red.top) / image->height;
    EXPECT_GT(std::max(across, along), 0.6) << "it fills the picture";
  }
};

constexpr const char* ground = R"(<geom type="plane" size="50 50 1"/>)";

TEST_F(Picture, BodiesFillItAndDoNotLeaveIt) {
  for (const double scale : {0.01, 1.0, 100.0}) {
    SCOPED_TRACE(scale);
    const std::string size = std::to_string(0.3 * scale), position = std::to_string(0.5 * scale);
    expect_fits(
        world(ground + ("<body pos=\"" + position + " 0 " + position + "\"><freejoint/><geom type=\"box\" size=\"" +
                        size + " " + size + " " + size + "\" rgba=\"1 0 0 1\"/></body>")));
  }
}

TEST_F(Picture, MaximalCoordinatesShowTheSame) {
  const std::string model = world(ground + std::string(R"(<body pos="3 2 1"><joint axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.05" rgba="1 0 0 1"/><body pos="0.6 0 0"><joint axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.05" rgba="1 0 0 1"/></body></body>)"));
  expect_fits(model, true);
  const auto reduced = drawn(model), maximal = drawn(model, true);
  if (!reduced) return;
  long different = 0;
  for (std::size_t k = 0; k < reduced->rgb.size(); ++k) {
    different += std::abs(int{reduced->rgb[k]} - int{maximal->rgb[k]}) > 32 ? 1 : 0;
  }
  EXPECT_LT(different, 300) << "pixels on edges alone";
}

TEST_F(Picture, WallsInFrontOfTheBodiesAreLeftOut) {
  // Four planes around a box, each seen from inside.
  expect_fits(world(ground + std::string(R"(<geom type="plane" size="5 5 1" pos="1 0 0" zaxis="-1 0 0"/>
    <geom type="plane" size="5 5 1" pos="-1 0 0" zaxis="1 0 0"/><geom type="plane" size="5 5 1" pos="0 1 0" zaxis="0 -1 0"/>
    <geom type="plane" size="5 5 1" pos="0 -1 0" zaxis="0 1 0"/>
    <body pos="0 0 0.5"><freejoint/><geom type="box" size="0.3 0.3 0.3" rgba="1 0 0 1"/></body>)")));
}

TEST(PictureOfElasticBodies, ACableIsALineAcrossItWithoutGaps) {
  Simulation simulation = scene_of("cable-winding", {});
  for (int k = 0; k < 2; ++k) step(simulation);
  const std::string file = ::testing::TempDir() + "conebench_picture_test_" + std::to_string(getpid()) + ".png";
  const auto made = simulation.engine().write_picture(file);
  if (!made && made.error().code == ErrorCode::unsupported) GTEST_SKIP() << made.error().message;
  ASSERT_TRUE(made) << made.error().message;
  const Image image = read(file);
  std::filesystem::remove(file);
  int left = image.width, right = -1, columns = 0;
  for (int x = 0; x < image.width; ++x) {
    bool blue = false;
    for (int y = 0; y < image.height; ++y) blue = blue || image.at(x, y)[2] > image.at(x, y)[0] + 40;
    if (!blue) continue;
    left = std::min(left, x);
    right = x;
    ++columns;
  }
  EXPECT_GT(right - left, 0.8 * image.width);
  EXPECT_GE(columns, 0.98 * (right - left));
}

TEST_F(Picture, AFileThatCantBeWrittenIsNamed) {
  Simulation simulation = simulation_of(world("<body><freejoint/><geom size=\"1\"/></body>"), 0.001);
  const auto made = simulation.engine().write_picture("/no/such/folder/picture.png");
  ASSERT_FALSE(made);
  if (made.error().code == ErrorCode::unsupported) GTEST_SKIP() << made.error().message;
  EXPECT_EQ(made.error().code, ErrorCode::bad_input);
  EXPECT_NE(made.error().message.find("/no/such/folder/picture.png"), std::string::npos);
}

}  // namespace
}  // namespace conebench::simulation
