#pragma once

#include <cstdint>
#include <filesystem>

namespace conebench {

/// Shows whether a file has been written to or replaced since the stamp was taken.
struct FileStamp {
  std::filesystem::path file;
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = -1;  ///< -1: there was no such file
  std::int64_t modified_ns = 0;

  static FileStamp of(const std::filesystem::path& file);
  bool same_now() const;
};

}  // namespace conebench
