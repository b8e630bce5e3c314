#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/options.hpp"

namespace conebench {

/// 32 hexadecimal digits over the parts, each with its length, so that ("ab", "c") and ("a", "bc") differ. The same on
/// every machine.
std::string content_address(std::initializer_list<std::string_view> parts);
std::string content_address(std::span<const double> values);
/// The same of a file's bytes; empty: it can't be read.
std::string file_address(const std::filesystem::path& file);

/// XXH128 of the bytes alone, as `xxhsum -H2` prints it; empty: it can't be read.
std::string file_xxh128(const std::filesystem::path& file);

/// The shortest text that reads back as the same number.
std::string exact_text(double value);

/// Options as JSON with the names in order: the same text for the same options.
std::string canonical_json(const OptionValues& options);

/// A sequence of 64-bit numbers that depends on nothing but the seed (SplitMix64).
class SeededSequence {
 public:
  explicit SeededSequence(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Below `bound` > 0, without bias.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

/// Fisher–Yates shuffle; the same order on every machine for the same seed.
template <class Container>
void seeded_shuffle(Container& items, std::uint64_t seed) {
  SeededSequence sequence(seed);
  for (std::size_t i = items.size(); i > 1; --i) {
    using std::swap;
    swap(items[i - 1], items[sequence.below(i)]);
  }
}

}  // namespace conebench
