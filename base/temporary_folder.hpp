#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace conebench {

/// A folder among the system's temporary ones that goes with the object, in the process that made it.
class TemporaryFolder {
 public:
  TemporaryFolder() : owner_(::getpid()) {
    std::string name = (std::filesystem::temp_directory_path() / "conebench-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty() && ::getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Empty where it could not be made.
  const std::filesystem::path& path() const { return path_; }

 private:
  pid_t owner_;
  std::filesystem::path path_;
};

}  // namespace conebench
