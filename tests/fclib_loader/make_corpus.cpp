#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/fclib_loader/file_maker.hpp"
#include "tests/fclib_loader/malformed_files.hpp"

/// make_corpus FOLDER: small FCLIB files of every kind, good and malformed, for the fuzz target to start from.

namespace {

namespace fs = std::filesystem;
using conebench::testing::FileMaker;

constexpr std::uintmax_t largest = 1 << 16;

void make(const fs::path& file, void (*base)(FileMaker&)) {
  FileMaker maker(file);
  base(maker);
  const std::string name = file.stem();
  if (name.find("answers") != std::string::npos) conebench::testing::make_answers(maker, 12);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: make_corpus FOLDER\n", stderr);
    return 2;
  }
  const fs::path folder = arguments[1];
  fs::create_directories(folder);
  make(folder / "local.hdf5", conebench::testing::make_local);
  make(folder / "local_with_answers.hdf5", conebench::testing::make_local);
  make(folder / "mixed_local.hdf5", conebench::testing::make_mixed_local);
  make(folder / "plane.hdf5", conebench::testing::make_plane);
  make(folder / "global.hdf5", conebench::testing::make_global);
  make(folder / "mixed_global.hdf5", conebench::testing::make_mixed_global);
  make(folder / "local_sample.hdf5", conebench::testing::make_local_sample);
  make(folder / "global_sample.hdf5", conebench::testing::make_global_sample);
  make(folder / "rolling.hdf5", conebench::testing::make_rolling);
  for (const auto& kinds : {conebench::testing::malformed_content(), conebench::testing::malformed_storage()}) {
    for (const auto& kind : kinds) {
      const fs::path file = folder / (kind.name + ".hdf5");
      kind.make(file);
      if (!fs::is_regular_file(fs::symlink_status(file)) || fs::file_size(file) > largest) fs::remove_all(file);
    }
  }
  return 0;
}
