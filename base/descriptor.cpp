#include "base/descriptor.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace conebench {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

bool Descriptor::close() { return number_ < 0 || ::close(release()) == 0; }

std::optional<std::pair<Descriptor, Descriptor>> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(int descriptor, std::string_view bytes) {
  bool socket = true;
  while (!bytes.empty()) {
    const ssize_t count = socket ? send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                 : write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ENOTSOCK && socket) {
      socket = false;
      continue;
    }
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::string> read_to_end(int descriptor, const TimeLeft& time_left) {
  constexpr std::chrono::milliseconds max_wait{60'000};
  constexpr std::size_t piece = 1 << 20;
  std::string bytes;
  std::size_t size = 0;
  for (;;) {
    const auto left = std::clamp(time_left(), std::chrono::milliseconds::zero(), max_wait);
    pollfd wanted{descriptor, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left.count() > 0) continue;
    if (ready <= 0) return std::nullopt;
    if (bytes.size() == size) bytes.resize(size + std::max(piece, size));
    const ssize_t count = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace conebench
