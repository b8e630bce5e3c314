#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "scenes/mesh_options.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

//     symbol    meaning                                                     unit
//     M, D, K   lumped mass, Rayleigh damping α M + β K, stiffness          kg, N s/m, N/m
//     A         M + Δt D + Δt² K, of a step of implicit Euler               kg
//     V, B, C   volume, strains by displacements, Hooke's law of an element m³, 1/m, N/m²

struct SoftBlockOptions : MeshOptions {
  long nx = 5;
  long ny = 5;
  long nz = 3;
  double cell = 0.02;
  double density = 1000.0;
  double young = 1e5;
  double poisson = 0.3;
  double mass_damping = 0.0;
  double stiffness_damping = 1e-3;
  double friction = 0.5;
  double gravity = 9.81;
  double time_step = 0.01;
  double push = 0.0;
  std::string form = "factored";

  static void declare(OptionBinder& bind, SoftBlockOptions& o) {
    bind.integer("nx", o.nx, {.minimum = 1, .maximum = 1000, .doc = "cells along x, six tetrahedra each"});
    bind.integer("ny", o.ny, {.minimum = 1, .maximum = 1000, .doc = "cells along y"});
    bind.integer("nz", o.nz, {.minimum = 1, .maximum = 1000, .doc = "layers of cells"});
    bind.real("cell", o.cell, {.minimum = 1e-6, .maximum = 1e3, .unit = "m", .doc = "edge of a cell"});
    bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the material"});
    bind.real("young", o.young,
              {.minimum = 0, .maximum = 1e13, .unit = "N/m^2", .doc = "Young's modulus; 0: a cloud of masses"});
    bind.real("poisson", o.poisson, {.minimum = 0, .maximum = 0.499, .doc = "Poisson's ratio"});
    bind.real("mass_damping", o.mass_damping,
              {.minimum = 0, .maximum = 1e6, .unit = "1/s", .doc = "alpha of D = alpha M + beta K"});
    bind.real("stiffness_damping", o.stiffness_damping,
              {.minimum = 0, .maximum = 1e3, .unit = "s", .doc = "beta of D = alpha M + beta K"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    bind.real("push", o.push, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "along x, before the step"});
    MeshOptions::declare(bind, o);
    declare_form(bind, o.form);
  }
};

using Triplets = std::vector<Eigen::Triplet<double>>;

/// Adds all elements of the block, whose cells have the same six. Returns how many nodes are lowest, the first ones.
Index add_block(const SoftBlockOptions& o, ElasticAssembly& all) {
  const auto node = [&](long i, long j, long k) { return static_cast<Index>(i + (o.nx + 1) * (j + (o.ny + 1) * k)); };
  all.mass = Vector::Zero(node(0, 0, o.nz + 1));
  all.entries.reserve(static_cast<std::size_t>(o.nx * o.ny * o.nz) * tetrahedra_of_cell.size() * 144);
  const auto c = hooke(o.young, o.poisson);
  for (const auto& corners : tetrahedra_of_cell) {
    Eigen::Matrix<double, 3, 4> points;
    for (int a = 0; a < 4; ++a) {
      const int corner = corners[static_cast<std::size_t>(a)];
      points.col(a) = o.cell * Eigen::Vector3d(corner & 1, (corner >> 1) & 1, corner >> 2);
    }
    const auto [volume, unused, stiffness] = element_of(points, c);
    for (long k = 0; k < o.nz; ++k) {
      for (long j = 0; j < o.ny; ++j) {
        for (long i = 0; i < o.nx; ++i) {
          std::array<Index, 4> at{};
          for (std::size_t a = 0; a < 4; ++a) {
            at[a] = node(i + (corners[a] & 1), j + ((corners[a] >> 1) & 1), k + (corners[a] >> 2));
          }
          all.add(at, volume, stiffness);
        }
      }
    }
  }
  return node(0, 0, 1);
}

/// Adds the elements of a file's mesh, whose lowest nodes come first from then on. Returns how many those are: within a
/// billionth of its height.
Index add_mesh(const SoftBlockOptions& o, const TetrahedralMesh& mesh, ElasticAssembly& all) {
  const MeshBox box = box_of(mesh);
  const double low = box.min[2] + 1e-9 * box.size()[2];
  std::vector<Index> number(mesh.nodes.size());
  Index lowest = 0;
  for (const bool down : {true, false}) {
    Index next = lowest;
    for (std::size_t k = 0; k < number.size(); ++k) {
      if ((mesh.nodes[k][2] <= low) == down) number[k] = next++;
    }
    if (down) lowest = next;
  }
  all.mass = Vector::Zero(static_cast<Index>(number.size()));
  const auto c = hooke(o.young, o.poisson);
  for (const auto& corners : mesh.tetrahedra) {
    Eigen::Matrix<double, 3, 4> points;
    std::array<Index, 4> at{};
    for (std::size_t a = 0; a < 4; ++a) {
      points.col(Index(a)) = mesh.nodes[std::size_t(corners[a])];
      at[a] = number[std::size_t(corners[a])];
    }
    const TetrahedralElement element = element_of(points, c);
    all.add(at, element.volume, element.stiffness);
  }
  return lowest;
}

/// An elastic block of (nx, ny, nz) cells, or a file's mesh, that lies on the ground without weight until the step
/// begins: linear elasticity, one step of implicit Euler from the undeformed rest, a contact at every node of its
/// lowest face.
///
/// Its free velocity is (push, 0, −Δt g) / (1 + Δt α) everywhere, as K does not resist a translation.
Result<ContactProblem> make_soft_block(const SoftBlockOptions& o, std::uint64_t) {
  const double count = double(o.nx + 1) * double(o.ny + 1) * double(o.nz + 1);
  if (o.mesh.empty() && count > 5e5) return Error{ErrorCode::wrong_usage, "options nx, ny, nz: more than 500000 nodes"};
  ElasticAssembly all{
      .density = o.density, .damped = o.time_step * (o.time_step + o.stiffness_damping), .mass = {}, .entries = {}};
  Index contacts = 0;
  if (o.mesh.empty()) {
    contacts = add_block(o, all);
  } else {
    CONEBENCH_TRY(const auto mesh, mesh_of(o, {}));
    contacts = add_mesh(o, mesh, all);
  }
  const Index nodes = all.mass.size();
  Triplets& entries = all.entries;
  const double damping = 1.0 + o.time_step * o.mass_damping;
  for (Index k = 0; k < 3 * nodes; ++k) {
    entries.emplace_back(static_cast<int>(k), static_cast<int>(k), damping * all.mass[k / 3]);
  }

  ContactProblemData data;
  CONEBENCH_TRY(data.cones,
                ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(contacts), o.friction)));
  PrimalForm primal;
  primal.mass = SparseMatrix(3 * nodes, 3 * nodes);
  primal.mass.setFromTriplets(entries.begin(), entries.end());
  Triplets().swap(entries);
  // The lowest nodes come first, and a contact's axes are the world's.
  primal.jacobian = SparseMatrix(3 * contacts, 3 * nodes);
  primal.jacobian.reserve(Eigen::VectorXi::Constant(3 * nodes, 1));
  for (Index row = 0; row < 3 * contacts; ++row) primal.jacobian.insert(row, row) = 1.0;
  primal.jacobian.makeCompressed();
  const Eigen::Vector3d free_velocity = Eigen::Vector3d(o.push, 0.0, -o.time_step * o.gravity) / damping;
  primal.free_velocity = free_velocity.replicate(nodes, 1);
  if (o.form != "factored") {
    CONEBENCH_TRY(data.delassus, make_delassus(primal, data.cones, o.form));
  }
  data.free_term = primal.jacobian * primal.free_velocity;
  data.bias = Vector::Zero(data.cones.rows());
  data.primal = std::move(primal);
  Configuration configuration;
  configuration.gaps = Vector::Zero(contacts);
  configuration.time_step = o.time_step;
  configuration.generalised_velocities = 3 * nodes;
  configuration.joint_count = 0;
  data.configuration = std::move(configuration);
  data.provenance.description = "elastic block of tetrahedra that falls on the ground it lies on";
  return ContactProblem::create(std::move(data));
}

}  // namespace

SceneRow soft_block_scene() {
  return make_scene<SoftBlockOptions>("soft-block",
                                      "elastic block of tetrahedra on the ground, given as A, J, v_free, of any size",
                                      Seeding::none, make_soft_block);
}

}  // namespace conebench
