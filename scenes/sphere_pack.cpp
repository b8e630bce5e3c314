#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenes/random_source.hpp"
#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"
#include "scenes/sphere_deposit.hpp"

namespace conebench {

namespace {

struct SpherePackOptions {
  long spheres = 300;
  std::string container = "box";
  double radius = 0.1;
  double spread = 0.3;
  double width = 0.0;
  double margin = 1e-3;
  double rest_slope = 0.0;
  double friction = 0.7;
  double rolling = 0.0;
  double density = 2500.0;
  double gravity = 9.81;
  double time_step = 0.01;
  double perturbation = 0.0;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, SpherePackOptions& o) {
    bind.integer("spheres", o.spheres, {.minimum = 1, .maximum = 300000, .doc = "dropped one after the other"});
    bind.choice("container", o.container, {"box", "heap"}, "four walls around them, or none: a heap on a plane");
    bind.real("radius", o.radius, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "of the largest"});
    bind.real("spread", o.spread,
              {.minimum = 0, .maximum = 0.9, .doc = "radii are down to 1 - spread times the largest"});
    bind.real(
        "width", o.width,
        {.minimum = 0,
         .maximum = 1e9,
         .unit = "m",
         .doc = "of the box, or of the disc that they fall on; 0: such that a box is filled half as high as it is "
                "wide, and a disc of a third of that"});
    bind.real("margin", o.margin, {.minimum = 0, .maximum = 1, .doc = "gaps up to this share of radius are contacts"});
    bind.real("rest_slope", o.rest_slope,
              {.minimum = 0, .maximum = 80, .unit = "deg", .doc = "on which a dropped sphere no longer rolls"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("rolling", o.rolling,
              {.minimum = 0, .maximum = 1e3, .doc = "mu_r over radius; 0: no rows of rolling friction"});
    bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the spheres"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    bind.real("perturbation", o.perturbation,
              {.minimum = 0,
               .maximum = 1e6,
               .unit = "m/s",
               .doc = "standard deviation of a random velocity of every sphere, surface speed for its spin"});
    declare_form(bind, o.form);
  }
};

/// Spheres at rest in a box or on a heap, each held by those dropped before it: see deposit_spheres. All contacts are
/// closed, whatever their gap within the margin. FCLIB's Spheres, SpheresPile (rolling) and 945_SP_Box.
///
/// The impulses of the ground and the walls carry Δt g times the mass where nothing is left in motion.
Result<ContactProblem> make_sphere_pack(const SpherePackOptions& o, std::uint64_t seed) {
  RandomSource random(seed);
  DepositPlan plan;
  double volume = 0.0;
  for (long i = 0; i < o.spheres; ++i) {
    plan.radii.push_back(o.radius * random.uniform(1.0 - o.spread, 1.0));
    volume += 4.0 / 3.0 * std::numbers::pi * std::pow(plan.radii.back(), 3);
  }
  // Of the space that they take 0.58 is filled.
  const double filled = std::max(std::cbrt(2.0 * volume / 0.58), 2.0 * o.radius);
  const bool box = o.container == "box";
  if (box && o.width > 0.0 && o.width < 2.0 * o.radius) {
    return Error{ErrorCode::wrong_usage, "option 'width' = " + to_text(o.width) + ": no sphere fits"};
  }
  const double width = o.width > 0.0 ? o.width : filled;
  plan.width = box ? width : 0.0;
  plan.spread = (o.width > 0.0 ? 1.0 : 1.0 / 3.0) * width / 2;
  plan.rest_slope = std::sin(o.rest_slope * std::numbers::pi / 180.0);
  const SphereDeposit deposit = deposit_spheres(plan, random);

  RigidBodies bodies(o.rolling * o.radius);
  for (std::size_t i = 0; i < deposit.radii.size(); ++i) {
    const double radius = deposit.radii[i];
    const double mass = o.density * 4.0 / 3.0 * std::numbers::pi * std::pow(radius, 3);
    Eigen::Vector3d velocity(0.0, 0.0, -o.time_step * o.gravity);
    Eigen::Vector3d spin = Eigen::Vector3d::Zero();
    if (o.perturbation > 0.0) {
      for (int c = 0; c < 3; ++c) velocity[c] += o.perturbation * random.normal();
      for (int c = 0; c < 3; ++c) spin[c] += o.perturbation / radius * random.normal();
    }
    bodies.add_body(mass, sphere_inertia(mass, radius), deposit.centres[i], velocity, spin);
  }
  for (const DepositContact& contact : contacts_of(deposit, plan.width, o.margin * o.radius)) {
    const int second = contact.second < 0 ? RigidBodies::ground : contact.second;
    bodies.add_contact(second, contact.first, contact.point, RigidBodies::frame_of(contact.normal), o.friction,
                       contact.gap);
  }
  return bodies.problem(o.time_step, o.form, "spheres dropped one after the other");
}

}  // namespace

SceneRow sphere_pack_scene() {
  return make_scene<SpherePackOptions>("sphere-pack",
                                       "settled spheres in a box or heap, of any size, with rolling friction if wanted "
                                       "(FCLIB's Spheres, 945_SP_Box, SpheresPile)",
                                       Seeding::seeded, make_sphere_pack);
}

}  // namespace conebench
