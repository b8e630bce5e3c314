#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <filesystem>
#include <fstream>
#include <pugixml.hpp>
#include <string>

#include "base/temporary_folder.hpp"
#include "simulation/scenes/urdf.hpp"
#include "simulation/scenes/urdf_inertia.hpp"
#include "simulation/scenes/urdf_mesh_converter.hpp"
#include "tests/simulation/urdf_parts.hpp"

namespace conebench {
namespace {

using namespace urdf_parts;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

/// A URDF in a folder `arm/urdf` of a temporary one.
class UrdfText : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "arm" / "urdf");
    fs::create_directories(folder_ / "arm" / "meshes");
  }

  /// The robot; its prepared text is then in `document_`.
  Result<UrdfRobot> prepare(const std::string& text) {
    auto robot = prepare_urdf(text, source_);
    if (robot) document_.load_string(robot->text.c_str());
    return robot;
  }
  std::string error_of(const std::string& text) {
    const auto robot = prepare(text);
    if (robot) return "was taken";
    EXPECT_EQ(robot.error().code, ErrorCode::bad_input);
    EXPECT_THAT(robot.error().message, Not(HasSubstr("\n")));
    return robot.error().message;
  }
  pugi::xml_node element(const std::string& kind, const std::string& name) const {
    return document_.child("robot").find_child_by_attribute(kind.c_str(), "name", name.c_str());
  }
  double mass(const std::string& link) const {
    return element("link", link).child("inertial").child("mass").attribute("value").as_double();
  }
  Eigen::Vector3d moments(const std::string& link) const {
    const pugi::xml_node inertia = element("link", link).child("inertial").child("inertia");
    const auto entry = [&](const char* name) { return inertia.attribute(name).as_double(); };
    Eigen::Matrix3d matrix;
    matrix << entry("ixx"), entry("ixy"), entry("ixz"), entry("ixy"), entry("iyy"), entry("iyz"), entry("ixz"),
        entry("iyz"), entry("izz");
    return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix).eigenvalues();
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  const fs::path meshes_ = folder_ / "arm" / "meshes";
  UrdfSource source_ = {.file = folder_ / "arm" / "urdf" / "arm.urdf", .package_path = {}, .package_dirs = {}};
  pugi::xml_document document_;
};

TEST_F(UrdfText, IsRecognisedByItsRoot) {
  EXPECT_TRUE(is_urdf("<?xml version=\"1.0\"?>\n<!-- <mujoco/> --><robot name='r'/>"));
  EXPECT_TRUE(is_urdf("<robot><link name=\"a\"></robot>")) << "a broken one, too";
  EXPECT_FALSE(is_urdf("<mujoco model=\"robot\"><!-- <robot> --></mujoco>"));
  EXPECT_FALSE(is_urdf("<robots/>"));
  EXPECT_FALSE(is_urdf(""));
}

TEST_F(UrdfText, WhatIsOnlySeenIsDropped) {
  const std::string seen = R"(<visual><geometry><mesh filename="package://nowhere/arm.dae"/></geometry></visual>)";
  ASSERT_TRUE(prepare(robot(R"(<material name="red"/><gazebo/><transmission name="t"/>)" + link("a", seen + seen))));
  EXPECT_FALSE(element("link", "a").child("visual"));
  for (const char* other : {"material", "gazebo", "transmission"}) EXPECT_FALSE(document_.child("robot").child(other));
}

TEST_F(UrdfText, AFreeBaseIsAFloatingJointOnTheWorld) {
  source_.free_base = true;
  ASSERT_TRUE(
      prepare(robot(link("base", one_kilogram) + link("arm", one_kilogram) + joint("revolute", "base", "arm"))));
  const pugi::xml_node joint = element("joint", "conebench_base");
  EXPECT_STREQ(joint.attribute("type").value(), "floating");
  EXPECT_STREQ(joint.child("parent").attribute("link").value(), "world");
  EXPECT_STREQ(joint.child("child").attribute("link").value(), "base");
}

TEST_F(UrdfText, AFreeBaseOnALinkCalledWorldIsItsFixedJoint) {
  source_.free_base = true;
  ASSERT_TRUE(prepare(robot(link("world") + link("base", one_kilogram) + joint("fixed", "world", "base", "0 0 1"))));
  EXPECT_STREQ(element("joint", "base_joint").attribute("type").value(), "floating");
  EXPECT_FALSE(element("joint", "conebench_base"));
  EXPECT_THAT(error_of(robot(link("world") + link("base", one_kilogram) + joint("prismatic", "world", "base"))),
              HasSubstr("the root link is the world itself"));
  EXPECT_THAT(error_of(robot(link("world"))), HasSubstr("the root link is the world itself"));
  EXPECT_THAT(error_of(robot(link("a") + link("b"))), HasSubstr("the robot has 2"));
  EXPECT_THAT(error_of(robot("")), HasSubstr("the robot has 0"));
}

TEST_F(UrdfText, MistakesAreNamedInOneLine) {
  const std::string two = link("a") + link("b", one_kilogram);
  EXPECT_THAT(error_of("<robot>\n<link name=\"a\">\n</robot>"), AllOf(HasSubstr("not XML"), HasSubstr("line 3")));
  EXPECT_THAT(error_of(robot(link(""))), HasSubstr("link 1 has no name"));
  EXPECT_THAT(error_of(robot(link("a") + link("a"))), HasSubstr("two links are named 'a'"));
  EXPECT_THAT(error_of(robot(two + joint("screw", "a", "b"))),
              AllOf(HasSubstr("joint 'b_joint'"), HasSubstr("'screw'"), HasSubstr("URDF joints: revolute")));
  EXPECT_THAT(error_of(robot(two + joint("fixed", "c", "b"))), HasSubstr("its parent link 'c' is not in the file"));
  EXPECT_THAT(error_of(robot(two + joint("fixed", "a", "b") + joint("fixed", "b", "a"))), HasSubstr("loop"));
  EXPECT_THAT(error_of(robot(two + link("c") + joint("fixed", "a", "b") +
                             R"(<joint name="more" type="fixed"><parent link="c"/><child link="b"/></joint>)")),
              AllOf(HasSubstr("link 'b'"), HasSubstr("'b_joint'"), HasSubstr("'more'")));
  EXPECT_THAT(error_of(robot(link("a") + link("world") + joint("fixed", "a", "world"))), HasSubstr("rename it"));
  EXPECT_THAT(error_of(robot(link("a") + link("b", R"(<inertial><mass value="heavy"/></inertial>)") +
                             joint("continuous", "a", "b"))),
              AllOf(HasSubstr("link 'b'"), HasSubstr("<mass value=\"heavy\">: not a number")));
  EXPECT_THAT(error_of(robot(link("a", collision("<mesh scale=\"1 1 1\"/>")))), HasSubstr("link 'a'"));
  EXPECT_THAT(error_of("<robot xmlns:xacro=\"x\"><xacro:macro name=\"leg\"/></robot>"), HasSubstr("expand it first"));
}

TEST_F(UrdfText, PackagesAreSearchedForUpward) {
  write_obj(meshes_ / "a.obj");
  const auto found = prepare(robot(link("a", mesh("package://arm/meshes/a.obj"))));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->meshes.at(0).file, fs::canonical(meshes_ / "a.obj"));
  fs::create_directories(folder_ / "hand");
  write_obj(folder_ / "hand" / "b.obj");
  EXPECT_TRUE(prepare(robot(link("a", mesh("package://hand/b.obj"))))) << "a folder beside";
  EXPECT_TRUE(prepare(robot(link("a", mesh("model://hand/b.obj")))));
  EXPECT_TRUE(prepare(robot(link("a", mesh("package:///hand/b.obj")))));
  std::ofstream(folder_ / "arm" / "package.xml") << "<package><name>arm_description</name></package>";
  EXPECT_TRUE(prepare(robot(link("a", mesh("package://arm_description/meshes/a.obj")))));
}

TEST_F(UrdfText, PackagesAreSearchedForInFoldersThatAreGiven) {
  const TemporaryFolder other;
  const fs::path package = other.path() / "hand";
  fs::create_directories(package);
  write_obj(package / "b.obj");
  const std::string text = robot(link("a", mesh("package://hand/b.obj")));
  EXPECT_FALSE(prepare(text));
  source_.package_path = {other.path()};
  EXPECT_TRUE(prepare(text));
  source_.package_path = {};
  source_.package_dirs = {"/no/such/folder", package};
  EXPECT_TRUE(prepare(text)) << "the folder itself has the name";
}

TEST_F(UrdfText, OtherNamesAreRelativeToTheFile) {
  write_obj(meshes_ / "a.obj");
  EXPECT_TRUE(prepare(robot(link("a", mesh("../meshes/a.obj")))));
  EXPECT_TRUE(prepare(robot(link("a", mesh("file://" + (meshes_ / "a.obj").string())))));
  EXPECT_TRUE(prepare(robot(link("a", mesh((meshes_ / "a.obj").string())))));
  EXPECT_FALSE(prepare(robot(link("a", mesh("package://nowhere/a.obj")))));
  EXPECT_TRUE(prepare(
      robot(R"(<mujoco><compiler meshdir="../meshes"/></mujoco>)" + link("a", mesh("package://nowhere/a.obj")))))
      << "MuJoCo's own rule";
}

TEST_F(UrdfText, AMeshThatIsNotThereIsNamedWithTheLinkAndThePlaces) {
  source_.package_path = {"/ros"};
  source_.package_dirs = {"/packages"};
  EXPECT_THAT(error_of(robot(link("wrist", mesh("package://arm/meshes/none.stl")))),
              AllOf(HasSubstr("link 'wrist'"), HasSubstr("package://arm/meshes/none.stl"),
                    HasSubstr((folder_ / "arm" / "urdf").string()), HasSubstr("(/ros)"), HasSubstr("(/packages)")));
  ASSERT_EQ(mkfifo((meshes_ / "pipe.stl").c_str(), 0600), 0);
  EXPECT_THAT(error_of(robot(link("wrist", mesh("../meshes/pipe.stl")))),
              AllOf(HasSubstr("link 'wrist'"), HasSubstr("pipe.stl"), HasSubstr("a device, a pipe or a socket")));
  EXPECT_THAT(error_of(robot(link("wrist", mesh("../meshes")))), HasSubstr("is not found"));
}

TEST_F(UrdfText, ThereIsOneMeshForEachFileAndScale) {
  fs::create_directories(meshes_ / "left");
  for (const char* name : {"a.obj", "A.obj", "left/a.obj"}) write_obj(meshes_ / name);
  const std::string path = "../meshes/";
  const auto found =
      prepare(robot(link("l", mesh(path + "a.obj") + mesh(path + "left/../a.obj") + mesh(path + "A.obj") +
                                  mesh(path + "left/a.obj") + mesh(path + "a.obj", "1 -1 1"))));
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> names, used;
  for (const UrdfMesh& one : found->meshes) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("a.obj", "A-2.obj", "a-3.obj", "a-4.obj"));
  for (const pugi::xml_node shape : element("link", "l").children("collision")) {
    used.emplace_back(shape.child("geometry").child("mesh").attribute("filename").value());
  }
  EXPECT_THAT(used, ElementsAre("a.obj", "a.obj", "A-2.obj", "a-3.obj", "a-4.obj"));
}

TEST_F(UrdfText, WhatMujocoReadsIsKeptAndTheRestIsConverted) {
  write_obj(meshes_ / "a.obj");
  write_binary_stl(meshes_ / "b.STL");
  write_ascii_stl(meshes_ / "c.stl");
  write_collada(meshes_ / "d.dae", 1.0, "Z_UP");
  const std::string path = "../meshes/";
  const auto kept = prepare(robot(link("l", mesh(path + "a.obj") + mesh(path + "b.STL"))));
  ASSERT_TRUE(kept) << kept.error().message;
  for (const UrdfMesh& one : kept->meshes) EXPECT_FALSE(one.converted) << one.name;
  for (const char* file : {"c.stl", "d.dae"}) {
    const auto other = prepare(robot(link("l", mesh(path + file))));
    ASSERT_EQ(other.ok(), converts_meshes());
    if (other) {
      EXPECT_TRUE(other->meshes.at(0).converted);
    } else {
      EXPECT_EQ(other.error().code, ErrorCode::unsupported);
      EXPECT_THAT(other.error().message, AllOf(HasSubstr("link 'l'"), HasSubstr(file), HasSubstr("libassimp-dev")));
    }
  }
}

TEST_F(UrdfText, MomentsThatBreakTheTriangleAreRaisedByHalfOfWhatLacks) {
  const auto made = prepare(robot(link("a") + link("b", inertial(1, 1, 2, 5)) + joint("continuous", "a", "b")));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->repairs.size(), 1U);
  EXPECT_EQ(made->repairs[0].body, "b");
  EXPECT_EQ(made->repairs[0].fault, InertiaFault::triangle);
  EXPECT_DOUBLE_EQ(made->repairs[0].from, 1.0);
  EXPECT_LT((moments("b") - Eigen::Vector3d(2, 3, 5)).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_GE(moments("b")[0] + moments("b")[1], moments("b")[2]);
}

TEST_F(UrdfText, MomentsAndMassesThatAreNotPositiveAreRaisedToTheirBounds) {
  const auto made =
      prepare(robot(link("a") + link("b", inertial(2, 0, 0, 0)) + link("c") + link("d", inertial(1, -1, 1, 1)) +
                    joint("continuous", "a", "b") + joint("continuous", "b", "c") + joint("continuous", "c", "d")));
  ASSERT_TRUE(made);
  EXPECT_NEAR(moments("b")[0], 2 * 2 * min_urdf_spread * min_urdf_spread, 1e-15);
  EXPECT_NEAR(moments("c")[0], min_urdf_moment, 1e-15);
  EXPECT_DOUBLE_EQ(mass("c"), min_urdf_mass);
  EXPECT_GT(moments("d")[0], 0.0);
  std::vector<InertiaFault> faults;
  for (const InertiaRepair& repair : made->repairs) faults.push_back(repair.fault);
  EXPECT_THAT(faults,
              ElementsAre(InertiaFault::moment, InertiaFault::mass, InertiaFault::moment, InertiaFault::moment));
}

TEST_F(UrdfText, InertiaThatIsValidIsNotChanged) {
  const auto made = prepare(robot(link("a", inertial(1, 1, 2, 5)) + link("b", inertial(1, 1, 2, 3)) +
                                  link("tip", inertial(0.5, 0, 0, 0)) + link("frame") + joint("continuous", "a", "b") +
                                  joint("fixed", "b", "tip", "0 0 3") + joint("fixed", "tip", "frame")));
  ASSERT_TRUE(made);
  EXPECT_THAT(made->repairs, IsEmpty()) << "a rigid body's point masses and frames, and what does not move, need none";
  EXPECT_DOUBLE_EQ(mass("b"), 1.5);
  EXPECT_DOUBLE_EQ(mass("tip"), 0.0);
  EXPECT_STREQ(element("link", "b").child("inertial").child("origin").attribute("xyz").value(), "0 0 1");
  // 1 · 1² + 0.5 · 2² = 3 about the centre of mass.
  EXPECT_LT((moments("b") - Eigen::Vector3d(3, 4, 5)).cwiseAbs().maxCoeff(), 1e-8);
}

TEST_F(UrdfText, ABodyWithShapesAndNoInertialIsLeftToMujoco) {
  const auto made = prepare(robot(link("a") + link("b", small_box) + joint("continuous", "a", "b")));
  ASSERT_TRUE(made);
  EXPECT_THAT(made->massless, ElementsAre("b"));
  EXPECT_FALSE(element("link", "b").child("inertial"));
}

TEST_F(UrdfText, MimicJointsAreCouplings) {
  const auto mimics = [](const std::string& joint) {
    return fmt::format(R"(<mimic joint="{}_joint" multiplier="-2" offset="0.5"/>)", joint);
  };
  const std::string links = link("a") + link("b", one_kilogram) + link("c", one_kilogram) + link("d", one_kilogram);
  const auto made =
      prepare(robot(links + joint("fixed", "a", "b") + joint("continuous", "b", "c", "0 0 0", mimics("b")) +
                    joint("continuous", "c", "d", "0 0 0", mimics("c"))));
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->couplings.size(), 2U);
  EXPECT_EQ(made->couplings[0].of, "") << "a fixed joint stays at 0";
  EXPECT_EQ(made->couplings[1].joint, "d_joint");
  EXPECT_EQ(made->couplings[1].of, "c_joint");
  EXPECT_DOUBLE_EQ(made->couplings[1].multiplier, -2.0);
  EXPECT_DOUBLE_EQ(made->couplings[1].offset, 0.5);

  const auto lost =
      prepare(robot(link("a") + link("b", one_kilogram) + joint("continuous", "a", "b", "0 0 0", mimics("x"))));
  ASSERT_TRUE(lost);
  EXPECT_THAT(lost->lost_mimics, ElementsAre("b_joint"));
  EXPECT_THAT(error_of(robot(link("a") + link("b", one_kilogram) + link("c", one_kilogram) + joint("planar", "a", "b") +
                             joint("continuous", "b", "c", "0 0 0", mimics("b")))),
              HasSubstr("both need one coordinate"));
}

TEST_F(UrdfText, AdjacentBodiesAreApartAlsoThroughFixedLinks) {
  const std::string chain = link("base", small_box) + link("b", one_kilogram) + link("shell", small_box) +
                            link("c", one_kilogram + small_box) + joint("continuous", "base", "b") +
                            joint("fixed", "b", "shell") + joint("continuous", "shell", "c");
  const auto made = prepare(robot(chain));
  ASSERT_TRUE(made);
  ASSERT_EQ(made->apart.size(), 2U);
  EXPECT_EQ(made->apart[0].first + " " + made->apart[0].second, " b");
  EXPECT_EQ(made->apart[1].first + " " + made->apart[1].second, "b c");
  source_.self_collision = true;
  EXPECT_THAT(prepare(robot(chain))->apart, IsEmpty());
}

TEST_F(UrdfText, PairsOfTheSrdfBesideItAreApart) {
  const std::string arms = link("base", small_box) + link("b", one_kilogram + small_box) +
                           link("c", one_kilogram + small_box) + link("tool", small_box) +
                           joint("continuous", "base", "b") + joint("continuous", "base", "c") +
                           joint("fixed", "c", "tool");
  const fs::path srdf = folder_ / "arm" / "srdf" / "arm.srdf";
  fs::create_directories(srdf.parent_path());
  const auto count = [&](const std::string& pairs) {
    std::ofstream(srdf) << robot(pairs);
    const auto made = prepare(robot(arms));
    EXPECT_EQ(made->srdf.filename(), "arm.srdf");
    return std::count_if(made->apart.begin(), made->apart.end(),
                         [](const ApartBodies& pair) { return pair.reason == ApartReason::srdf; });
  };
  const auto disabled = [](const std::string& first, const std::string& second) {
    return fmt::format(R"(<disable_collisions link1="{}" link2="{}" reason="Never"/>)", first, second);
  };
  EXPECT_EQ(count(disabled("c", "b")), 0) << "tool and b still touch";
  EXPECT_EQ(count(disabled("c", "b") + disabled("b", "tool")), 1);
  EXPECT_EQ(count(disabled("base", "b") + disabled("nobody", "b")), 0) << "adjacent ones are apart already";
  std::ofstream(srdf) << "<robot";
  EXPECT_THAT(error_of(robot(arms)), HasSubstr("arm.srdf"));
}

}  // namespace
}  // namespace conebench
