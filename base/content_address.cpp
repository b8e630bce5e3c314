#include "base/content_address.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace conebench {

namespace {

class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }
  void add(const void* data, std::uint64_t size) {
    add_bytes(&size, sizeof size);
    add_bytes(data, size);
  }
  void add_bytes(const void* data, std::uint64_t size) { XXH3_128bits_update(state_.get(), data, size); }
  std::string digits() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace

std::string content_address(std::initializer_list<std::string_view> parts) {
  Hasher hasher;
  for (const std::string_view part : parts) hasher.add(part.data(), part.size());
  return hasher.digits();
}

std::string content_address(std::span<const double> values) {
  Hasher hasher;
  hasher.add(values.data(), values.size_bytes());
  return hasher.digits();
}

namespace {

/// `add(hasher, data, size)` for each piece of the file.
template <class Add>
std::string hash_of_file(const std::filesystem::path& file, Add add) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> chunk(std::size_t{1} << 20);
  Hasher hasher;
  bool any = false;
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), stream.gcount() > 0) {
    add(hasher, chunk.data(), static_cast<std::uint64_t>(stream.gcount()));
    any = true;
  }
  return any ? hasher.digits() : "";
}

}  // namespace

std::string file_address(const std::filesystem::path& file) {
  return hash_of_file(file, [](Hasher& hasher, const char* data, std::uint64_t size) { hasher.add(data, size); });
}

std::string file_xxh128(const std::filesystem::path& file) {
  return hash_of_file(file, [](Hasher& hasher, const char* data, std::uint64_t size) { hasher.add_bytes(data, size); });
}

std::string exact_text(double value) { return fmt::format("{}", value); }

std::string canonical_json(const OptionValues& options) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : options) {
    std::visit([&, &key = name](const auto& plain) { json[key] = plain; }, value);
  }
  return json.dump();
}

std::uint64_t SeededSequence::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::uint64_t SeededSequence::below(std::uint64_t bound) {
  const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
  std::uint64_t draw = next();
  while (draw < rejected) draw = next();
  return draw % bound;
}

}  // namespace conebench
