#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "problems/scenes/simulated/mjcf.hpp"
#include "tests/runners/simulation/mechanisms.hpp"

namespace conebench::simulation {
namespace {

using namespace testing;
using mjcf::Geom;
using mjcf::Vec3;

class HeightField : public WithMujoco {};

constexpr double radius = 0.1;

/// A field of 9 × 9 elevations over 2 m × 2 m that rises by `slope` along x, and a ball `gap` m from it, off the grid's
/// lines. One far corner stands out: elevations that are all the same are none.
SimulatedModel ball_over(double slope, double gap, double ball_x) {
  mjcf::Model model({.name = "field"});
  mjcf::HeightField field{.rows = 9, .columns = 9};
  for (int i = 0; i < 81; ++i) field.elevations.push_back(static_cast<float>(slope * 0.25 * (i % 9)));
  field.elevations.back() += 0.1F;
  model.scenery(Geom::height_field(model.height_field(field)));
  const double c = 1.0 / std::hypot(1.0, slope);
  const Vec3 normal(-slope * c, 0.0, c);
  model.open_body("ball", {Vec3(ball_x, 0.021, slope * (1.0 + ball_x)) + (radius + gap) * normal});
  model.geom(Geom::sphere(radius).mass(1.0));
  model.free();
  model.close_body();
  SimulatedModel scene;
  scene.mjcf = model.text();
  scene.files = model.files();
  return scene;
}

ContactPoint nearest(const SimulatedModel& scene, double margin) {
  auto engine = load_engine(scene, "field", {}).value();
  Mechanics mechanics;
  EXPECT_TRUE(engine->evaluate(engine->start(), {.time_step = 0.01, .contact_margin = margin}, mechanics));
  EXPECT_FALSE(mechanics.contacts.empty());
  if (mechanics.contacts.empty()) return {};
  return *std::min_element(mechanics.contacts.begin(), mechanics.contacts.end(),
                           [](const auto& a, const auto& b) { return a.gap < b.gap; });
}

// The ball's distance from the plane that the triangles lie in, whatever the margin of the search.
TEST_F(HeightField, GapAndPlaceAreThoseOfTheSurface) {
  for (const double slope : {0.0, 0.3, 0.7}) {
    for (const double gap : {-0.003, 0.0005, 0.004}) {
      for (const double margin : {0.006, 0.01}) {
        const ContactPoint contact = nearest(ball_over(slope, gap, 0.06), margin);
        const double c = 1.0 / std::hypot(1.0, slope);
        const Vec3 normal(-slope * c, 0.0, c);
        EXPECT_NEAR(contact.gap, gap, 1e-5) << slope << ' ' << margin;
        EXPECT_NEAR((contact.frame.col(2) - normal).norm(), 0.0, 5e-3) << slope << ' ' << margin;
        const Vec3 between = Vec3(0.06, 0.021, slope * 1.06) + 0.5 * gap * normal;
        EXPECT_NEAR((contact.position - between).norm(), 0.0, 5e-4) << slope << ' ' << margin;
      }
    }
  }
}

// Falls 0.1 m and comes to rest on the surface, not a margin above it.
TEST_F(HeightField, BallComesToRestOnTheSurface) {
  SimulationOptions options;
  options.time_step = 0.002;
  auto ball = Simulation::create(ball_over(0.0, 0.1, 0.125), options, 1, "test", "test").value();
  run(ball, 0.5);
  EXPECT_NEAR(ball.state().position[2], radius, 2e-4);
}

}  // namespace
}  // namespace conebench::simulation
