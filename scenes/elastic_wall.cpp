#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "scenes/elastic_mesh.hpp"
#include "scenes/scene_support.hpp"
#include "scenes/scenes.hpp"

namespace conebench {

namespace {

struct ElasticWallOptions {
  long courses = 3;
  long columns = 3;
  long nx = 8;
  long ny = 4;
  long nz = 4;
  std::string foot = "contact";
  std::string top = "plate";
  bool half = true;
  double cell = 0.05;
  double density = 2000.0;
  double young = 1e9;
  double poisson = 0.2;
  double stiffness_damping = 1e-4;
  double friction = 0.83;
  double gravity = 9.81;
  double time_step = 1e-3;
  double press = 1e-3;
  double shear = 1e-3;
  std::string form = "factored";

  static void declare(OptionBinder& bind, ElasticWallOptions& o) {
    bind.integer("courses", o.courses, {.minimum = 1, .maximum = 1000, .doc = "of blocks above each other"});
    bind.integer("columns", o.columns, {.minimum = 1, .maximum = 10000, .doc = "whole blocks of a course"});
    bind.flag("half", o.half,
              "one more block half as long in every course, at its other end in every other one: a bond");
    bind.integer("nx", o.nx, {.minimum = 2, .maximum = 1000, .doc = "cells of a block along x, even with half blocks"});
    bind.integer("ny", o.ny, {.minimum = 1, .maximum = 1000, .doc = "cells along y"});
    bind.integer("nz", o.nz, {.minimum = 1, .maximum = 1000, .doc = "layers of cells of a block"});
    bind.choice("foot", o.foot, {"contact", "clamped"}, "the lowest nodes lie on the ground, or are part of it");
    bind.choice("top", o.top, {"plate", "free"}, "a rigid plate on the uppermost nodes, or none");
    bind.real("cell", o.cell, {.minimum = 1e-6, .maximum = 1e3, .unit = "m", .doc = "edge of a cell"});
    bind.real("density", o.density, {.minimum = 1e-6, .maximum = 1e6, .unit = "kg/m^3", .doc = "of the material"});
    bind.real("young", o.young, {.minimum = 0, .maximum = 1e13, .unit = "N/m^2", .doc = "Young's modulus"});
    bind.real("poisson", o.poisson, {.minimum = 0, .maximum = 0.499, .doc = "Poisson's ratio"});
    bind.real("stiffness_damping", o.stiffness_damping,
              {.minimum = 0, .maximum = 1e3, .unit = "s", .doc = "beta of D = beta K"});
    bind.real("friction", o.friction, {.minimum = 0, .maximum = 1e3, .doc = "coefficient of all contacts"});
    bind.real("gravity", o.gravity, {.minimum = 0, .maximum = 1e6, .unit = "m/s^2", .doc = "downwards"});
    bind.real("time_step", o.time_step, {.minimum = 1e-9, .maximum = 1e3, .unit = "s", .doc = "of the step"});
    bind.real("press", o.press,
              {.minimum = -1e6,
               .maximum = 1e6,
               .unit = "m/s",
               .doc = "downwards, of the plate; without one of the uppermost course before the step"});
    bind.real("shear", o.shear, {.minimum = -1e6, .maximum = 1e6, .unit = "m/s", .doc = "the same along x"});
    declare_form(bind, o.form);
  }
};

/// Blocks on a lattice of cells; contacts of nodes at the same place.
class ElasticWall {
 public:
  explicit ElasticWall(const ElasticWallOptions& o)
      : o_(o),
        all_{.density = o.density,
             .damped = o.time_step * (o.time_step + o.stiffness_damping),
             .mass = {},
             .entries = {}} {}

  Result<ContactProblem> problem();

 private:
  struct Block {
    long course, from, to;  ///< cells along x
    Index first = 0;        ///< node
    long nodes_x() const { return to - from + 1; }
  };
  struct Touch {
    Index below, above;  ///< nodes; none: the ground or the plate
  };

  void lay_out();
  void assemble();
  void find_contacts();
  bool clamped(const Block& block, long k) const { return o_.foot == "clamped" && block.course == 0 && k == 0; }
  Index node(const Block& block, long i, long j, long k) const {
    // Clamped nodes, the lowest of a block, have no number.
    const long layer = k - (clamped(block, 0) ? 1 : 0);
    return layer < 0 ? none : block.first + i + block.nodes_x() * (j + (o_.ny + 1) * layer);
  }
  std::vector<const Block*> course(long c) const {
    std::vector<const Block*> blocks;
    for (const Block& block : blocks_) {
      if (block.course == c) blocks.push_back(&block);
    }
    return blocks;
  }
  /// Those of a course that have nodes at x, one or, at a joint, two.
  static std::vector<const Block*> at(const std::vector<const Block*>& course, long x) {
    std::vector<const Block*> found;
    for (const Block* block : course) {
      if (block->from <= x && x <= block->to) found.push_back(block);
    }
    return found;
  }

  static constexpr Index none = ElasticAssembly::fixed;
  const ElasticWallOptions& o_;
  ElasticAssembly all_;
  std::vector<Block> blocks_;
  std::vector<Touch> touches_;
  Index nodes_ = 0;
};

void ElasticWall::lay_out() {
  for (long c = 0; c < o_.courses; ++c) {
    long x = 0;
    const auto add = [&](long cells) {
      Block block{.course = c, .from = x, .to = x + cells, .first = nodes_};
      nodes_ += static_cast<Index>((cells + 1) * (o_.ny + 1) * (o_.nz + (clamped(block, 0) ? 0 : 1)));
      blocks_.push_back(block);
      x += cells;
    };
    if (o_.half && c % 2 == 0) add(o_.nx / 2);
    for (long k = 0; k < o_.columns; ++k) add(o_.nx);
    if (o_.half && c % 2 == 1) add(o_.nx / 2);
  }
}

void ElasticWall::assemble() {
  all_.mass = Vector::Zero(nodes_);
  const auto law = hooke(o_.young, o_.poisson);
  for (const auto& corners : tetrahedra_of_cell) {
    Eigen::Matrix<double, 3, 4> points;
    for (int a = 0; a < 4; ++a) {
      const int corner = corners[static_cast<std::size_t>(a)];
      points.col(a) = o_.cell * Eigen::Vector3d(corner & 1, (corner >> 1) & 1, corner >> 2);
    }
    const TetrahedralElement element = element_of(points, law);
    for (const Block& block : blocks_) {
      for (long k = 0; k < o_.nz; ++k) {
        for (long j = 0; j < o_.ny; ++j) {
          for (long i = 0; i < block.to - block.from; ++i) {
            std::array<Index, 4> at{};
            for (std::size_t a = 0; a < 4; ++a) {
              at[a] = node(block, i + (corners[a] & 1), j + ((corners[a] >> 1) & 1), k + (corners[a] >> 2));
            }
            all_.add(at, element.volume, element.stiffness);
          }
        }
      }
    }
  }
  for (Index k = 0; k < 3 * nodes_; ++k) {
    all_.entries.emplace_back(static_cast<int>(k), static_cast<int>(k), all_.mass[k / 3]);
  }
}

/// Level by level from the ground on. In upright joints blocks do not touch.
void ElasticWall::find_contacts() {
  const long length = o_.columns * o_.nx + (o_.half ? o_.nx / 2 : 0);
  for (long level = 0; level <= o_.courses; ++level) {
    if (level == 0 && o_.foot == "clamped") continue;
    if (level == o_.courses && o_.top == "free") continue;
    const auto under = course(level - 1);
    const auto over = course(level);
    for (long j = 0; j <= o_.ny; ++j) {
      for (long x = 0; x <= length; ++x) {
        std::vector<Index> below, above;
        for (const Block* block : at(under, x)) below.push_back(node(*block, x - block->from, j, o_.nz));
        for (const Block* block : at(over, x)) above.push_back(node(*block, x - block->from, j, 0));
        if (level == 0) below = {none};
        if (level == o_.courses) above = {none};
        for (const Index b : below) {
          for (const Index a : above) touches_.push_back({b, a});
        }
      }
    }
  }
}

Result<ContactProblem> ElasticWall::problem() {
  lay_out();
  assemble();
  find_contacts();
  const auto contacts = static_cast<Index>(touches_.size());
  Mechanism step;
  CONEBENCH_TRY(step.cones,
                ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(contacts), o_.friction)));
  step.primal.mass = SparseMatrix(3 * nodes_, 3 * nodes_);
  step.primal.mass.setFromTriplets(all_.entries.begin(), all_.entries.end());
  std::vector<Eigen::Triplet<double>>().swap(all_.entries);
  std::vector<Eigen::Triplet<double>> jacobian;
  step.bias = Vector::Zero(3 * contacts);
  for (Index c = 0; c < contacts; ++c) {
    const Touch& touch = touches_[static_cast<std::size_t>(c)];
    for (int d = 0; d < 3; ++d) {
      const auto add = [&](Index node, double sign) {
        if (node != none) jacobian.emplace_back(static_cast<int>(3 * c) + d, static_cast<int>(3 * node) + d, sign);
      };
      add(touch.above, 1.0);
      add(touch.below, -1.0);
    }
    if (touch.above == none) step.bias.segment<3>(3 * c) << o_.shear, 0.0, -o_.press;
  }
  step.primal.jacobian = SparseMatrix(3 * contacts, 3 * nodes_);
  step.primal.jacobian.setFromTriplets(jacobian.begin(), jacobian.end());
  step.primal.free_velocity = Vector::Zero(3 * nodes_);
  for (const Block& block : blocks_) {
    if (clamped(block, 0)) continue;
    Eigen::Vector3d velocity(0.0, 0.0, -o_.time_step * o_.gravity);
    if (o_.top == "free" && block.course == o_.courses - 1) velocity += Eigen::Vector3d(o_.shear, 0.0, -o_.press);
    const Index count = block.nodes_x() * (o_.ny + 1) * (o_.nz + 1);
    step.primal.free_velocity.segment(3 * block.first, 3 * count) = velocity.replicate(count, 1);
  }
  step.configuration.gaps = Vector::Zero(contacts);
  return step_of(std::move(step), o_.time_step, o_.form, "wall of elastic blocks, pressed and sheared");
}

/// Elastic blocks without mortar on each other: a low wall between the ground and a rigid plate that presses and shears
/// it (FCLIB's LowWall_FEM, the default's size), or, with one column of two cubes, one pressed on another (Cubes_H8).
///
/// One step of implicit Euler from the undeformed rest, A = M + Δt β K + Δt² K of linear tetrahedra, six a cell. As K
/// resists no translation, the free velocity of a block is −Δt g, and what it had before; that of a clamped one, which
/// rests under its weight, is 0. The ground carries the mass times Δt g, and what the plate presses with.
Result<ContactProblem> make_elastic_wall(const ElasticWallOptions& o, std::uint64_t) {
  if (o.half && o.nx % 2 == 1) {
    return Error{ErrorCode::wrong_usage, "option 'nx' = " + std::to_string(o.nx) + " is odd: half blocks need it even"};
  }
  const double nodes =
      double(o.courses) * double(o.columns + 1) * double(o.nx + 1) * double(o.ny + 1) * double(o.nz + 1);
  if (nodes > 2e6)
    return Error{ErrorCode::wrong_usage, "options courses, columns, nx, ny, nz: more than 2000000 nodes"};
  return ElasticWall(o).problem();
}

}  // namespace

SceneRow elastic_wall_scene() {
  return make_scene<ElasticWallOptions>(
      "elastic-wall",
      "elastic blocks on each other, a wall or two cubes, pressed and sheared (FCLIB's "
      "LowWall_FEM, Cubes_H8)",
      Seeding::none, make_elastic_wall);
}

}  // namespace conebench
