#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "fclib_loader/fclib_file.hpp"
#include "problems/mass_solve.hpp"
#include "scenes/scene_table.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using testing::FileMaker;

class Writing : public ::testing::Test {
 protected:
  ContactProblem made(void (*make)(FileMaker&)) {
    {
      FileMaker maker(folder_ / "made.hdf5");
      make(maker);
    }
    const Result<ContactProblem> problem = load_fclib(folder_ / "made.hdf5");
    EXPECT_TRUE(problem.ok()) << problem.error().message;
    return *problem;
  }
  ContactProblem again(const ContactProblem& problem, const FclibWriteOptions& options = {}) {
    const auto written = write_fclib(problem, folder_ / "copy.hdf5", options);
    EXPECT_TRUE(written.ok()) << written.error().message;
    const Result<ContactProblem> copy = load_fclib(folder_ / "copy.hdf5");
    EXPECT_TRUE(copy.ok()) << copy.error().message;
    return *copy;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_.path())) result.push_back(entry.path().filename());
    return result;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Writing, EveryKindComesBackToTheLastBit) {
  for (const auto make : {testing::make_local, testing::make_mixed_local, testing::make_plane, testing::make_global,
                          testing::make_mixed_global, testing::make_rolling}) {
    const ContactProblem problem = made(make);
    const ContactProblem copy = again(problem);
    EXPECT_EQ(copy.content_hash(), problem.content_hash());
    EXPECT_EQ(copy.provenance().form, problem.provenance().form);
    EXPECT_EQ(copy.provenance().family, problem.provenance().family);
  }
}

TEST_F(Writing, RollingFrictionComesBackToTheLastBit) {
  for (const std::string& form : std::vector<std::string>{"dense", "block_sparse", "factored"}) {
    SCOPED_TRACE(form);
    const Result<ContactProblem> problem = require_scene("known-solution")
                                               .value()
                                               ->make({{"dimension", 5L},
                                                       {"contacts", 4L},
                                                       {"joints", 2L},
                                                       {"limits", 2L},
                                                       {"compliance", 0.1},
                                                       {"lever", 0.01},
                                                       {"form", form}},
                                                      1);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    const ContactProblem copy = again(*problem);
    EXPECT_EQ(copy.content_hash(), problem->content_hash());
    EXPECT_EQ(copy.data_hash(), problem->data_hash());
    EXPECT_EQ(copy.provenance().form, form == "factored" ? "global_rolling" : "local_rolling");
    ASSERT_TRUE(copy.reference());
    EXPECT_EQ(copy.reference()->reaction, problem->reference()->reaction);
    EXPECT_LE(copy.reference()->residual, 1e-12);
  }
}

TEST_F(Writing, GeneratedScenesComeBackWithWhatIsKnownOfTheirBodies) {
  for (const SceneRow& scene : scene_table()) {
    SCOPED_TRACE(scene.id);
    const Result<ContactProblem> problem = scene.make({}, 1);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    const auto written = write_fclib(*problem, folder_ / "scene.hdf5");
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Result<ContactProblem> copy = load_fclib(folder_ / "scene.hdf5");
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_TRUE(copy->delassus().dense().isApprox(problem->delassus().dense(), 1e-13));
    EXPECT_EQ(copy->free_term(), problem->free_term());
    EXPECT_EQ(copy->bias().has_value(), problem->bias().has_value());
    EXPECT_EQ(copy->provenance().family, problem->provenance().family);
    ASSERT_EQ(copy->configuration().has_value(), problem->configuration().has_value());
    if (!copy->configuration()) continue;
    EXPECT_EQ(copy->configuration()->gaps, problem->configuration()->gaps);
    EXPECT_EQ(copy->configuration()->time_step, problem->configuration()->time_step);
    EXPECT_EQ(copy->configuration()->bodies, problem->configuration()->bodies);
  }
}

TEST_F(Writing, AnswersComeBackAsGuessAndSolution) {
  for (const auto make : {testing::make_local, testing::make_mixed_local, testing::make_plane, testing::make_global,
                          testing::make_mixed_global}) {
    const ContactProblem problem = made(make);
    const Vector guess = Vector::LinSpaced(problem.rows(), 1.0, 2.0);
    const Vector solution = Vector::LinSpaced(problem.rows(), 3.0, 5.0);
    FclibWriteOptions options;
    options.guesses = {{guess, {}}, {solution, {}}};
    options.solution = FclibAnswer{solution, {}};
    options.compress = false;
    const ContactProblem copy = again(problem, options);
    ASSERT_TRUE(copy.guess().has_value());
    EXPECT_EQ(*copy.guess(), guess);
    ASSERT_TRUE(copy.reference().has_value());
    EXPECT_EQ(copy.reference()->reaction, solution);
    const Result<FclibContent> content = read_fclib(folder_ / "copy.hdf5");
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(content->guesses.size(), 2U);
    const auto read = read_reaction(folder_ / "copy.hdf5", problem);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, solution);
  }
}

TEST_F(Writing, StoredVelocitiesSatisfyTheGlobalEquations) {
  const ContactProblem problem = made(testing::make_mixed_global);
  FclibWriteOptions options;
  options.solution = FclibAnswer{Vector::LinSpaced(problem.rows(), -1.0, 1.0), {}};
  again(problem, options);
  const Result<FclibContent> content = read_fclib(folder_ / "copy.hdf5");
  ASSERT_TRUE(content.ok()) << content.error().message;
  const FclibContent::Guess& answer = *content->solution;
  const Vector momentum =
      content->h_matrix * answer.r + content->g_matrix * answer.l + content->f - content->m_matrix * answer.v;
  EXPECT_LT(momentum.norm(), 1e-12);
  EXPECT_LT((content->h_matrix.transpose() * answer.v + content->w - answer.u).norm(), 1e-12);
}

TEST_F(Writing, ChangesFreeVelocityThatContradictsF) {
  const ContactProblem problem = made(testing::make_global);
  ASSERT_TRUE(write_fclib(problem, folder_ / "copy.hdf5").ok());
  const hid_t file = H5Fopen((folder_ / "copy.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t id = H5Dopen2(file, "/conebench/v_free", H5P_DEFAULT);
  const std::vector<double> wrong(9, 1.0);
  ASSERT_GE(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong.data()), 0);
  H5Dclose(id);
  H5Fclose(file);
  const Result<ContactProblem> copy = load_fclib(folder_ / "copy.hdf5");
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE(copy->free_term().isApprox(problem.free_term(), 1e-14));
}

TEST_F(Writing, RefusesWhatFclibHasNoPlaceFor) {
  ContactProblemData data;
  data.cones = *ConeProduct::create(1, 0, {0.5});
  data.free_term = Vector::Zero(4);
  Matrix skewed = Matrix::Identity(4, 4);
  skewed(0, 1) = 0.5;
  data.delassus = make_dense_delassus(skewed);
  const auto written = write_fclib(*ContactProblem::create(data), folder_ / "skewed.hdf5");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("V and V^T"), std::string::npos);
  EXPECT_TRUE(names().empty());
}

TEST_F(Writing, AMassWithAHugeEntryOnOneSideIsNotTakenForSymmetric) {
  SparseMatrix mass(2, 2);
  mass.insert(0, 0) = 2.0;
  mass.insert(1, 1) = 2.0;
  EXPECT_TRUE(nearly_symmetric(mass));
  mass.insert(0, 1) = -1.7e308;  // its square overflows, and so would both norms
  EXPECT_FALSE(nearly_symmetric(mass));
  mass.insert(1, 0) = -1.7e308;
  EXPECT_TRUE(nearly_symmetric(mass));
  EXPECT_TRUE(nearly_symmetric(SparseMatrix(2, 2)));
}

TEST_F(Writing, AMomentumThatOverflowsIsNamedAndLeavesNoFile) {
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, {0.5});
  PrimalForm primal;
  primal.mass = SparseMatrix(3, 3);
  primal.jacobian = SparseMatrix(3, 3);
  for (Index k = 0; k < 3; ++k) {
    primal.mass.insert(k, k) = 1e300;
    primal.jacobian.insert(k, k) = 1.0;
  }
  primal.free_velocity = Vector::Constant(3, 1e10);
  data.free_term = primal.free_velocity;
  data.delassus = make_dense_delassus(1e-300 * Matrix::Identity(3, 3));
  data.primal = std::move(primal);
  const auto problem = ContactProblem::create(std::move(data));
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto written = write_fclib(*problem, folder_ / "large.hdf5");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("M v_free overflows"), std::string::npos) << written.error().message;
  EXPECT_TRUE(names().empty());
}

TEST_F(Writing, LeavesNothingBehindWhereItFails) {
  const ContactProblem problem = made(testing::make_local);
  const auto missing = write_fclib(problem, folder_ / "none" / "file.hdf5");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  fs::create_directory(folder_ / "taken");
  const auto taken = write_fclib(problem, folder_ / "taken");
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message.find("not a regular file"), std::string::npos);
  EXPECT_EQ(names().size(), 2U);
}

TEST_F(Writing, ASolutionJoinsACopyOfTheSource) {
  for (const auto make : {testing::make_local, testing::make_mixed_local, testing::make_plane, testing::make_global,
                          testing::make_mixed_global}) {
    const ContactProblem problem = made(make);
    const Vector impulse = Vector::LinSpaced(problem.rows(), 1.0, 2.0);
    const auto written = write_solution(folder_ / "made.hdf5", folder_ / "solved.hdf5", problem, impulse);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Result<ContactProblem> solved = load_fclib(folder_ / "solved.hdf5");
    ASSERT_TRUE(solved.ok()) << solved.error().message;
    EXPECT_EQ(solved->content_hash(), problem.content_hash());
    ASSERT_TRUE(solved->reference().has_value());
    EXPECT_EQ(solved->reference()->reaction, impulse);
    const Result<FclibContent> content = read_fclib(folder_ / "solved.hdf5");
    Vector sigma(problem.rows());
    problem.velocity(impulse, sigma);
    const int dimension = problem.cones().contact_dimension();
    EXPECT_EQ(content->solution->u[0], sigma[problem.cones().joints() + dimension - 1]);
  }
}

TEST_F(Writing, ASolutionReplacesTheOldOneInPlaceAndInOddFiles) {
  {
    FileMaker maker(folder_ / "made.hdf5", 1024);
    testing::make_local(maker);
    testing::make_answers(maker, 12);
    maker.external_link("other.hdf5", "/", "/elsewhere");
  }
  fs::permissions(folder_ / "made.hdf5", fs::perms::owner_read);
  const Result<ContactProblem> problem = load_fclib(folder_ / "made.hdf5");
  ASSERT_TRUE(problem.ok());
  const Vector impulse = Vector::LinSpaced(12, 1.0, 2.0);
  const auto written = write_solution(folder_ / "made.hdf5", folder_ / "made.hdf5", *problem, impulse);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(names().size(), 1U);
  const auto read = read_reaction(folder_ / "made.hdf5", *problem);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, impulse);
  EXPECT_EQ(read_fclib(folder_ / "made.hdf5")->guesses.size(), 2U);
}

TEST_F(Writing, ASolutionOfAnotherProblemIsRefused) {
  const ContactProblem plane = made(testing::make_plane);
  made(testing::make_local);
  const auto written = write_solution(folder_ / "made.hdf5", folder_ / "solved.hdf5", plane, Vector::Zero(6));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::bad_input);
  EXPECT_FALSE(fs::exists(folder_ / "solved.hdf5"));
}

/// A .npy file of format 1, padded as numpy does.
std::string npy(const std::string& dictionary, const std::vector<double>& values, char version = 1) {
  std::string header = dictionary;
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  return bytes;
}

class Reactions : public Writing {
 protected:
  Result<Vector> read(const std::string& bytes, const ContactProblem& problem) {
    std::ofstream(folder_ / "r.npy", std::ios::binary) << bytes;
    return read_reaction(folder_ / "r.npy", problem);
  }
};

TEST_F(Reactions, OfANumpyFileAreNormalFirstWithTheJointsBefore) {
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const ContactProblem plane = made(testing::make_plane);
  for (const std::string& bytes : {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", six),
                                   npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6, 1), }", six),
                                   npy("{'descr': '<f8', 'fortran_order': True, 'shape': (6,), }", six, 2),
                                   npy("{'shape': (6,), 'fortran_order': False, 'descr': '<f8'}", six, 3)}) {
    const auto reaction = read(bytes, plane);
    ASSERT_TRUE(reaction.ok()) << reaction.error().message;
    EXPECT_EQ(std::vector<double>(reaction->begin(), reaction->end()), (std::vector<double>{2, 1, 4, 3, 6, 5}));
  }
  const ContactProblem mixed = made(testing::make_mixed_global);
  const auto reaction =
      read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }", {9, 1, 2, 3, 4, 5, 6}), mixed);
  ASSERT_TRUE(reaction.ok()) << reaction.error().message;
  EXPECT_EQ(std::vector<double>(reaction->begin(), reaction->end()), (std::vector<double>{9, 2, 3, 1, 5, 6, 4}));
}

TEST_F(Reactions, KeepNumbersThatAreNotFiniteForTheJudge) {
  const ContactProblem plane = made(testing::make_plane);
  const double nan_value = std::numeric_limits<double>::quiet_NaN();
  const auto reaction =
      read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", {nan_value, 0, 0, 0, 0, 0}), plane);
  ASSERT_TRUE(reaction.ok());
  EXPECT_TRUE(std::isnan((*reaction)[1]));
}

TEST_F(Reactions, OfAnotherKindAreRefusedWithTheReason) {
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const ContactProblem plane = made(testing::make_plane);
  const std::string good = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", six);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", six), "'<f4', expected '<f8'"},
      {npy("{'descr': '>f8', 'fortran_order': False, 'shape': (6,), }", six), "'>f8'"},
      {npy("{'descr': '|O', 'fortran_order': False, 'shape': (6,), }", six), "'|O'"},
      {npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }", six), "[('a'"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", six), "shape (2, 3)"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", {1}), "shape ()"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-6,), }", six), "shape (-6,)"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }", {1, 2, 3, 4, 5}), "5 entries, expected 6"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", six), "declares 1000000000000"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", six, 9), "format 9"},
      {npy("{'fortran_order': False}", six), "holds values of type"},
      {good.substr(0, good.size() - 8), "declares 6 numbers"},
      {good.substr(0, 20), "cut off"},
      {good.substr(0, 9), "cut off"},
      {"text", "not a NumPy array file"},
      {"", "not a NumPy array file"},
  };
  for (const auto& [bytes, says] : cases) {
    const auto reaction = read(bytes, plane);
    ASSERT_FALSE(reaction.ok()) << says;
    EXPECT_EQ(reaction.error().code, ErrorCode::bad_input);
    EXPECT_NE(reaction.error().message.find(says), std::string::npos) << reaction.error().message;
    EXPECT_EQ(reaction.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(Reactions, OfAnHdf5FileNeedASolutionOfTheRightSize) {
  const ContactProblem plane = made(testing::make_plane);
  auto reaction = read_reaction(folder_ / "made.hdf5", plane);
  ASSERT_FALSE(reaction.ok());
  EXPECT_NE(reaction.error().message.find("/solution: is missing"), std::string::npos);
  {
    FileMaker maker(folder_ / "answer.hdf5");
    maker.group("/solution");
    maker.reals("/solution/r", {1, 2, 3});
  }
  reaction = read_reaction(folder_ / "answer.hdf5", plane);
  ASSERT_FALSE(reaction.ok());
  EXPECT_NE(reaction.error().message.find("/solution/r: has 3 entries, expected 6; is it the answer of another"),
            std::string::npos);
  reaction = read_reaction(folder_ / "nothing.hdf5", plane);
  ASSERT_FALSE(reaction.ok());
  EXPECT_NE(reaction.error().message.find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace conebench
