#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace conebench {

/// Seeded random numbers that are the same with every standard library: the distributions of <random> are not.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}

  /// In [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Standard normal, by Marsaglia's polar method.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0.0;
    double y = 0.0;
    double square = 0.0;
    do {
      x = uniform(-1.0, 1.0);
      y = uniform(-1.0, 1.0);
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }

  /// In {0, …, count − 1}; count > 0.
  std::size_t below(std::size_t count) {
    const std::uint64_t bound = count;
    const std::uint64_t rejected = (0 - bound) % bound;
    std::uint64_t draw = engine_();
    while (draw < rejected) draw = engine_();
    return static_cast<std::size_t>(draw % bound);
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace conebench
