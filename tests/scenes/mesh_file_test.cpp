// Meshes from files: both formats read back, and whatever is wrong is one line.

#include "scenes/mesh_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <tuple>

#include "scenes/scene_table.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {
namespace {

std::string write(const std::string& text, const std::string& name = "mesh.msh") {
  const auto file = std::filesystem::path(::testing::TempDir()) / ("conebench_" + name);
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

/// With a point of its own that is no tetrahedron's, a triangle, and node tags 10, 20, ….
std::string gmsh_of(const TetrahedralMesh& mesh) {
  std::ostringstream text;
  const std::size_t n = mesh.nodes.size();
  text << "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Comments\nany words 3\n$EndComments\n$Nodes\n2 " << n + 1 << " 5 "
       << 10 * n << "\n0 1 0 1\n5\n9 9 9\n3 1 0 " << n << "\n";
  for (std::size_t k = 1; k <= n; ++k) text << 10 * k << "\n";
  text.precision(17);
  for (const auto& node : mesh.nodes) text << node[0] << " " << node[1] << " " << node[2] << "\n";
  text << "$EndNodes\n$Elements\n2 " << mesh.tetrahedra.size() + 1 << " 1 99\n2 1 2 1\n1 10 20 30\n3 1 4 "
       << mesh.tetrahedra.size() << "\n";
  std::size_t tag = 2;
  for (const auto& t : mesh.tetrahedra) {
    text << tag++;
    for (const Index corner : t) text << " " << 10 * (corner + 1);
    text << "\n";
  }
  text << "$EndElements\n";
  return text.str();
}

std::string vtk_of(const TetrahedralMesh& mesh, bool offsets) {
  std::ostringstream text;
  text.precision(17);
  text << "# vtk DataFile Version " << (offsets ? "5.1" : "3.0")
       << "\na title of words\nASCII\nDATASET UNSTRUCTURED_GRID\n"
       << "POINTS " << mesh.nodes.size() << " double\n";
  for (const auto& node : mesh.nodes) text << node[0] << " " << node[1] << " " << node[2] << "\n";
  const std::size_t m = mesh.tetrahedra.size();
  if (offsets) {
    text << "CELLS " << m + 1 << " " << 4 * m << "\nOFFSETS vtktypeint64\n";
    for (std::size_t k = 0; k <= m; ++k) text << 4 * k << " ";
    text << "\nCONNECTIVITY vtktypeint64\n";
  } else {
    text << "CELLS " << m << " " << 5 * m << "\n";
  }
  for (const auto& t : mesh.tetrahedra) {
    if (!offsets) text << "4 ";
    text << t[0] << " " << t[1] << " " << t[2] << " " << t[3] << "\n";
  }
  text << "CELL_TYPES " << m << "\n";
  for (std::size_t k = 0; k < m; ++k) text << "10\n";
  text << "POINT_DATA 3\n";
  return text.str();
}

void expect_same(const Result<TetrahedralMesh>& read, const TetrahedralMesh& mesh) {
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->nodes.size(), mesh.nodes.size());
  for (std::size_t k = 0; k < mesh.nodes.size(); ++k) EXPECT_EQ(read->nodes[k], mesh.nodes[k]);
  EXPECT_EQ(read->tetrahedra, mesh.tetrahedra);
}

TEST(MeshFile, ReadsGmshAndVtk) {
  const TetrahedralMesh mesh = block_mesh(2, 1, 2, {0.2, 0.1, 0.3});
  expect_same(read_mesh(write(gmsh_of(mesh))), mesh);
  expect_same(read_mesh(write(vtk_of(mesh, false), "mesh.vtk")), mesh);
  expect_same(read_mesh(write(vtk_of(mesh, true), "mesh5.vtk")), mesh);
}

TEST(MeshFile, ASceneDropsIt) {
  const std::string file = write(gmsh_of(ball_mesh(3, 40.0)), "ball.msh");
  const auto model = (*require_simulated_scene("soft-drop"))->make({{"mesh", file}, {"scale", 1e-3}}, 1);
  ASSERT_TRUE(model) << model.error().message;
  const auto& nodes = model->soft->bodies[0].mesh.nodes;
  EXPECT_EQ(nodes.size(), 64U);
  for (const auto& node : nodes) EXPECT_LE(node.norm(), 0.04 + 1e-12);
}

TEST(MeshFile, EveryElasticSceneTakesOneInPlaceOfItsOwn) {
  // A file of the mesh that the scene would make, in another unit and place: the same model.
  const auto moved = [](TetrahedralMesh mesh) {
    for (Eigen::Vector3d& node : mesh.nodes) node = 1e3 * node + Eigen::Vector3d(5, -7, 11);
    return mesh;
  };
  const std::vector<std::tuple<std::string, OptionValues, TetrahedralMesh>> cases = {
      {"soft-mat", {{"nx", 3L}, {"ny", 4L}}, block_mesh(3, 4, 1, {0.2, 0.34, 0.01})},
      {"soft-ball-grip", {{"cells", 4L}}, ball_mesh(4, 0.04)},
      {"soft-gripper", {{"nx", 2L}, {"ny", 2L}, {"nz", 3L}}, block_mesh(2, 2, 3, {0.02, 0.03, 0.1})}};
  for (const auto& [id, own, mesh] : cases) {
    const auto row = require_simulated_scene(id);
    ASSERT_TRUE(row);
    const auto expected = (*row)->make(own, 1);
    ASSERT_TRUE(expected);
    const std::string file = write(gmsh_of(moved(mesh)), id + ".msh");
    const auto read = (*row)->make({{"mesh", file}, {"scale", 1e-3}}, 1);
    ASSERT_TRUE(read) << read.error().message;
    const SoftModel &a = *expected->soft, &b = *read->soft;
    ASSERT_EQ(a.bodies.size(), b.bodies.size());
    for (std::size_t k = 0; k < a.bodies.size(); ++k) {
      EXPECT_LE((a.bodies[k].position - b.bodies[k].position).norm(), 1e-12) << id;
    }
    ASSERT_EQ(a.ties.size(), b.ties.size());
    for (std::size_t k = 0; k < a.ties.size(); ++k) EXPECT_EQ(a.ties[k].nodes, b.ties[k].nodes);
    for (std::size_t k = 0; k < a.guides.size(); ++k) {
      EXPECT_LE((a.guides[k].pose.position - b.guides[k].pose.position).norm(), 1e-12) << id;
    }
    EXPECT_FALSE((*row)->make({{"mesh", std::string("missing.msh")}}, 1)) << id;
  }
}

TEST(MeshFile, SoftBlockStandsOnItsLowestNodes) {
  const auto row = require_scene("soft-block");
  ASSERT_TRUE(row);
  TetrahedralMesh mesh = block_mesh(2, 3, 2, {0.04, 0.06, 0.04});
  std::swap(mesh.nodes.front(), mesh.nodes.back());  // of the top
  for (auto& corners : mesh.tetrahedra) {
    for (Index& node : corners) {
      const Index last = Index(mesh.nodes.size()) - 1;
      if (node == 0 || node == last) node = last - node;
    }
  }
  const auto read = (*row)->make({{"mesh", write(gmsh_of(mesh), "block.msh")}}, 1);
  ASSERT_TRUE(read) << read.error().message;
  const auto own = (*row)->make({{"nx", 2L}, {"ny", 3L}, {"nz", 2L}}, 1);
  ASSERT_TRUE(own);
  ASSERT_EQ(read->cones().contacts(), 12);
  EXPECT_LE((read->free_term() - own->free_term()).norm(), 1e-12);
  // The nodes are numbered otherwise, G's eigenvalues are the same.
  const auto values = [](const ContactProblem& problem) {
    return Vector(Eigen::SelfAdjointEigenSolver<Matrix>(problem.blocks().dense()).eigenvalues());
  };
  EXPECT_LE((values(*read) - values(*own)).norm(), 1e-9 * values(*own).norm());
}

TEST(MeshFile, BallsAreRoundAndOfTheirVolume) {
  const TetrahedralMesh mesh = ball_mesh(10, 0.04);
  EXPECT_EQ(mesh.nodes.size(), 1331U);
  double volume = 0.0;
  for (const auto& t : mesh.tetrahedra) {
    Eigen::Matrix<double, 3, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners.col(Index(k)) = mesh.nodes[std::size_t(t[k])];
    const double own = element_of(corners, hooke(1.0, 0.3)).volume;
    EXPECT_GT(own, 0.0);
    volume += own;
  }
  EXPECT_NEAR(volume / (4.0 / 3.0 * 3.14159265358979 * 6.4e-5), 1.0, 0.03);
}

TEST(MeshFile, WhatIsWrongIsOneLine) {
  const std::string good = gmsh_of(block_mesh(1, 1, 1, {1, 1, 1}));
  const std::string grid = vtk_of(block_mesh(1, 1, 1, {1, 1, 1}), false);
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {"solid\n", "neither"},
      {with(good, "4.1 0 8", "2.2 0 8"), "version 4.1"},
      {with(good, "4.1 0 8", "4.1 1 8"), "binary"},
      {with(good, "2 9 5 80", "2 10 5 80"), "fewer nodes"},
      {with(good, "2 9 5 80", "2 8 5 80"), "more nodes"},
      {with(good, "2 9 5 80", "2 999999999999 5 80"), "0 to 10000000"},
      {with(good, "2 7 1 99", "2 8 1 99"), "fewer elements"},
      {with(good, "2 7 1 99", "2 6 1 99"), "more elements"},
      {with(good, "2 10 20 40 80", "2 10 20 40 81"), "node 81"},
      {with(good, "2 10 20 40 80", "2 10 20 40"), "before a corner"},
      {with(good, "2 10 20 40 80", "2 10 20 40 x"), "'x'"},
      {with(good, "2 10 20 40 80", "2 10 20 40 40"), "no volume"},
      {with(good, "9 9 9", "9 9"), "before z"},
      {with(good, "9 9 9", "9 9 nan"), "not finite"},
      {with(good, "10\n20\n", "10\n10\n"), "twice"},
      {with(good, "$EndElements\n", ""), "expected $EndElements"},
      {with(good, "$EndComments", "$EndComment"), "no $EndComments"},
      {good.substr(0, good.find("$Elements")), "no $Elements"},
      {with(grid, "ASCII", "BINARY"), "not ASCII"},
      {with(grid, "UNSTRUCTURED_GRID", "POLYDATA"), "UNSTRUCTURED_GRID"},
      {with(grid, "CELLS 6 30", "CELLS 6 31"), "fewer"},
      {with(grid, "CELLS 6 30", "CELLS 6 29"), "more"},
      {with(grid, "CELL_TYPES 6", "CELL_TYPES 5"), "5 cell types for 6"},
      {with(grid, "4 0 1 3 7", "4 0 1 3 8"), "node 8"},
      {with(grid, "10\n10\n10\n10\n10\n10\n", "5\n5\n5\n5\n5\n5\n"), "no tetrahedron"},
      {grid.substr(0, grid.size() / 2), ""},
  };
  for (const auto& [text, part] : cases) {
    const auto read = read_mesh(write(text, "bad.msh"));
    ASSERT_FALSE(read) << part;
    EXPECT_EQ(read.error().code, ErrorCode::bad_input);
    EXPECT_THAT(read.error().message, ::testing::HasSubstr(part));
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  EXPECT_THAT(read_mesh("/nowhere/mesh.msh").error().message, ::testing::HasSubstr("cannot be read"));
  // Cut anywhere, it is never more than an error.
  for (const std::string& text : {good, grid, vtk_of(block_mesh(1, 1, 1, {1, 1, 1}), true)}) {
    for (std::size_t length = 0; length + 40 < text.size(); length += 3) {
      EXPECT_FALSE(read_mesh(write(text.substr(0, length), "bad.msh"))) << length;
    }
  }
}

}  // namespace
}  // namespace conebench
