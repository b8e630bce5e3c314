#include "simulation/scenes/soft_support.hpp"

#include "scenes/random_source.hpp"

namespace conebench {

void SoftOptions::declare(OptionBinder& bind, SoftOptions& o) {
  bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the material"});
  bind.real(
      "young", o.young,
      {.minimum = 1e-3, .maximum = 1e13, .unit = "N/m^2", .scale = OptionScale::logarithmic, .doc = "Young's modulus"});
  bind.real("poisson", o.poisson, {.minimum = 0, .maximum = 0.499, .doc = "Poisson's ratio"});
  bind.real("mass_damping", o.mass_damping,
            {.minimum = 0, .maximum = 1e6, .unit = "1/s", .doc = "alpha of D = alpha M + beta K"});
  bind.real("stiffness_damping", o.stiffness_damping,
            {.minimum = 0, .maximum = 1e3, .unit = "s", .doc = "beta of D = alpha M + beta K"});
  bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of contacts"});
  bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e3, .unit = "m/s^2", .doc = "downwards"});
}

void declare_random(OptionBinder& bind, bool& field) {
  bind.flag("random", field, "young, poisson and friction are drawn by the seed from Lee23's ranges");
}

void draw(SoftOptions& o, const SoftRanges& ranges, std::uint64_t seed) {
  RandomSource random(seed);
  o.young = random.uniform(ranges.young.first, ranges.young.second);
  o.poisson = random.uniform(ranges.poisson.first, ranges.poisson.second);
  o.friction = random.uniform(ranges.friction.first, ranges.friction.second);
}

void declare_cells(OptionBinder& bind, const char* name, long& field, const char* doc) {
  bind.integer(name, field, {.minimum = 1, .maximum = 500, .doc = doc});
}

void declare_size(OptionBinder& bind, const char* name, double& field, const char* doc) {
  bind.real(name, field, {.minimum = 1e-6, .maximum = 1e3, .unit = "m", .doc = doc});
}

void declare_seconds(OptionBinder& bind, const char* name, double& field, const char* doc) {
  bind.real(name, field, {.minimum = 1e-3, .maximum = 1e3, .unit = "s", .doc = doc});
}

SimulatedModel model_with(const SoftOptions& o) {
  SimulatedModel model;
  model.control = "none";
  SoftModel& soft = model.soft.emplace();
  soft.mass_damping = o.mass_damping;
  soft.stiffness_damping = o.stiffness_damping;
  soft.gravity = o.gravity;
  return model;
}

Result<SoftBody> body_of(const SoftOptions& o, TetrahedralMesh mesh) {
  if (mesh.nodes.size() > 200000) return Error{ErrorCode::wrong_usage, "the mesh has more than 200000 nodes"};
  SoftBody body;
  body.mesh = std::move(mesh);
  body.density = o.density;
  body.young = o.young;
  body.poisson = o.poisson;
  body.position.resize(3 * Index(body.mesh.nodes.size()));
  for (std::size_t k = 0; k < body.mesh.nodes.size(); ++k) body.position.segment<3>(3 * Index(k)) = body.mesh.nodes[k];
  body.velocity = Vector::Zero(body.position.size());
  return body;
}

Shape ground_of(double friction) {
  Shape shape;
  shape.name = "ground";
  shape.friction = friction;
  return shape;
}

Eigen::Vector3d inertia_of_box(double mass, const Eigen::Vector3d& edges) {
  const Eigen::Vector3d squares = edges.cwiseAbs2();
  return mass / 12.0 * (Eigen::Vector3d::Constant(squares.sum()) - squares);
}

SimulatedSceneRow elastic(SimulatedSceneRow row) {
  row.elastic = true;
  row.loop.insert({"form", std::string("factored")});
  row.loop.insert({"integrator", std::string("midpoint")});
  row.loop.insert({"baumgarte_contacts", 1.0});
  row.loop.insert({"solver", std::string("COND-STRICT-S")});
  row.loop.insert({"start", std::string("cold")});  // from the velocity before the step
  row.loop.insert({"max_iterations", 20000L});
  return row;
}

}  // namespace conebench
