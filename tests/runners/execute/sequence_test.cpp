#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "fclib_loader/fclib_file.hpp"
#include "problems/sequence.hpp"
#include "runners/execute/solve_cell.hpp"
#include "runners/execute/wire.hpp"
#include "tests/runners/execute/sweep_fixture.hpp"
#include "tests/support/make_problem.hpp"
#include "tests/support/transforms.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

constexpr int steps = 6;

/// One step of a made-up simulation: a stack pushed about by a slowly changing g. Every other step lists its contacts
/// in another order.
ContactProblem step_problem(int step, bool in_sequence = true) {
  const ContactProblem stack = testing::make_problem("box-stack", {{"boxes", 3L}});
  ContactProblemData data = stack.data();
  data.delassus = make_block_sparse_delassus(stack.blocks());
  data.primal.reset();
  data.bias.reset();
  data.reference.reset();
  for (Index row = 0; row < data.free_term.size(); ++row) {
    data.free_term[row] *= 1.0 + 0.01 * step;
    if (row % 3 == 0) data.free_term[row] += 0.01 * std::sin(0.3 * step + static_cast<double>(row / 12));
  }
  data.configuration.emplace();
  data.configuration->contact_identities.emplace();
  for (Index c = 0; c < stack.cones().contacts(); ++c) data.configuration->contact_identities->push_back(100 + c);
  if (in_sequence) {
    data.configuration->scene = "pushed stack";
    data.configuration->step = 10 * step;
  }
  const ContactProblem plain = ContactProblem::create(std::move(data)).value();
  if (step % 2 == 0) return plain;
  return testing::permute_contacts(plain, testing::random_order(plain.cones().contacts(), 5)).problem;
}

/// Everything of the stored cells that a repetition must give again.
std::map<std::string, std::string> lasting(const Store& store) {
  std::map<std::string, std::string> cells;
  const auto contents = store.read(true);
  for (const CellRecord& cell : contents->cells) {
    cells[cell.key] = encode(CellReport{0, testing::without_times(cell), 0});
  }
  return cells;
}

class Sequences : public testing::SweepTest {
 protected:
  Sequences() {
    options.data = folder / "steps";
    std::filesystem::create_directory(options.data);
    for (int step = 0; step < steps; ++step) write(step, fmt::format("s{}.hdf5", step));
  }
  void write(int step, const std::string& name, bool in_sequence = true) const {
    const auto written = write_fclib(step_problem(step, in_sequence), options.data / name);
    if (!written) throw std::runtime_error(written.error().message);
  }
  static Suite with(const std::string& start, const std::string& solvers = R"(["NSGS", "PGS-CCP-DS"])",
                    const std::string& problems = R"([{"fclib": "s*.hdf5"}])") {
    return suite(fmt::format(R"({{"name": "sequence", "problems": {}, "solvers": {}, "tolerances": [1e-4, 1e-9],
      "start": {}, "limits": {{"iterations": 100000, "seconds": 60}}, "repeats": {{"min": 2, "min_ms": 0}}}})",
                             problems, solvers, start));
  }
  /// Cells by step, those of one start, solver and tolerance.
  static std::map<int, CellRecord> by_step(const Store& store, const std::string& start, const std::string& solver,
                                           double tolerance) {
    const auto contents = store.read(true);
    std::map<std::string, int> step_of;
    for (const auto& problem : contents->problems) step_of[problem.hash] = problem.name.back() - '0';
    std::map<std::string, std::string> solver_of;
    for (const auto& configuration : contents->configurations) solver_of[configuration.hash] = configuration.solver;
    std::map<int, CellRecord> cells;
    for (const auto& cell : contents->cells) {
      if (cell.start == start && solver_of[cell.configuration] == solver && cell.tolerance == tolerance) {
        EXPECT_TRUE(cells.emplace(step_of[cell.problem], cell).second);
      }
    }
    return cells;
  }
};

TEST_F(Sequences, StartFromTheirOwnAnswerBeforeMappedByIdentity) {
  Store store = open_store();
  const SweepOutcome outcome = sweep(with("\"previous\""), store);
  EXPECT_EQ(outcome.cells, 24);
  EXPECT_EQ(outcome.solved, 24);
  for (const std::string solver : {"NSGS", "PGS-CCP-DS"}) {
    for (const double tolerance : {1e-4, 1e-9}) {
      const auto cells = by_step(store, "previous", solver, tolerance);
      ASSERT_EQ(cells.size(), static_cast<std::size_t>(steps));
      EXPECT_EQ(cells.at(0).start_used, "cold");
      for (int step = 0; step < steps; ++step) {
        SCOPED_TRACE(fmt::format("{} {} step {}", solver, tolerance, step));
        CellRequest request;
        request.solver = solver;
        request.tolerance = tolerance;
        request.max_iterations = 100000;
        request.start = Start::previous;
        if (step > 0) {
          EXPECT_EQ(cells.at(step).start_used, "previous");
          const auto& before = cells.at(step - 1).reaction;
          request.start_impulse =
              carried_impulse(layout_of(step_problem(step - 1)),
                              Eigen::Map<const Vector>(before.data(), static_cast<Index>(before.size())),
                              layout_of(step_problem(step)));
        }
        const auto alone = solve_cell(step_problem(step), request);
        ASSERT_TRUE(alone);
        EXPECT_EQ(alone->reaction, cells.at(step).reaction);
        EXPECT_EQ(alone->iterations, cells.at(step).iterations);
        EXPECT_EQ(cells.at(step).repeats, 2) << "a repeat that began elsewhere would be flaky";
      }
    }
  }
}

TEST_F(Sequences, ColdAndWarmCellsStandBesideEachOther) {
  Store store = open_store();
  const SweepOutcome outcome = sweep(with(R"(["cold", "previous"])"), store);
  EXPECT_EQ(outcome.cells, 48);
  const auto cold = by_step(store, "cold", "NSGS", 1e-9);
  const auto warm = by_step(store, "previous", "NSGS", 1e-9);
  ASSERT_EQ(cold.size(), static_cast<std::size_t>(steps));
  ASSERT_EQ(warm.size(), static_cast<std::size_t>(steps));
  EXPECT_EQ(cold.at(0).reaction, warm.at(0).reaction);
  std::int64_t cold_iterations = 0, warm_iterations = 0;
  for (int step = 1; step < steps; ++step) {
    EXPECT_NE(cold.at(step).key, warm.at(step).key);
    cold_iterations += cold.at(step).iterations;
    warm_iterations += warm.at(step).iterations;
  }
  EXPECT_LT(warm_iterations, cold_iterations);
}

TEST_F(Sequences, AColdSweepOfTheSameProblemsSharesNoCellWithAWarmOne) {
  Store store = open_store();
  sweep(with("\"previous\""), store);
  const SweepOutcome cold = sweep(with("\"cold\""), store);
  EXPECT_EQ(cold.resumed, 0);
  EXPECT_EQ(cold.run, 24);
}

TEST_F(Sequences, TwoRunsAndAnyNumberOfWorkersGiveTheSameBits) {
  Store first = open_store("first.sqlite");
  sweep(with("\"previous\""), first);
  Store second = open_store("second.sqlite");
  sweep(with("\"previous\""), second);
  EXPECT_EQ(lasting(first), lasting(second));
  options.jobs = 3;
  Store third = open_store("third.sqlite");
  sweep(with("\"previous\""), third);
  EXPECT_EQ(lasting(first), lasting(third));
}

TEST_F(Sequences, AreResumedWhereTheyWereKilled) {
  Store whole = open_store("whole.sqlite");
  sweep(with("\"previous\""), whole);
  const pid_t runner = fork();
  if (runner == 0) {
    Store store = open_store("killed.sqlite");
    std::atomic<bool> reached{false};
    progress.order.clear();
    progress.interrupt = &reached;
    progress.interrupt_after = 9;
    options.interrupted = &reached;
    if (!run_sweep(with("\"previous\""), store, options, progress)) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(runner, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  Store store = open_store("killed.sqlite");
  const SweepOutcome rest = sweep(with("\"previous\""), store);
  EXPECT_EQ(rest.resumed, 9);
  EXPECT_EQ(rest.run, 15);
  EXPECT_EQ(lasting(store), lasting(whole));
}

TEST_F(Sequences, ShardsTakeThemWhole) {
  Store whole = open_store("whole.sqlite");
  sweep(with("\"previous\""), whole);
  std::map<std::string, std::string> parted;
  options.shards = 2;
  for (options.shard = 1; options.shard <= 2; ++options.shard) {
    Store part = open_store(fmt::format("part{}.sqlite", options.shard));
    EXPECT_EQ(sweep(with("\"previous\""), part).cells % steps, 0);
    parted.merge(lasting(part));
  }
  EXPECT_EQ(parted, lasting(whole));
}

TEST_F(Sequences, AFilterKeepsTheStepsBeforeSoThatItsCellsAreTheWholeRuns) {
  const Suite what = with(R"(["cold", "previous"])");
  Store whole = open_store("whole.sqlite"), part = open_store("part.sqlite");
  options.filter = "problem=s2";
  EXPECT_EQ(sweep(what, part).cells, 4 * (3 + 1)) << "three warm steps and a cold one, two solvers, two tolerances";
  options.filter.clear();
  sweep(what, whole);
  const auto all = lasting(whole);
  for (const auto& [key, cell] : lasting(part)) EXPECT_EQ(all.at(key), cell);
  options.filter = "problem=s2";
  EXPECT_EQ(sweep(what, whole).run, 0) << "a filtered run again replaces no warm cell";
}

TEST_F(Sequences, AreOtherCellsBehindAStepThatIsGone) {
  Store store = open_store();
  sweep(with("\"previous\""), store);
  std::filesystem::remove(options.data / "s2.hdf5");
  const auto dry = dry_run(with("\"previous\""), *store.read_outcomes(), options, progress);
  ASSERT_TRUE(dry) << dry.error().message;
  EXPECT_EQ(dry->cells, 20);
  EXPECT_EQ(dry->resumed, 8) << "two steps, two solvers, two tolerances";
  std::filesystem::remove(options.data / "s0.hdf5");
  const auto without_first = dry_run(with("\"previous\""), *store.read_outcomes(), options, progress);
  ASSERT_TRUE(without_first);
  EXPECT_EQ(without_first->resumed, 0);
}

TEST_F(Sequences, ACellThatIsDoneAgainHasThoseBehindItDoneAgain) {
  Store store = open_store();
  const Suite suite = with("\"previous\"", R"(["NSGS"])");
  sweep(suite, store);
  CellRecord cell = by_step(store, "previous", "NSGS", 1e-9).at(2);
  cell.status = CellStatus::timeout;
  ASSERT_TRUE(store.put_cell(cell));
  options.retry = {"timeout"};
  const SweepOutcome again = sweep(suite, store);
  EXPECT_EQ(again.run, 4);
  EXPECT_EQ(again.resumed, 8);
}

TEST_F(Sequences, StartColdAndSaySoWhereTheAnswerBeforeIsMissing) {
  Store store = open_store();
  sweep(with("\"previous\"", R"([{"id": "MISBEHAVE", "options": {"mode": "abort"}}])"), store);
  const auto cells = by_step(store, "previous", "MISBEHAVE", 1e-4);
  ASSERT_EQ(cells.size(), static_cast<std::size_t>(steps));
  EXPECT_EQ(cells.at(3).status, CellStatus::crashed);
  EXPECT_EQ(cells.at(3).start, "previous");
  EXPECT_EQ(cells.at(3).start_used, "cold");
}

TEST_F(Sequences, PassOnWhatIsNotSolvedButNotWhatIsNotFinite) {
  Store store = open_store();
  Suite short_of_time = with("\"previous\"", R"(["PGS-CCP-DS", {"id": "MISBEHAVE", "options": {"mode": "nan"}}])");
  short_of_time.limits.iterations = 3;
  sweep(short_of_time, store);
  const auto unsolved = by_step(store, "previous", "PGS-CCP-DS", 1e-9);
  EXPECT_FALSE(unsolved.at(1).solved);
  EXPECT_EQ(unsolved.at(2).start_used, "previous");
  const auto alone = solve_cell(step_problem(2), [&] {
    CellRequest request;
    request.solver = "PGS-CCP-DS";
    request.tolerance = 1e-9;
    request.max_iterations = 3;
    return request;
  }());
  ASSERT_TRUE(alone);
  EXPECT_NE(unsolved.at(2).reaction, alone->reaction);
  EXPECT_EQ(by_step(store, "previous", "MISBEHAVE", 1e-9).at(1).start_used, "cold");
}

TEST_F(Sequences, MayBeMadeByTheSuiteFromFilesInTheirNumbersOrder) {
  std::filesystem::create_directory(options.data / "plain");
  for (const int step : {8, 9, 10}) write(step, fmt::format("plain/p{}.hdf5", step), false);
  Store store = open_store();
  sweep(with("\"previous\"", R"(["NSGS"])", R"([{"fclib": "plain/*.hdf5", "sequence": true}])"), store);
  std::map<std::string, std::string> start_used;
  const auto contents = store.read();
  std::map<std::string, std::string> name_of;
  for (const auto& problem : contents->problems) name_of[problem.hash] = problem.name;
  for (const auto& cell : contents->cells) start_used[name_of[cell.problem]] = cell.start_used;
  EXPECT_EQ(start_used["p8"], "cold");
  EXPECT_EQ(start_used["p9"], "previous");
  EXPECT_EQ(start_used["p10"], "previous");
}

TEST_F(Sequences, AreMissedAloudWhereThereAreNone) {
  std::filesystem::create_directory(options.data / "plain");
  write(1, "plain/p1.hdf5", false);
  Store store = open_store();
  sweep(with("\"previous\"", R"(["NSGS"])", R"([{"fclib": "plain/*.hdf5"}])"), store);
  EXPECT_THAT(progress.notes, ::testing::Contains(HasSubstr("no problem of this run follows another")));
  EXPECT_EQ(store.read()->cells.at(0).start_used, "cold");
}

}  // namespace
}  // namespace conebench
