#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "reports/report.hpp"
#include "store/suite_scope.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench {
namespace {

/// Peak memory in KiB of a child process that does `work`; -1 where it fails.
template <class Work>
long peak_kb(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? usage.ru_maxrss : -1;
}

class ReportMemory : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "skipped: memory counts otherwise under a sanitizer";
#endif
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("conebench-memory-" + std::to_string(getpid()));
};

TEST_F(ReportMemory, WritingEveryFormatTakesLessThanOneKilobyteACell) {
  const StoreContents store = testing::large_store(1500, 10);
  const auto cells = static_cast<long>(store.cells.size());
  ASSERT_GT(cells, 40000);
  const long before = peak_kb([] { return true; });
  const long after = peak_kb([&] { return write_report(store, folder, {}).ok(); });
  ASSERT_GT(before, 0);
  ASSERT_GT(after, 0);
  EXPECT_LT(after - before, cells) << "KiB for " << cells << " cells";
}

TEST_F(ReportMemory, ACellAsRealStoresHaveItTakesLessThan2300BytesFromReadingToTheLastFile) {
  constexpr std::size_t kept_traces = 2000;  // of a suite that states no other number
  const auto peak_of = [&](std::size_t problems) {
    return peak_kb([&] {
      const auto store = present_contents(testing::as_stored(testing::large_store(problems, 10, 1, kept_traces)));
      return write_report(store, folder, {}).ok();
    });
  };
  const long few = peak_of(500), many = peak_of(1500);
  ASSERT_GT(few, 0);
  ASSERT_GT(many, few);
  // What a cell takes does not depend on the page's and the program's own size.
  const double bytes_a_cell = 1024.0 * static_cast<double>(many - few) / (3.0 * 10.0 * (1500 - 500));
  EXPECT_LT(bytes_a_cell, 2300.0);
}

}  // namespace
}  // namespace conebench
