#pragma once

#include <mujoco/mujoco.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>

namespace conebench::simulation {

/// A point of the grid: row (along y) and column (along x).
struct Node {
  int row, column;
  Node operator+(const Node& step) const { return {row + step.row, column + step.column}; }
};

/// The edges that begin at a node, and what completes each to its two triangles: a cell is cut from its first corner
/// to the opposite one.
struct EdgeKind {
  Node end, left, right;
};
inline constexpr std::array<EdgeKind, 3> edge_kinds = {
    {{{0, 1}, {1, 1}, {-1, 0}}, {{1, 1}, {1, 0}, {0, 1}}, {{1, 0}, {0, -1}, {1, 1}}}};
inline constexpr std::array<Node, 6> neighbours = {{{0, 1}, {1, 1}, {1, 0}, {0, -1}, {-1, -1}, {-1, 0}}};

/// A field's surface in its geom's frame: triangles over the cells of a grid.
struct HeightFieldSurface {
  using Point = Eigen::Vector3d;
  static constexpr double rounding = 1e-9;  ///< of sines and of shares of a length

  HeightFieldSurface(const mjModel& model, int field)
      : rows(model.hfield_nrow[field]),
        columns(model.hfield_ncol[field]),
        size(model.hfield_size + 4 * field),
        data(model.hfield_data + model.hfield_adr[field]) {}

  bool has(const Node& n) const { return n.row >= 0 && n.row < rows && n.column >= 0 && n.column < columns; }
  Point at(const Node& n) const {
    return {size[0] * (2.0 * n.column / (columns - 1) - 1.0), size[1] * (2.0 * n.row / (rows - 1) - 1.0),
            size[2] * double(data[n.row * columns + n.column])};
  }
  /// In cells from the first node on.
  double column_of(double x) const { return 0.5 * (x / size[0] + 1.0) * (columns - 1); }
  double row_of(double y) const { return 0.5 * (y / size[1] + 1.0) * (rows - 1); }
  /// Above the base and between the side walls.
  bool covers(const Point& p) const {
    return std::abs(p.x()) <= size[0] && std::abs(p.y()) <= size[1] && p.z() > -size[3];
  }
  double height(const Point& p) const {
    const int column = std::clamp(static_cast<int>(column_of(p.x())), 0, columns - 2);
    const int row = std::clamp(static_cast<int>(row_of(p.y())), 0, rows - 2);
    const double u = column_of(p.x()) - column;
    const double v = row_of(p.y()) - row;
    const Node first{row, column};
    const double near = at(first).z(), far = at(first + Node{1, 1}).z();
    return u > v ? near + (u - v) * (at(first + Node{0, 1}).z() - near) + v * (far - near)
                 : near + (v - u) * (at(first + Node{1, 0}).z() - near) + u * (far - near);
  }
  /// Calls visit(node) for the nodes of all cells that the box between two corners meets.
  template <class Visit>
  void for_nodes(const Point& low, const Point& high, Visit visit) const {
    const int last_row = std::min(rows - 1, static_cast<int>(std::ceil(row_of(high.y()))));
    const int last_column = std::min(columns - 1, static_cast<int>(std::ceil(column_of(high.x()))));
    for (int r = std::max(0, static_cast<int>(std::floor(row_of(low.y())))); r <= last_row; ++r) {
      for (int c = std::max(0, static_cast<int>(std::floor(column_of(low.x())))); c <= last_column; ++c) {
        visit(Node{r, c});
      }
    }
  }
  /// Whether going from q, which lies on the surface, to the given nodes leads nowhere nearer to q + away.
  template <class Nodes>
  bool falls_away(const Point& away, const Point& q, const Node& origin, const Nodes& steps) const {
    return std::all_of(steps.begin(), steps.end(), [&](const Node& step) {
      if (!has(origin + step)) return true;
      const Point along = at(origin + step) - q;
      return away.dot(along) <= rounding * away.norm() * along.norm();
    });
  }

  int rows, columns;
  const mjtNum* size;  ///< half widths along x and y, unit of elevations, depth of the base [m]
  const float* data;
};

}  // namespace conebench::simulation
