#include "base/unfinished.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace conebench {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".unfinished-";

/// The process in the name of an unfinished file; 0: the name of another file.
pid_t writer_of(const std::string& name) {
  const std::size_t at = name.rfind(mark);
  if (at == std::string::npos) return 0;
  const char* const begin = name.data() + at + mark.size();
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  const auto [rest, failed] = std::from_chars(begin, end, process);
  const std::string_view ending(rest, static_cast<std::size_t>(end - rest));
  const bool numbered = ending.starts_with('-') && ending.find_first_not_of("0123456789", 1) == std::string_view::npos;
  const bool known = ending.empty() || numbered || ending == "-wal" || ending == "-shm" || ending == "-journal";
  return failed == std::errc() && known && process > 0 ? process : 0;
}

bool is_ours(const fs::path& file) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
}

}  // namespace

fs::path unfinished_path(const fs::path& target) {
  return target.string() + std::string(mark) + std::to_string(::getpid());
}

void remove_unfinished(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const pid_t writer = writer_of(entry->path().filename().string());
    const bool gone = writer != 0 && ::kill(writer, 0) != 0 && errno == ESRCH;
    if (gone && is_ours(entry->path())) left.push_back(entry->path());
  }
  for (const fs::path& file : left) fs::remove(file, failed);
}

}  // namespace conebench
