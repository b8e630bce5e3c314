#include "store/blob.hpp"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <limits>

namespace conebench {

namespace {

/// Impulses hardly shrink, so the fastest level; zeros (open contacts) and traces shrink well at any.
constexpr int compression_level = 1;
/// Deflate never expands more than about 1032 times.
constexpr std::int64_t greatest_ratio = 1100;

std::uint32_t checksum(std::span<const unsigned char> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

static_assert(std::endian::native == std::endian::little, "stored values are little-endian; swap them here");

}  // namespace

PackedBytes pack(std::span<const unsigned char> bytes) {
  PackedBytes packed;
  packed.length = static_cast<std::int64_t>(bytes.size());
  packed.crc32 = checksum(bytes);
  uLongf size = compressBound(bytes.size());
  packed.data.resize(size);
  compress2(packed.data.data(), &size, bytes.data(), bytes.size(), compression_level);
  packed.data.resize(size);
  return packed;
}

std::optional<std::vector<unsigned char>> unpack(std::span<const unsigned char> data, std::int64_t length,
                                                 std::uint32_t crc32) {
  if (length < 0 || length > greatest_ratio * static_cast<std::int64_t>(data.size())) return std::nullopt;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(length));
  uLongf size = bytes.size();
  unsigned char nothing = 0;
  unsigned char* target = bytes.empty() ? &nothing : bytes.data();
  if (uncompress(target, &size, data.data(), data.size()) != Z_OK || size != bytes.size()) return std::nullopt;
  if (checksum(bytes) != crc32) return std::nullopt;
  return bytes;
}

std::span<const unsigned char> bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const unsigned char*>(values.data()), values.size() * sizeof(double)};
}

std::vector<double> values_of(std::span<const unsigned char> bytes) {
  if (bytes.size() % sizeof(double) != 0) return {};
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

PackedBytes pack_values(const std::vector<double>& values) { return pack(bytes_of(values)); }

std::optional<std::vector<double>> unpack_values(std::span<const unsigned char> data, std::int64_t length,
                                                 std::uint32_t crc32) {
  const auto bytes = unpack(data, length, crc32);
  if (!bytes || bytes->size() % sizeof(double) != 0) return std::nullopt;
  return values_of(*bytes);
}

}  // namespace conebench
