#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/paths.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path source_root = CONEBENCH_SOURCE_DIR;

/// From the ground up. A folder includes none that stands after it.
const std::vector<std::string> floors = {"base",         "problems",        "fclib_loader",
                                         "metrics",      "solvers",         "solvers/batch",
                                         "scenes",       "store",           "runners/programs",
                                         "runners/plan", "runners/execute", "simulation",
                                         "reports",      "papers",          "cli",
                                         "python"};

/// Which folders' headers a folder may include, beside its own.
const std::map<std::string, std::set<std::string>> allowed_folders = {
    {"base", {}},
    {"problems", {"base"}},
    {"scenes", {"base", "problems"}},
    {"fclib_loader", {"base", "problems"}},
    {"metrics", {"base", "problems"}},
    {"solvers", {"base", "problems"}},
    {"solvers/batch", {"base", "problems", "metrics", "solvers"}},
    {"store", {"base", "problems", "metrics"}},
    {"runners/programs", {"base", "problems", "fclib_loader", "solvers"}},
    {"runners/plan", {"base", "problems", "scenes", "fclib_loader", "metrics", "solvers", "runners/programs", "store"}},
    {"runners/execute",
     {"base", "problems", "fclib_loader", "metrics", "solvers", "runners/programs", "store", "runners/plan"}},
    {"simulation",
     {"base", "problems", "scenes", "fclib_loader", "metrics", "solvers", "runners/programs", "runners/plan"}},
    {"cli",
     {"base", "problems", "scenes", "fclib_loader", "metrics", "solvers", "store", "runners/plan", "runners/execute",
      "simulation", "reports", "papers"}},
    {"reports", {"base", "problems", "store", "metrics"}},
    {"papers", {"base", "problems", "store", "metrics", "runners/plan", "reports"}},
    {"python",
     {"base", "problems", "fclib_loader", "metrics", "solvers", "solvers/batch", "store", "runners/plan",
      "runners/execute", "simulation", "cli", "reports"}},
};

/// Libraries that only one folder may include.
const std::vector<std::pair<std::regex, std::string>> owned_libraries = {
    {std::regex("^(hdf5|H5[A-Za-z]*|hdf5_hl)\\.h$"), "fclib_loader"},
    {std::regex("^sqlite3\\.h$"), "store"},
    {std::regex("^pybind11/.*"), "python"},
    {std::regex("^mujoco/.*"), "simulation"},
};

struct Include {
  fs::path file;
  std::string folder;  ///< of the including file
  std::string target;
  bool quoted = false;
};

/// The deepest folder of the table that the path is in.
std::string folder_of(const std::string& path) {
  std::string found;
  for (const auto& [folder, unused] : allowed_folders) {
    if (path.starts_with(folder + "/") && folder.size() > found.size()) found = folder;
  }
  return found;
}

std::vector<Include> all_includes() {
  const std::regex line_pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const auto& [folder, unused] : allowed_folders) {
    if (!fs::exists(source_root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp") continue;
      if (folder_of(fs::relative(entry.path(), source_root).string()) != folder) continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, line_pattern)) continue;
        includes.push_back({fs::relative(entry.path(), source_root), folder, match[2], match[1] == "\""});
      }
    }
  }
  return includes;
}

TEST(Layers, FoldersIncludeOnlyWhatTheDesignAllows) {
  const auto includes = all_includes();
  ASSERT_GT(includes.size(), 100U);
  for (const auto& include : includes) {
    if (!include.quoted) continue;
    const std::string target = folder_of(include.target);
    if (!allowed_folders.contains(target) || target == include.folder) continue;
    EXPECT_TRUE(allowed_folders.at(include.folder).contains(target))
        << include.file << " includes " << include.target << ", but " << include.folder << " must not know " << target;
  }
}

TEST(Layers, NoFolderIncludesOneThatStandsAfterIt) {
  const auto floor_of = [](const std::string& folder) { return std::find(floors.begin(), floors.end(), folder); };
  ASSERT_EQ(floors.size(), allowed_folders.size());
  for (const auto& [folder, allowed] : allowed_folders) {
    ASSERT_NE(floor_of(folder), floors.end()) << folder;
    for (const std::string& other : allowed) EXPECT_LT(floor_of(other), floor_of(folder)) << folder << ", " << other;
  }
}

TEST(Layers, ThePictureOfTheFloorsIsTheirOrder) {
  std::ifstream text(source_root / "docs/architecture.md");
  std::vector<std::string> pictured;
  bool picture = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      picture = line == "```text";
    } else if (picture) {
      pictured.push_back(line.substr(0, line.find(' ')));
    }
  }
  std::reverse(pictured.begin(), pictured.end());
  EXPECT_EQ(pictured, floors);
}

TEST(Layers, OneFileForks) {
  const std::regex call(R"(\b(v?fork|posix_spawnp?) *\()");
  const std::set<std::string> may = {"base/child_process.cpp"};
  for (const auto& [folder, unused] : allowed_folders) {
    for (const auto& entry : fs::recursive_directory_iterator(source_root / folder)) {
      const std::string file = fs::relative(entry.path(), source_root).string();
      const auto extension = entry.path().extension();
      if ((extension != ".hpp" && extension != ".cpp") || may.contains(file)) continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        const auto at = std::min(line.find("fork"), line.find("posix_spawn"));
        if (at == std::string::npos || line.find("//") < at) continue;
        EXPECT_FALSE(std::regex_search(line, call)) << file << ": use fork_process for" << line;
      }
    }
  }
}

TEST(Layers, HeavyLibrariesStayInTheirFolder) {
  for (const auto& include : all_includes()) {
    for (const auto& [pattern, owner] : owned_libraries) {
      if (!std::regex_match(include.target, pattern)) continue;
      EXPECT_EQ(include.folder, owner) << include.file << " includes " << include.target;
    }
  }
}

TEST(Layers, OnlyTheConesFolderDistinguishesContactsByTheirRows) {
  const std::regex branch(R"(dimension(_|\(\))? *[=!]= *[235]\b)");
  int files = 0;
  for (const auto& [folder, unused] : allowed_folders) {
    if (!fs::exists(source_root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root / folder)) {
      const std::string file = fs::relative(entry.path(), source_root).string();
      const auto extension = entry.path().extension();
      if ((extension != ".hpp" && extension != ".cpp") || folder_of(file) != folder) continue;
      if (folder == "fclib_loader" || file.starts_with("problems/cones/")) continue;
      ++files;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        EXPECT_FALSE(std::regex_search(line, branch)) << file << ": use problems/cones for" << line;
      }
    }
  }
  EXPECT_GT(files, 100);
}

}  // namespace
