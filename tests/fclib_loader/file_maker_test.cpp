#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench::testing {
namespace {

TEST(TestFiles, ADatasetThatDeclaresEightExabytesIsNotReadBack) {
  const TemporaryFolder folder;
  FileMaker maker(folder / "huge.hdf5");
  maker.unwritten("/x", H5T_IEEE_F64LE, {hsize_t{1} << 30, hsize_t{1} << 30}, H5P_DEFAULT);
  EXPECT_THROW(maker.read_reals("/x"), std::runtime_error);
}

TEST(TestFiles, RealsThatNoIntegerHoldsAreNotReadAsIntegers) {
  const TemporaryFolder folder;
  FileMaker maker(folder / "real.hdf5");
  maker.reals("/x", {3.0, -1.7e308});
  EXPECT_THROW(maker.read_integers("/x"), std::runtime_error);
  EXPECT_EQ(whole_numbers({3.0, -2.0}), (std::vector<std::int64_t>{3, -2}));
}

}  // namespace
}  // namespace conebench::testing
