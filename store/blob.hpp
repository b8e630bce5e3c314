#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace conebench {

/// Bytes as they stand in a BLOB column: a zlib stream beside the length and CRC-32 of what went in.
struct PackedBytes {
  std::vector<unsigned char> data;
  std::int64_t length = 0;  ///< bytes before packing
  std::uint32_t crc32 = 0;  ///< of the bytes before packing
};

PackedBytes pack(std::span<const unsigned char> bytes);
/// Nothing where the stream, the length or the checksum is wrong. Never allocates more than a zlib stream of that size
/// can hold.
std::optional<std::vector<unsigned char>> unpack(std::span<const unsigned char> data, std::int64_t length,
                                                 std::uint32_t crc32);

/// 8-byte little-endian floats, not packed; NaN and infinities come through unchanged.
std::span<const unsigned char> bytes_of(const std::vector<double>& values);
/// Empty where the bytes are no whole number of values.
std::vector<double> values_of(std::span<const unsigned char> bytes);

/// bytes_of(), packed.
PackedBytes pack_values(const std::vector<double>& values);
std::optional<std::vector<double>> unpack_values(std::span<const unsigned char> data, std::int64_t length,
                                                 std::uint32_t crc32);

}  // namespace conebench
