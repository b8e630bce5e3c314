#include <gtest/gtest.h>

#include <functional>

#include "fclib_loader/fclib_file.hpp"
#include "tests/fclib_loader/file_maker.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conebench {
namespace {

using testing::FileMaker;

/// A good file whose dataset at `path` is stored as `type`.
Result<ContactProblem> with_type(const std::string& path, hid_t type) {
  const testing::TemporaryFolder folder;
  {
    FileMaker maker(folder / "typed.hdf5");
    testing::make_local(maker);
    FileMaker::Storage storage;
    storage.type = type;
    maker.reals(path, maker.read_reals(path), storage);
  }
  return load_fclib(folder / "typed.hdf5");
}

/// A copy of a type with something about it changed.
hid_t changed(hid_t type, const std::function<void(hid_t)>& change) {
  const hid_t copy = H5Tcopy(type);
  change(copy);
  return copy;
}

TEST(NumberTypes, TheDocumentedOnesLoad) {
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE}) {
    EXPECT_TRUE(with_type("/fclib_local/vectors/mu", type));
  }
  for (const hid_t type : {H5T_STD_I16BE, H5T_STD_U16LE, H5T_STD_I32BE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64BE}) {
    EXPECT_TRUE(with_type("/fclib_local/W/p", type));
  }
}

TEST(NumberTypes, FloatsOfAnyOtherLayoutAreRefusedInOneLine) {
  const auto half = [](hid_t type) {
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
  };
  const auto other_bias = [](hid_t type) { H5Tset_ebias(type, 1000); };
  const auto bits_elsewhere = [](hid_t type) { H5Tset_fields(type, 63, 50, 13, 0, 50); };
  const auto not_normalised = [](hid_t type) { H5Tset_norm(type, H5T_NORM_NONE); };
  const auto in_twelve_bytes = [](hid_t type) { H5Tset_size(type, 12); };
  for (const auto& change : std::initializer_list<std::function<void(hid_t)>>{half, other_bias, bits_elsewhere,
                                                                              not_normalised, in_twelve_bytes}) {
    const auto problem = with_type("/fclib_local/vectors/mu", changed(H5T_IEEE_F64LE, change));
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().code, ErrorCode::bad_input);
    EXPECT_NE(problem.error().message.find("mu: holds floating-point numbers of an unusual layout"), std::string::npos)
        << problem.error().message;
    EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(with_type("/fclib_local/vectors/mu", H5T_NATIVE_LDOUBLE));
}

TEST(NumberTypes, IntegersWithPaddingAreRefused) {
  const auto narrow = [](hid_t type) { H5Tset_precision(type, 20); };
  const auto problem = with_type("/fclib_local/W/p", changed(H5T_STD_I32LE, narrow));
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("p: holds integers of an unusual layout"), std::string::npos)
      << problem.error().message;
}

}  // namespace
}  // namespace conebench
