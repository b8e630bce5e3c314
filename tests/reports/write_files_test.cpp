#include "reports/write_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "reports/report.hpp"
#include "tests/reports/synthetic_store.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// While it lives, files can't grow beyond `bytes`: writing fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit small = limit_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_{};
  void (*handler_)(int);
};

class WriteFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "conebench-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename().string());
    return all;
  }

  fs::path folder_;
};

TEST_F(WriteFiles, WhereOneCannotBeWrittenNoneIsReplaced) {
  ASSERT_TRUE(write_files(folder_, {{"a.txt", "old a"}, {"b.txt", "old b"}}).ok());
  const FullDisk full(1000);
  const auto written = write_files(folder_, {{"a.txt", "new a"}, {"b.txt", std::string(2000, 'b')}});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::bad_input);
  EXPECT_THAT(written.error().message, AllOf(HasSubstr("b.txt: cannot be written: "), HasSubstr("File too large")));
  EXPECT_EQ(read("a.txt"), "old a");
  EXPECT_EQ(read("b.txt"), "old b");
  EXPECT_THAT(names(), UnorderedElementsAre("a.txt", "b.txt")) << "nothing lies about";
}

TEST_F(WriteFiles, AFolderInThePlaceOfAFileIsFoundBeforeAnythingIsReplaced) {
  ASSERT_TRUE(write_files(folder_, {{"a.txt", "old a"}}).ok());
  fs::create_directory(folder_ / "b.txt");
  ASSERT_FALSE(write_files(folder_, {{"a.txt", "new a"}, {"b.txt", "b"}}).ok());
  EXPECT_EQ(read("a.txt"), "old a");
}

TEST_F(WriteFiles, MakesTheFolderReplacesFilesAndLeavesOthers) {
  const fs::path inner = folder_ / "new" / "folder";
  ASSERT_TRUE(write_files(inner, {{"a.txt", "1"}, {"keep.txt", "2"}}).ok());
  ASSERT_TRUE(write_files(inner, {{"a.txt", "3"}}).ok());
  EXPECT_EQ(read("new/folder/a.txt"), "3");
  EXPECT_EQ(read("new/folder/keep.txt"), "2");
  const auto refused = write_files(inner / "a.txt", {{"b.txt", "4"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("cannot be made"));
}

TEST_F(WriteFiles, ADeviceIsWrittenToAndNotReplaced) {
  EXPECT_TRUE(write_files({}, {{"/dev/null", "text"}}).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFiles, AFullDiskKeepsTheEarlierReport) {
  ReportOptions options;
  options.formats = {ReportFormat::csv, ReportFormat::html};
  StoreContents store = testing::small_store();
  ASSERT_TRUE(write_report(store, folder_, options).ok());
  const std::string page = read("index.html"), cells = read("cells.csv");
  const auto before = names();
  store.cells.front().iterations += 1000;
  const FullDisk full(page.size() / 2);
  const auto written = write_report(store, folder_, options);
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, AllOf(HasSubstr("index.html: cannot be written"),
                                             HasSubstr("nothing was "
                                                       "replaced; free space or give another folder with --out")));
  EXPECT_EQ(read("index.html"), page);
  EXPECT_EQ(read("cells.csv"), cells) << "the files of one report belong together";
  EXPECT_THAT(names(), ::testing::UnorderedElementsAreArray(before));
}

}  // namespace
}  // namespace conebench
