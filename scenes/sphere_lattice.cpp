#include "scenes/random_source.hpp"
#include "scenes/rigid_bodies.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct SphereLatticeOptions {
  long nx = 4;
  long ny = 4;
  long nz = 4;
  double radius = 0.1;
  double mass = 1.0;
  double friction = 0.5;
  double gravity = 9.81;
  double time_step = 0.01;
  double push = 0.0;
  double perturbation = 0.0;
  std::string form = "block_sparse";

  static void declare(OptionBinder& bind, SphereLatticeOptions& o) {
    bind.integer("nx", o.nx, {.minimum = 1, .maximum = 1000, .doc = "spheres along x"});
    bind.integer("ny", o.ny, {.minimum = 1, .maximum = 1000, .doc = "spheres along y"});
    bind.integer("nz", o.nz, {.minimum = 1, .maximum = 1000, .doc = "layers"});
    bind.real("radius", o.radius, {.minimum = 1e-6, .maximum = 1e6, .unit = "m", .doc = "of every sphere"});
    bind.real(
        "mass", o.mass,
        {.minimum = 1e-9, .maximum = 1e9, .unit = "kg", .scale = OptionScale::logarithmic, .doc = "of every sphere"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    bind.real("push", o.push, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "along x, all but the lowest"});
    bind.real("perturbation", o.perturbation,
              {.minimum = 0,
               .maximum = 1e6,
               .unit = "m/s",
               .doc = "standard deviation of a random velocity of every sphere, surface speed for its spin"});
    declare_form(bind, o.form);
  }
};

/// Spheres in a cubic lattice on the ground, each in contact with its up to six neighbours: nx·ny ground contacts and
/// one for every pair of neighbours.
///
/// Closed form without push and perturbation: all rest, σ = 0; a vertical contact carries Δt g times the mass above it,
/// the horizontal ones carry nothing.
Result<ContactProblem> make_sphere_lattice(const SphereLatticeOptions& o, std::uint64_t seed) {
  if (double(o.nx) * double(o.ny) * double(o.nz) > 2e6) {
    return Error{ErrorCode::wrong_usage, "options nx, ny, nz: more than 2000000 spheres"};
  }
  RandomSource random(seed);
  RigidBodies bodies;
  const auto body = [&](long i, long j, long k) { return static_cast<int>(i + o.nx * (j + o.ny * k)); };
  for (long k = 0; k < o.nz; ++k) {
    for (long j = 0; j < o.ny; ++j) {
      for (long i = 0; i < o.nx; ++i) {
        Eigen::Vector3d velocity(k > 0 ? o.push : 0.0, 0.0, -o.time_step * o.gravity);
        Eigen::Vector3d spin = Eigen::Vector3d::Zero();
        if (o.perturbation > 0.0) {
          for (int c = 0; c < 3; ++c) velocity[c] += o.perturbation * random.normal();
          for (int c = 0; c < 3; ++c) spin[c] += o.perturbation / o.radius * random.normal();
        }
        bodies.add_body(o.mass, sphere_inertia(o.mass, o.radius),
                        o.radius * Eigen::Vector3d(2.0 * double(i), 2.0 * double(j), 2.0 * double(k) + 1.0), velocity,
                        spin);
      }
    }
  }

  std::vector<double> normal_impulse;
  const auto contact = [&](int first, int second, const Eigen::Vector3d& point, int axis, double impulse) {
    bodies.add_contact(first, second, point, RigidBodies::frame_of(Eigen::Vector3d::Unit(axis)), o.friction);
    normal_impulse.push_back(impulse);
  };
  for (long k = 0; k < o.nz; ++k) {
    for (long j = 0; j < o.ny; ++j) {
      for (long i = 0; i < o.nx; ++i) {
        const Eigen::Vector3d& centre = bodies.position(body(i, j, k));
        const double weight = o.mass * o.time_step * o.gravity;
        if (k == 0) {
          contact(RigidBodies::ground, body(i, j, k), {centre[0], centre[1], 0.0}, 2, weight * double(o.nz));
        }
        const Eigen::Matrix3d reach = o.radius * Eigen::Matrix3d::Identity();
        if (i + 1 < o.nx) contact(body(i, j, k), body(i + 1, j, k), centre + reach.col(0), 0, 0.0);
        if (j + 1 < o.ny) contact(body(i, j, k), body(i, j + 1, k), centre + reach.col(1), 1, 0.0);
        if (k + 1 < o.nz) {
          contact(body(i, j, k), body(i, j, k + 1), centre + reach.col(2), 2, weight * double(o.nz - k - 1));
        }
      }
    }
  }
  auto problem = bodies.problem(o.time_step, o.form, "cubic lattice of spheres on the ground");
  if (!problem || o.push != 0.0 || o.perturbation > 0.0) return problem;
  Vector impulse = Vector::Zero(problem->rows());
  for (std::size_t c = 0; c < normal_impulse.size(); ++c) impulse[3 * static_cast<Index>(c) + 2] = normal_impulse[c];
  return with_reference(*problem, std::move(impulse), "closed form: each column carries its own weight");
}

}  // namespace

SceneRow sphere_lattice_scene() {
  return make_scene<SphereLatticeOptions>("sphere-lattice", "cubic lattice of spheres on the ground, of any size",
                                          Seeding::seeded, make_sphere_lattice);
}

}  // namespace conebench
