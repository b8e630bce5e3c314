// write_synthetic_report small|LARGE_PROBLEMS OUT: a report of a synthetic store, for the tests that need files.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "reports/report.hpp"
#include "tests/reports/synthetic_store.hpp"

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::string what = words[1];
  const auto store = what == "small" ? conebench::testing::small_store()
                                     : conebench::testing::large_store(std::strtoul(words[1], nullptr, 10), 12);
  const auto written = conebench::write_report(store, words[2], {});
  if (!written.ok()) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 3;
  }
  std::fputs(conebench::terminal_ranking(store, true).c_str(), stdout);
  return 0;
}
