#include "simulation/height_field_contacts.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/height_field_surface.hpp"
#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

namespace {

using Point = Eigen::Vector3d;

using Surface = HeightFieldSurface;

constexpr double rounding = Surface::rounding;
constexpr double same_position = 1e-3;  ///< of the radius, or between normals [rad]: contacts as near count once

/// A point of the surface, the normal there, out of the field, and a point of a shape's axis `height` along it.
struct Touch {
  Point position, normal;
  double height;
  double along = 0.0;  ///< of a capsule's axis, from its middle [m]
  bool on_face = false;
};
using Touches = std::vector<Touch>;

/// The node's own point, the edges and the triangles that begin there, where they are locally nearest to p.
void add_local_minima(const Surface& surface, const Node& node, const Point& p, double reach, Touches& found) {
  const Point a = surface.at(node);
  const auto add = [&](const Point& q, const auto& steps) {
    const Point away = p - q;
    const double distance = away.norm();
    if (distance > reach || distance <= rounding * reach || !surface.falls_away(away, q, node, steps)) return;
    const double side = away.z() < 0.0 ? -1.0 : 1.0;
    found.push_back({q, side * away / distance, side * distance});
  };
  add(a, neighbours);
  for (const EdgeKind& kind : edge_kinds) {
    if (!surface.has(node + kind.end)) continue;
    const Point edge = surface.at(node + kind.end) - a;
    const double share = (p - a).dot(edge) / edge.squaredNorm();
    if (share > -rounding && share < 1.0 + rounding) add(a + share * edge, std::array{kind.left, kind.right});
  }
  if (!surface.has(node + Node{1, 1})) return;
  for (const auto& [second, third] : {std::pair{Node{0, 1}, Node{1, 1}}, std::pair{Node{1, 1}, Node{1, 0}}}) {
    const Point b = surface.at(node + second), c = surface.at(node + third);
    const Point normal = (b - a).cross(c - a).normalized();
    const double height = normal.dot(p - a);
    const Point q = p - height * normal;
    const auto inside = [&](const Point& from, const Point& to) {
      return normal.dot((to - from).cross(q - from)) >= -rounding * (to - from).squaredNorm();
    };
    if (std::abs(height) > reach || !inside(a, b) || !inside(b, c) || !inside(c, a)) continue;
    found.push_back({q, normal, height, 0.0, true});
  }
}

/// From a ball's centre, at most `reach` away; of a centre below the surface the shortest way out alone.
Touches touches_of_centre(const Surface& surface, const Point& p, double reach) {
  const double depth = surface.height(p) - p.z();
  const bool below = depth > rounding * reach;
  if (below) reach = std::max(reach, 2.0 * depth);
  Touches found;
  const Point window(reach, reach, 0.0);
  surface.for_nodes(p - window, p + window,
                    [&](const Node& node) { add_local_minima(surface, node, p, reach, found); });
  // What is seen through the field is no contact.
  std::erase_if(found, [&](const Touch& t) { return below ? t.height > 0.0 : t.height < -2.0 * rounding * reach; });
  if (!below || found.empty()) return found;
  return {
      *std::max_element(found.begin(), found.end(), [](const auto& s, const auto& t) { return s.height < t.height; })};
}

/// Corners and edges between the ends of a capsule's axis, locally nearest to it.
Touches touches_between(const Surface& surface, const Point& centre, const Point& axis, double half_length,
                        double reach) {
  Touches found;
  const Point window = half_length * axis.cwiseAbs() + Point(reach, reach, 0.0);
  surface.for_nodes(centre - window, centre + window, [&](const Node& node) {
    const Point a = surface.at(node);
    const auto add = [&](const Point& q, const auto& steps) {
      const double along = (q - centre).dot(axis);
      const Point p = centre + along * axis;
      const double distance = (p - q).norm();
      if (std::abs(along) >= half_length || distance > reach || distance <= rounding * reach) return;
      const double side = p.z() < q.z() ? -1.0 : 1.0;
      const Point away = side * (p - q);
      const bool through_the_field = side * (p.z() - surface.height(p)) < 0.0;
      if (through_the_field || !surface.falls_away(away, q, node, steps)) return;
      found.push_back({q, away / distance, side * distance, along});
    };
    add(a, neighbours);
    for (const EdgeKind& kind : edge_kinds) {
      if (!surface.has(node + kind.end)) continue;
      const Point edge = surface.at(node + kind.end) - a;
      const Point across = edge - edge.dot(axis) * axis;
      if (across.norm() <= rounding * edge.norm()) continue;  // parallel: the ends' matter
      const double share = (centre - a).dot(across) / across.squaredNorm();
      if (share > -rounding && share < 1.0 + rounding) add(a + share * edge, std::array{kind.left, kind.right});
    }
  });
  return found;
}

/// Of touches at one position it keeps the nearest.
void merge(Touches& touches, double radius) {
  std::stable_sort(touches.begin(), touches.end(),
                   [](const Touch& s, const Touch& t) { return std::abs(s.height) < std::abs(t.height); });
  Touches kept;
  for (const Touch& t : touches) {
    const auto same = [&](const Touch& k) { return (k.position - t.position).norm() <= same_position * radius; };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(t);
  }
  touches = std::move(kept);
}

/// Of touches with one normal the outermost two along the axis imply those between that are no nearer.
void drop_implied(Touches& touches, double radius) {
  std::stable_sort(touches.begin(), touches.end(), [](const Touch& s, const Touch& t) { return s.along < t.along; });
  const Touches all = touches;
  const auto alike = [](const Touch& s, const Touch& t) { return (s.normal - t.normal).norm() <= same_position; };
  std::erase_if(touches, [&](const Touch& t) {
    for (const Touch& before : all) {
      if (before.along >= t.along) break;
      if (!alike(before, t)) continue;
      for (auto after = all.rbegin(); after != all.rend() && after->along > t.along; ++after) {
        const double share = (t.along - before.along) / (after->along - before.along);
        const double implied = before.height + share * (after->height - before.height);
        if (alike(*after, t) && t.height >= implied - same_position * radius) return true;
      }
    }
    return false;
  });
}

Touches touches_of_capsule(const Surface& surface, const Point& centre, const Point& axis, double half_length,
                           double radius, double reach) {
  Touches found = touches_between(surface, centre, axis, half_length, reach);
  for (const double side : {-1.0, 1.0}) {
    for (Touch t : touches_of_centre(surface, centre + side * half_length * axis, reach)) {
      // An edge that lies towards the middle is nearer to another point of the axis.
      if (!t.on_face && t.height > 0.0 && side * t.normal.dot(axis) > rounding) continue;
      t.along = side * half_length;
      found.push_back(t);
    }
  }
  merge(found, radius);
  drop_implied(found, radius);
  return found;
}

/// In the field's frame; nothing where a centre is beside or below the field.
std::optional<Touches> touches_of(const mjModel& model, const mjData& data, const mjContact& pair, double margin) {
  const Eigen::Matrix3d to_field = matrix3(data.geom_xmat + 9 * pair.geom1).transpose();
  const Surface surface(model, model.geom_dataid[pair.geom1]);
  const Point centre = to_field * (vector3(data.geom_xpos + 3 * pair.geom2) - vector3(data.geom_xpos + 3 * pair.geom1));
  const double radius = model.geom_size[3 * pair.geom2];
  if (model.geom_type[pair.geom2] == mjGEOM_SPHERE) {
    if (!surface.covers(centre)) return std::nullopt;
    Touches found = touches_of_centre(surface, centre, radius + margin);
    merge(found, radius);
    return found;
  }
  const Point axis = to_field * matrix3(data.geom_xmat + 9 * pair.geom2).col(2);
  const double half_length = model.geom_size[3 * pair.geom2 + 1];
  if (!surface.covers(centre - half_length * axis) || !surface.covers(centre + half_length * axis)) return std::nullopt;
  return touches_of_capsule(surface, centre, axis, half_length, radius, radius + margin);
}

}  // namespace

ContactList make_height_field_contacts_exact(const mjModel& model, mjData& data, double margin) {
  const auto same_pair = [](const mjContact& a, const mjContact& b) {
    return a.geom1 == b.geom1 && a.geom2 == b.geom2;
  };
  const auto round = [&](int geom) {
    return model.geom_type[geom] == mjGEOM_SPHERE || model.geom_type[geom] == mjGEOM_CAPSULE;
  };
  std::vector<mjContact> exact;
  ContactList list = ContactList::whole;
  int kept = 0;
  for (int c = 0, next = 0; c < data.ncon; c = next) {
    const mjContact pair = data.contact[c];
    for (next = c + 1; next < data.ncon && same_pair(data.contact[next], pair);) ++next;
    std::optional<Touches> touches;
    if (model.geom_type[pair.geom1] == mjGEOM_HFIELD && round(pair.geom2))
      touches = touches_of(model, data, pair, margin);
    if (!touches) {
      if (next - c >= mjMAXCONPAIR) list = ContactList::cut;
      std::copy(data.contact + c, data.contact + next, data.contact + kept);
      kept += next - c;
      continue;
    }
    const Eigen::Matrix3d to_world = matrix3(data.geom_xmat + 9 * pair.geom1);
    for (const Touch& t : *touches) {
      const double gap = t.height - model.geom_size[3 * pair.geom2];
      exact.push_back(pair);
      set_contact(exact.back(),
                  vector3(data.geom_xpos + 3 * pair.geom1) + to_world * (t.position + 0.5 * gap * t.normal),
                  to_world * t.normal, gap);
    }
  }
  data.ncon = kept;
  const bool fit = std::all_of(exact.begin(), exact.end(),
                               [&](const mjContact& contact) { return mj_addContact(&model, &data, &contact) == 0; });
  return fit ? list : ContactList::full;
}

}  // namespace conebench::simulation
