#include "fclib_loader/siconos_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "tests/support/shared_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

class SiconosText : public ::testing::Test {
 protected:
  fs::path file(const std::string& text) {
    std::ofstream(folder_ / "problem.dat") << text;
    return folder_ / "problem.dat";
  }
  ContactProblem problem(const std::string& text) {
    const auto path = file(text);
    EXPECT_TRUE(is_siconos_text(path));
    auto loaded = load_fclib(path);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return *loaded;
  }
  std::string refusal(const std::string& text, ErrorCode code = ErrorCode::bad_input) {
    const auto loaded = load_fclib(file(text));
    if (loaded) return "loaded";
    EXPECT_EQ(loaded.error().code, code) << loaded.error().message;
    EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
    return loaded.error().message;
  }

  testing::TemporaryFolder folder_;
};

constexpr const char* dense_3 = "0\n3\n3\n3\t3\n 4 1 2\n 7 5 3\n 8 9 6\n";  // three columns

TEST_F(SiconosText, LocalFrictionHasDenseMatricesByColumns) {
  const ContactProblem local = problem(std::string("3\n1\n") + dense_3 + "-1 14 1\n0.25\n1\n");
  ASSERT_EQ(local.cones().contacts(), 1);
  EXPECT_EQ(local.cones().friction()[0], 0.25);
  const Matrix g = local.delassus().dense();  // t1, t2, n
  EXPECT_EQ(g(2, 2), 4.0);
  EXPECT_EQ(g(0, 2), 1.0);  // the first column's second number: t1 by n
  EXPECT_EQ(g(2, 0), 7.0);
  EXPECT_EQ(local.free_term()[2], -1.0);
  EXPECT_EQ(local.free_term()[0], 14.0);
  EXPECT_EQ(read_fclib(file(std::string("3\n1\n") + dense_3 + "-1 14 1\n0.25\n"))->format, FileFormat::siconos);
}

TEST_F(SiconosText, ContactsInThePlaneAreStoredByBlocks) {
  const ContactProblem plane = problem(
      "2\n2\n1\n4\n4\n3\n2\n2\n2 4\n2 4\n3\n3\n0 2 3\n0 1 1\n0\n1\n2\n3\n4\n1\n5\n6\n7\n8\n2\n9\n10\n11\n12\n"
      "-1 0 -2 0\n0.5 0.25\n");
  ASSERT_EQ(plane.cones().contact_type(), ConeType::coulomb_plane);
  const Matrix g = plane.delassus().dense();  // (t, n) twice
  EXPECT_EQ(g(1, 1), 1.0);
  EXPECT_EQ(g(0, 1), 2.0);
  EXPECT_EQ(g(1, 3), 5.0);
  EXPECT_EQ(g(3, 1), 0.0);
  EXPECT_EQ(g(2, 2), 12.0);
}

TEST_F(SiconosText, RollingFrictionHasTwoCoefficients) {
  std::string text = "5\n1\n0\n5\n5\n5\t5\n";
  for (int i = 0; i < 25; ++i) text += i % 6 == 0 ? "2 " : "0 ";
  const ContactProblem rolling = problem(text + "\n-1 1 0 0 0\n0.5\n0.125\n");
  EXPECT_TRUE(rolling.cones().rolls());
  EXPECT_EQ(rolling.cones().rolling_friction(), std::vector<double>{0.125});
}

TEST_F(SiconosText, GlobalFrictionHasSparseMatrices) {
  const ContactProblem global = problem(
      "2\n1\n2\n3\n3\n1\nCSparse Version 4\ntriplet: 3-by-3, nzmax: 4 nnz: 3\n    0 0 : 2\n    1 1 : 4\n    2 2 : 8\n"
      "2\n3\n2\n2\nCSparse Version 4\n3-by-2, nzmax: 2 nnz: 2, 1-norm: 1\n    col 0 : locations 0 to 0\n      1 : 1\n"
      "    col 1 : locations 1 to 1\n      0 : 1\n"
      " 2 4 8 0.5 0.25\n0.5\n");
  ASSERT_TRUE(global.primal().has_value());
  EXPECT_EQ(global.primal()->free_velocity, Vector::Ones(3));
  EXPECT_DOUBLE_EQ(global.blocks().dense()(0, 0), 0.5);   // t moves velocity 0
  EXPECT_DOUBLE_EQ(global.blocks().dense()(1, 1), 0.25);  // n velocity 1
  EXPECT_DOUBLE_EQ(global.free_term()[1], 1.5);
}

constexpr const char* general_matrix =
    "1\n6\n6\n3\n3\n3\n2 5 6\n2 5 6\n4\n3\n0 1 2 3\n0 1 2\n0\n2\n0\n0\n2\n1\n3\n0\n0\n0\n3\n0\n0\n0\n3\n2\n5\n";

TEST_F(SiconosText, GeneralisedMechanicalProblemsHaveBlocksOfThreeTypes) {
  const ContactProblem general = problem(std::string(general_matrix) + "\n1\n2\n3\n4\n5\n6\n\n2\n4\n0.5\n0\n");
  EXPECT_EQ(general.cones().joints(), 2);
  EXPECT_EQ(general.cones().limits(), 1);
  ASSERT_EQ(general.cones().contacts(), 1);
  EXPECT_EQ(general.cones().friction()[0], 0.5);
  Vector expected(6);
  expected << 1, 2, 6, 4, 5, 3;
  EXPECT_EQ(general.free_term(), expected);
  EXPECT_THAT(refusal(std::string(general_matrix) + "1 2 3 4 5 6\n2\n3\n0\n", ErrorCode::unsupported),
              HasSubstr("block 1, row 2: a contact in the plane, whose mu Siconos does not write"));
  EXPECT_THAT(refusal(std::string(general_matrix) + "1 2 3 4 5 6\n2\n4\n0.5\n9\n", ErrorCode::unsupported),
              HasSubstr("block 2, row 5: a relay"));
}

TEST_F(SiconosText, PlasticityIsAConeWhereDilatancyIsFrictionOrZero) {
  const std::string start = std::string("3\n1\n1\n") + dense_3 + "-1 14 1\n";
  const ContactProblem friction = problem(start + "0.5\n0.5\n");
  EXPECT_EQ(friction.cones().contact_type(), ConeType::coulomb_space);
  EXPECT_EQ(friction.cones().friction()[0], 0.5);
  EXPECT_EQ(friction.provenance().law, "ncp");
  EXPECT_EQ(friction.free_term()[2], -1.0);
  EXPECT_EQ(problem(start + "0.5\n0\n").provenance().law, "ccp");
  EXPECT_THAT(refusal(start + "0.5\n0.25\n", ErrorCode::unsupported), HasSubstr("cone 0 has eta 0.5 and theta 0.25"));
  EXPECT_THAT(refusal(std::string("3\n1\n2\n") + dense_3 + "-1 14 1\n0.5\n", ErrorCode::unsupported),
              HasSubstr("von Mises"));
}

TEST_F(SiconosText, RelaysAreIntervals) {
  const ContactProblem relays = problem("2\n0\n2\n2\n2\t2\n 2 1\n 1 2\n-0.5 0.5\n-1 -inf\n1 0\n");
  ASSERT_EQ(relays.cones().intervals().size(), 2U);
  EXPECT_EQ(relays.cones().bounds(0), (Interval{-1.0, 1.0}));
  EXPECT_EQ(relays.cones().bounds(1), (Interval{-infinity, 0.0}));
}

TEST_F(SiconosText, ThatIsMalformedIsRefusedWithItsLine) {
  EXPECT_THAT(refusal(std::string("3\n1\n") + dense_3 + "-1 14 1\n"), HasSubstr("problem.dat: line 11: expected mu"));
  EXPECT_THAT(refusal(std::string("3\n1\n") + dense_3 + "-1 nan 1\n0.5\n"), HasSubstr("line 10: q has nan"));
  EXPECT_THAT(refusal(std::string("3\n1\n") + dense_3 + "-1 14 1\n-0.5\n"), HasSubstr("mu of contact 0 is negative"));
  EXPECT_THAT(refusal("3\n2\n0\n999999999\n999999999\n999999999 999999999\n1 2\n"), HasSubstr("larger than the file"));
  EXPECT_THAT(refusal("3\n1\n9\n3\n3\n0 0 0\n"), HasSubstr("problem.dat: line "));
  EXPECT_THAT(refusal("12 apples\n"), HasSubstr("problem.dat: line 1: "));
  EXPECT_FALSE(is_siconos_text(file("apples 12\n")));
  EXPECT_FALSE(is_siconos_text(folder_ / "absent.dat"));
}

TEST_F(SiconosText, SolutionsAreWrittenAsHdf5) {
  const ContactProblem general = problem(std::string(general_matrix) + "\n1\n2\n3\n4\n5\n6\n\n2\n4\n0.5\n0\n");
  const Vector impulse = Vector::LinSpaced(6, 1.0, 2.0);
  const auto written = write_solution(folder_ / "problem.dat", folder_ / "solved.hdf5", general, impulse);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const auto solved = load_fclib(folder_ / "solved.hdf5");
  ASSERT_TRUE(solved.ok()) << solved.error().message;
  EXPECT_EQ(solved->content_hash(), general.content_hash());
  EXPECT_EQ(solved->reference()->reaction, impulse);
}

/// Siconos' own test data load, or are none of the problems above.
TEST(SiconosFiles, AreReadOrRefused) {
  const auto folder = testing::shared_data("siconos");
  if (!folder) GTEST_SKIP() << testing::no_shared_data;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".dat") continue;
    SCOPED_TRACE(entry.path().filename());
    const auto problem = load_fclib(entry.path());
    if (problem) continue;
    EXPECT_TRUE(problem.error().code == ErrorCode::bad_input || problem.error().code == ErrorCode::unsupported);
    EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace conebench
