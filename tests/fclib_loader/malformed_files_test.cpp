#include "tests/fclib_loader/malformed_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "fclib_loader/fclib_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

/// Of this process and of the largest that it started.
long peak_kilobytes() {
  rusage self{}, children{};
  ::getrusage(RUSAGE_SELF, &self);
  ::getrusage(RUSAGE_CHILDREN, &children);
  return std::max(self.ru_maxrss, children.ru_maxrss);
}

class MalformedFile : public ::testing::TestWithParam<testing::Malformed> {};

TEST_P(MalformedFile, IsRefusedInOneLineThatNamesIt) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / (GetParam().name + ".hdf5");
  GetParam().make(file);
  const long before = peak_kilobytes();
  const Result<ContactProblem> problem = load_fclib(file);
#if defined(__SANITIZE_ADDRESS__)
  static_cast<void>(before);  // the sanitizer keeps a call stack for every allocation of HDF5's recursion
#else
  EXPECT_LT(peak_kilobytes() - before, 120'000);
#endif
  ASSERT_FALSE(problem.ok());
  const std::string& message = problem.error().message;
  EXPECT_EQ(problem.error().code, ErrorCode::bad_input) << message;
  EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& part : GetParam().says) EXPECT_NE(message.find(part), std::string::npos) << message;
}

const auto name_of = [](const auto& row) { return row.param.name; };
INSTANTIATE_TEST_SUITE_P(Content, MalformedFile, ::testing::ValuesIn(testing::malformed_content()), name_of);
INSTANTIATE_TEST_SUITE_P(Storage, MalformedFile, ::testing::ValuesIn(testing::malformed_storage()), name_of);

}  // namespace
}  // namespace conebench
