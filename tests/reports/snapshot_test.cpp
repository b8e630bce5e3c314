#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "reports/report.hpp"
#include "tests/reports/synthetic_store.hpp"
#include "tests/support/paths.hpp"

/// Each text format of a fixed store against a file in snapshots/. After an intended change run the test with
/// CONEBENCH_UPDATE_SNAPSHOTS=1, read the difference, and commit it.
namespace conebench {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Numbers with all their digits in twelve: the last ones depend on the processor the build is for.
std::string in_twelve_digits(const std::string& text) {
  static const std::regex number(R"([0-9]+\.[0-9]{12,}(e[-+]?[0-9]+)?)");
  std::string result;
  auto last = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    result.append(last, text.cbegin() + it->position());
    std::ostringstream rounded;
    rounded.precision(12);
    rounded << std::stod(it->str());
    result += rounded.str();
    last = text.cbegin() + it->position() + it->length();
  }
  return result.append(last, text.cend());
}

void expect_snapshot(const std::string& name, const std::string& content) {
  const fs::path file = fs::path(CONEBENCH_SOURCE_DIR) / "tests/reports/snapshots" / name;
  if (std::getenv("CONEBENCH_UPDATE_SNAPSHOTS") != nullptr) {
    std::ofstream(file, std::ios::binary) << content;
    return;
  }
  ASSERT_TRUE(fs::exists(file)) << file;
  EXPECT_EQ(in_twelve_digits(content), in_twelve_digits(read(file))) << name;
}

std::string rendered(const StoreContents& store, ReportFormat format, const std::string& name) {
  ReportOptions options;
  options.formats = {format};
  for (const auto& file : render_report(store, options)) {
    if (file.path == name) return file.content;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

/// Two problems, one tolerance: enough for the layout of the long formats.
StoreContents tiny_store() {
  StoreContents store = testing::small_store();
  std::erase_if(store.cells, [](const CellRecord& cell) {
    const bool wanted = cell.problem == "p-stack-2" || cell.problem.starts_with("p-</script>");
    return !wanted || cell.tolerance < 1e-5;
  });
  std::erase_if(store.problems, [](const ProblemRecord& problem) { return !problem.error.empty(); });
  return store;
}

TEST(Snapshots, TerminalRanking) { expect_snapshot("ranking.txt", terminal_ranking(testing::small_store(), false)); }

TEST(Snapshots, TerminalRankingOfAThroughputRun) {
  StoreContents store = testing::small_store();
  store.runs[0].mode = "throughput";
  expect_snapshot("ranking_throughput.txt", terminal_ranking(store, false));
}

TEST(Snapshots, Markdown) {
  expect_snapshot("report.md", rendered(testing::small_store(), ReportFormat::md, "report.md"));
}

TEST(Snapshots, Latex) {
  for (const std::string name : {"report.tex", "numbers.tex", "ranking-1e-4.tex", "times-1e-4.tex",
                                 "performance-1e-4.tex", "data-profile-1e-4.gp"}) {
    expect_snapshot(name, rendered(testing::small_store(), ReportFormat::latex, "latex/" + name));
  }
}

TEST(Snapshots, Csv) {
  for (const std::string name : {"ranking.csv", "problems.csv", "statuses.csv", "pairs.csv"}) {
    expect_snapshot(name, rendered(testing::small_store(), ReportFormat::csv, name));
  }
  for (const std::string name : {"cells.csv", "performance_profiles.csv", "data_profiles.csv", "pair_profiles.csv"}) {
    expect_snapshot(name, rendered(tiny_store(), ReportFormat::csv, name));
  }
}

TEST(Snapshots, Json) {
  const auto report = nlohmann::ordered_json::parse(rendered(tiny_store(), ReportFormat::json, "report.json"));
  expect_snapshot("report.json", report.dump(1) + "\n");
}

}  // namespace
}  // namespace conebench
