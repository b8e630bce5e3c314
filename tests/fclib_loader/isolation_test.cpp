#include "fclib_loader/isolation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/fclib_read.hpp"
#include "fclib_loader/fclib_transfer.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::FileMaker;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Isolation, PassesBytesOfAnySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5'000'000}}) {
    const Result<std::string> bytes = hdf5::isolated("file", [=] { return std::string(size, 'x'); });
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    EXPECT_EQ(*bytes, std::string(size, 'x'));
  }
}

TEST(Isolation, PassesAFailureWithItsCode) {
  const Result<std::string> bytes =
      hdf5::isolated("file", []() -> std::string { throw hdf5::Failure("file: no", ErrorCode::unsupported); });
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::unsupported);
  EXPECT_EQ(bytes.error().message, "file: no");
}

TEST(Isolation, OutlivesACrashAndSaysSoInOneLine) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    ::testing::internal::CaptureStderr();
    const Result<std::string> bytes = hdf5::isolated("some\nfile", [=]() -> std::string {
      std::fputs("last words", stderr);
      std::fflush(stderr);
      std::raise(signal);
      return "never";
    });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    ASSERT_FALSE(bytes.ok());
    EXPECT_EQ(bytes.error().code, ErrorCode::bad_input);
    EXPECT_THAT(bytes.error().message,
                AllOf(StartsWith("some file: "), HasSubstr("(signal " + std::to_string(signal) + ")")));
  }
}

/// Counts its calls in a file, since each runs in a process of its own.
int called(const fs::path& counter) {
  std::ofstream(counter, std::ios::app) << 'x';
  return static_cast<int>(fs::file_size(counter));
}

TEST(Isolation, AReaderThatWasKilledFromOutsideIsTriedAgain) {
  for (const int signal : {SIGKILL, SIGTERM, SIGHUP}) {
    const testing::TemporaryFolder folder;
    const Result<std::string> bytes = hdf5::isolated("file", [&]() -> std::string {
      if (called(folder / "calls") < 3) std::raise(signal);
      return "read";
    });
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    EXPECT_EQ(*bytes, "read");
  }
}

TEST(Isolation, AReaderThatIsKilledEachTimeIsReportedAsKilled) {
  const Result<std::string> bytes = hdf5::isolated("some\nfile", []() -> std::string {
    std::raise(SIGKILL);
    return "never";
  });
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::killed);
  EXPECT_THAT(bytes.error().message, AllOf(StartsWith("some file: "), HasSubstr("(signal 9)")));
}

TEST(Isolation, AReaderThatFindsNoEndIsEndedInItsTimeAndNotTriedAgain) {
  const testing::TemporaryFolder folder;
  hdf5::limit_reading(0.2);
  const Result<std::string> bytes = hdf5::isolated("file", [&]() -> std::string {
    std::ofstream(folder.path() / "tries", std::ios::app) << 'x';
    for (volatile bool forever = true; forever;) {
    }
    return "never";
  });
  hdf5::limit_reading(hdf5::default_read_seconds);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::bad_input);
  EXPECT_THAT(bytes.error().message, AllOf(StartsWith("file: "), HasSubstr("0.2 s"), HasSubstr("--read-seconds")));
  EXPECT_EQ(fs::file_size(folder.path() / "tries"), 1U);
}

TEST(Isolation, AReaderThatTheMachineKeepsWaitingIsReportedAsKilled) {
  hdf5::limit_reading(0.02);
  const Result<std::string> bytes = hdf5::isolated("file", []() -> std::string {
    ::pause();
    return "never";
  });
  hdf5::limit_reading(hdf5::default_read_seconds);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::killed);
}

TEST(Isolation, OutlivesAnExit) {
  const Result<std::string> bytes = hdf5::isolated("file", []() -> std::string { std::_Exit(0); });
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::bad_input);
}

FclibContent content_of(const fs::path& file, void (*make)(FileMaker&), std::size_t rows) {
  {
    FileMaker maker(file);
    make(maker);
    testing::make_answers(maker, rows);
  }
  Result<FclibContent> content = read_fclib_here(file);
  EXPECT_TRUE(content.ok()) << content.error().message;
  return *content;
}

TEST(Transfer, KeepsAllOfAFilesContent) {
  const testing::TemporaryFolder folder;
  FclibContent content = content_of(folder / "local.hdf5", testing::make_mixed_local, 12);
  content.title = "title";
  content.notes = {"one", "two"};
  content.bodies = 7;
  content.also_other_kind = true;
  content.extension.emplace();
  content.extension->family = "family";
  content.extension->bias = Vector::Ones(14);
  content.extension->configuration.time_step = 0.25;
  const FclibContent copy = unpack(pack(content));
  EXPECT_EQ(copy.kind, content.kind);
  EXPECT_EQ(Matrix(copy.w_matrix), Matrix(content.w_matrix));
  EXPECT_EQ(Matrix(copy.v_matrix), Matrix(content.v_matrix));
  EXPECT_EQ(Matrix(copy.r_matrix), Matrix(content.r_matrix));
  EXPECT_EQ(copy.q, content.q);
  EXPECT_EQ(copy.s, content.s);
  EXPECT_EQ(copy.mu, content.mu);
  EXPECT_EQ(copy.title, "title");
  EXPECT_EQ(copy.notes, content.notes);
  EXPECT_EQ(copy.bodies, 7);
  EXPECT_TRUE(copy.also_other_kind);
  ASSERT_TRUE(copy.extension.has_value());
  EXPECT_EQ(copy.extension->family, "family");
  EXPECT_EQ(copy.extension->bias, content.extension->bias);
  EXPECT_EQ(copy.extension->configuration.time_step, 0.25);
  ASSERT_EQ(copy.guesses.size(), content.guesses.size());
  EXPECT_EQ(copy.guesses[1].r, content.guesses[1].r);
  ASSERT_TRUE(copy.solution.has_value());
  EXPECT_EQ(copy.solution->u, content.solution->u);

  const FclibContent global = content_of(folder / "global.hdf5", testing::make_mixed_global, 6);
  const FclibContent global_copy = unpack(pack(global));
  EXPECT_EQ(Matrix(global_copy.m_matrix), Matrix(global.m_matrix));
  EXPECT_EQ(Matrix(global_copy.h_matrix), Matrix(global.h_matrix));
  EXPECT_EQ(Matrix(global_copy.g_matrix), Matrix(global.g_matrix));
  EXPECT_EQ(global_copy.f, global.f);
  EXPECT_EQ(global_copy.w, global.w);
  EXPECT_EQ(global_copy.b, global.b);
}

TEST(Transfer, RefusesBytesThatNobodyPacked) {
  const testing::TemporaryFolder folder;
  const std::string good = pack(content_of(folder / "local.hdf5", testing::make_local, 12));
  EXPECT_THROW(unpack(good.substr(0, good.size() - 1)), hdf5::Failure);
  EXPECT_THROW(unpack(good + "x"), hdf5::Failure);
  EXPECT_THROW(unpack(""), hdf5::Failure);
  EXPECT_THROW(unpack(std::string(200, '\xff')), hdf5::Failure);
}

/// Bytes changed, inserted, taken out or cut off anywhere, in HDF5's own structures too.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto at = [&] { return random() % bytes.size(); };
  switch (random() % 4) {
    case 0:
      for (int k = 0; k < 8; ++k) bytes[at()] = static_cast<char>(random());
      break;
    case 1: bytes.insert(at(), random() % 64, static_cast<char>(random())); break;
    case 2: bytes.erase(at(), random() % 64); break;
    default: bytes.resize(at()); break;
  }
  return bytes;
}

TEST(DamagedFiles, EitherLoadOrAreRefusedInOneLine) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(20240607);
  int refused = 0;
  for (const auto make : {testing::make_local, testing::make_mixed_global}) {
    const fs::path good = folder / "good.hdf5";
    content_of(good, make, make == testing::make_local ? 12 : 6);
    std::ifstream stream(good, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    for (int k = 0; k < 150; ++k) {
      const fs::path file = folder / "damaged.hdf5";
      std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged(bytes, random);
      const Result<ContactProblem> problem = load_fclib(file);
      if (problem) continue;
      ++refused;
      EXPECT_EQ(problem.error().code, ErrorCode::bad_input) << problem.error().message;
      EXPECT_TRUE(problem.error().message.starts_with(file.string() + ": ")) << problem.error().message;
      EXPECT_EQ(problem.error().message.find('\n'), std::string::npos) << problem.error().message;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace conebench
