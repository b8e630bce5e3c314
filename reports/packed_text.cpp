#include "reports/packed_text.hpp"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <new>

namespace conebench::reports {

namespace {

/// Packs what it gets. Base64 takes three bytes at a time, so that up to two wait for the next piece.
class PackedStream {
 public:
  explicit PackedStream(const ByteSink& sink) : sink_(sink) {
    if (deflateInit(&stream_, Z_DEFAULT_COMPRESSION) != Z_OK) throw std::bad_alloc();
  }
  ~PackedStream() { deflateEnd(&stream_); }
  PackedStream(const PackedStream&) = delete;
  PackedStream& operator=(const PackedStream&) = delete;

  void add(std::string_view piece) { run(piece, Z_NO_FLUSH); }
  void end() {
    run({}, Z_FINISH);
    sink_(base64(waiting_));
  }

 private:
  void run(std::string_view piece, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(piece.size());
    std::array<char, 1 << 15> packed;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = packed.size();
      deflate(&stream_, flush);
      waiting_.append(packed.data(), packed.size() - stream_.avail_out);
      const std::size_t whole = waiting_.size() / 3 * 3;
      sink_(base64(std::string_view(waiting_).substr(0, whole)));
      waiting_.erase(0, whole);
    } while (stream_.avail_out == 0);
  }

  const ByteSink& sink_;
  z_stream stream_{};
  std::string waiting_;
};

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    std::uint32_t three = 0;
    for (std::size_t b = 0; b < 3; ++b) {
      three = three << 8U | (k + b < bytes.size() ? static_cast<unsigned char>(bytes[k + b]) : 0U);
    }
    for (std::size_t d = 0; d < 4; ++d) {
      text += k + d > bytes.size() ? '=' : digits[three >> (18U - 6U * static_cast<unsigned>(d)) & 63U];
    }
  }
  return text;
}

void write_packed(const ByteSource& text, const ByteSink& sink) {
  PackedStream packed(sink);
  text([&](std::string_view piece) { packed.add(piece); });
  packed.end();
}

}  // namespace conebench::reports
