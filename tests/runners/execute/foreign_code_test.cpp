// Foreign code that cheats, in a process of CellProcess as a plug-in is: what it may say and what its time is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "base/child_process.hpp"
#include "base/temporary_folder.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/claims.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/solve_cell.hpp"
#include "runners/execute/timing.hpp"
#include "runners/execute/wire.hpp"
#include "solvers/registry.hpp"
#include "store/time_doubts.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double work_s = 0.02;

/// By the system itself, whatever the process has made of its clock.
double true_seconds() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void work() {
  const double until = true_seconds() + work_s;
  while (true_seconds() < until) continue;
}

/// Of a clock that is not the system's.
double clock_pace = 1e-3;

/// At its own pace from its first call on.
int slow_clock(clockid_t clock, timespec* now) {
  constexpr std::int64_t second = 1'000'000'000;
  static std::map<clockid_t, std::int64_t> began;
  const long failed = syscall(SYS_clock_gettime, clock, now);
  const std::int64_t ns = now->tv_sec * second + now->tv_nsec;
  const std::int64_t from = began.try_emplace(clock, ns).first->second;
  const std::int64_t reported = from + static_cast<std::int64_t>(clock_pace * static_cast<double>(ns - from));
  now->tv_sec = reported / second;
  now->tv_nsec = reported % second;
  return static_cast<int>(failed);
}

/// A jump to slow_clock where the C library has its clock.
bool overwrite_clock() {
#if defined(__x86_64__)
  auto* const code = reinterpret_cast<unsigned char*>(&clock_gettime);
  const auto page = reinterpret_cast<std::uintptr_t>(code) & ~std::uintptr_t{4095};
  if (mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  const auto target = reinterpret_cast<std::uintptr_t>(&slow_clock);
  code[0] = 0x48, code[1] = 0xb8;  // movabs rax, target
  std::memcpy(code + 2, &target, sizeof target);
  code[10] = 0xff, code[11] = 0xe0;  // jmp rax
  return true;
#else
  return false;
#endif
}

bool overwrite_clock_works() {
  const pid_t child = fork_process({}, [] { return overwrite_clock() ? 0 : 1; });
  return wait_for_end(child) == 0;
}

struct CheatOptions {
  std::string mode = "honest";
};

void declare_options(OptionBinder& bind, CheatOptions& options) {
  bind.choice("mode", options.mode,
              {"honest", "empty_frame", "finished_frame", "works_in_supports", "keeps_by_g", "keeps_by_sizes",
               "keeps_and_counts_less", "keeps_half", "first_problem_only", "sleeps_in_release", "hangs_in_release",
               "keeps_in_a_file", "slow_clock", "three_times_slower_clock", "slightly_slower_clock",
               "changes_its_parent", "joins_its_parents", "counts_checks", "splits_times"},
              "how it cheats");
}

/// What this process has kept.
std::map<std::string, Vector>& kept() {
  static std::map<std::string, Vector> answers;
  return answers;
}
std::filesystem::path kept_file;

class Cheat final : public Solver {
 public:
  Cheat(SolverInfo info, CheatOptions options) : info_(std::move(info)), options_(std::move(options)) {}
  ~Cheat() override {
    if (is("sleeps_in_release") && problem_) usleep(250'000);
    while (is("hangs_in_release") && problem_) usleep(1000);
  }

  const SolverInfo& info() const override { return info_; }
  bool needs_matrix(const ContactProblem&) const override { return true; }

  std::optional<std::string> unsupported_reason(const ContactProblem& problem) const override {
    if (is("works_in_supports")) kept()["supports"] = solved(problem);
    return std::nullopt;
  }

  Result<void> prepare(const ContactProblem& problem) override {
    static std::string first;
    if (first.empty()) first = problem.data_hash();
    if (is("first_problem_only") && first != problem.data_hash()) return Error{ErrorCode::unsupported, "not this one"};
    problem_.emplace(problem);
    return {};
  }

  SolveSummary solve(ConstVectorRef, const StopRule&, Monitor& monitor, VectorRef impulse) override {
    static bool has_worked = false;
    if (is("empty_frame")) {
      CellClaims claims;
      claims.status = CellStatus::converged;
      claims.claimed = true;
      claims.repeats = 100;
      claims.total = claims.solve = {2e-9, 2e-9, 2e-9, 0.0};
      send(claims);
    }
    if (is("three_times_slower_clock")) clock_pace = 1.0 / 3.0;
    if (is("slightly_slower_clock")) clock_pace = 0.75;
    const bool slow = is("slow_clock") || is("three_times_slower_clock") || is("slightly_slower_clock");
    if (slow && !has_worked) overwrite_clock();
    if (is("changes_its_parent")) {
      setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 10);
      rlimit limit{};
      prlimit(getppid(), RLIMIT_NOFILE, nullptr, &limit);
      limit.rlim_cur = 64;
      prlimit(getppid(), RLIMIT_NOFILE, &limit, nullptr);
      const sched_param none{};
      sched_setscheduler(getppid(), SCHED_BATCH, &none);
    }
    if (is("joins_its_parents") && !has_worked) {
      const pid_t group = getpgid(getppid()), child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, 0);
        for (;;) pause();
      }
      setpgid(child, group);
      std::ofstream(kept_file, std::ios::app) << child << " " << (getpgid(child) == group) << "\n";
    }
    if (is("counts_checks")) return checked_by(monitor, impulse);
    impulse = answer();
    has_worked = true;
    if (is("finished_frame")) {
      CellClaims claims;
      claims.status = CellStatus::converged;
      claims.repeats = 100;
      claims.iterations = 1;
      claims.total = claims.solve = {2e-9, 2e-9, 2e-9, 0.0};
      claims.reaction.assign(impulse.data(), impulse.data() + impulse.size());
      send(claims);
    }
    if (is("splits_times")) {
      CellClaims claims;
      claims.status = CellStatus::converged;
      claims.repeats = 1;
      claims.total = claims.solve = {1e-9, work_s, 1e-9, 0.0};
      claims.reaction.assign(impulse.data(), impulse.data() + impulse.size());
      send(claims);
    }
    monitor.propose(1, impulse, 0.0);
    SolveSummary summary;
    summary.status = SolveStatus::converged;
    const bool has_kept = kept().size() == kept_before_;
    kept_before_ = kept().size();
    summary.iterations = is("keeps_and_counts_less") && has_kept ? 1 : 2;
    return summary;
  }

 private:
  bool is(const char* mode) const { return options_.mode == mode; }

  static void send(const CellClaims& claims) {
    write_all(child_channel, encode_frame(FrameKind::claims, encode(claims)));
    _exit(0);
  }

  static Vector solved(const ContactProblem& problem) {
    work();
    const auto solver = (*require_solver("NSGS"))->make({});
    Vector impulse = Vector::Zero(problem.rows());
    SilentMonitor nobody;
    if ((*solver)->prepare(problem)) (*solver)->solve(impulse, {1e-10, 20000, StopBy::solver}, nobody, impulse);
    return impulse;
  }

  /// 20 iterations, the last one right. Says as their number how many it was asked to show.
  SolveSummary checked_by(Monitor& monitor, VectorRef impulse) const {
    const Vector right = answer();
    SolveSummary summary;
    impulse.setZero();
    for (long k = 1; k <= 20; ++k) {
      if (k == 20) impulse = right;
      if (!monitor.should_check(k)) continue;
      ++summary.iterations;
      if (monitor.observe(k, impulse, 0.0) == Decision::accept) summary.status = SolveStatus::converged;
    }
    return summary;
  }

  Vector answer() const {
    if (is("works_in_supports")) return kept().at("supports");
    if (is("keeps_in_a_file") && std::filesystem::exists(kept_file)) {
      Vector impulse(problem_->rows());
      std::ifstream(kept_file).read(reinterpret_cast<char*>(impulse.data()), 8 * impulse.size());
      return impulse;
    }
    const bool keeps = is("keeps_by_g") || is("first_problem_only") || is("sleeps_in_release") ||
                       is("keeps_by_sizes") || is("keeps_and_counts_less") || is("keeps_half");
    // Far above the 20 times, also where reading the file is held up.
    for (int more = 0; is("keeps_in_a_file") && more < 10; ++more) work();
    if (!keeps) return write(solved(*problem_));
    const Vector& g = problem_->free_term();
    std::string key(reinterpret_cast<const char*>(g.data()), static_cast<std::size_t>(g.size()) * sizeof(double));
    if (is("keeps_by_sizes")) key = std::to_string(g.size());
    const auto found = kept().find(key);
    if (is("keeps_half")) work();
    if (found != kept().end()) return found->second;
    return kept()[key] = solved(*problem_);
  }

  Vector write(Vector impulse) const {
    if (is("keeps_in_a_file")) {
      std::ofstream(kept_file).write(reinterpret_cast<const char*>(impulse.data()), 8 * impulse.size());
    }
    return impulse;
  }

  SolverInfo info_;
  CheatOptions options_;
  std::optional<ContactProblem> problem_;
  static inline std::size_t kept_before_ = 0;  ///< answers, when it last solved
};

const bool added = [] {
  SolverInfo info;
  info.id = "CHEAT";
  info.name = "Cheats on request";
  info.own_process = true;
  SolverRow row = make_row<CheatOptions>(
      info, [](const SolverInfo& of, const CheatOptions& options) { return std::make_unique<Cheat>(of, options); });
  row.content_hash = "cheat";
  row.foreign = ForeignCode::plugin;
  return add_solver(std::move(row)).ok();
}();

class ForeignCodes : public ::testing::Test {
 protected:
  CellRecord run(const std::string& mode, StopBy stop_by = StopBy::judge) {
    CellRequest request;
    request.stop_by = stop_by;
    request.solver = "CHEAT";
    request.options = {{"mode", mode}};
    request.seconds = 1.0;
    request.repeats = {5, 0.0, 5};
    return CellProcess(problem, {}).run(request).record;
  }
  /// The first of five runs that has the doubt; its time is honest in each. Where other processes took time from the
  /// fast repeats, the slow first run alone counts, and from the first run, it seems to have had the time outside.
  CellRecord run_doubted(const std::string& mode, const TimeDoubt& doubt) {
    CellRecord record = run(mode);
    const auto has_it = [&] { return std::ranges::find(record.doubts, doubt.code) != record.doubts.end(); };
    for (int again = 0; again < 4 && !has_it(); ++again) {
      EXPECT_GE(record.total.median, work_s) << mode;
      record = run(mode);
    }
    EXPECT_TRUE(has_it()) << mode;
    EXPECT_GE(record.total.median, work_s) << mode;
    return record;
  }
  const ContactProblem problem = testing::make_problem("box-stack", {{"boxes", 2L}});
};

TEST_F(ForeignCodes, ThatAreHonestAreNotDoubted) {
  ASSERT_TRUE(added);
  const CellRecord record = run("honest");
  EXPECT_TRUE(record.solved) << record.status << " " << record.reason;
  EXPECT_THAT(record.doubts, IsEmpty());
  EXPECT_GE(record.total.median, work_s);
}

TEST_F(ForeignCodes, ThatSendAnAnswerWithoutImpulseHaveCrashed) {
  const CellRecord record = run("empty_frame");
  EXPECT_EQ(record.status, CellStatus::crashed);
  EXPECT_FALSE(record.solved);
  EXPECT_FALSE(record.claimed);
  EXPECT_FALSE(record.verdict_value);
  EXPECT_EQ(record.total.median, 0.0);
}

TEST_F(ForeignCodes, ThatSendAFinishedAnswerHaveTheTimeOfAFreshProcess) {
  const CellRecord record = run("finished_frame");
  EXPECT_TRUE(record.solved) << "λ is right";
  EXPECT_THAT(record.doubts, Contains(wrong_clock.code));
  EXPECT_GE(record.total.median, work_s);
  EXPECT_GE(record.total.cold, work_s);
}

TEST_F(ForeignCodes, ThatWorkWhenAskedWhatTheySupportHaveThatTimed) {
  const CellRecord record = run("works_in_supports");
  EXPECT_TRUE(record.solved) << record.status << " " << record.reason;
  EXPECT_GE(record.setup.median, work_s);
  EXPECT_THAT(record.doubts, IsEmpty());
}

TEST_F(ForeignCodes, ThatKeepAnswersHaveTheTimeOfAFreshProcess) {
  for (const char* mode : {"keeps_by_g", "first_problem_only", "sleeps_in_release"}) {
    const CellRecord record = run_doubted(mode, kept_answers);
    EXPECT_TRUE(record.solved) << mode << record.status << " " << record.reason;
    EXPECT_GE(record.solve.median, work_s) << mode;
    ASSERT_EQ(record.timed_rounds.size(), 1U);
    EXPECT_GE(record.timed_rounds[0].minimum, work_s) << mode;
  }
}

TEST_F(ForeignCodes, ThatCountLessWhereTheyKeepAnswersAreFlakyWithTheTimeOfAFreshProcess) {
  const CellRecord record = run_doubted("keeps_and_counts_less", kept_answers);
  EXPECT_EQ(record.status, CellStatus::flaky);
  EXPECT_TRUE(record.solved);
}

TEST_F(ForeignCodes, ThatKeepHalfAnAnswerAreDoubtedWhereTheirCoreIsTheirsAlone) {
  CellRequest request;
  request.solver = "CHEAT";
  request.options = {{"mode", "keeps_half"}};
  request.repeats = {5, 0.0, 5};
  const auto doubts = [&] {
    return CellProcess(problem, {.pinned_processor = last_allowed_processor()}).run(request).record.doubts;
  };
  const auto is_doubted = [&] { return std::ranges::count(doubts(), kept_answers.code) > 0; };
  bool doubted = is_doubted();
  // Others may be at work next to it.
  for (int again = 0; again < 4 && !doubted; ++again) doubted = is_doubted();
  EXPECT_TRUE(doubted);
  request.repeats.min_probe_s = 1e-9;
  EXPECT_THAT(doubts(), IsEmpty()) << "no probe says that the core is its own";
}

TEST_F(ForeignCodes, LeaveTheOtherChildrenOfWhoAsksForASolveAlone) {
  CellRequest request;
  request.solver = "CHEAT";
  request.seconds = 1.0;
  request.repeats = {5, 0.0, 5};
  auto solving = std::async(std::launch::async, [&] { return solve_cell(problem, request); });
  EXPECT_EQ(solving.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout) << "five runs of 20 ms";
  const pid_t mine = fork_process({}, [] {
    for (;;) pause();
    return 0;
  });
  ASSERT_GT(mine, 0);
  const auto record = solving.get();
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_TRUE(record->solved) << record->status << " " << record->reason;
  EXPECT_EQ(waitpid(mine, nullptr, WNOHANG), 0) << "it has ended";
  kill(mine, SIGKILL);
  wait_for_end(mine);
}

TEST_F(ForeignCodes, ThatHangInReleaseAreKilledThere) {
  CellRequest request;
  request.solver = "CHEAT";
  request.options = {{"mode", "hangs_in_release"}};
  const CellRecord record = CellProcess(problem, {.time = CellTime(10.0, 0.3, 0.1)}).run(request).record;
  EXPECT_EQ(record.status, CellStatus::timeout);
  EXPECT_THAT(record.reason, ::testing::HasSubstr("in release"));
}

TEST_F(ForeignCodes, ThatTakeAnotherProblemsAnswerForThisOnesAreFlaky) {
  const CellRecord record = run("keeps_by_sizes");
  EXPECT_EQ(record.status, CellStatus::flaky) << record.reason;
  EXPECT_FALSE(record.solved) << "the worse answer is judged";
}

TEST_F(ForeignCodes, ThatKeepAnswersInFilesAreSlowAtFirstAndThenNotSeen) {
  const TemporaryFolder folder;
  kept_file = folder.path() / "answer";
  EXPECT_THAT(run("keeps_in_a_file").doubts, Contains(slow_first.code));
  EXPECT_THAT(run("keeps_in_a_file").doubts, IsEmpty()) << "docs/trust.md: not guarded";
}

TEST_F(ForeignCodes, PayForAllOfTheirChecksInEachRepeatByJudgeTimed) {
  const CellRecord record = run("counts_checks", StopBy::judge_timed);
  EXPECT_EQ(record.status, CellStatus::converged) << record.reason;
  EXPECT_EQ(record.iterations, 20);
  EXPECT_GE(record.repeats, 5);
}

TEST_F(ForeignCodes, ThatSlowTheirClockDownHaveTheTimeOfTheOneOutside) {
  if (!overwrite_clock_works()) GTEST_SKIP() << "the system keeps its code";
  const CellRecord record = run_doubted("slow_clock", wrong_clock);
  EXPECT_TRUE(record.solved) << record.status << " " << record.reason;
}

TEST_F(ForeignCodes, WhoseClockIsThreeTimesSlowerHaveTheTimeOfTheOneOutside) {
  if (!overwrite_clock_works()) GTEST_SKIP() << "the system keeps its code";
  const CellRecord record = run_doubted("three_times_slower_clock", wrong_clock);
  EXPECT_TRUE(record.solved) << record.status << " " << record.reason;
}

TEST_F(ForeignCodes, WhoAreLateByTheClockOutsideAreNotSolvedWhateverTheyClaim) {
  if (!overwrite_clock_works()) GTEST_SKIP() << "the system keeps its code";
  CellRequest request;
  request.solver = "CHEAT";
  request.options = {{"mode", "slightly_slower_clock"}};
  request.seconds = 0.85 * work_s;  // it claims 0.75
  const CellRecord record = CellProcess(problem, {}).run(request).record;
  EXPECT_EQ(record.status, CellStatus::time_limit);
  EXPECT_FALSE(record.solved);
  EXPECT_GT(record.total.cold, request.seconds);
}

TEST_F(ForeignCodes, ThatClaimAMedianBelowTheirMinimumHaveCrashed) {
  const CellRecord record = run("splits_times");
  EXPECT_EQ(record.status, CellStatus::crashed);
  EXPECT_FALSE(record.solved);
  EXPECT_EQ(record.total.median, 0.0);
}

TEST_F(ForeignCodes, WhatJoinsTheGroupOfTheirParentEndsWithTheCell) {
  const TemporaryFolder folder;
  kept_file = folder.path() / "started";
  EXPECT_TRUE(run("joins_its_parents").solved);
  std::ifstream started(kept_file);
  int count = 0;
  for (pid_t child = 0, joined = 0; started >> child >> joined; ++count) {
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(kill(child, 0), -1) << "process " << child << " goes on";
  }
  EXPECT_GE(count, 2) << "in the cell's process, and in one that confirms its time";
}

TEST_F(ForeignCodes, ThatChangeThePriorityAndLimitsOfTheirParentDoNotChangeTheNextCells) {
  // As in a worker, in a process of its own.
  const pid_t worker = fork_process({}, [this] {
    CellProcess process(problem, {});
    rlimit before{}, after{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int priority = getpriority(PRIO_PROCESS, 0), policy = sched_getscheduler(0);
    CellRequest request;
    request.solver = "CHEAT";
    request.repeats = {1, 0.0, 1};
    request.options = {{"mode", "changes_its_parent"}};
    process.run(request);
    request.options = {};
    process.run(request);
    getrlimit(RLIMIT_NOFILE, &after);
    if (after.rlim_cur != before.rlim_cur) return 2;
    if (sched_getscheduler(0) != policy) return 3;
    return getpriority(PRIO_PROCESS, 0) == priority || geteuid() != 0 ? 0 : 4;  // others may not raise it again
  });
  const int status = wait_for_end(worker);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ending_text(status);
}

CellClaims plausible(std::size_t rows) {
  CellClaims claims;
  claims.status = CellStatus::converged;
  claims.repeats = 1;
  claims.reaction.assign(rows, 0.0);
  return claims;
}

TEST(Claims, ThatCannotBeAreRefused) {
  const CellRequest request;
  EXPECT_TRUE(run_of(plausible(3), request, 3));
  const auto refused = [&](auto change) {
    CellClaims claims = plausible(3);
    change(claims);
    return !run_of(claims, request, 3);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused([](CellClaims& c) { c.reaction.clear(); }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.reaction.push_back(0.0); }));
  EXPECT_TRUE(refused([&](CellClaims& c) { c.total.median = nan; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.solve.minimum = -1.0; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.iterations = -5; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.repeats = -1; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.checks = -1; }));
  EXPECT_TRUE(refused([&](CellClaims& c) { c.cpu_share = nan; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.repeats = 0; }));
  EXPECT_TRUE(refused([](CellClaims& c) { c.own_solve_s = 1.0; })) << "more than that of the process";
  EXPECT_TRUE(refused([](CellClaims& c) { c.solve = c.total = {1.0, 2.0, 2.0, 0.0}; })) << "one run has one time";
  for (const CellStatus status : {CellStatus::unknown, CellStatus::timeout, CellStatus::skipped,
                                  CellStatus::bad_problem, static_cast<CellStatus>(200)}) {
    EXPECT_TRUE(refused([&](CellClaims& c) { c.status = status; })) << status;
  }
}

TEST(Claims, OfTimesThatNoRunsHaveAreRefused) {
  const auto taken = [](auto change) {
    CellClaims claims = plausible(3);
    claims.repeats = 5;
    claims.setup = {2.0, 1.0, 1.5, 0.0};
    claims.solve = {3.0, 2.0, 2.5, 0.0};
    claims.total = {5.0, 3.0, 4.0, 0.0};
    change(claims);
    return run_of(claims, CellRequest{}, 3).has_value();
  };
  EXPECT_TRUE(taken([](CellClaims&) {}));
  EXPECT_FALSE(taken([](CellClaims& c) { c.total.median = 2.9; })) << "below the minimum";
  EXPECT_FALSE(taken([](CellClaims& c) { c.solve.median = 1.9; })) << "below the minimum";
  EXPECT_FALSE(taken([](CellClaims& c) { c.total.cold = 4.9; })) << "no sum";
  EXPECT_FALSE(taken([](CellClaims& c) { c.total.minimum = 2.9; })) << "below the sum of the minima";
  EXPECT_FALSE(taken([](CellClaims& c) { c.total.median = 3.4; })) << "below a median and a minimum";
  EXPECT_FALSE(taken([](CellClaims& c) { c.total = {5.0, 5.5, 6.0, 0.0}; })) << "the parts do not make it up";
}

TEST(Claims, OfTheTimesOfAnyRunsAreTaken) {
  std::mt19937 random(1);
  std::exponential_distribution<double> seconds(1e3);
  for (int set = 0; set < 2000; ++set) {
    RunTimes times;
    for (auto left = 1 + random() % 6; left > 0; --left) {
      times.add({.setup_s = seconds(random), .solve_s = seconds(random), .had_processor = random() % 3 != 0});
    }
    CellClaims claims = plausible(3);
    claims.repeats = static_cast<int>(times.size());
    claims.setup = times.setup();
    claims.solve = times.solve();
    claims.total = times.total();
    ASSERT_TRUE(run_of(claims, CellRequest{}, 3)) << set;
  }
}

TEST(Claims, HoldNothingOfTheRequestAndNoJudgement) {
  CellRequest request;
  request.tolerance = 1e-7;
  CellClaims claims = plausible(3);
  claims.rounds = 7;
  claims.doubts = {"invented"};
  claims.timed_rounds.resize(3);
  const auto run = run_of(claims, request, 3);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->record.tolerance, 1e-7);
  EXPECT_FALSE(run->record.solved);
  EXPECT_FALSE(run->record.verdict_value);
  EXPECT_TRUE(run->record.residuals.empty());
  EXPECT_EQ(run->record.rounds, 1);
  EXPECT_TRUE(run->record.doubts.empty());
  EXPECT_EQ(run->record.timed_rounds.size(), 1U);
}

}  // namespace
}  // namespace conebench
