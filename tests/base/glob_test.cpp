#include "base/glob.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;

TEST(Wildcards, MatchWholeNames) {
  EXPECT_TRUE(matches_wildcards("*.hdf5", "a.hdf5"));
  EXPECT_FALSE(matches_wildcards("*.hdf5", "a.hdf5.bak"));
  EXPECT_TRUE(matches_wildcards("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches_wildcards("*a*b", "ba"));
  EXPECT_TRUE(matches_wildcards("?[0-9][!x]", "a7y"));
  EXPECT_FALSE(matches_wildcards("?[0-9][!x]", "a7x"));
  EXPECT_TRUE(matches_wildcards("a[b", "a[b"));
  EXPECT_FALSE(matches_wildcards("*", ".hidden"));
  EXPECT_TRUE(matches_wildcards("", ""));
  EXPECT_FALSE(matches_wildcards("", "a"));
}

class Glob : public ::testing::Test {
 protected:
  Glob() {
    for (const char* const file : {"b.hdf5", "a.hdf5", "a.txt", "one/c.hdf5", "one/two/d.hdf5", ".git/e.hdf5"}) {
      fs::create_directories((base / file).parent_path());
      std::ofstream(base / file) << "x";
    }
    fs::create_directory_symlink(base, base / "one" / "loop");
  }
  std::vector<std::string> files(const std::string& pattern) const {
    std::vector<std::string> names;
    const auto found = glob_files(base, pattern);
    EXPECT_TRUE(found) << found.error().message;
    for (const auto& file : *found) names.push_back(file.generic_string());
    return names;
  }
  const TemporaryFolder temporary;
  const fs::path base = temporary.path();
};

TEST_F(Glob, FindsFilesSorted) {
  EXPECT_EQ(files("*.hdf5"), (std::vector<std::string>{"a.hdf5", "b.hdf5"}));
  EXPECT_EQ(files("*/*.hdf5"), (std::vector<std::string>{"one/c.hdf5"}));
  EXPECT_EQ(files("one/two/d.hdf5"), (std::vector<std::string>{"one/two/d.hdf5"}));
  EXPECT_TRUE(files("nothing/*.hdf5").empty());
  EXPECT_TRUE(files("one").empty());
}

TEST_F(Glob, TwoStarsGoDownAnyNumberOfFoldersAndIntoNoLoop) {
  EXPECT_EQ(files("**/*.hdf5"), (std::vector<std::string>{"a.hdf5", "b.hdf5", "one/c.hdf5", "one/two/d.hdf5"}));
  EXPECT_EQ(files("one/**/d.hdf5"), (std::vector<std::string>{"one/two/d.hdf5"}));
}

TEST_F(Glob, ManyStarsVisitEachFolderOnce) {
  fs::path folder = base / "one";
  for (int depth = 0; depth < 20; ++depth) folder /= "deep";
  fs::create_directories(folder);
  std::ofstream(folder / "f.hdf5") << "x";
  std::string pattern;
  for (int stars = 0; stars < 30; ++stars) pattern += "**/";
  // In 20 folders, 30 times ** can mean 4e13 ways.
  EXPECT_EQ(files(pattern + "f.hdf5").size(), 1U);
}

TEST_F(Glob, StarsInARowLookAtEachFileOnce) {
  // 60 times as many would be more than the limit.
  fs::create_directory(base / "many");
  for (int k = 0; k < 17'000; ++k) std::ofstream(base / "many" / (std::to_string(k) + ".hdf5"));
  std::string pattern;
  for (int stars = 0; stars < 60; ++stars) pattern += "**/";
  EXPECT_EQ(files(pattern + "16999.hdf5").size(), 1U);
  EXPECT_EQ(files(pattern + "**"), files("**"));
}

TEST_F(Glob, FoldersMoreThan64DeepAreRefused) {
  fs::path folder = base / "one";
  for (int depth = 0; depth < 70; ++depth) folder /= "deep";
  fs::create_directories(folder);
  const auto found = glob_files(base, "**/*.hdf5");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_NE(found.error().message.find("64"), std::string::npos) << found.error().message;
}

TEST_F(Glob, PatternsThatNobodyWritesAreRefused) {
  EXPECT_FALSE(glob_files(base, std::string(5000, '*')));
  std::string folders;
  for (int k = 0; k < 100; ++k) folders += "*/";
  EXPECT_FALSE(glob_files(base, folders + "x"));
}

TEST_F(Glob, AnAbsolutePatternIgnoresTheBase) {
  EXPECT_EQ(*glob_files("/nowhere", (base / "a.*5").string()), std::vector<fs::path>{base / "a.hdf5"});
}

}  // namespace
}  // namespace conebench
