#include "fclib_loader/npy_file.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "fclib_loader/hdf5_file.hpp"

namespace conebench {

namespace {

static_assert(std::endian::native == std::endian::little, "float64 values are copied as they lie in the file");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 1 << 16;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw hdf5::Failure(hdf5::one_line(fmt::format("{}: {}", file.string(), reason)));
}

/// The text after `'key':` in the header's dictionary, without leading blanks; empty where the key is missing.
std::string_view after_key(std::string_view header, std::string_view key) {
  const std::size_t found = header.find(fmt::format("'{}':", key));
  if (found == std::string_view::npos) return {};
  std::string_view rest = header.substr(found + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

/// `(12,)` or `(12, 1)` → 12; −1 for anything else.
Index length_of_shape(std::string_view shape) {
  if (shape.empty() || shape.front() != '(') return -1;
  shape = shape.substr(1, shape.find(')') - 1);
  Index length = -1;
  const auto [end, status] = std::from_chars(shape.data(), shape.data() + shape.size(), length);
  if (status != std::errc{} || length < 0) return -1;
  std::string rest;
  for (const char c : std::string_view(end, static_cast<std::size_t>(shape.data() + shape.size() - end))) {
    if (c != ' ') rest += c;
  }
  return rest == "," || rest == ",1" || rest == ",1," ? length : -1;
}

}  // namespace

bool is_npy(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, magic.size()> start{};
  return stream.read(start.data(), start.size()) && std::string_view(start.data(), start.size()) == magic;
}

Vector read_npy(const std::filesystem::path& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code)) fail(file, "no such file; check the path");
  const std::uintmax_t file_bytes = std::filesystem::file_size(file, code);
  std::ifstream stream(file, std::ios::binary);
  std::array<unsigned char, 12> start{};
  if (!stream.read(reinterpret_cast<char*>(start.data()), 8) ||
      std::string_view(reinterpret_cast<const char*>(start.data()), magic.size()) != magic) {
    fail(file, "is not a NumPy array file");
  }
  const int version = start[6];
  if (version < 1 || version > 3) fail(file, fmt::format("has NumPy format {}, expected 1 to 3", version));
  const std::streamsize length_bytes = version == 1 ? 2 : 4;
  if (!stream.read(reinterpret_cast<char*>(start.data()) + 8, length_bytes)) fail(file, "is cut off in its header");
  std::size_t header_bytes = start[8] | std::size_t{start[9]} << 8;
  if (version > 1) header_bytes |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  if (header_bytes > max_header) fail(file, fmt::format("declares a header of {} bytes", header_bytes));
  std::string header(header_bytes, '\0');
  if (!stream.read(header.data(), static_cast<std::streamsize>(header_bytes))) fail(file, "is cut off in its header");

  const std::string_view type = after_key(header, "descr");
  if (!type.starts_with("'<f8'")) {
    const std::string_view shown = type.substr(0, std::min(type.find(", '"), std::size_t{40}));
    fail(file, fmt::format("holds values of type {}, expected '<f8' (float64); save it with astype('<f8')", shown));
  }
  const std::string_view shape = after_key(header, "shape");
  const Index length = length_of_shape(shape);
  if (length < 0) {
    fail(file, fmt::format("has shape {}, expected one dimension; save it with ravel()",
                           shape.substr(0, shape.find(')') + 1)));
  }
  const std::uintmax_t data_bytes = file_bytes - static_cast<std::uintmax_t>(stream.tellg());
  if (static_cast<std::uintmax_t>(length) != data_bytes / sizeof(double) || data_bytes % sizeof(double) != 0) {
    fail(file, fmt::format("declares {} numbers but holds {} bytes of them", length, data_bytes));
  }
  Vector values(length);
  if (!stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(data_bytes))) {
    fail(file, "can't be read to its end");
  }
  return values;
}

}  // namespace conebench
