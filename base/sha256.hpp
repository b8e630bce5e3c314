#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace conebench {

/// SHA-256 (FIPS 180-4) of bytes that come piece by piece, for checksums of what is published.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// 64 hexadecimal digits, as `sha256sum` prints them. Nothing may be added afterwards.
  std::string hex();

 private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> waiting_{};
  std::size_t waiting_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Of a file's bytes; nullopt: it can't be read.
std::optional<std::string> file_sha256(const std::filesystem::path& file);

}  // namespace conebench
