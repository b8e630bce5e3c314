#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/paths.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path source_root = CONEBENCH_SOURCE_DIR;

const std::vector<std::string> libraries = {"base",    "problems", "scenes",     "fclib_loader", "metrics",
                                            "solvers", "runners",  "simulation", "store",        "reports",
                                            "papers",  "cli",      "python"};

std::string contents(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  std::vector<std::string> folders = {"docs", "suites", "tests", "benchmarks", "examples"};
  folders.insert(folders.end(), libraries.begin(), libraries.end());
  for (const std::string& folder : folders) {
    for (auto entry = fs::recursive_directory_iterator(source_root / folder);
         entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      const bool snapshot = entry->path().parent_path().filename() == "snapshots";
      if (entry->path().extension() == ".md" && !snapshot) found.push_back(entry->path());
    }
  }
  for (const char* file : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}) found.push_back(source_root / file);
  return found;
}

/// Cells of a row as GitHub counts them: bars that are not escaped, also within code.
long cells(const std::string& row) {
  long bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i) bars += row[i] == '|' && (i == 0 || row[i - 1] != '\\') ? 1 : 0;
  return bars - 1;
}

struct Line {
  long number = 0;
  std::string text;
};

/// Lines outside of fenced code.
std::vector<Line> prose(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<Line> lines;
  bool code = false;
  long number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    const auto first = text.find_first_not_of(' ');
    text.erase(0, std::min(first, text.size()));
    if (text.starts_with("```")) code = !code;
    if (code) text.clear();
    lines.push_back({number, text});
  }
  return lines;
}

TEST(Documents, EveryRowOfATableHasItsHeadingsColumns) {
  long tables = 0;
  for (const fs::path& file : documents()) {
    const auto lines = prose(file);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      const bool begins = lines[i].text.starts_with("|") && (i == 0 || !lines[i - 1].text.starts_with("|"));
      if (!begins) continue;
      ++tables;
      EXPECT_TRUE(lines[i + 1].text.starts_with("| -"))
          << file << ":" << lines[i].number << ": no line under the headings";
      for (std::size_t j = i; j < lines.size() && lines[j].text.starts_with("|"); ++j) {
        EXPECT_EQ(cells(lines[j].text), cells(lines[i].text))
            << file << ":" << lines[j].number << ": " << lines[j].text;
      }
    }
  }
  EXPECT_GT(tables, 50);
}

TEST(Documents, EveryRelativeLinkLeadsSomewhere) {
  const std::regex link(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  long links = 0;
  for (const fs::path& file : documents()) {
    for (const Line& line : prose(file)) {
      for (std::sregex_iterator it(line.text.begin(), line.text.end(), link); it != std::sregex_iterator(); ++it) {
        ++links;
        EXPECT_TRUE(fs::exists(file.parent_path() / (*it)[1].str())) << file << ":" << line.number << ": " << (*it)[1];
      }
    }
  }
  EXPECT_GT(links, 50);
}

/// Names of all tests in the tree.
std::set<std::string> test_names() {
  const std::regex pattern(R"(TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\))");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(source_root / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (auto found = std::sregex_iterator(text.begin(), text.end(), pattern); found != std::sregex_iterator();
         ++found) {
      names.insert((*found)[1]);
    }
  }
  return names;
}

TEST(Documents, EveryMisprintNamesATestOfTheTree) {
  const std::set<std::string> known = test_names();
  const std::regex quoted("`([A-Z][A-Za-z0-9]+)`");
  long rows = 0;
  for (const auto& [number, text] : prose(source_root / "docs/errata.md")) {
    if (!text.starts_with("|") || text.starts_with("| ---") || text.starts_with("| where")) continue;
    ++rows;
    bool tested = false;
    for (auto found = std::sregex_iterator(text.begin(), text.end(), quoted); found != std::sregex_iterator();
         ++found) {
      tested = tested || known.contains((*found)[1]);
    }
    EXPECT_TRUE(tested) << "docs/errata.md:" << number << " names no test that is there";
  }
  EXPECT_GT(rows, 30);
}

TEST(Documents, EveryTestThatTheThreatModelNamesIsInTheTree) {
  const std::set<std::string> known = test_names();
  const std::regex quoted("`([A-Z][A-Za-z0-9]{12,})`");
  long named = 0;
  for (const auto& [number, text] : prose(source_root / "docs/trust.md")) {
    for (auto found = std::sregex_iterator(text.begin(), text.end(), quoted); found != std::sregex_iterator();
         ++found, ++named) {
      EXPECT_TRUE(known.contains((*found)[1])) << "docs/trust.md:" << number << ": " << (*found)[1];
    }
  }
  EXPECT_GT(named, 10);
}

bool is_source(const fs::path& file) { return file.extension() == ".cpp" || file.extension() == ".hpp"; }

/// Those of the libraries that have sources.
std::set<fs::path> source_folders() {
  std::set<fs::path> folders;
  for (const std::string& library : libraries) {
    for (const auto& entry : fs::recursive_directory_iterator(source_root / library)) {
      if (is_source(entry.path())) folders.insert(entry.path().parent_path());
    }
  }
  return folders;
}

TEST(Documents, EveryFolderOfTheLibrariesHasAReadmeOfOneScreen) {
  constexpr std::size_t screen = 60;
  const std::set<fs::path> folders = source_folders();
  EXPECT_GT(folders.size(), 30U);
  for (const fs::path& folder : folders) {
    ASSERT_TRUE(fs::exists(folder / "README.md")) << folder;
    EXPECT_LE(prose(folder / "README.md").size(), screen) << folder;
  }
}

TEST(Documents, AReadmeNamesEverySourceOfItsFolderAndNoneThatIsNotThere) {
  const std::regex word(R"(\w+)");
  const std::regex quoted("`([a-z0-9_./]+\\.[ch]pp)`");
  for (const fs::path& folder : source_folders()) {
    const std::string text = contents(folder / "README.md");
    std::set<std::string> words;
    for (auto found = std::sregex_iterator(text.begin(), text.end(), word); found != std::sregex_iterator(); ++found) {
      words.insert(found->str());
    }
    const bool commands = text.find("`*_command.cpp`") != std::string::npos;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string stem = entry.path().stem().string();
      if (!is_source(entry.path()) || (commands && stem.ends_with("_command"))) continue;
      EXPECT_TRUE(words.contains(stem)) << folder << ": README.md does not name " << entry.path().filename();
    }
    for (auto found = std::sregex_iterator(text.begin(), text.end(), quoted); found != std::sregex_iterator();
         ++found) {
      const fs::path name = (*found)[1].str();
      EXPECT_TRUE(fs::exists(folder / name) || fs::exists(folder.parent_path() / name) ||
                  fs::exists(source_root / name))
          << folder << ": README.md names " << name;
    }
  }
}

TEST(Documents, TheTasksOfContributingNameFilesOfTheTree) {
  const std::regex quoted(R"(`([\w.-]+(?:/[\w.-]+)+)`)");
  long tasks = 0;
  bool there = false;
  for (const auto& [number, text] : prose(source_root / "CONTRIBUTING.md")) {
    if (text.starts_with("## ")) there = text == "## Where to begin";
    if (!there || !text.starts_with("|") || text.starts_with("| to …") || text.starts_with("| -")) continue;
    ++tasks;
    long files = 0;
    for (auto found = std::sregex_iterator(text.begin(), text.end(), quoted); found != std::sregex_iterator();
         ++found, ++files) {
      EXPECT_TRUE(fs::exists(source_root / (*found)[1].str())) << "CONTRIBUTING.md:" << number << ": " << (*found)[1];
    }
    EXPECT_GT(files, 2) << "CONTRIBUTING.md:" << number;
  }
  EXPECT_GE(tasks, 10);
}

TEST(Documents, ContributingNamesTheSchemaThatStoresHave) {
  const std::string header = contents(source_root / "store/schema.hpp");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(header, found, std::regex(R"(schema_version = (\d+);)")));
  const std::string sentence = "writes schema " + found[1].str() + ",";
  EXPECT_NE(contents(source_root / "CONTRIBUTING.md").find(sentence), std::string::npos) << sentence;
}

}  // namespace
