#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Parts of URDF files and of meshes for tests.
namespace conebench::urdf_parts {

inline std::string robot(const std::string& content) { return "<robot name=\"r\">" + content + "</robot>"; }

inline std::string inertial(double mass, double ixx, double iyy, double izz) {
  return fmt::format(
      R"(<inertial><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>)", mass,
      ixx, iyy, izz);
}
inline const std::string one_kilogram = inertial(1, 0.01, 0.01, 0.01);

inline std::string collision(const std::string& geometry, const std::string& origin = "0 0 0") {
  return fmt::format(R"(<collision><origin xyz="{}"/><geometry>{}</geometry></collision>)", origin, geometry);
}
inline const std::string small_box = collision(R"(<box size="0.1 0.1 0.1"/>)");

inline std::string mesh(const std::string& file, const std::string& scale = "1 1 1") {
  return collision(fmt::format(R"(<mesh filename="{}" scale="{}"/>)", file, scale));
}

inline std::string link(const std::string& name, const std::string& content = "") {
  return fmt::format(R"(<link name="{}">{}</link>)", name, content);
}

/// At `origin` in the parent.
inline std::string joint(const std::string& type, const std::string& parent, const std::string& child,
                         const std::string& origin = "0 0 0", const std::string& content = "") {
  return fmt::format(R"(<joint name="{}_joint" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>
    <axis xyz="0 0 1"/>{}</joint>)",
                     child, type, parent, child, origin, content);
}

inline std::string limit(double lower, double upper) {
  return fmt::format(R"(<limit lower="{}" upper="{}" effort="3" velocity="1"/>)", lower, upper);
}

/// Corners of a tetrahedron at the origin with legs of 1, 2 and 3 along x, y and z, and its faces.
inline constexpr std::array<std::array<float, 3>, 4> corners = {{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}};
inline constexpr std::array<std::array<int, 3>, 4> faces = {{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};

inline void write_binary_stl(const std::filesystem::path& file) {
  std::string bytes(80, ' ');
  const auto append = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  append(std::uint32_t{4});
  for (const auto& face : faces) {
    for (int zero = 0; zero < 3; ++zero) append(0.0F);
    for (const int corner : face) {
      for (const float x : corners[std::size_t(corner)]) append(x);
    }
    append(std::uint16_t{0});
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

inline void write_ascii_stl(const std::filesystem::path& file) {
  std::ofstream stream(file);
  stream << "solid tetrahedron\n";
  for (const auto& face : faces) {
    stream << "facet normal 0 0 0\nouter loop\n";
    for (const int corner : face) {
      const auto& [x, y, z] = corners[std::size_t(corner)];
      stream << "vertex " << x << ' ' << y << ' ' << z << '\n';
    }
    stream << "endloop\nendfacet\n";
  }
  stream << "endsolid tetrahedron\n";
}

inline void write_obj(const std::filesystem::path& file) {
  std::ofstream stream(file);
  for (const auto& [x, y, z] : corners) stream << "v " << x << ' ' << y << ' ' << z << '\n';
  for (const auto& [a, b, c] : faces) stream << "f " << a + 1 << ' ' << b + 1 << ' ' << c + 1 << '\n';
}

/// The tetrahedron in units of `metres`, moved by 10 units along x.
inline void write_collada(const std::filesystem::path& file, double metres, const std::string& up) {
  std::string positions, indices;
  for (const auto& [x, y, z] : corners) positions += fmt::format("{} {} {} ", x, y, z);
  for (const auto& [a, b, c] : faces) indices += fmt::format("{} {} {} ", a, b, c);
  std::ofstream(file) << fmt::format(R"(<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{}"/><up_axis>{}</up_axis></asset>
<library_geometries><geometry id="shape"><mesh>
<source id="points"><float_array id="numbers" count="12">{}</float_array><technique_common>
<accessor source="#numbers" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="corners"><input semantic="POSITION" source="#points"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#corners" offset="0"/><p>{}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node id="placed"><translate>10 0 0</translate>
<instance_geometry url="#shape"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>
)",
                                     metres, up, positions, indices);
}

}  // namespace conebench::urdf_parts
