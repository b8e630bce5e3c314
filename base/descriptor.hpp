#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace conebench {

/// Owns a file descriptor. The destructor closes it.
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
  /// False: the system reports that written data may be lost.
  bool close();

 private:
  int number_ = -1;
};

/// A connected pair of stream sockets; writing to a closed one is an error, not a signal.
std::optional<std::pair<Descriptor, Descriptor>> make_channel();

/// Writes all of `bytes` to a socket or a file; may wait. False: the other end is closed, or the disk is full.
bool write_all(int descriptor, std::string_view bytes);

/// How long a reader still waits; it gives up at zero.
using TimeLeft = std::function<std::chrono::milliseconds()>;

/// Reads until the other end closes. nullopt: an error, or the time is up. Memory grows with the bytes received.
std::optional<std::string> read_to_end(int descriptor, const TimeLeft& time_left);

}  // namespace conebench
