#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "tests/cli/conebench_process.hpp"
#include "tests/support/paths.hpp"

namespace conebench::testing {
namespace {

std::string document(const std::string& name) { return text_of(CONEBENCH_SOURCE_DIR "/docs/" + name); }

TEST(GeneratedDocs, AreWhatTheExecutablePrints) {
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"solvers", "options.md"},   {"scenes", "scenes.md"}, {"commands", "command_line.md"}, {"tables", "papers.md"},
      {"metrics", "residuals.md"}, {"fields", "fields.md"}, {"sets", "supported_sets.md"}};
  for (const auto& [topic, name] : documents) {
    EXPECT_EQ(conebench({"list", topic, "--markdown"}).out, document(name))
        << "docs/" << name << " is out of date: run scripts/update_docs.sh";
  }
}

TEST(SolverPages, TellOfEverySolverAndOfASmallestFailure) {
  std::vector<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(CONEBENCH_SOURCE_DIR "/docs/solvers")) {
    pages.push_back(document("solvers/" + entry.path().filename().string()));
  }
  const auto solvers = conebench({"list", "solvers", "--json"}).json()["solvers"];
  ASSERT_FALSE(solvers.empty());
  for (const auto& solver : solvers) {
    const std::string id = solver["id"];
    const std::regex word("(^|[^A-Z0-9-])" + id + "($|[^A-Z0-9-])");
    EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const std::string& page) {
      return std::regex_search(page, word) && page.find("mallest") != std::string::npos;
    })) << id;
  }
}

}  // namespace
}  // namespace conebench::testing
