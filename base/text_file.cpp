#include "base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/unfinished.hpp"
#include "base/utf8.hpp"

namespace conebench {

namespace {

/// Bytes of a descriptor until its end or one more than `max_bytes`; false where reading fails.
bool read_to_end(int descriptor, std::uintmax_t max_bytes, std::string& text) {
  constexpr std::size_t piece = 1 << 16;
  while (text.size() <= max_bytes) {
    const std::size_t begin = text.size();
    text.resize(begin + std::min<std::uintmax_t>(piece, max_bytes + 1 - begin));
    const ssize_t step = ::read(descriptor, text.data() + begin, text.size() - begin);
    text.resize(begin + static_cast<std::size_t>(std::max<ssize_t>(step, 0)));
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) return step == 0;
  }
  return true;
}

/// Why the opened file is not read; empty for one that is.
std::string refusal(int descriptor, std::uintmax_t max_bytes) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return fmt::format("can't be read: {}", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return "is a folder; give a file";
  if (!S_ISREG(status.st_mode)) return "is a device, a pipe or a socket; give a file";
  if (static_cast<std::uintmax_t>(status.st_size) > max_bytes) {
    return fmt::format("has {} bytes, of such a file at most {} are read", status.st_size, max_bytes);
  }
  return {};
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes) {
  const auto fail = [&](const std::string& why) {
    return Error{ErrorCode::bad_input, one_line(file.string()) + ": " + why};
  };
  // Opening a pipe that nobody writes to would wait for ever without O_NONBLOCK.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open takes its mode this way
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return fail(fmt::format("can't be read: {}; check the path and its permissions", std::strerror(errno)));
  }
  std::string why = refusal(descriptor, max_bytes);
  std::string text;
  if (why.empty() && !read_to_end(descriptor, max_bytes, text)) {
    why = fmt::format("can't be read: {}", std::strerror(errno));
  }
  // Files of the kernel report no size, others grow.
  if (why.empty() && text.size() > max_bytes) {
    why = fmt::format("has more than {} bytes, which is all that is read of such a file", max_bytes);
  }
  ::close(descriptor);
  if (!why.empty()) return fail(why);
  return text;
}

Result<void> write_text_file(const std::filesystem::path& file, std::string_view bytes) {
  const auto failed = [&](int reason) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: cannot be written: {}", one_line(file.string()), std::strerror(reason))};
  };
  // A process of another host may have the same number, and a killed one may have left its file.
  std::filesystem::path unfinished = unfinished_path(file);
  int descriptor = -1;
  for (int attempt = 1; descriptor < 0; ++attempt) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open takes its mode this way
    descriptor = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return failed(errno);
    if (descriptor < 0) unfinished = fmt::format("{}-{}", unfinished_path(file).string(), attempt);
  }
  int reason = 0;
  while (!bytes.empty() && reason == 0) {
    const ssize_t step = ::write(descriptor, bytes.data(), bytes.size());
    if (step < 0 && errno != EINTR) reason = errno;
    if (step > 0) bytes.remove_prefix(static_cast<std::size_t>(step));
  }
  if (::close(descriptor) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(unfinished.c_str(), file.c_str()) != 0) reason = errno;
  if (reason == 0) return {};
  ::unlink(unfinished.c_str());
  return failed(reason);
}

}  // namespace conebench
