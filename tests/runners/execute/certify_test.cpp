#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <set>

#include "fclib_loader/fclib_file.hpp"
#include "metrics/feasibility.hpp"
#include "metrics/linear_program.hpp"
#include "runners/execute/certify.hpp"
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
  Suite squeezed(const std::string& solvers, const std::string& tolerances = "1e-6") {
    Suite made = suite(R"({"name": "squeezed", "seed": 1, "problems": [{"fclib": "*.hdf5"}], "solvers": )" + solvers +
                       R"(, "tolerances": [)" + tolerances + R"(], "limits": {"iterations": 50, "seconds": 5},
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
  EXPECT_THAT(progress.notes, ::testing::Contains(::testing::HasSubstr("proof that 1 problem")));
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
    again.problems.cache = folder / "again";
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

TEST_F(Certificates, AMarkWithoutABoundGetsItByItsCertificate) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  const Suite suite = squeezed(R"(["NSGS"])");
  sweep(suite, store);
  ProblemRecord problem = store.read()->problems.at(0);
  const std::vector<double> z = {0.0, 0.0, 0.25, 0.0, 0.0, 0.25};
  problem.feasibility = {"infeasible", -9.0, 1, z};
  ASSERT_TRUE(store.put_problem(problem));
  EXPECT_EQ(sweep(suite, store).run, 0);
  const FeasibilityRecord bounded = store.read()->problems.at(0).feasibility;
  EXPECT_EQ(bounded.state, "infeasible");
  EXPECT_EQ(bounded.certificate, z) << "no other one was searched";
  EXPECT_NEAR(bounded.margin.value(), -1.19, 1e-12);
  EXPECT_GT(bounded.verdict_bound.value_or(0.0), 0.0);
}

TEST_F(Certificates, RejudgeFindsTheNoiseThatAnOlderBuildDidNotLookFor) {
  Store store = open_store();
  sweep(suite(R"({"name": "bodies", "seed": 1, "solvers": ["NSGS"], "tolerances": [1e-6],
                  "problems": [{"scene": "box-stack", "options": {"form": "factored"}}],
                  "limits": {"iterations": 50, "seconds": 60}, "repeats": {"min": 1, "min_ms": 0}})"),
        store);
  ProblemRecord problem = store.read()->problems.at(0);
  const auto known = problem.noise_ratio;
  ASSERT_TRUE(known);
  problem.noise_ratio.reset();
  ASSERT_TRUE(store.put_problem(problem));
  RejudgeOptions again;
  again.problems.cache = folder / "again";
  ASSERT_TRUE(rejudge(store, again));
  EXPECT_EQ(store.read()->problems.at(0).noise_ratio, known);
  EXPECT_EQ(store.read()->cells.at(0).verdict_version, 2);
}

class CertifiedSweeps : public Certificates {
 protected:
  void SetUp() override {
    if (linear_program_library().empty()) GTEST_SKIP() << "built without CLP";
  }
  FeasibilityRecord found(const Store& store) { return store.read()->problems.at(0).feasibility; }
  /// The store's problem, which no file is of, with `feasibility` instead of what was found.
  static ProblemSet with(const FeasibilityRecord& feasibility, Store& store) {
    ProblemSet set;
    set.problems.resize(1);
    set.problems[0].record = store.read()->problems.at(0);
    set.problems[0].record.feasibility = feasibility;
    set.sources.resize(1);
    EXPECT_TRUE(store.put_problem(set.problems[0].record));
    return set;
  }
};

/// Ctrl-C when the search begins.
class SearchInterrupter final : public Progress {
 public:
  explicit SearchInterrupter(std::atomic<bool>& flag) : flag_(flag) {}
  void note(const std::string& line) override {
    if (line.starts_with("searching for a proof")) flag_ = true;
  }

 private:
  std::atomic<bool>& flag_;
};

/// What the processes that this one starts do first.
void (*at_start)() = nullptr;

TEST_F(CertifiedSweeps, AProblemSolvedAtALooseToleranceIsCertifiedAtATightOne) {
  // Walls that come nearer at 1e-5 m/s, next to tangents of 0.3 m/s: the verdict stays above 2e-5.
  ASSERT_TRUE(write_fclib(squeezed_body(1e-5), folder / "nearly.hdf5"));
  Store store = open_store();
  sweep(squeezed(R"(["NSGS"])", "1e-2, 1e-8"), store);
  const auto stored = store.read();
  for (const CellRecord& cell : stored->cells) {
    EXPECT_EQ(cell.solved, cell.tolerance == 1e-2);
    EXPECT_EQ(cell.verdict_version, 2);
  }
  const ProblemRecord problem = store.read()->problems.at(0);
  EXPECT_TRUE(problem.infeasible());
  EXPECT_TRUE(problem.counts("natural_map_scaled", 1e-2));
  EXPECT_FALSE(problem.counts("natural_map_scaled", 1e-8));
}

TEST_F(CertifiedSweeps, ACompleteStoreIsLookedThroughForWhatWasNotTried) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  const Suite suite = squeezed(R"(["NSGS"])");
  sweep(suite, store);
  ProblemRecord problem = store.read()->problems.at(0);
  const FeasibilityRecord first = problem.feasibility;
  EXPECT_GT(first.verdict_bound.value_or(0.0), 0.0);
  problem.feasibility = {};  // as if the run was interrupted before
  ASSERT_TRUE(store.put_problem(problem));
  progress.notes.clear();
  EXPECT_EQ(sweep(suite, store).run, 0);
  EXPECT_EQ(found(store).certificate, first.certificate);
  EXPECT_THAT(progress.notes, ::testing::Contains(::testing::HasSubstr("proof that 1 problem")));
  EXPECT_EQ(store.read()->runs.size(), 1U);
  for (const char* state : {"undecided", "not_excluded"}) {
    problem.feasibility = {state, {}, {}, {}};
    ASSERT_TRUE(store.put_problem(problem));
    progress.notes.clear();
    sweep(suite, store);
    EXPECT_EQ(found(store).state, state) << "not searched again";
    EXPECT_THAT(progress.notes, ::testing::Not(::testing::Contains(::testing::HasSubstr("searching for a proof"))));
  }
}

TEST_F(CertifiedSweeps, WhatTheBudgetIsTooShortForIsReportedAndLeft) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  const Suite suite = squeezed(R"(["NSGS"])");
  sweep(suite, store);
  const ProblemSet set = with({}, store);
  progress.notes.clear();
  ASSERT_TRUE(
      certify_unsolved(store, set, std::set<std::size_t>{0}, options.cache, nullptr, progress, {.total_s = 0.0}));
  EXPECT_THAT(progress.notes, ::testing::Contains(::testing::HasSubstr(
                                  "1 problem was not tried: the budget of 0 s was spent; the next run goes on")));
  EXPECT_EQ(found(store).state, "");
}

TEST_F(CertifiedSweeps, ASearchThatIsKilledSaysNothingAndOneThatCrashesNothingOfAMark) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  sweep(squeezed(R"(["NSGS"])"), store);
  const auto blames_clp = ::testing::Contains(::testing::HasSubstr("CLP did not end"));
  const auto state_after = [&](const FeasibilityRecord& before, void (*start)()) {
    const ProblemSet set = with(before, store);
    progress.notes.clear();
    at_start = start;
    EXPECT_TRUE(certify_unsolved(store, set, std::set<std::size_t>{0}, options.cache, nullptr, progress));
    at_start = nullptr;
    return found(store).state;
  };
  ASSERT_EQ(pthread_atfork(nullptr, nullptr,
                           [] {
                             if (at_start != nullptr) at_start();
                           }),
            0);
  EXPECT_EQ(state_after({}, [] { kill(getpid(), SIGKILL); }), "");
  EXPECT_THAT(progress.notes, ::testing::Contains("1 problem was not searched to the end; the next run tries again"));
  EXPECT_THAT(progress.notes, ::testing::Not(blames_clp));
  EXPECT_EQ(state_after({}, [] { _exit(1); }), "undecided");
  EXPECT_THAT(progress.notes, blames_clp);
  EXPECT_EQ(state_after({"infeasible", -1.19, 0, {}}, [] { _exit(1); }), "infeasible");
}

TEST_F(CertifiedSweeps, CtrlCWhileItIsSearchedInterruptsTheRunAndLeavesItsCellsDone) {
  ASSERT_TRUE(write_fclib(squeezed_body(1.19), folder / "impossible.hdf5"));
  Store store = open_store();
  const Suite suite = squeezed(R"(["NSGS"])");
  std::atomic<bool> flag{false};
  SearchInterrupter interrupter(flag);
  options.interrupted = &flag;
  const auto first = run_sweep(suite, store, options, interrupter);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->interrupted);
  EXPECT_EQ(first->run, 1);
  EXPECT_NE(store.read()->runs.at(0).finished_utc, "");
  flag = false;
  const auto again = run_sweep(suite, store, options, interrupter);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->interrupted) << "with no cell left to run";
  EXPECT_EQ(again->run, 0);
  EXPECT_EQ(found(store).state, "");
}

}  // namespace
}  // namespace conebench
