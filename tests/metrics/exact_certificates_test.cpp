#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "fclib_loader/fclib_file.hpp"
#include "metrics/feasibility.hpp"
#include "problem_builders.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/shared_data.hpp"

namespace conebench {
namespace {

constexpr double seconds = 20.0;

std::vector<double> numbers_of(const Vector& vector) { return {vector.begin(), vector.end()}; }

/// `matrix`: σ = matrix x + g.
nlohmann::json case_of(const std::string& name, const ContactProblem& problem, const Matrix& matrix,
                       const Feasibility& found) {
  const ConeProduct& cones = problem.cones();
  std::vector<std::string> kinds(static_cast<std::size_t>(cones.rows()), "zero");
  for (Index block = 0; block < cones.blocks(); ++block) {
    kinds[static_cast<std::size_t>(cones.normal_row_of(block))] =
        cones.block_kind(block) == BlockKind::joint ? "free" : "nonnegative";
  }
  std::vector<double> friction(kinds.size(), 0.0);
  double scale = 0.0;
  for (Index i = 0; i < cones.blocks(); ++i) {
    scale = std::max(scale, problem.free_term().segment(cones.block_row(i), cones.block_size(i)).norm());
    if (cones.block_kind(i) != BlockKind::contact) continue;
    friction[static_cast<std::size_t>(cones.normal_row_of(i))] =
        cones.friction()[static_cast<std::size_t>(i - cones.first_contact_row())];
  }
  nlohmann::json rows = nlohmann::json::array();
  for (Index row = 0; row < matrix.rows(); ++row) rows.push_back(numbers_of(matrix.row(row)));
  return {{"name", name},
          {"kinds", kinds},
          {"friction", friction},
          {"velocity_scale", scale},
          {"verdict_bound", found.verdict_bound},
          {"A", rows},
          {"g", numbers_of(problem.free_term())},
          {"z", numbers_of(found.certificate)},
          {"margin", found.margin},
          {"speed_bound", std::isfinite(found.speed_bound) ? nlohmann::json(found.speed_bound) : nullptr}};
}

bool are_exact(const nlohmann::json& cases) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("conebench_certificates_{}.json", getpid());
  std::ofstream(file) << cases.dump();
  const int status = std::system(  // NOLINT(cert-env33-c): a fixed command of the test
      fmt::format("/usr/bin/python3 '{}/tests/metrics/exact_certificates.py' '{}'", CONEBENCH_SOURCE_DIR, file.string())
          .c_str());
  std::filesystem::remove(file);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Bodies of random mass in a row between two walls that come nearer, in 2D; of every normal row one unit of its own.
/// The last body hangs on the first by a bar, a joint that agrees with nothing else to move.
struct Row {
  Matrix jacobian;
  Vector inverse_masses, free_term;
  ConeProduct cones;
};

Row squeezed_row(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  const Index bodies = 2 + static_cast<Index>(seed % 5), contacts = bodies + 1;
  Row row{Matrix::Zero(1 + 2 * contacts, bodies), Vector(bodies), Vector::Zero(1 + 2 * contacts),
          *ConeProduct::create(1, 0, std::vector<double>(static_cast<std::size_t>(contacts), 0.5), 2)};
  for (Index k = 0; k < bodies; ++k) row.inverse_masses[k] = std::pow(10.0, 4.0 * uniform(random));
  row.jacobian(0, 0) = uniform(random);
  row.jacobian(0, bodies - 1) = -uniform(random);
  row.free_term[0] = uniform(random);
  for (Index i = 0; i < contacts; ++i) {
    const double unit = uniform(random);
    const Index normal = 2 + 2 * i;
    if (i < bodies) row.jacobian(normal, i) = unit;
    if (i > 0) row.jacobian(normal, i - 1) = -unit;
    row.free_term[normal] = -unit * uniform(random);
  }
  return row;
}

TEST(ExactCertificates, ProveTheirClaimsInRationalArithmetic) {
  if (std::system("/usr/bin/python3 -c ''") != 0) GTEST_SKIP() << "python3 is not there";  // NOLINT(cert-env33-c)
  nlohmann::json cases = nlohmann::json::array();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Row row = squeezed_row(seed);
    for (const bool primal : {false, true}) {
      ContactProblemData data;
      data.cones = row.cones;
      data.free_term = row.free_term;
      const Matrix delassus = row.jacobian * row.inverse_masses.asDiagonal() * row.jacobian.transpose();
      if (primal) {
        const Vector masses = row.inverse_masses.cwiseInverse();
        data.primal = PrimalForm{Matrix(masses.asDiagonal()).sparseView(), row.jacobian.sparseView(),
                                 Vector::Zero(row.jacobian.cols())};
        data.bias = row.free_term;
      } else {
        data.delassus = make_dense_delassus(delassus);
      }
      const auto problem = ContactProblem::create(std::move(data));
      ASSERT_TRUE(problem) << problem.error().message;
      const Feasibility found = check_feasibility(*problem, seconds);
      if (found.state == FeasibilityState::no_library) GTEST_SKIP() << "built without CLP";
      const std::string name = fmt::format("row {} {}", seed, primal ? "as M and J" : "as G");
      ASSERT_EQ(found.state, FeasibilityState::infeasible) << name;
      cases.push_back(case_of(name, *problem, primal ? row.jacobian : delassus, found));
    }
  }
  EXPECT_TRUE(are_exact(cases));
  // What does not hold is noticed.
  for (const auto& [key, factor] : {std::pair("margin", 1.001), {"speed_bound", 1e6}, {"verdict_bound", 1.001}}) {
    nlohmann::json wrong = nlohmann::json::array({cases[0]});
    if (wrong[0][key].is_null()) continue;
    wrong[0][key] = factor * wrong[0][key].get<double>();
    EXPECT_FALSE(are_exact(wrong)) << key;
  }
  nlohmann::json negative = nlohmann::json::array({cases[0]});
  negative[0]["z"][2] = -negative[0]["z"][2].get<double>();
  EXPECT_FALSE(are_exact(negative));
}

TEST(LinearProgram, IsDecidedWhereTheDualSimplexGivesUp) {
  const auto file = testing::shared_data("captured/newton-fourbar-bounded.hdf5");
  if (!file) GTEST_SKIP() << testing::no_shared_data;
  const auto problem = load_fclib(*file);
  ASSERT_TRUE(problem) << problem.error().message;
  const FeasibilityState state = check_feasibility(*problem, seconds).state;
  if (state == FeasibilityState::no_library) GTEST_SKIP() << "built without CLP";
  EXPECT_EQ(state, FeasibilityState::not_excluded);
}

}  // namespace
}  // namespace conebench
