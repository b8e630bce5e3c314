#include "reports/write_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/folder.hpp"
#include "base/unfinished.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;

/// The unfinished files. The destructor removes those that were not renamed.
class Unfinished {
 public:
  Unfinished() = default;
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
  }
  void add(fs::path file) { files_.push_back(std::move(file)); }
  const std::vector<fs::path>& files() const { return files_; }

 private:
  std::vector<fs::path> files_;
};

/// 0, or the system's error number.
int write_piece(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The same.
int write_whole(const fs::path& file, const ByteSource& content, bool in_place) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666);
  if (descriptor < 0) return errno;
  constexpr std::size_t enough = 1U << 20U;
  int failure = 0;
  std::string waiting;
  const auto flush = [&] {
    if (failure == 0) failure = write_piece(descriptor, waiting);
    waiting.clear();
  };
  content([&](std::string_view piece) {
    waiting += piece;
    if (waiting.size() >= enough) flush();
  });
  flush();
  // Some file systems tell only here that the disk is full.
  if (failure == 0 && !in_place && fsync(descriptor) != 0) failure = errno;
  if (close(descriptor) != 0 && failure == 0) failure = errno;
  return failure;
}

Error cannot_write(const fs::path& file, int reason) {
  return {ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", file.string(), std::strerror(reason))};
}

}  // namespace

std::string collected(const ByteSource& source) {
  std::string text;
  source([&](std::string_view piece) { text += piece; });
  return text;
}

Result<void> write_files(const fs::path& folder, const std::vector<ReportFile>& files) {
  std::vector<StreamedFile> streamed;
  for (const ReportFile& file : files) {
    streamed.push_back({file.path, [&file](const ByteSink& sink) { sink(file.content); }});
  }
  return write_files(folder, streamed);
}

Result<void> write_files(const fs::path& folder, const std::vector<StreamedFile>& files) {
  if (auto made = make_folder(folder); !made) return made;
  remove_unfinished(folder);
  Unfinished unfinished;
  std::vector<fs::path> targets;
  for (const StreamedFile& file : files) {
    const fs::path target = folder / file.path;
    std::error_code ignored;
    if (file.path.has_parent_path() && !fs::is_directory(target.parent_path(), ignored)) {
      CONEBENCH_CHECK(make_folder(target.parent_path()));
    }
    const fs::file_status status = fs::status(target, ignored);
    if (fs::is_directory(status)) return cannot_write(target, EISDIR);
    const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
    const fs::path beside = in_place ? target : unfinished_path(target);
    if (!in_place) {
      unfinished.add(beside);
      targets.push_back(target);
    }
    if (const int reason = write_whole(beside, file.content, in_place); reason != 0)
      return cannot_write(target, reason);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::error_code failure;
    fs::rename(unfinished.files()[i], targets[i], failure);
    if (failure) return cannot_write(targets[i], failure.value());
  }
  return {};
}

}  // namespace conebench
