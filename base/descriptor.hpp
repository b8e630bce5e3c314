#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace conebench {

/// An open file descriptor, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  /// False where the system says that what was written may be lost.
  bool close();

 private:
  int number_ = -1;
};

/// A connected pair of stream sockets; writing to a closed one is an error, not a signal.
std::optional<std::pair<Descriptor, Descriptor>> make_channel();

/// Writes all of `bytes` to a socket or a file, waiting where needed. False where the other end is gone or the disk
/// full.
bool write_all(int descriptor, std::string_view bytes);

/// How long a reader still waits; it gives up at zero.
using TimeLeft = std::function<std::chrono::milliseconds()>;

/// All that comes until the other end closes; nothing where it fails or nothing comes while time is left. Memory
/// follows what arrives.
std::optional<std::string> read_to_end(int descriptor, const TimeLeft& time_left);

}  // namespace conebench
