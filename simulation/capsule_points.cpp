#include "simulation/capsule_points.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>

#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

using Point = Eigen::Vector3d;

struct Capsule {
  Point centre;
  Point axis;  ///< of length 1
  double half_length;
  double radius;

  Point end(double side) const { return centre + side * half_length * axis; }
  Point nearest(const Point& to) const {
    return centre + std::clamp((to - centre).dot(axis), -half_length, half_length) * axis;
  }
};

Capsule capsule(const mjModel& model, const mjData& data, int geom) {
  const mjtNum* size = model.geom_size + 3 * geom;
  return {vector3(data.geom_xpos + 3 * geom), matrix3(data.geom_xmat + 9 * geom).col(2), size[1], size[0]};
}

/// Points on the axes of the first and the second capsule.
struct Pair {
  Point first, second;
  double gap = 0.0;
};

/// The nearest of the four ends' contacts on one side of `found`.
std::optional<Pair> beside(const Capsule& a, const Capsule& b, const Point& found, double side, double margin) {
  std::optional<Pair> best;
  const double reach = a.radius + b.radius;
  const auto consider = [&](const Point& first, const Point& second) {
    const Pair pair{first, second, (second - first).norm() - reach};
    const bool degenerate = pair.gap <= -reach;  // the axes meet: no normal
    const double away = side * (0.5 * (first + second) - found).dot(a.axis);
    if (degenerate || pair.gap > margin || away < std::min(a.radius, b.radius)) return;
    if (!best || pair.gap < best->gap) best = pair;
  };
  for (const double end : {-1.0, 1.0}) {
    consider(a.end(end), b.nearest(a.end(end)));
    consider(a.nearest(b.end(end)), b.end(end));
  }
  return best;
}

}  // namespace

bool add_points_of_capsules(const mjModel& model, mjData& data, double margin) {
  const auto is_capsule = [&](int geom) { return model.geom_type[geom] == mjGEOM_CAPSULE; };
  const int found = data.ncon;
  for (int c = 0; c < found; ++c) {
    const mjContact& contact = data.contact[c];
    if (!is_capsule(contact.geom1) || !is_capsule(contact.geom2)) continue;
    const auto same_pair = [&](int k) {
      return k >= 0 && k < found && data.contact[k].geom1 == contact.geom1 && data.contact[k].geom2 == contact.geom2;
    };
    if (same_pair(c - 1) || same_pair(c + 1)) continue;  // parallel: both points are there
    const Capsule a = capsule(model, data, contact.geom1);
    const Capsule b = capsule(model, data, contact.geom2);
    for (const double side : {-1.0, 1.0}) {
      const auto pair = beside(a, b, vector3(contact.pos), side, margin);
      if (!pair) continue;
      const Point normal = (pair->second - pair->first).normalized();
      const Point position = pair->first + (a.radius + 0.5 * pair->gap) * normal;
      mjContact added = contact;
      set_contact(added, position, normal, pair->gap);
      if (mj_addContact(&model, &data, &added) != 0) return false;
    }
  }
  return true;
}

}  // namespace conebench::simulation
