#include "base/file_stamp.hpp"

#include <sys/stat.h>

namespace conebench {

FileStamp FileStamp::of(const std::filesystem::path& file) {
  FileStamp stamp{file};
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return stamp;
  stamp.device = found.st_dev;
  stamp.inode = found.st_ino;
  stamp.bytes = found.st_size;
  stamp.modified_ns = std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
  return stamp;
}

bool FileStamp::same_now() const {
  const FileStamp now = of(file);
  return now.device == device && now.inode == inode && now.bytes == bytes && now.modified_ns == modified_ns;
}

}  // namespace conebench
