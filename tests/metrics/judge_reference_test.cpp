#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "fclib_loader/fclib_file.hpp"
#include "known_answers.hpp"
#include "metrics/features.hpp"
#include "metrics/residuals.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using testing::make_problem;

struct Output {
  int status = 0;
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");  // NOLINT(cert-env33-c): a fixed command of the test
  if (pipe == nullptr) return {-1, "popen failed"};
  std::array<char, 512> chunk{};
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), pipe) != nullptr) output.text += chunk.data();
  output.status = pclose(pipe);
  return output;
}

/// The judge against tests/metrics/judge_reference.py, which reads the same file with h5py and shares no code.
class JudgeReference : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run("/usr/bin/python3 -c 'import h5py, numpy'").status != 0) GTEST_SKIP() << "python3 with h5py is not there";
    folder_ = fs::temp_directory_path() / fmt::format("conebench_judge_{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static nlohmann::json to_json(const Judgement& judgement) {
    nlohmann::json residuals;
    for (const Residual& residual : judgement.residuals) {
      residuals[residual.name] =
          residual.known() && std::isfinite(residual.value) ? nlohmann::json(residual.value) : nlohmann::json(nullptr);
    }
    return {{"residuals", residuals}};
  }

  Output compare(const fs::path& file, const nlohmann::json& judgement, const std::string& words = {}) const {
    const fs::path json = folder_ / "judge.json";
    std::ofstream(json) << judgement.dump();
    return run(fmt::format("/usr/bin/python3 {}/tests/metrics/judge_reference.py '{}' --compare '{}' {}",
                           CONEBENCH_SOURCE_DIR, file.string(), json.string(), words));
  }

  /// Writes the problem with the answer, reads it back, and lets both judge.
  void expect_agreement(const ContactProblem& problem, const Vector& impulse) const {
    const fs::path file = folder_ / "problem.hdf5";
    FclibWriteOptions options;
    options.solution = FclibAnswer{impulse, {}};
    const auto written = write_fclib(problem, file, options);
    ASSERT_TRUE(written) << written.error().message;
    expect_agreement(file);
  }
  /// By blocks: as `given`, or in Conebench's order. The answer is a file of its own, since a problem's file holds none
  /// outside of its bounds.
  void expect_agreement_by_blocks(const ContactProblem& problem, const Vector& impulse,
                                  const GivenProblem* given = nullptr) const {
    const fs::path file = folder_ / "blocks.hdf5";
    const fs::path answer = folder_ / "answer.hdf5";
    FclibWriteOptions options;
    options.given = given;
    ASSERT_TRUE(write_fclib(problem, file, options));
    options.solution = FclibAnswer{impulse, {}};
    ASSERT_TRUE(write_fclib(problem, answer, options));
    const auto read = load_fclib(file);
    ASSERT_TRUE(read) << read.error().message;
    const auto reaction = read_reaction(answer, *read);
    ASSERT_TRUE(reaction) << reaction.error().message;
    const Output output = compare(file, to_json(judge(*read, *reaction)),
                                  fmt::format("--relative 1e-12 --reaction '{}'", answer.string()));
    EXPECT_EQ(output.status, 0) << output.text;
  }
  void expect_agreement(const fs::path& file) const {
    const auto problem = load_fclib(file);
    ASSERT_TRUE(problem) << problem.error().message;
    const auto impulse = read_reaction(file, *problem);
    ASSERT_TRUE(impulse) << impulse.error().message;
    const Output output = compare(file, to_json(judge(*problem, *impulse)));
    EXPECT_EQ(output.status, 0) << problem->provenance().form << ": " << output.text;
  }

  fs::path folder_;
};

ContactProblem generated(const std::string& form, long dimension, long joints) {
  return make_problem("random", {{"form", form}, {"dimension", dimension}, {"contacts", 9L}, {"joints", joints}}, 3);
}

TEST_F(JudgeReference, AgreesOnLocalMixedAndGlobalProblemsInTwoAndThreeDimensions) {
  for (const char* form : {"dense", "factored"}) {
    for (const long dimension : {2L, 3L}) {
      for (const long joints : {0L, 4L}) {
        const ContactProblem problem = generated(form, dimension, joints);
        expect_agreement(problem, Vector::Random(problem.rows()));
      }
    }
  }
}

TEST_F(JudgeReference, AgreesOnRollingFriction) {
  for (const std::string& form : std::vector<std::string>{"dense", "factored"}) {
    for (const long joints : {0L, 4L}) {
      const ContactProblem problem = make_problem(
          "known-solution",
          {{"form", form}, {"dimension", 5L}, {"contacts", 9L}, {"joints", joints}, {"lever", 0.01}, {"mu_r_min", 0.0}},
          3);
      const Vector impulse = problem.reference()->reaction;
      Vector noise = Vector::Random(problem.rows());
      for (Index i = 0; i < problem.cones().contacts(); ++i)
        noise.segment(problem.cones().contact_row(i) + 3, 2) *= 0.01;
      for (const double distance : {0.0, 1e-8, 1e-4, 10.0}) expect_agreement(problem, impulse + distance * noise);
    }
  }
  const auto shared = testing::shared_data();
  if (!shared) return;
  for (const char* name : {"Chute-ndof-768-nc-4-3", "RFC3D_cube_1", "rfc3d_sphere_from_grfc3d", "rockfall_14_25792"}) {
    const fs::path source = *shared / "fclib" / "open" / (std::string(name) + ".hdf5");
    const auto problem = load_fclib(source);
    ASSERT_TRUE(problem) << problem.error().message;
    const fs::path target = folder_ / "answered.hdf5";
    const Vector impulse = Vector::Random(problem->rows()) * problem->free_term().norm();
    ASSERT_TRUE(write_solution(source, target, *problem, impulse));
    expect_agreement(target);
  }
}

TEST_F(JudgeReference, AgreesOnIntervalsAndEveryLawOfFriction) {
  for (const char* law :
       {"coulomb", "orthotropic", "ellipsoid4", "ellipsoid6", "torsion", "rolling", "pyramid", "mixed"}) {
    for (const char* form : {"dense", "factored"}) {
      const ContactProblem problem = make_problem(
          "known-solution",
          {{"form", std::string(form)}, {"law", std::string(law)}, {"contacts", 9L}, {"joints", 3L}, {"intervals", 8L}},
          3);
      const Vector noise = Vector::Random(problem.rows());
      for (const double distance : {0.0, 1e-6, 10.0}) {
        expect_agreement_by_blocks(problem, problem.reference()->reaction + distance * noise);
      }
    }
  }
}

TEST_F(JudgeReference, AgreesOnBlocksInAnyOrderWithAdhesionAndRowsWithoutFriction) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto vector = [](std::initializer_list<double> x) {
    return Vector(Eigen::Map<const Vector>(x.begin(), static_cast<Index>(x.size())));
  };
  GivenProblem given;
  // Torsion with adhesion, two intervals, an orthotropic contact with a row without friction, a joint, a cone without
  // friction but with adhesion, a limit, a pyramid.
  given.blocks.first_row = {0, 4, 6, 10, 11, 12, 13, 16};
  given.blocks.cone = {BlockCone::discs,     BlockCone::none, BlockCone::ellipsoid, BlockCone::none,
                       BlockCone::ellipsoid, BlockCone::none, BlockCone::pyramid};
  given.blocks.lower = vector(
      {none, none, none, none, -0.1, -unbounded, none, none, none, none, -unbounded, none, 0.0, none, none, none});
  given.blocks.upper =
      vector({none, none, none, none, 0.2, 0.3, none, none, none, none, unbounded, none, unbounded, none, none, none});
  given.blocks.mu = vector({0, 0.5, 0.4, 0.02, 0, 0, 0, 0.3, 0, 0.6, 0, 0, 0, 0, 0.7, 0.2});
  given.blocks.shift = vector({0.3, 0, 0, 0, 0.5, 0, 0});
  const Index n = given.blocks.rows();
  const Matrix random = Matrix::Random(n, n);
  const Matrix matrix = random * random.transpose();
  given.free_term = Vector::Random(n);
  given.bias = Vector::Random(n);
  given.compliance = Vector::Random(n).cwiseAbs();
  given.gaps = Vector::Random(7);
  given.configuration.time_step = 0.01;
  for (const bool primal : {false, true}) {
    if (primal) {
      given.primal = PrimalForm{SparseMatrix(Matrix(2.0 * Matrix::Identity(n, n)).sparseView()),
                                SparseMatrix(random.sparseView()), Vector::Random(n)};
      given.delassus.reset();
      given.free_term.reset();
    } else {
      given.delassus = SparseMatrix(matrix.sparseView());
    }
    const auto problem = problem_from_blocks(given);
    ASSERT_TRUE(problem) << problem.error().message;
    ASSERT_EQ(problem->rows(), n - 1);
    for (int k = 0; k < 3; ++k) expect_agreement_by_blocks(*problem, 2.0 * Vector::Random(n - 1), &given);
  }
}

TEST_F(JudgeReference, AgreesNearASolutionWhereDigitsCancel) {
  const testing::KnownAnswer known = testing::with_known_answer(generated("dense", 3, 4), 5, true);
  for (const double distance : {0.0, 1e-12, 1e-8, 1e-4}) {
    expect_agreement(known.problem, known.impulse + distance * Vector::Random(known.impulse.size()));
  }
}

TEST_F(JudgeReference, AgreesOnPenetrationWhereTheFileHasTheGaps) {
  const ContactProblem stack = make_problem("box-stack", {{"boxes", 2L}});
  ASSERT_TRUE(judge(stack, Vector::Zero(stack.rows()))["penetration"].known());
  expect_agreement(stack, Vector::Zero(stack.rows()));
  expect_agreement(stack, stack.reference()->reaction);
}

TEST_F(JudgeReference, NoticesADifferenceOfAMillionth) {
  const ContactProblem problem = generated("dense", 3, 0);
  const Vector impulse = Vector::Random(problem.rows());
  expect_agreement(problem, impulse);
  nlohmann::json wrong = to_json(judge(problem, impulse));
  wrong["residuals"]["natural_map_scaled"] = 1.000001 * wrong["residuals"]["natural_map_scaled"].get<double>();
  const Output output = compare(folder_ / "problem.hdf5", wrong);
  EXPECT_NE(output.status, 0);
  EXPECT_NE(output.text.find("natural_map_scaled"), std::string::npos) << output.text;
}

TEST_F(JudgeReference, AgreesOnRealProblems) {
  const auto shared = testing::shared_data();
  if (!shared) GTEST_SKIP() << testing::no_shared_data;
  for (const char* name : {"LMGC_GlobalFrictionContactProblem00046", "gfc2d_granularflowonwall_00069_00350",
                           "OneObject-i100000-499", "FC2D_SliderCrankLagrangian00001"}) {
    const fs::path source = *shared / "fclib" / "open" / (std::string(name) + ".hdf5");
    const auto problem = load_fclib(source);
    ASSERT_TRUE(problem) << problem.error().message;
    const fs::path target = folder_ / "answered.hdf5";
    const Vector impulse = Vector::Random(problem->rows()) * problem->free_term().norm();
    const auto written = write_solution(source, target, *problem, impulse);
    ASSERT_TRUE(written) << written.error().message;
    expect_agreement(target);
  }
  expect_agreement(*shared / "families" / "BoxesStack" / "BoxesStack-i01500-131-00380.hdf5");
  expect_agreement(*shared / "families" / "Chain" / "Chain-i01500-38-00058.hdf5");
}

TEST(RealProblems, NaturalMapsOfTheirAnswersAreThoseDeclared) {
  const auto families = testing::shared_data("families");
  if (!families) GTEST_SKIP() << testing::no_shared_data;
  const std::regex declared("absolute natural-map residual ([0-9.e+-]+)");
  int compared = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*families)) {
    if (entry.path().extension() != ".hdf5") continue;
    const auto problem = load_fclib(entry.path());
    ASSERT_TRUE(problem) << problem.error().message;
    std::smatch match;
    ASSERT_TRUE(std::regex_search(problem->provenance().description, match, declared)) << entry.path();
    const double value = std::stod(match[1]);
    ASSERT_TRUE(problem->reference()) << entry.path();
    const double natural = judge(*problem, problem->reference()->reaction)["r_nat"].value;
    if (value < 1e-12) {
      EXPECT_LT(natural, 2e-12) << entry.path();
      continue;
    }
    EXPECT_NEAR(natural / value, 1.0, 6e-3) << entry.path();  // declared with three digits
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(RealProblems, HaveTheRankAndConditioningOfTheirManifest) {
  const auto manifest = testing::shared_data("fclib/manifest.json");
  if (!manifest) GTEST_SKIP() << testing::no_shared_data;
  std::ifstream stream(*manifest);
  int compared = 0;
  for (const auto& entry : nlohmann::json::parse(stream)) {
    const char* const key = entry.contains("W") ? "W" : "W_condensed";
    if (!entry.contains(key) || !entry[key].contains("rank") || entry.value("dofs", 1000000) > 200) continue;
    const auto problem = load_fclib(manifest->parent_path() / entry["file"].get<std::string>());
    if (!problem || problem->cones().rolls()) continue;  // whose moments have a unit of their own
    const Spectrum spectrum = analyse_spectrum(problem->blocks());
    const auto& expected = entry[key];
    EXPECT_EQ(spectrum.rank, expected["rank"].get<Index>()) << entry["file"];
    EXPECT_NEAR(*spectrum.conditioning / expected["cond_on_range"].get<double>(), 1.0, 1e-3) << entry["file"];
    EXPECT_EQ(spectrum.positive_semidefinite, expected["psd"].get<bool>()) << entry["file"];
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace conebench
