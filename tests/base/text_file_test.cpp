#include "base/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temporary_folder.hpp"
#include "base/unfinished.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;

class TextFile : public ::testing::Test {
 protected:
  std::string error_of(const fs::path& file) const {
    const auto text = read_text_file(file, 1000);
    if (text) return "no error";
    EXPECT_EQ(text.error().code, ErrorCode::bad_input);
    return text.error().message;
  }
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
};

TEST_F(TextFile, IsWrittenWholeOrNotAtAll) {
  const std::string bytes("a\0\xFF\n", 4);
  std::ofstream(folder / "f") << "before";
  std::ofstream(unfinished_path(folder / "f")) << "left by a killed process of the same number";
  ASSERT_TRUE(write_text_file(folder / "f", bytes));
  EXPECT_EQ(*read_text_file(folder / "f", 4), bytes);
  fs::create_directory(folder / "d");
  for (const fs::path& file : {folder / "d", folder / "absent/f"}) {
    const auto failed = write_text_file(file, bytes);
    ASSERT_FALSE(failed) << file;
    EXPECT_EQ(failed.error().code, ErrorCode::bad_input);
    EXPECT_NE(failed.error().message.find(file.string() + ": cannot be written: "), std::string::npos);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 3) << "f, d and what was left";
}

TEST_F(TextFile, IsReadByteByByte) {
  const std::string bytes("a\0\xFF\n", 4);
  std::ofstream(folder / "f", std::ios::binary) << bytes;
  EXPECT_EQ(*read_text_file(folder / "f", 4), bytes);
  EXPECT_FALSE(read_text_file(folder / "f", 3));
  std::ofstream(folder / "empty");
  EXPECT_EQ(*read_text_file(folder / "empty", 0), "");
}

TEST_F(TextFile, WhatHasNoEndIsRefused) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder / "zeros");
  EXPECT_EQ(error_of(folder / "pipe"), (folder / "pipe").string() + ": is a device, a pipe or a socket; give a file");
  EXPECT_EQ(error_of(folder / "zeros"), (folder / "zeros").string() + ": is a device, a pipe or a socket; give a file");
  EXPECT_EQ(error_of(folder), folder.string() + ": is a folder; give a file");
}

TEST_F(TextFile, ALargeOneIsRefusedBeforeItIsRead) {
  std::ofstream(folder / "large") << "x";
  fs::resize_file(folder / "large", std::uintmax_t{1} << 40);
  EXPECT_EQ(error_of(folder / "large"),
            (folder / "large").string() + ": has 1099511627776 bytes, of such a file at most 1000 are read");
  // The kernel reports its size as 0.
  EXPECT_EQ(error_of("/proc/kallsyms"),
            "/proc/kallsyms: has more than 1000 bytes, which is all that is read of such a file");
}

TEST_F(TextFile, TheReasonIsNamedWhereThereIsNone) {
  EXPECT_EQ(
      error_of(folder / "none"),
      (folder / "none").string() + ": can't be read: No such file or directory; check the path and its permissions");
}

}  // namespace
}  // namespace conebench
