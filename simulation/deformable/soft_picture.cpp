#include "simulation/deformable/soft_picture.hpp"

#include <png.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

namespace conebench::simulation {

namespace {

constexpr int width = 480, height = 360;

struct Triangle {
  std::array<Eigen::Vector3d, 3> corners;
  int colour = 0;
};

/// Grey levels and hues; a pixel is colour × shades + shade.
constexpr int shades = 32;
constexpr std::array<std::array<double, 3>, 5> hues = {
    {{0.93, 0.93, 0.93}, {0.85, 0.45, 0.30}, {0.35, 0.55, 0.80}, {0.55, 0.55, 0.58}, {0.45, 0.70, 0.45}}};
constexpr int ground_colour = 0, fixed_colour = 3;

class Painter {
 public:
  /// Corner points may lie anywhere; a view that holds all that moves is chosen.
  explicit Painter(const std::vector<Triangle>& triangles) : depth_(std::size_t(width * height), 1e300) {
    pixels_.assign(depth_.size(), 0);  // the lightest shade of the first hue is the background
    std::fill(pixels_.begin(), pixels_.end(), static_cast<unsigned char>(shades - 1));
    const Eigen::Vector3d towards = Eigen::Vector3d(0.55, -0.75, 0.4).normalized();
    view_.row(0) = Eigen::Vector3d::UnitZ().cross(towards).normalized();
    view_.row(1) = towards.cross(Eigen::Vector3d(view_.row(0)));
    view_.row(2) = towards;
    Eigen::Vector3d low = Eigen::Vector3d::Constant(1e300), high = -low;
    const auto moves = [](const Triangle& t) { return t.colour != ground_colour && t.colour != fixed_colour; };
    const bool any = std::any_of(triangles.begin(), triangles.end(), moves);
    for (const Triangle& t : triangles) {
      if (any && !moves(t)) continue;
      for (const auto& corner : t.corners) {
        low = low.cwiseMin(view_ * corner);
        high = high.cwiseMax(view_ * corner);
      }
    }
    middle_ = 0.5 * (low + high);
    const Eigen::Vector3d size = (high - low).cwiseMax(1e-9);
    scale_ = 0.9 * std::min(width / size[0], height / size[1]);
    for (const Triangle& t : triangles) paint(t);
  }
  const std::vector<unsigned char>& pixels() const { return pixels_; }

 private:
  void paint(const Triangle& t) {
    std::array<Eigen::Vector3d, 3> p;
    for (std::size_t k = 0; k < 3; ++k) {
      const Eigen::Vector3d at = scale_ * (view_ * t.corners[k] - middle_);
      p[k] = {0.5 * width + at[0], 0.5 * height - at[1], -at[2]};
    }
    const auto area = [](const Eigen::Vector3d& a, const Eigen::Vector3d& b, double x, double y) {
      return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    };
    const double whole = area(p[0], p[1], p[2][0], p[2][1]);
    if (!(std::abs(whole) > 1e-9)) return;
    const Eigen::Vector3d normal = (t.corners[1] - t.corners[0]).cross(t.corners[2] - t.corners[0]).normalized();
    const double light = 0.45 + 0.5 * std::abs(normal.dot(Eigen::Vector3d(0.3, -0.5, 0.8).normalized()));
    const auto shade = static_cast<unsigned char>(t.colour * shades + std::clamp(int(light * shades), 0, shades - 1));
    const auto range = [&](Index axis, int most) {
      const double low = std::min({p[0][axis], p[1][axis], p[2][axis]});
      const double high = std::max({p[0][axis], p[1][axis], p[2][axis]});
      return std::pair(std::clamp(int(std::floor(low)), 0, most), std::clamp(int(std::ceil(high)) + 1, 0, most));
    };
    const auto [left, right] = range(0, width);
    const auto [top, bottom] = range(1, height);
    bool met = false;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const double u = area(p[1], p[2], x + 0.5, y + 0.5) / whole, v = area(p[2], p[0], x + 0.5, y + 0.5) / whole;
        if (u < 0.0 || v < 0.0 || u + v > 1.0) continue;
        met = true;
        set(x, y, u * p[0][2] + v * p[1][2] + (1.0 - u - v) * p[2][2], shade);
      }
    }
    // Between the middles of pixels: a thin body would be dotted.
    const Eigen::Vector3d centre = (p[0] + p[1] + p[2]) / 3.0;
    const bool within = centre[0] >= 0.0 && centre[0] < width && centre[1] >= 0.0 && centre[1] < height;
    if (!met && within) set(int(centre[0]), int(centre[1]), centre[2], shade);
  }

  void set(int x, int y, double z, unsigned char shade) {
    const auto pixel = std::size_t(y * width + x);
    if (z >= depth_[pixel]) return;
    depth_[pixel] = z;
    pixels_[pixel] = shade;
  }

  Eigen::Matrix3d view_;
  Eigen::Vector3d middle_;
  double scale_ = 1.0;
  std::vector<double> depth_;
  std::vector<unsigned char> pixels_;
};

/// A surface over two parameters, in a frame.
template <class Surface>
void add_patch(const FramePose& pose, int rows, int columns, int colour, std::vector<Triangle>& triangles,
               Surface surface) {
  const auto at = [&](int r, int c) {
    return Eigen::Vector3d(pose.position + pose.rotation * surface(double(r) / rows, double(c) / columns));
  };
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      triangles.push_back({{at(r, c), at(r + 1, c), at(r + 1, c + 1)}, colour});
      triangles.push_back({{at(r, c), at(r + 1, c + 1), at(r, c + 1)}, colour});
    }
  }
}

void add_ball(const FramePose& pose, double radius, int cells, int colour, std::vector<Triangle>& triangles) {
  add_patch(pose, cells, 2 * cells, colour, triangles, [&](double u, double v) {
    const double a = std::numbers::pi * u, b = 2.0 * std::numbers::pi * v;
    return Eigen::Vector3d(radius * std::sin(a) * std::cos(b), radius * std::sin(a) * std::sin(b),
                           radius * std::cos(a));
  });
}

void add_shape(const Shape& shape, const FramePose& pose, double ground, int colour, std::vector<Triangle>& triangles) {
  switch (shape.kind) {
    case Shape::Kind::sphere: return add_ball(pose, shape.size[0], 12, colour, triangles);
    case Shape::Kind::plane:
      return add_patch(pose, 1, 1, colour, triangles, [&](double u, double v) {
        return Eigen::Vector3d(ground * (2.0 * u - 1.0), ground * (2.0 * v - 1.0), 0.0);
      });
    case Shape::Kind::box:
      for (int axis = 0; axis < 3; ++axis) {
        for (const double side : {-1.0, 1.0}) {
          add_patch(pose, 1, 1, colour, triangles, [&](double u, double v) {
            Eigen::Vector3d at;
            at[axis] = side;
            at[(axis + 1) % 3] = 2.0 * u - 1.0;
            at[(axis + 2) % 3] = 2.0 * v - 1.0;
            return Eigen::Vector3d(at.cwiseProduct(shape.size));
          });
        }
      }
      return;
    case Shape::Kind::cylinder:
      // Its side and, as rings that close in the middle, its ends.
      add_patch(pose, 3, 32, colour, triangles, [&](double u, double v) {
        const bool rim = u > 0.2 && u < 0.8;
        const double a = 2.0 * std::numbers::pi * v, r = rim ? shape.size[0] : 0.0;
        return Eigen::Vector3d(r * std::cos(a), r * std::sin(a), u < 0.5 ? -shape.size[1] : shape.size[1]);
      });
      return;
  }
}

std::vector<Triangle> triangles_of(const SoftModel& model, const Frames& frames, const Vector& position) {
  std::vector<Triangle> triangles;
  Index first = 0;
  Eigen::Vector3d low = Eigen::Vector3d::Constant(1e300), high = -low;
  const auto see = [&](const Eigen::Vector3d& p) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  };
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    std::map<std::array<Index, 3>, int> faces;
    for (const auto& t : model.bodies[b].mesh.tetrahedra) {
      for (std::size_t out = 0; out < 4; ++out) {
        std::array<Index, 3> face{};
        for (std::size_t k = 0, at = 0; k < 4; ++k) {
          if (k != out) face[at++] = t[k];
        }
        std::sort(face.begin(), face.end());
        ++faces[face];
      }
    }
    for (const auto& [face, count] : faces) {
      if (count != 1) continue;
      Triangle triangle{.corners = {}, .colour = 1};
      for (std::size_t k = 0; k < 3; ++k) {
        triangle.corners[k] = position.segment<3>(first + 3 * face[k]);
        see(triangle.corners[k]);
      }
      triangles.push_back(triangle);
    }
    first += model.bodies[b].position.size();
  }
  for (std::size_t k = 0; k < model.rigid.size(); ++k) {
    const RigidBody& body = model.rigid[k];
    const FramePose& pose = frames.pose(model.rigid_number(k));
    for (const auto& point : body.points) {
      const FramePose at{pose.position + pose.rotation * point, pose.rotation};
      see(at.position);
      if (body.point_radius > 0.0) add_ball(at, body.point_radius, 4, 2, triangles);
    }
  }
  for (const Shape& shape : model.shapes) {
    if (shape.kind == Shape::Kind::plane) continue;
    const FramePose& carrier = frames.pose(shape.carrier);
    const FramePose pose{carrier.position + carrier.rotation * shape.pose.position,
                         carrier.rotation * shape.pose.rotation};
    add_shape(shape, pose, 0.0, shape.carrier == 0 ? fixed_colour : 4, triangles);
    see(pose.position);
  }
  // The ground as far as the rest reaches.
  for (const Shape& shape : model.shapes) {
    if (shape.kind != Shape::Kind::plane) continue;
    const double reach = 0.6 * std::max(high[0] - low[0], high[1] - low[1]) + 1e-3;
    FramePose pose = shape.pose;
    pose.position += Eigen::Vector3d(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.0);
    add_shape(shape, pose, reach, ground_colour, triangles);
  }
  return triangles;
}

}  // namespace

Result<void> draw_soft_picture(const SoftModel& model, const Frames& frames, const Vector& position,
                               const std::filesystem::path& file) {
  const Painter painter(triangles_of(model, frames, position));
  std::vector<unsigned char> palette;
  for (const auto& hue : hues) {
    for (int s = 0; s < shades; ++s) {
      for (const double part : hue) {
        const double light = s == shades - 1 && &hue == &hues[0] ? 1.0 : (s + 1.0) / shades * part;
        palette.push_back(static_cast<unsigned char>(std::lround(255.0 * light)));
      }
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(palette.size() / 3);
  if (png_image_write_to_file(&image, file.c_str(), 0, painter.pixels().data(), width, palette.data()) != 0) {
    return {};
  }
  return Error{ErrorCode::bad_input, file.string() + ": cannot be written: " + image.message};
}

}  // namespace conebench::simulation
