#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "fclib_loader/fclib_file.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

namespace fs = std::filesystem;
using testing::FileMaker;

/// Writes copies with a solution, lists them and has compare_written_files.py check them.
class PythonReads : public ::testing::Test {
 protected:
  void add(const fs::path& original) {
    const Result<ContactProblem> problem = load_fclib(original);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    FclibWriteOptions options;
    const Vector impulse = Vector::LinSpaced(problem->rows(), -1.0, 2.0);
    options.solution = FclibAnswer{impulse, {}};
    options.compress = count_ % 2 == 0;
    const fs::path copy = folder_ / ("copy" + std::to_string(count_) + ".hdf5");
    const auto written = write_fclib(*problem, copy, options);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const fs::path reaction = folder_ / ("reaction" + std::to_string(count_) + ".npy");
    write_npy(reaction, normal_first(impulse, problem->cones()));
    list_ << original.string() << '\t' << copy.string() << '\t' << reaction.string() << '\n';
    ++count_;
  }

  void add_pair(const fs::path& original, const fs::path& copy) {
    list_ << original.string() << '\t' << copy.string() << '\t' << (folder_ / "reaction0.npy").string() << '\n';
  }

  fs::path made(const std::string& name, void (*make)(FileMaker&)) {
    FileMaker maker(folder_ / name);
    make(maker);
    return folder_ / name;
  }

  /// The script's exit code.
  int compare() {
    list_.close();
    const std::string command = "/usr/bin/python3 " CONEBENCH_SOURCE_DIR
                                "/tests/fclib_loader/compare_written_files.py " +
                                (folder_ / "list.txt").string();
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed command
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  testing::TemporaryFolder folder_;

 private:
  /// The order of components written out, apart from the library's own code.
  static Vector normal_first(const Vector& impulse, const ConeProduct& cones) {
    Vector result = impulse;
    const int dimension = cones.contact_dimension();
    for (Index c = 0; c < cones.contacts(); ++c) {
      const Index row = cones.joints() + c * dimension;
      const int tangents = std::min(dimension - 1, 2);
      result[row] = impulse[row + tangents];
      for (int t = 1; t <= tangents; ++t) result[row + t] = impulse[row + t - 1];
    }
    return result;
  }

  static void write_npy(const fs::path& file, const Vector& values) {
    std::string header =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
    while ((header.size() + 11) % 64 != 0) header += ' ';
    header += '\n';
    std::ofstream stream(file, std::ios::binary);
    stream << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header;
    stream.write(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  }

  std::ofstream list_{folder_ / "list.txt"};
  int count_ = 0;
};

constexpr int no_h5py = 77;
constexpr int no_python = 127;

TEST_F(PythonReads, WhatIsWrittenEntryByEntry) {
  add(made("local.hdf5", testing::make_local));
  add(made("mixed_local.hdf5", testing::make_mixed_local));
  add(made("plane.hdf5", testing::make_plane));
  add(made("global.hdf5", testing::make_global));
  add(made("mixed_global.hdf5", testing::make_mixed_global));
  const int exit_code = compare();
  if (exit_code == no_h5py || exit_code == no_python) GTEST_SKIP() << "no /usr/bin/python3 with h5py and numpy";
  EXPECT_EQ(exit_code, 0);
}

TEST_F(PythonReads, ADifferenceInOneEntry) {
  add(made("local.hdf5", testing::make_local));
  add_pair(made("changed.hdf5",
                [](FileMaker& maker) {
                  testing::make_local(maker);
                  std::vector<double> values = testing::local_w();
                  values[100] = std::nextafter(values[100], 10.0);
                  maker.reals("/fclib_local/W/x", values);
                }),
           folder_ / "copy0.hdf5");
  const int exit_code = compare();
  if (exit_code == no_h5py || exit_code == no_python) GTEST_SKIP() << "no /usr/bin/python3 with h5py and numpy";
  EXPECT_EQ(exit_code, 1);
}

TEST_F(PythonReads, CopiesOfRealProblemsEntryByEntry) {
  const auto folder = testing::shared_data("fclib/open");
  if (!folder) GTEST_SKIP() << testing::no_shared_data;
  for (const fs::directory_entry& entry : fs::directory_iterator(*folder)) {
    const Result<FclibContent> content = read_fclib(entry.path());
    ASSERT_TRUE(content.ok()) << content.error().message;
    add(entry.path());
  }
  const int exit_code = compare();
  if (exit_code == no_h5py || exit_code == no_python) GTEST_SKIP() << "no /usr/bin/python3 with h5py and numpy";
  EXPECT_EQ(exit_code, 0);
}

}  // namespace
}  // namespace conebench
