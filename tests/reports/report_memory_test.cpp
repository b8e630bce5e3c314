#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "reports/report.hpp"
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

TEST(ReportMemory, WritingEveryFormatTakesLessThanOneKilobyteACell) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "skipped: memory counts otherwise under a sanitizer";
#endif
  const StoreContents store = testing::large_store(1500, 10);
  const auto cells = static_cast<long>(store.cells.size());
  ASSERT_GT(cells, 40000);
  const auto folder = std::filesystem::temp_directory_path() / ("conebench-memory-" + std::to_string(getpid()));
  const long before = peak_kb([] { return true; });
  const long after = peak_kb([&] { return write_report(store, folder, {}).ok(); });
  std::filesystem::remove_all(folder);
  ASSERT_GT(before, 0);
  ASSERT_GT(after, 0);
  EXPECT_LT(after - before, cells) << "KiB for " << cells << " cells";
}

}  // namespace
}  // namespace conebench
