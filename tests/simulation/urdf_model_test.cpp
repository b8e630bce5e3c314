#include "simulation/urdf_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"
#include "simulation/scenes/urdf_mesh_converter.hpp"
#include "tests/simulation/urdf_parts.hpp"

namespace conebench::simulation {
namespace {

using namespace conebench::urdf_parts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UrdfModel : public ::testing::Test {
 protected:
  struct Compiled {
    ModelHandle model;
    UrdfFindings found;
    std::vector<std::string> notes;
    std::vector<LeftOut> left_out;

    int body(const std::string& name) const { return mj_name2id(model.get(), mjOBJ_BODY, name.c_str()); }
    int joint(const std::string& name) const { return mj_name2id(model.get(), mjOBJ_JOINT, name.c_str()); }
    double start(const std::string& joint_name) const {
      const int address = model->jnt_qposadr[joint(joint_name)];
      return model->nkey > 0 ? model->key_qpos[address] : model->qpos0[address];
    }
    /// Pairs of bodies in contact at the start, by name.
    std::vector<std::string> contacts() const {
      const DataHandle data(mj_makeData(model.get()));
      if (model->nkey > 0) mj_resetDataKeyframe(model.get(), data.get(), 0);
      mj_forward(model.get(), data.get());
      std::vector<std::string> pairs;
      for (int c = 0; c < data->ncon; ++c) {
        const auto name = [&](int geom) { return mj_id2name(model.get(), mjOBJ_BODY, model->geom_bodyid[geom]); };
        pairs.push_back(std::string(name(data->contact[c].geom[0])) + " " + name(data->contact[c].geom[1]));
      }
      std::sort(pairs.begin(), pairs.end());
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
      return pairs;
    }
    /// Least and largest coordinates of all meshes' corners at the start.
    Eigen::Matrix<double, 2, 3> box() const {
      const mjModel& m = *model;
      const DataHandle data(mj_makeData(&m));
      mj_kinematics(&m, data.get());
      Eigen::RowVector3d least = Eigen::RowVector3d::Constant(1e9), largest = -least;
      for (int g = 0; g < m.ngeom; ++g) {
        const int first = m.mesh_vertadr[m.geom_dataid[g]];
        for (int v = first; v < first + m.mesh_vertnum[m.geom_dataid[g]]; ++v) {
          const float* const vertex = m.mesh_vert + 3 * v;
          const mjtNum local[3] = {vertex[0], vertex[1], vertex[2]};
          Eigen::RowVector3d point;
          mju_mulMatVec3(point.data(), data->geom_xmat + 9 * g, local);
          mju_addTo3(point.data(), data->geom_xpos + 3 * g);
          least = least.cwiseMin(point);
          largest = largest.cwiseMax(point);
        }
      }
      Eigen::Matrix<double, 2, 3> ends;
      ends << least, largest;
      return ends;
    }
  };

  Result<Compiled> try_to_compile(const std::string& text) {
    CONEBENCH_TRY(const auto prepared, prepare_urdf(text, source_));
    Compiled compiled;
    CONEBENCH_TRY(compiled.model, compile_urdf(prepared, ground_, compiled.found));
    compiled.notes = urdf_notes(prepared, compiled.found);
    compiled.left_out = left_out_of(prepared);
    return compiled;
  }
  Compiled compile(const std::string& text) {
    auto compiled = try_to_compile(text);
    if (!compiled) throw std::runtime_error(compiled.error().message);
    return std::move(*compiled);
  }
  Eigen::Matrix<double, 2, 3> mesh_box(const std::string& file, const std::string& scale = "1 1 1") {
    return compile(robot(link("a", mesh(file, scale)))).box();
  }
  static void expect_box(const Eigen::Matrix<double, 2, 3>& box, const Eigen::RowVector3d& least,
                         const Eigen::RowVector3d& largest) {
    EXPECT_LT((box.row(0) - least).cwiseAbs().maxCoeff(), 1e-5) << box;
    EXPECT_LT((box.row(1) - largest).cwiseAbs().maxCoeff(), 1e-5) << box;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  UrdfSource source_ = {.file = folder_ / "robot.urdf", .package_path = {}, .package_dirs = {}};
  bool ground_ = false;
};

TEST_F(UrdfModel, JointsHaveTheirFreedomsLimitsDampingAndFriction) {
  const std::string dynamics = R"(<dynamics damping="0.5" friction="0.25"/>)";
  const Compiled made = compile(
      robot(link("a") + link("b", one_kilogram) + link("c", one_kilogram) + link("d", one_kilogram) +
            link("e", one_kilogram) + joint("revolute", "a", "b", "0 0 0", limit(-1, 2) + dynamics) +
            joint("continuous", "b", "c", "0 0 0", limit(-1, 2)) + joint("prismatic", "c", "d", "0 0 0", limit(0, 2)) +
            joint("planar", "d", "e", "0 0 0", limit(-1, 1))));
  EXPECT_EQ(made.model->nv, 6);
  const int turn = made.joint("b_joint"), on = made.joint("c_joint"), slide = made.joint("d_joint");
  EXPECT_EQ(made.model->jnt_type[turn], mjJNT_HINGE);
  EXPECT_EQ(made.model->jnt_type[slide], mjJNT_SLIDE);
  EXPECT_EQ(made.model->jnt_range[2 * turn + 1], 2.0);
  EXPECT_EQ(made.model->dof_frictionloss[made.model->jnt_dofadr[turn]], 0.25);
  EXPECT_EQ(made.model->jnt_limited[on], 0) << "a continuous joint has no limits";
  EXPECT_EQ(std::count(made.model->jnt_limited, made.model->jnt_limited + made.model->njnt, 1), 2);
  EXPECT_EQ(std::count(made.model->jnt_actfrclimited, made.model->jnt_actfrclimited + made.model->njnt, 1), 0);
  EXPECT_THAT(made.notes, IsEmpty());
}

TEST_F(UrdfModel, AFloatingJointIsFree) {
  const Compiled made =
      compile(robot(link("world") + link("a", one_kilogram) + joint("floating", "world", "a", "0 0 2")));
  EXPECT_EQ(made.model->nv, 6);
  EXPECT_EQ(made.model->qpos0[2], 2.0);
}

TEST_F(UrdfModel, AFreeBaseOnALinkCalledWorldStartsWhereItWasFixed) {
  source_.free_base = true;
  const Compiled made = compile(robot(link("world") + link("a", one_kilogram) + joint("fixed", "world", "a", "0 0 2")));
  EXPECT_EQ(made.model->nv, 6);
  EXPECT_EQ(made.model->qpos0[2], 2.0);
}

TEST_F(UrdfModel, MimicJointsAreEqualitiesThatHoldAtTheStart) {
  const Compiled made = compile(
      robot(link("a") + link("b", one_kilogram) + link("c", one_kilogram) +
            joint("revolute", "a", "b", "0 0 0", limit(1, 2)) +
            joint("continuous", "b", "c", "0 0 0", R"(<mimic joint="b_joint" multiplier="-2" offset="0.5"/>)")));
  ASSERT_EQ(made.model->neq, 1);
  EXPECT_EQ(made.model->eq_type[0], mjEQ_JOINT);
  EXPECT_EQ(made.model->eq_obj1id[0], made.joint("c_joint"));
  EXPECT_EQ(made.model->eq_obj2id[0], made.joint("b_joint"));
  EXPECT_EQ(made.model->eq_data[0], 0.5);
  EXPECT_EQ(made.model->eq_data[1], -2.0);
  EXPECT_EQ(made.start("b_joint"), 1.0) << "the limit that is nearest to 0";
  EXPECT_EQ(made.start("c_joint"), -1.5);
  EXPECT_THAT(made.found.moved, ElementsAre("b_joint", "c_joint"));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("2 joints (b_joint, c_joint)")));
}

/// Three boxes of 0.1 m on a row of joints, 0.06 m apart: neighbours overlap, the first and the last one don't.
std::string row_of_boxes(double distance) {
  const std::string on = fmt::format("{} 0 0", distance), body = one_kilogram + small_box;
  return robot(link("base") + link("a", body) + link("b", body) + link("c", body) + joint("prismatic", "base", "a") +
               joint("prismatic", "a", "b", on) + joint("prismatic", "b", "c", on));
}

TEST_F(UrdfModel, LinksThatAreAdjacentOrOverlapAtTheStartDoNotTouch) {
  const Compiled apart = compile(row_of_boxes(0.06));
  EXPECT_THAT(apart.contacts(), IsEmpty());
  EXPECT_THAT(apart.found.overlapping, IsEmpty());
  const Compiled near = compile(row_of_boxes(0.04));
  EXPECT_THAT(near.contacts(), IsEmpty());
  ASSERT_EQ(near.found.overlapping.size(), 1U);
  EXPECT_EQ(near.found.overlapping[0].first + near.found.overlapping[0].second, "ac");
  EXPECT_THAT(near.notes, ElementsAre(HasSubstr("no contacts between 3 pairs of links (2 adjacent, 1 overlapping")));
}

TEST_F(UrdfModel, WithSelfCollisionAllTouch) {
  source_.self_collision = true;
  const Compiled made = compile(row_of_boxes(0.04));
  EXPECT_THAT(made.contacts(), ElementsAre("a b", "a c", "b c"));
  EXPECT_THAT(made.notes, IsEmpty());
}

TEST_F(UrdfModel, ALinkOnAFixedBaseTouchesTheGroundAndNotTheBase) {
  ground_ = true;
  const std::string body = one_kilogram + small_box;
  const Compiled made =
      compile(robot(link("base", small_box) + link("a", body) + link("b", body) +
                    joint("prismatic", "base", "a", "0.06 0 0") + joint("prismatic", "base", "b", "1 0 -0.05")));
  const DataHandle data(mj_makeData(made.model.get()));
  data->qpos[0] = -0.06;
  mj_forward(made.model.get(), data.get());
  EXPECT_EQ(made.model->ngeom, 4);
  ASSERT_GT(data->ncon, 0);
  const int plane = data->contact[0].geom[0];
  EXPECT_EQ(made.model->geom_type[plane], mjGEOM_PLANE);
  EXPECT_NEAR(made.model->geom_pos[3 * plane + 2], -0.1, 1e-12);
  EXPECT_NEAR(made.model->geom_friction[3 * plane], 1.0, 0.0);
  for (int c = 0; c < data->ncon; ++c) EXPECT_EQ(data->contact[c].geom[0], plane);
}

TEST_F(UrdfModel, AMovingLinkThatIsNotAdjacentTouchesTheFixedBase) {
  const std::string body = one_kilogram + small_box;
  const Compiled made = compile(robot(link("base", small_box) + link("a", one_kilogram) + link("b", body) +
                                      joint("prismatic", "base", "a") + joint("prismatic", "a", "b", "0.2 0 0")));
  EXPECT_THAT(made.contacts(), IsEmpty());
  ModelHandle moved(mj_copyModel(nullptr, made.model.get()));
  moved->body_pos[3 * made.body("b")] = 0.09;
  const DataHandle there(mj_makeData(moved.get()));
  mj_forward(moved.get(), there.get());
  EXPECT_GT(there->ncon, 0);
}

TEST_F(UrdfModel, MeshesAreWhereTheirFilesHaveThem) {
  write_binary_stl(folder_ / "a.stl");
  write_obj(folder_ / "b.obj");
  for (const char* file : {"a.stl", "b.obj"}) expect_box(mesh_box(file), {0, 0, 0}, {1, 2, 3});
  expect_box(mesh_box("a.stl", "2 0.5 1"), {0, 0, 0}, {2, 1, 3});
}

TEST_F(UrdfModel, ANegativeScaleMirrorsAMesh) {
  write_binary_stl(folder_ / "a.stl");
  expect_box(mesh_box("a.stl", "1 -1 1"), {0, -2, 0}, {1, 0, 3});
  expect_box(mesh_box("a.stl", "-1 -1 -1"), {-1, -2, -3}, {0, 0, 0});
  const Compiled both = compile(robot(link("a", mesh("a.stl", "1 -1 1") + mesh("a.stl"))));
  EXPECT_EQ(both.model->nmesh, 2);
}

TEST_F(UrdfModel, AsciiStlAndColladaAreConverted) {
  if (!converts_meshes()) GTEST_SKIP() << "built without assimp";
  write_ascii_stl(folder_ / "a.stl");
  expect_box(mesh_box("a.stl"), {0, 0, 0}, {1, 2, 3});
  for (const char* up : {"X_UP", "Y_UP", "Z_UP"}) {
    write_collada(folder_ / "b.dae", 1.0, up);
    expect_box(mesh_box("b.dae"), {10, 0, 0}, {11, 2, 3});
  }
  write_collada(folder_ / "b.dae", 0.01, "Z_UP");
  expect_box(mesh_box("b.dae"), {0.1, 0, 0}, {0.11, 0.02, 0.03});
}

TEST_F(UrdfModel, AMeshThatCannotBeReadIsNamedWithItsLink) {
  if (!converts_meshes()) GTEST_SKIP() << "built without assimp";
  std::ofstream(folder_ / "a.dae") << "not a mesh";
  std::ofstream(folder_ / "b.stl") << "solid nothing\nendsolid nothing\n";
  for (const char* file : {"a.dae", "b.stl"}) {
    const auto refused = try_to_compile(robot(link("wrist", mesh(file))));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, ::testing::AllOf(HasSubstr("link 'wrist'"), HasSubstr(file)));
  }
}

TEST_F(UrdfModel, FilesWithOneStemAreTwoMeshes) {
  std::filesystem::create_directories(folder_ / "left");
  write_obj(folder_ / "a.obj");
  std::ofstream(folder_ / "left" / "a.obj")
      << "v 0 0 0\nv 9 0 0\nv 0 9 0\nv 0 0 9\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const Compiled made = compile(robot(link("l", mesh("a.obj") + mesh("left/a.obj"))));
  EXPECT_EQ(made.model->nmesh, 2);
  expect_box(made.box(), {0, 0, 0}, {9, 9, 9});
}

TEST_F(UrdfModel, AnOpenMeshIsNoMistake) {
  std::ofstream(folder_ / "a.obj") << "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\nf 1 2 4\n";
  EXPECT_EQ(compile(robot(link("l", mesh("a.obj")))).model->nmesh, 1);
}

TEST_F(UrdfModel, AFixedLinksMassIsItsBodys) {
  const Compiled made =
      compile(robot(link("base", small_box) + link("a", one_kilogram) + link("b", small_box + inertial(0.5, 0, 0, 0)) +
                    joint("continuous", "base", "a") + joint("fixed", "a", "b", "0.3 0 0")));
  EXPECT_EQ(made.model->nbody, 2);
  const int body = made.body("a");
  EXPECT_NEAR(made.model->body_mass[body], 1.5, 1e-12);
  EXPECT_NEAR(made.model->body_ipos[3 * body], 0.1, 1e-12);
}

TEST_F(UrdfModel, RepairsAreSaid) {
  const Compiled made =
      compile(robot(link("base") + link("a", inertial(1, 1, 1, 5)) + link("b") + link("c", small_box) +
                    joint("continuous", "base", "a") + joint("continuous", "a", "b") +
                    joint("continuous", "b", "c", "0 0 0", R"(<limit lower="1" upper="-1"/>)") +
                    R"(<joint name="d" type="fixed"><parent link="c"/><child link="d"/></joint>)" + link("d")));
  EXPECT_THAT(made.notes,
              ElementsAre("mass of 1 link (b: 0 to 1e-06 kg) raised",
                          "smallest moment of inertia of 1 link (b: 0 to 1e-09 kg m²) raised",
                          "smallest moment of inertia of 1 link (a: 1 to 2.5 kg m²) raised until A + B >= C",
                          "1 link (c: 1 kg) without <inertial> have the mass of their shapes"));
  EXPECT_NEAR(made.model->body_mass[made.body("c")], 1.0, 1e-9) << "0.001 m³ at 1000 kg/m³";
}

TEST_F(UrdfModel, LimitsTheWrongWayRoundAreSaid) {
  const Compiled made =
      compile(robot(link("a") + link("b", one_kilogram) + joint("revolute", "a", "b", "0 0 0", limit(1, -1))));
  EXPECT_EQ(made.model->jnt_limited[0], 0);
  ASSERT_EQ(made.left_out.size(), 1U);
  EXPECT_EQ(made.left_out[0].element, "joint 'b_joint'");
}

TEST_F(UrdfModel, AJointWhoseLimitsAreOneIsLockedThere) {
  const Compiled made =
      compile(robot(link("a") + link("b", one_kilogram) + joint("revolute", "a", "b", "0 0 0", limit(0.3, 0.3))));
  ASSERT_EQ(made.model->neq, 1);
  EXPECT_EQ(made.model->eq_type[0], mjEQ_JOINT);
  EXPECT_EQ(made.model->eq_data[0], 0.3);
}

}  // namespace
}  // namespace conebench::simulation
