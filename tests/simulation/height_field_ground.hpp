#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "simulation/scenes/mjcf.hpp"
#include "tests/simulation/mechanisms.hpp"

namespace conebench::simulation::testing {

using mjcf::Vec3;

/// A ball (half = 0) or a capsule [m].
struct Rounded {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::Zero();  ///< a ball has none
  double half = 0.0;
  double radius = 0.0;

  /// Of its axis.
  Vec3 nearest(const Vec3& to) const { return centre + std::clamp(axis.dot(to - centre), -half, half) * axis; }
};

/// A field of 17 × 17 elevations over 2 m × 2 m with all its triangles, searched one by one.
struct Ground {
  static constexpr int nodes = 17;
  static constexpr double base = 0.5;
  std::vector<float> elevations;  ///< the lowest is zero
  Vec3 position = Vec3::Zero();
  mjcf::Quat turned = mjcf::Quat::Identity();

  template <class Elevation>
  static Ground of(Elevation elevation) {
    Ground made;
    for (int r = 0; r < nodes; ++r) {
      for (int c = 0; c < nodes; ++c) made.elevations.push_back(float(elevation(c / 8.0 - 1.0, r / 8.0 - 1.0)));
    }
    const float lowest = *std::min_element(made.elevations.begin(), made.elevations.end());
    for (float& z : made.elevations) z -= lowest;
    return made;
  }
  /// Elevations that are all the same are none for MuJoCo: a far corner stands out.
  static Ground level() {
    return of([](double x, double y) { return x == 1.0 && y == 1.0 ? 0.1 : 0.0; });
  }
  static Ground random(unsigned seed) {
    std::mt19937 engine(seed);
    return of([&](double, double) { return 0.1 * double(engine()) / double(std::mt19937::max()); });
  }

  double highest() const { return *std::max_element(elevations.begin(), elevations.end()); }
  Vec3 node(int row, int column) const {
    return {column / 8.0 - 1.0, row / 8.0 - 1.0, elevations[std::size_t(row * nodes + column)]};
  }
  /// Calls visit(a, b, c) for the triangles.
  template <class Visit>
  void for_triangles(Visit visit) const {
    for (int r = 0; r + 1 < nodes; ++r) {
      for (int c = 0; c + 1 < nodes; ++c) {
        visit(node(r, c), node(r, c + 1), node(r + 1, c + 1));
        visit(node(r, c), node(r + 1, c), node(r + 1, c + 1));
      }
    }
  }
  static Vec3 nearest_of_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 normal = (b - a).cross(c - a).normalized();
    const Vec3 q = p - normal.dot(p - a) * normal;
    const std::array<Vec3, 4> around = {a, b, c, a};
    bool inside = true;
    for (std::size_t k = 0; k < 3; ++k) {
      inside = inside && normal.dot((around[k + 1] - around[k]).cross(q - around[k])) >= 0.0;
    }
    if (inside) return q;
    Vec3 best = a;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 edge = around[k + 1] - around[k];
      const Vec3 there = around[k] + std::clamp(edge.dot(p - around[k]) / edge.squaredNorm(), 0.0, 1.0) * edge;
      if ((there - p).norm() < (best - p).norm()) best = there;
    }
    return best;
  }
  Vec3 nearest(const Vec3& p) const {
    Vec3 best = node(0, 0);
    for_triangles([&](const Vec3& a, const Vec3& b, const Vec3& c) {
      const Vec3 q = nearest_of_triangle(p, a, b, c);
      if ((q - p).norm() < (best - p).norm()) best = q;
    });
    return best;
  }
  /// The point of the surface over (x, y).
  Vec3 above(double x, double y) const {
    const int c = std::clamp(int(std::floor(8.0 * (x + 1.0))), 0, nodes - 2);
    const int r = std::clamp(int(std::floor(8.0 * (y + 1.0))), 0, nodes - 2);
    const double u = 8.0 * (x + 1.0) - c, v = 8.0 * (y + 1.0) - r;
    const double near = node(r, c).z(), far = node(r + 1, c + 1).z();
    const double z = u > v ? near + u * (node(r, c + 1).z() - near) + v * (far - node(r, c + 1).z())
                           : near + v * (node(r + 1, c).z() - near) + u * (far - node(r + 1, c).z());
    return {x, y, z};
  }
  /// Of a shape above the surface: along its axis the distance from a triangle is convex.
  double gap(const Rounded& shape) const {
    double least = std::numeric_limits<double>::infinity();
    for_triangles([&](const Vec3& a, const Vec3& b, const Vec3& c) {
      if (((a + c) / 2.0 - shape.centre).head<2>().norm() > shape.half + shape.radius + 0.3) return;
      const auto distance = [&](double along) {
        const Vec3 p = shape.centre + along * shape.axis;
        return (nearest_of_triangle(p, a, b, c) - p).norm();
      };
      double low = -shape.half, high = shape.half;
      while (high - low > 1e-9) {
        const double third = (high - low) / 3.0;
        if (distance(low + third) < distance(high - third)) {
          high -= third;
        } else {
          low += third;
        }
      }
      least = std::min({least, distance(low), distance(-shape.half), distance(shape.half)});
    });
    return least - shape.radius;
  }
  /// The shape with its centre over (x, y), `gap` away.
  Rounded over(Rounded shape, double x, double y, double gap_wanted) const {
    shape.centre = Vec3(x, y, highest() + shape.half + shape.radius + 0.1);
    for (int k = 0; k < 100; ++k) {
      const double missing = gap_wanted - gap(shape);
      if (std::abs(missing) < 1e-10) break;
      shape.centre.z() += missing;
    }
    return shape;
  }
};

struct ModelOptions {
  bool plane = false;      ///< at z = 0 instead of the field
  std::string shape = "";  ///< attributes of another shape than a rounded one
  std::string velocity = "";
  std::string rest = "";  ///< of the model
};

/// A body of the shape, given in the ground's frame, and the ground in its pose.
inline SimulatedModel model_of(const Ground& ground, const Rounded& shape, const ModelOptions& with = {}) {
  const auto text = [](const auto& numbers) {
    std::string all;
    for (Index k = 0; k < numbers.size(); ++k) all += fmt::format("{:.17g} ", numbers[k]);
    return all;
  };
  const auto quat = [](const mjcf::Quat& q) {
    return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q.w(), q.x(), q.y(), q.z());
  };
  const Vec3 centre = ground.position + ground.turned * shape.centre;
  const mjcf::Quat turned =
      shape.half > 0.0 ? ground.turned * mjcf::Quat::FromTwoVectors(Vec3::UnitZ(), shape.axis) : ground.turned;
  const std::string geom = !with.shape.empty() ? with.shape
                           : shape.half > 0.0  ? fmt::format(R"(type="capsule" size="{} {}")", shape.radius, shape.half)
                                               : fmt::format(R"(type="sphere" size="{}")", shape.radius);
  const std::string field = with.plane ? std::string(R"(type="plane" size="5 5 1")")
                                       : fmt::format(R"(type="hfield" hfield="ground" pos="{}" quat="{}")",
                                                     text(ground.position), quat(ground.turned));
  SimulatedModel model;
  model.mjcf = world(
      fmt::format(
          R"(<geom name="ground" {}/><body pos="{}" quat="{}"><freejoint/><geom name="shape" {} mass="1"/></body>)",
          field, text(centre), quat(turned), geom),
      fmt::format(R"(<asset><hfield name="ground" file="ground.hfield" size="1 1 {:.17g} {}"/></asset>)",
                  ground.highest(), Ground::base) +
          (with.velocity.empty() ? "" : keyframe(text(centre) + quat(turned), with.velocity)) + with.rest);
  const std::array<std::int32_t, 2> size = {Ground::nodes, Ground::nodes};
  std::string& bytes = model.files["ground.hfield"];
  bytes.append(reinterpret_cast<const char*>(size.data()), sizeof(size));
  bytes.append(reinterpret_cast<const char*>(ground.elevations.data()), ground.elevations.size() * sizeof(float));
  return model;
}

}  // namespace conebench::simulation::testing
