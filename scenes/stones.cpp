#include "scenes/stones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace conebench {

namespace {

using Point = Eigen::Vector2d;
using Polygon = std::vector<Point>;

double cross(const Point& a, const Point& b) { return a[0] * b[1] - a[1] * b[0]; }

/// The outward normal of the side from a to b.
Point outward(const Point& a, const Point& b) { return Point(b[1] - a[1], a[0] - b[0]).normalized(); }

struct Bounds {
  Eigen::Vector3d low, high;
};

Bounds bounds_of(const Stone& stone) {
  Bounds box{{stone.outline[0][0], stone.front, stone.outline[0][1]},
             {stone.outline[0][0], stone.back, stone.outline[0][1]}};
  for (const Point& p : stone.outline) {
    box.low = box.low.cwiseMin(Eigen::Vector3d(p[0], stone.front, p[1]));
    box.high = box.high.cwiseMax(Eigen::Vector3d(p[0], stone.back, p[1]));
  }
  return box;
}

/// What of `polygon` is inside the convex `window` (Sutherland and Hodgman).
Polygon clipped(Polygon polygon, const Polygon& window) {
  for (std::size_t w = 0; w < window.size() && !polygon.empty(); ++w) {
    const Point& a = window[w];
    const Point along = window[(w + 1) % window.size()] - a;
    Polygon kept;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
      const Point& p = polygon[k];
      const Point& q = polygon[(k + 1) % polygon.size()];
      const double here = cross(along, p - a);
      const double there = cross(along, q - a);
      if (here >= 0.0) kept.push_back(p);
      if ((here < 0.0) != (there < 0.0)) kept.push_back(p + here / (here - there) * (q - p));
    }
    polygon = std::move(kept);
  }
  return polygon;
}

/// A polygon without corners that stand nearer than `small` to the one before.
Polygon without_repeats(const Polygon& polygon, double small) {
  Polygon kept;
  for (const Point& p : polygon) {
    if (kept.empty() || (p - kept.back()).norm() > small) kept.push_back(p);
  }
  while (kept.size() > 1 && (kept.back() - kept.front()).norm() <= small) kept.pop_back();
  return kept;
}

/// Collects the contacts of one pair after another.
struct ContactSearch {
  const std::vector<Stone>& stones;
  double small;
  std::vector<StoneContact> found = {};

  int body(int stone) const {
    return stone < 0 || stones[static_cast<std::size_t>(stone)].fixed ? RigidBodies::ground : stone;
  }
  void add(int first, int second, const Point& p, double y, const Eigen::Vector3d& normal) {
    found.push_back({body(first), body(second), {p[0], y, p[1]}, normal});
  }

  /// The four corners of a rectangle with the side from a to b.
  void add_side(int first, int second, const Point& a, const Point& b, double front, double back, const Point& normal) {
    for (const double y : {front, back}) {
      for (const Point& p : {a, b}) add(first, second, p, y, {normal[0], 0.0, normal[1]});
    }
  }

  void sides(int i, int j) {
    const Stone& a = stones[static_cast<std::size_t>(i)];
    const Stone& b = stones[static_cast<std::size_t>(j)];
    const double front = std::max(a.front, b.front);
    const double back = std::min(a.back, b.back);
    if (back - front <= small) return;
    for (std::size_t k = 0; k < a.outline.size(); ++k) {
      const Point& start = a.outline[k];
      const Point& end = a.outline[(k + 1) % a.outline.size()];
      const Point normal = outward(start, end);
      const Point along(-normal[1], normal[0]);
      for (std::size_t l = 0; l < b.outline.size(); ++l) {
        const Point& p = b.outline[l];
        const Point& q = b.outline[(l + 1) % b.outline.size()];
        if (std::abs(normal.dot(p - start)) > small || std::abs(normal.dot(q - start)) > small) continue;
        if (along.dot(p - q) <= 0.0) continue;
        const double low = std::max(0.0, along.dot(q - start));
        const double high = std::min(along.dot(end - start), along.dot(p - start));
        if (high - low > small) add_side(i, j, start + low * along, start + high * along, front, back, normal);
      }
    }
  }

  void faces(int i, int j) {
    const Stone& a = stones[static_cast<std::size_t>(i)];
    const Stone& b = stones[static_cast<std::size_t>(j)];
    const bool behind = std::abs(a.back - b.front) <= small;
    if (!behind && std::abs(b.back - a.front) > small) return;
    const Polygon common = without_repeats(clipped(a.outline, b.outline), small);
    double area = 0.0;
    for (std::size_t k = 2; k < common.size(); ++k) area += cross(common[k - 1] - common[0], common[k] - common[0]) / 2;
    double longest = 0.0;
    for (const Point& p : common) longest = std::max(longest, (p - common[0]).norm());
    if (area <= small * longest) return;
    for (const Point& p : common) {
      add(i, j, p, behind ? a.back : a.front, {0.0, behind ? 1.0 : -1.0, 0.0});
    }
  }

  void ground(int i) {
    const Stone& stone = stones[static_cast<std::size_t>(i)];
    if (stone.fixed) return;
    for (std::size_t k = 0; k < stone.outline.size(); ++k) {
      const Point& a = stone.outline[k];
      const Point& b = stone.outline[(k + 1) % stone.outline.size()];
      if (std::abs(a[1]) > small || std::abs(b[1]) > small) continue;
      add_side(RigidBodies::ground, i, a, b, stone.front, stone.back, {0.0, 1.0});
    }
  }
};

}  // namespace

StoneMass mass_of(const Stone& stone) {
  // Sums over the triangles from the first corner: area, first and second moments.
  const Point origin = stone.outline[0];
  double area = 0.0;
  Point first = Point::Zero();
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  for (std::size_t k = 2; k < stone.outline.size(); ++k) {
    const Point a = stone.outline[k - 1] - origin;
    const Point b = stone.outline[k] - origin;
    const double part = cross(a, b) / 2;
    area += part;
    first += part / 3 * (a + b);
    second += part / 12 * (a * a.transpose() + b * b.transpose() + (a + b) * (a + b).transpose());
  }
  const Point mean = first / area;
  second -= area * mean * mean.transpose();
  const double depth = stone.back - stone.front;
  StoneMass mass;
  mass.volume = area * depth;
  mass.centre = {origin[0] + mean[0], (stone.front + stone.back) / 2, origin[1] + mean[1]};
  const double along_y = mass.volume * depth * depth / 12;
  mass.moments << depth * second(1, 1) + along_y, 0.0, -depth * second(0, 1),  //
      0.0, depth * (second(0, 0) + second(1, 1)), 0.0,                         //
      -depth * second(1, 0), 0.0, depth * second(0, 0) + along_y;
  return mass;
}

Stone block(double x0, double x1, double z0, double z1, double front, double back) {
  return {{{x0, z0}, {x1, z0}, {x1, z1}, {x0, z1}}, front, back};
}

std::vector<StoneContact> contacts_of(const std::vector<Stone>& stones) {
  std::vector<Bounds> boxes;
  double largest = 0.0;
  for (const Stone& stone : stones) {
    boxes.push_back(bounds_of(stone));
    largest = std::max(largest, (boxes.back().high - boxes.back().low).maxCoeff());
  }
  ContactSearch search{stones, 1e-9 * largest};
  std::vector<int> order(stones.size());
  std::iota(order.begin(), order.end(), 0);
  const auto box = [&](int i) -> const Bounds& { return boxes[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return box(i).low[0] < box(j).low[0]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int i = order[k];
    search.ground(i);
    for (std::size_t l = k + 1; l < order.size() && box(order[l]).low[0] <= box(i).high[0] + search.small; ++l) {
      const int j = order[l];
      if (stones[static_cast<std::size_t>(i)].fixed && stones[static_cast<std::size_t>(j)].fixed) continue;
      const Eigen::Array3d apart = (box(i).low - box(j).high).cwiseMax(box(j).low - box(i).high);
      if ((apart > search.small).any()) continue;
      search.sides(i, j);
      search.faces(i, j);
    }
  }
  return std::move(search.found);
}

}  // namespace conebench
