#include <gtest/gtest.h>

#include <Eigen/LU>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_names.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

using testing::FileMaker;

FclibContent content_of(void (*make)(FileMaker&)) {
  const testing::TemporaryFolder folder;
  {
    FileMaker maker(folder / "made.hdf5");
    make(maker);
  }
  Result<FclibContent> content = read_fclib(folder / "made.hdf5");
  EXPECT_TRUE(content.ok()) << content.error().message;
  return *content;
}

ContactProblem problem_of(const FclibContent& content) {
  const Result<ContactProblem> problem = to_problem(content, "scene-i1.hdf5");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

/// The permutation written out: row of the problem for each row of FCLIB's contact rows.
Matrix reordering(Index contacts, int dimension) {
  Matrix result = Matrix::Zero(contacts * dimension, contacts * dimension);
  for (Index c = 0; c < contacts; ++c) {
    result(c * dimension + dimension - 1, c * dimension) = 1.0;
    for (Index t = 1; t < dimension; ++t) result(c * dimension + t - 1, c * dimension + t) = 1.0;
  }
  return result;
}

Matrix dense(const ContactProblem& problem) { return problem.delassus().dense(); }

TEST(LocalProblem, HasTheNormalLast) {
  const FclibContent content = content_of(testing::make_local);
  const ContactProblem problem = problem_of(content);
  const Matrix p = reordering(4, 3);
  EXPECT_EQ(dense(problem), p * Matrix(content.w_matrix) * p.transpose());
  EXPECT_EQ(problem.free_term(), p * content.q);
  EXPECT_EQ(problem.free_term()[2], content.q[0]);
  EXPECT_EQ(problem.cones().contact_dimension(), 3);
  EXPECT_EQ(problem.cones().friction()[3], 0.4);
  EXPECT_EQ(problem.cones().joints(), 0);
  EXPECT_EQ(problem.provenance().form, "local");
  EXPECT_EQ(problem.provenance().name, "scene-i1");
  EXPECT_EQ(problem.provenance().family, "scene");
}

TEST(RollingProblem, HasTheNormalBehindTheTangentsAndMomentsLast) {
  FclibContent content = content_of(testing::make_rolling);
  content.f.setZero();
  content.w = Vector::LinSpaced(10, 1.0, 10.0);
  content.mu_rolling[1] = 0.2;
  const ContactProblem problem = problem_of(content);
  Vector expected(10);
  expected << 2, 3, 1, 4, 5, 7, 8, 6, 9, 10;
  EXPECT_EQ(problem.free_term(), expected);
  EXPECT_TRUE(dense(problem).isApprox(2.0 * Matrix::Identity(10, 10), 1e-15));
  EXPECT_EQ(problem.cones().rolling_friction()[1], 0.2);
}

TEST(RollingProblem, InThePlaneIsUnsupported) {
  FclibContent content = content_of(testing::make_rolling);
  content.space_dimension = 3;
  const Result<ContactProblem> problem = to_problem(content, "plane.hdf5");
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.error().code, ErrorCode::unsupported);
  EXPECT_NE(problem.error().message.find("in the plane"), std::string::npos);
}

TEST(PlaneProblem, HasTheNormalLast) {
  const FclibContent content = content_of(testing::make_plane);
  const ContactProblem problem = problem_of(content);
  const Matrix p = reordering(3, 2);
  EXPECT_EQ(problem.cones().contact_dimension(), 2);
  EXPECT_EQ(dense(problem), p * Matrix(content.w_matrix) * p.transpose());
  EXPECT_EQ(problem.free_term(), p * content.q);
}

TEST(MixedLocalProblem, PutsTheBilateralRowsFirstAsJoints) {
  const FclibContent content = content_of(testing::make_mixed_local);
  EXPECT_EQ(content.kind, FclibKind::mixed_local);
  const ContactProblem problem = problem_of(content);
  ASSERT_EQ(problem.cones().joints(), 2);
  ASSERT_EQ(problem.rows(), 14);
  const Matrix p = reordering(4, 3);
  const Matrix g = dense(problem);
  EXPECT_EQ(g.topLeftCorner(2, 2), Matrix(content.r_matrix));
  EXPECT_EQ(g.bottomLeftCorner(12, 2), p * Matrix(content.v_matrix));
  EXPECT_EQ(g.topRightCorner(2, 12), (p * Matrix(content.v_matrix)).transpose());
  EXPECT_EQ(g.bottomRightCorner(12, 12), p * Matrix(content.w_matrix) * p.transpose());
  EXPECT_EQ(problem.free_term().head(2), content.s);
  EXPECT_EQ(problem.free_term().tail(12), p * content.q);
}

TEST(GlobalProblem, EqualsItsCondensedLocalForm) {
  const FclibContent content = content_of(testing::make_global);
  const ContactProblem problem = problem_of(content);
  const Matrix p = reordering(2, 3);
  const Matrix h = Matrix(content.h_matrix) * p.transpose();
  const Matrix inverse = Matrix(content.m_matrix).inverse();
  EXPECT_TRUE(dense(problem).isApprox(h.transpose() * inverse * h, 1e-14));
  EXPECT_TRUE(problem.free_term().isApprox(h.transpose() * inverse * content.f + p * content.w, 1e-14));
  ASSERT_TRUE(problem.primal().has_value());
  EXPECT_EQ(problem.delassus().form(), DelassusForm::factored);
  EXPECT_EQ(Matrix(problem.primal()->jacobian), h.transpose());
  EXPECT_EQ(*problem.bias(), p * content.w);
  EXPECT_TRUE(problem.primal()->free_velocity.isApprox(inverse * content.f, 1e-14));
}

TEST(MixedGlobalProblem, EqualsTheMixedLocalProblemItCondensesTo) {
  const FclibContent content = content_of(testing::make_mixed_global);
  EXPECT_EQ(content.kind, FclibKind::mixed_global);
  const ContactProblem problem = problem_of(content);
  const Matrix inverse = Matrix(content.m_matrix).inverse();
  const Matrix h(content.h_matrix);
  const Matrix g(content.g_matrix);
  FclibContent condensed;
  condensed.kind = FclibKind::mixed_local;
  condensed.mu = content.mu;
  condensed.w_matrix = Matrix(h.transpose() * inverse * h).sparseView();
  condensed.v_matrix = Matrix(h.transpose() * inverse * g).sparseView();
  condensed.r_matrix = Matrix(g.transpose() * inverse * g).sparseView();
  condensed.q = h.transpose() * inverse * content.f + content.w;
  condensed.s = g.transpose() * inverse * content.f + content.b;
  const ContactProblem local = problem_of(condensed);
  EXPECT_EQ(local.cones(), problem.cones());
  EXPECT_TRUE(dense(problem).isApprox(dense(local), 1e-14));
  EXPECT_TRUE(problem.free_term().isApprox(local.free_term(), 1e-14));
}

TEST(GlobalProblem, WithASingularMassCannotBeCondensed) {
  FclibContent content = content_of(testing::make_global);
  const auto expect_refused = [&](const Matrix& mass) {
    content.m_matrix = mass.sparseView();
    const Result<ContactProblem> problem = to_problem(content, "singular.hdf5");
    ASSERT_FALSE(problem.ok());
    EXPECT_EQ(problem.error().code, ErrorCode::bad_input);
    EXPECT_NE(problem.error().message.find("singular.hdf5: the mass matrix M is singular"), std::string::npos);
    EXPECT_EQ(summarise(content).symmetry_error, 0.0);
  };
  Matrix zero_row = Matrix::Identity(9, 9);
  zero_row(4, 4) = 0.0;
  expect_refused(zero_row);
  Matrix dependent = Matrix::Identity(9, 9);
  dependent.topLeftCorner(2, 2).setOnes();
  expect_refused(dependent);
  Matrix dependent_to_rounding = Matrix::Identity(9, 9);
  dependent_to_rounding.topLeftCorner(3, 3) << 0.1, 0.2, 0.3, 0.2, 0.5, 0.7, 0.3, 0.7, 1.0;
  expect_refused(dependent_to_rounding);
  Matrix unsymmetric = Matrix::Identity(9, 9);
  unsymmetric.topLeftCorner(2, 2) << 1.0, 3.0, 2.0, 6.0;
  expect_refused(unsymmetric);
}

TEST(GlobalProblem, OfBadlyScaledBodiesIsNotTakenForSingular) {
  FclibContent content = content_of(testing::make_global);
  Matrix mass = Matrix::Identity(9, 9);
  for (Index k = 0; k < 9; ++k) mass(k, k) = std::pow(10.0, 4.0 * static_cast<double>(k) - 20.0);
  content.m_matrix = mass.sparseView();
  EXPECT_TRUE(to_problem(content, "scaled.hdf5").ok());
}

TEST(GlobalProblem, WithAnUnsymmetricMassIsCondensedAsGiven) {
  FclibContent content = content_of(testing::make_global);
  Matrix mass(content.m_matrix);
  mass(0, 1) = 0.5;
  content.m_matrix = mass.sparseView();
  const ContactProblem problem = problem_of(content);
  const Matrix h = Matrix(content.h_matrix) * reordering(2, 3).transpose();
  EXPECT_TRUE(dense(problem).isApprox(h.transpose() * mass.inverse() * h, 1e-13));
  EXPECT_GT(summarise(content).symmetry_error, 1e-3);
}

// M = tridiagonal (-1, 2.5, -1): the first entry x of its inverse satisfies x (2.5 - x) = 1 in the limit of many rows.
TEST(GlobalProblem, OfAnElasticBodyHasProductsWithoutCondensing) {
  constexpr Index velocities = 200'000;
  constexpr Index contacts = 500;
  FclibContent content;
  content.kind = FclibKind::global;
  content.mu = Vector::Constant(contacts, 0.5);
  content.f = Vector::Zero(velocities);
  content.w = Vector::Zero(3 * contacts);
  content.g_matrix.resize(velocities, 0);
  std::vector<Eigen::Triplet<double>> mass, h;
  for (int k = 0; k < velocities; ++k) {
    mass.emplace_back(k, k, 2.5);
    if (k > 0) {
      mass.emplace_back(k, k - 1, -1.0);
      mass.emplace_back(k - 1, k, -1.0);
    }
  }
  for (int k = 0; k < 3 * contacts; ++k) h.emplace_back(k, k, 1.0);
  content.m_matrix.resize(velocities, velocities);
  content.m_matrix.setFromTriplets(mass.begin(), mass.end());
  content.h_matrix.resize(velocities, 3 * contacts);
  content.h_matrix.setFromTriplets(h.begin(), h.end());
  const Result<ContactProblem> problem = to_problem(content, "elastic.hdf5");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_TRUE(problem->given_as_primal());
  Vector velocity(problem->rows());
  // FCLIB's first row is a normal one, which stands behind its tangents here.
  problem->delassus().apply(Vector::Unit(problem->rows(), 2), velocity);
  EXPECT_NEAR(velocity[2], 0.5, 1e-14);
  EXPECT_NEAR(velocity[0], 0.25, 1e-14);
}

TEST(StoredAnswers, AreAttachedWithTheNormalLast) {
  const FclibContent content = content_of([](FileMaker& maker) {
    testing::make_local(maker);
    testing::make_answers(maker, 12);
  });
  const FclibSummary summary = summarise(content);
  EXPECT_TRUE(summary.has_guess);
  EXPECT_TRUE(summary.has_solution);
  const ContactProblem problem = problem_of(content);
  ASSERT_TRUE(problem.guess().has_value());
  EXPECT_EQ((*problem.guess())[2], 0.0);
  EXPECT_EQ((*problem.guess())[0], 1.0);
  EXPECT_EQ((*problem.guess())[5], 3.0);
  EXPECT_FALSE(problem.reference().has_value()) << "a solution of zeros is no reference";
}

TEST(StoredAnswers, OfAMixedProblemCarryTheJoints) {
  FclibContent content = content_of(testing::make_mixed_local);
  content.guesses.push_back({Vector::LinSpaced(12, 0, 11), {}, {}, Vector::Constant(2, 7.0)});
  content.guesses.front().u.resize(0);
  const ContactProblem problem = problem_of(content);
  ASSERT_TRUE(problem.guess().has_value());
  EXPECT_EQ((*problem.guess())[0], 7.0);
  EXPECT_EQ((*problem.guess())[2], 1.0);
  EXPECT_EQ((*problem.guess())[4], 0.0);
}

TEST(StoredAnswers, AreAReferenceWithTheirResidual) {
  // One contact pressed to the ground with W = 2 I: r = (1, 0, 0) stops it exactly.
  FclibContent content;
  content.mu = Vector::Constant(1, 0.5);
  content.w_matrix = Matrix(2.0 * Matrix::Identity(3, 3)).sparseView();
  content.v_matrix.resize(3, 0);
  content.q = Eigen::Vector3d(-2.0, 0.0, 0.0);
  FclibContent::Guess answer;
  answer.r = Eigen::Vector3d(1.0, 0.0, 0.0);
  content.solution = answer;
  ContactProblem problem = problem_of(content);
  ASSERT_TRUE(problem.reference().has_value());
  EXPECT_EQ(problem.reference()->reaction, Vector(Eigen::Vector3d(0.0, 0.0, 1.0)));
  EXPECT_EQ(problem.reference()->residual, 0.0);
  // Half the impulse leaves half the velocity, relative to |q| = 2.
  content.solution->r *= 0.5;
  problem = problem_of(content);
  EXPECT_DOUBLE_EQ(problem.reference()->residual, 0.5);
}

TEST(FamilyOfAName, DropsTheCounters) {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Capsules-i100-889", "Capsules"},
      {"BoxesStack-i00001-59-00019", "BoxesStack"},
      {"BoxesStackSmall-i00664-11-00173", "BoxesStackSmall"},
      {"KaplasTower-i1061-4", "KaplasTower"},
      {"Rover1039", "Rover"},
      {"Rover11035", "Rover"},
      {"RockPile_tob1", "RockPile_tob"},
      {"LMGC_100_PR_PerioBox-i00361-60-03000", "LMGC_100_PR_PerioBox"},
      {"LMGC_GFC3D-i00001-1-00000", "LMGC_GFC3D"},
      {"LMGC_GlobalFrictionContactProblem00046", "LMGC_GlobalFrictionContactProblem"},
      {"FC2D_SliderCrankLagrangian00001", "FC2D_SliderCrankLagrangian"},
      {"FC3D_Example1_SBM", "FC3D_Example"},
      {"FC3D_Example1", "FC3D_Example"},
      {"FrictionContact3D_1c", "FrictionContact3D"},
      {"fc2d_granularflowonwall_00667_00000", "fc2d_granularflowonwall"},
      {"NESpheres_10_1", "NESpheres"},
      {"Confeti-ex13-4contact-Fc3D-SBM", "Confeti"},
      {"Spheres-i099-356-679", "Spheres"},
      {"local_problem_test", "local_problem_test"},
      {"box-stack-n10-s1", "box-stack"},
      {"box-stack", "box-stack"},
      {"quadruped_coordinates=maximal_step=00010", "quadruped"},
      {"box-on-plane_step=00001", "box-on-plane"},
      {"box-stack_boxes=2", "box-stack"},
      {"0012", "0012"},
      {"", ""},
  };
  for (const auto& [name, family] : expected) EXPECT_EQ(family_of_name(name), family) << name;
}

}  // namespace
}  // namespace conebench
