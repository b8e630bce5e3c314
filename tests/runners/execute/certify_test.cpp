#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fclib_loader/fclib_file.hpp"
#include "metrics/feasibility.hpp"
#include "runners/execute/rejudge.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

/// A body of 1 kg between two walls, each coming nearer at `speed`: above 0 no solution exists.
ContactProblem squeezed_body(double speed) {
  Matrix delassus = Matrix::Identity(6, 6);
  delassus(2, 5) = delassus(5, 2) = -1.0;
  ContactProblemData data;
  data.cones = *ConeProduct::create(0, 0, {0.5, 0.5});
  data.delassus = make_dense_delassus(delassus);
  data.free_term = Vector::Zero(6);
  data.free_term[0] = 0.3;
  data.free_term[2] = data.free_term[5] = -speed;
  return *ContactProblem::create(std::move(data));
}

class Certificates : public testing::SweepTest {
 protected:
  /// Of the files in `folder`.
  Suite squeezed(const std::string& solvers) {
    Suite made = suite(R"({"name": "squeezed", "seed": 1, "problems": [{"fclib": "*.hdf5"}], "solvers": )" + solvers +
                       R"(, "tolerances": [1e-6], "limits": {"iterations": 50, "seconds": 5},
                           "repeats": {"min": 1, "min_ms": 0}})");
    made.folder = folder;
    return made;
  }
};

TEST_F(Certificates, CertifiesWhatNoSolverSolvedAndKeepsIt) {
  if (check_feasibility(squeezed_body(1.19), 10.0).state == FeasibilityState::no_library)
    GTEST_SKIP() << "built without CLP";
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  ASSERT_TRUE(write_fclib(squeezed_body(-1.0), folder / "possible.hdf5"));
  Store store = open_store();
  const auto impossible = [&] {
    std::set<std::string> names;
    const auto contents = store.read();
    for (const ProblemRecord& problem : contents->problems) {
      if (!problem.infeasible()) continue;
      names.insert(problem.name);
      EXPECT_NEAR(problem.feasibility.margin.value(), -1.19, 1e-9);
      EXPECT_EQ(problem.feasibility.certificate.size(), 6U);
    }
    return names;
  };
  sweep(squeezed(R"(["NSGS"])"), store);
  EXPECT_THAT(impossible(), ::testing::ElementsAre("impossible"));
  EXPECT_THAT(progress.notes, ::testing::Contains(::testing::HasSubstr("looking whether 1 problem")));
  // A run that adds cells describes the problems anew.
  sweep(squeezed(R"(["NSGS", "APGD-CCP"])"), store);
  EXPECT_THAT(impossible(), ::testing::ElementsAre("impossible"));
}

TEST_F(Certificates, RejudgeKeepsNoMarkWithoutACertificateThatProvesIt) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  sweep(squeezed(R"(["NSGS"])"), store);
  const auto rejudged = [&](const std::vector<double>& z) {
    ProblemRecord problem = store.read()->problems.at(0);
    problem.feasibility = {"infeasible", -9.0, 1, z};
    EXPECT_TRUE(store.put_problem(problem));
    RejudgeOptions again;
    again.cache = folder / "again";
    const auto outcome = rejudge(store, again);
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->judged, 1);
    FeasibilityRecord found = store.read()->problems.at(0).feasibility;
    EXPECT_EQ(outcome->certificates_dropped, found.state.empty() ? 1 : 0);
    return found;
  };
  const std::vector<double> z = {0.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  const FeasibilityRecord kept = rejudged(z);
  EXPECT_EQ(kept.state, "infeasible");
  EXPECT_NEAR(kept.margin.value(), -1.19, 1e-12);
  EXPECT_EQ(kept.worst_block, 0);
  EXPECT_EQ(kept.certificate, z);
  for (const std::vector<double>& none : std::vector<std::vector<double>>{
           {}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0, 0.0, 0.5}, {0.0, 0.0, 1.0}}) {
    const FeasibilityRecord dropped = rejudged(none);
    EXPECT_EQ(dropped.state, "");
    EXPECT_FALSE(dropped.margin || dropped.worst_block);
    EXPECT_TRUE(dropped.certificate.empty());
  }
}

}  // namespace
}  // namespace conebench
